"""Safe fixes of IRs: which stale ports are corrected, and which findings stay."""

from __future__ import annotations

import pytest
from cases.ir_documents import edge, layer, net, parameter, result

import irlint

DIMS = "<dim>2</dim><dim>3</dim>"


def chain(*inner: str) -> str:
    """A Parameter 0, layers 1 and so on with the ports 0 and 1, and a Result 8."""
    joined = [edge(at, min(at, 1), at + 1, 0) for at in range(len(inner))]
    return net([parameter(0), *inner, result(8)], [*joined, edge(len(inner), 1, 8, 0)])


def unary(id: int, type: str = "Relu") -> str:
    return layer(id, type, "0", "1", name=f"l{id}")


def port(side: str, id: int, precision: str = ' precision="FP32"', dims: str = DIMS) -> str:
    return f'<{side}><port id="{id}"{precision}>{dims}</port></{side}>'


OUT, IN = port("output", 1), port("input", 0, "")
SOUND = chain(unary(1), unary(2, "Abs"), unary(3))


def at(number: int, text: str, old: str, new: str) -> str:
    """A text with one of the occurrences of a part of it replaced."""
    parts = text.split(old)
    return old.join(parts[: number + 1]) + new + old.join(parts[number + 1 :])


STALE = DIMS.replace("2", "5")

#: Documents with stale ports, which become the sound one.
FIXED = {
    "the dims of an output": at(0, SOUND, OUT, port("output", 1, dims=STALE)),
    "more dims of an output": at(0, SOUND, OUT, port("output", 1, dims=DIMS + "<dim>1</dim>")),
    "the precision of an output": at(0, SOUND, OUT, port("output", 1, ' precision="I32"')),
    "the dims of an input": at(1, SOUND, IN, port("input", 0, "", STALE)),
    "an output with its input": at(
        1, at(0, SOUND, OUT, port("output", 1, dims=STALE)), IN, port("input", 0, "", STALE)
    ),
    "two outputs": at(
        0, at(0, SOUND, OUT, port("output", 1, dims=STALE)), OUT, port("output", 1, dims="<dim>2</dim><dim>4</dim>")
    ),
}


def of_shape(dims: str) -> str:
    """A document in which an operator with an attribute has these dims behind it, and a result that they do not
    decide."""
    shape = port("output", 1, ' precision="I64"', "<dim>2</dim>")
    inner = [
        layer(1, "Convert", "0", "1", name="l1", data='<data destination_type="f32"/>').replace(
            OUT, port("output", 1, dims=dims)
        ),
        layer(2, "ShapeOf", "0", "1", name="l2").replace(IN, port("input", 0, "", dims)).replace(OUT, shape),
    ]
    return chain(*inner).replace(
        f'"Result" version="opset1">{IN}', f'"Result" version="opset1">{port("input", 0, "", "<dim>2</dim>")}'
    )


#: An Add whose inputs declare each other's dims.
BOTH = "<dim>1</dim><dim>3</dim>"
SUM = layer(2, "Add", "01", "2").replace(f'<port id="0">{DIMS}', f'<port id="0">{BOTH}')
SWAPPED = net(
    [parameter(0), parameter(1, "y", "1,3").replace(DIMS, BOTH), SUM, layer(3, "Relu", "0", "1", name="l3"), result(4)],
    [edge(0, 0, 2, 0), edge(1, 0, 2, 1), edge(2, 2, 3, 0), edge(3, 1, 4, 0)],
)

#: Documents whose findings may have another reason than a stale port.
LEFT = {
    "an output of the model": at(2, SOUND, OUT, port("output", 1, dims=STALE)),
    "what comes to a Result": at(3, SOUND, IN, port("input", 0, "", STALE)),
    "an input of the model": SOUND.replace(port("output", 0), port("output", 0, dims=STALE)),
    "all behind an operator": SOUND.replace(OUT, port("output", 1, dims=STALE)),
    "what both ports at an edge declare, and nothing refutes": of_shape(STALE),
    "two inputs that may be swapped": SWAPPED,
    "something else is an error": at(0, SOUND, OUT, port("output", 1, dims=STALE)).replace(
        'type="Abs"', 'type="Nothing"'
    ),
}


def test_the_documents_are_sound() -> None:
    assert [
        str(each) for text in (SOUND, of_shape(DIMS)) for each in irlint.check(text.encode(), name="m.xml").findings
    ] == []


@pytest.mark.parametrize("name", FIXED)
def test_stale_ports_become_what_is_inferred(name: str) -> None:
    data = FIXED[name].encode()
    assert all(each.fix for each in irlint.check(data, name="m.xml").findings)
    found = irlint.fix(data, name="m.xml")
    assert found.data == SOUND.encode()
    assert (irlint.fix(found.data, name="m.xml").edits, found.report.findings) == ((), ())


@pytest.mark.parametrize("name", LEFT)
def test_what_may_have_another_reason_stays(name: str) -> None:
    data = LEFT[name].encode()
    findings = irlint.check(data, name="m.xml").findings
    assert findings
    assert not any(each.fix and each.fix.applicability == "safe" for each in findings)
    assert irlint.fix(data, name="m.xml").data == data


#: Two convolutions, of which the second takes what the first gives.
CONVOLVED = """<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,1,8" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>1</dim><dim>8</dim></port></output></layer>
<layer id="1" name="w" type="Parameter" version="opset1"><data shape="1,1,1" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>1</dim><dim>1</dim></port></output></layer>
<layer id="2" name="a" type="Convolution" version="opset1">{data}{ports}</layer>
<layer id="3" name="b" type="Convolution" version="opset1">{data}{ports}</layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"><dim>1</dim><dim>1</dim><dim>8</dim></port>\
</input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/></edges></net>"""
SIDES = '<input><port id="0">{0}<dim>8</dim></port><port id="1">{0}<dim>1</dim></port></input>'
SIDES += '<output><port id="2" precision="FP32">{0}<dim>8</dim></port></output>'
DATA = '<data strides="1" pads_begin="0" pads_end="0" dilations="1"{}/>'


def test_attributes_that_only_other_versions_have() -> None:
    """The finding stands at the first layer that has them, and its fix is for all."""
    ports = SIDES.format("<dim>1</dim><dim>1</dim>")
    before, after = (CONVOLVED.format(data=DATA.format(more), ports=ports) for more in (' output_padding="0"', ""))
    found = irlint.fix(before.encode(), name="m.xml")
    assert [edit.text for edit in found.edits] == ["remove the attribute `output_padding`"] * 2
    assert (found.data, found.report.findings) == (after.encode(), ())
