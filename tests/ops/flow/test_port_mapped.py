"""The ports of a Loop and a TensorIterator that are cut, joined or special: what OpenVINO refuses to load, irlint
refuses."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from cases.ir_documents import edge, net
from oracles.openvino_worker import compiles, outcomes

import irlint
from irlint.ops.shared.port_maps import GOOD

pytestmark = pytest.mark.oracle

WEIGHTS = struct.pack("<4q", 5, 1, -3, 0) + b"\1" + b"\0" * 7
OPEN = '<port id="{}"/>'


def constant(id: int, type: str, shape: str, offset: int, size: int) -> str:
    data = f'<data element_type="{type}" shape="{shape}" offset="{offset}" size="{size}"/>'
    return f'<layer id="{id}" name="k{id}" type="Const" version="opset1">{data}{outputs(0)}</layer>'


def parameter(id: int, shape: str, type: str = "f32") -> str:
    data = f'<data shape="{shape}" element_type="{type}"/>'
    return f'<layer id="{id}" name="p{id}" type="Parameter" version="opset1">{data}{outputs(0)}</layer>'


def result(id: int) -> str:
    return f'<layer id="{id}" name="r{id}" type="Result" version="opset1"><input><port id="0"/></input></layer>'


def outputs(*ids: int) -> str:
    return "<output>" + "".join(f'<port id="{id}" precision="UNSPECIFIED"/>' for id in ids) + "</output>"


def relu(id: int) -> str:
    return (
        f'<layer id="{id}" name="n{id}" type="Relu" version="opset1"><input><port id="0"/></input>{outputs(1)}</layer>'
    )


def port(side: str, external: int, internal: int, more: str = "") -> str:
    return f'<{side} external_port_id="{external}" internal_layer_id="{internal}" {more}/>'


NUMBER = port("input", -1, 0, 'purpose="current_iteration"')
CARRIED = port("input", 2, 1)
AGAIN = port("output", -1, 5, 'purpose="execution_condition"')
LAST = port("output", 3, 6)
BACK = '<edge from-layer="6" to-layer="1"/>'


def loop(
    ports: str = NUMBER + CARRIED + AGAIN + LAST,
    back: str = BACK,
    *,
    trips: str = constant(0, "i64", "", 0, 8),
    condition: str = constant(1, "boolean", "", 32, 1),
    number: str = parameter(0, "", "i64"),
    again: str = constant(3, "boolean", "", 32, 1),
    x: str = "1,3",
    count: tuple[int, int] = (3, 1),
    version: int = 11,
) -> str:
    """A Loop that carries x through a Relu."""
    layers = number + parameter(1, x) + again + relu(4) + result(6) + result(5)
    body = (
        f"<body><layers>{layers}</layers><edges>{edge(1, 0, 4, 0)}{edge(4, 1, 6, 0)}{edge(3, 0, 5, 0)}</edges></body>"
    )
    given = "".join(map(OPEN.format, range(count[0])))
    node = (
        f'<layer id="9" name="loop" type="Loop" version="opset5"><input>{given}</input>'
        f"{outputs(*range(3, 3 + count[1]))}<port_map>{ports}</port_map><back_edges>{back}</back_edges>{body}</layer>"
    )
    edges = [edge(0, 0, 9, 0), edge(1, 0, 9, 1), edge(2, 0, 9, 2), edge(9, 3, 10, 0)]
    return net([trips, condition, parameter(2, x), node, result(10)], edges, version)


def joined(more: str = "") -> str:
    return NUMBER + CARRIED + AGAIN + port("output", 3, 6, f'axis="0" {more}')


def cut(more: str, out: str = "", *, x: str = "6,3", count: tuple[int, int] = (1, 1), version: int = 11) -> str:
    """A TensorIterator that cuts x and joins its slices."""
    body = (
        f"<layers>{parameter(1, '1,3')}{relu(4)}{result(6)}</layers><edges>{edge(1, 0, 4, 0)}{edge(4, 1, 6, 0)}</edges>"
    )
    ports = port("input", 0, 1, more) + port("output", 1, 6, out)
    given = "".join(map(OPEN.format, [0, *range(5, 4 + count[0])]))
    node = (
        '<layer id="9" name="t" type="TensorIterator" '
        f'version="opset1"><input>{given}</input>{outputs(*range(1, 1 + count[1]))}'
        f"<port_map>{ports}</port_map><body>{body}</body></layer>"
    )
    return net([parameter(2, x), node, result(10)], [edge(2, 0, 9, 0), edge(9, 1, 10, 0)], version)


REFUSED = {
    "IRL392": {
        "number of two axes": loop(number=parameter(0, "1,1", "i64")),
        "number of two": loop(number=parameter(0, "2", "i64")),
        "number of none": loop(number=parameter(0, "0", "i64")),
        "number of an unknown size": loop(number=parameter(0, "?", "i64")),
        "number of a float": loop(number=parameter(0, "", "f32")),
        "trips below 0": loop(joined(), trips=constant(0, "i64", "", 16, 8)),
        "trips of u8": loop(trips=constant(0, "u8", "", 0, 1)),
        "condition of i64": loop(condition=constant(1, "i64", "", 0, 8)),
        "two conditions in the body": loop(again=constant(3, "boolean", "2", 32, 2)),
        "condition of a float in the body": loop(again=constant(3, "f32", "", 0, 4)),
    },
    "IRL395": {
        "number for no layer": loop(NUMBER.replace('id="0"', 'id="8"') + CARRIED + AGAIN + LAST),
        "number for a Relu": loop(NUMBER.replace('id="0"', 'id="4"') + CARRIED + AGAIN + LAST),
        "number from an input": loop(NUMBER.replace("-1", "2") + CARRIED + AGAIN + LAST),
        "number along an axis": loop(NUMBER.replace("/>", ' axis="0"/>') + CARRIED + AGAIN + LAST),
        "back edge to the number": loop(back=BACK + BACK.replace('to-layer="1"', 'to-layer="0"')),
        "no condition": loop(NUMBER + CARRIED + LAST),
        "stride of 0": loop(joined('stride="0"')),
        "stride of 0 in 32 bits": cut(f'axis="0" stride="{2**32}"'),
        "stride of 0 in a TensorIterator": cut('axis="0" stride="0"'),
    },
    "IRL153": {
        "joined of other slices": loop(joined('stride="2"')),
        "joined of a body of two": loop(joined(), x="2,3"),
        "a stride that does not fit": cut('axis="0" stride="4" part_size="4"'),
        "start behind the end": cut('axis="0" start="3" end="2"'),
        "backward from the front": cut('axis="0" stride="-1"'),
        "another number of slices": cut('axis="0"', 'axis="0" end="5"'),
    },
}
TAKEN = {
    "loop": loop(),
    "joined": loop(joined()),
    "number of one element": loop(number=parameter(0, "1", "i32")),
    "number of u16": loop(number=parameter(0, "", "u16")),
    "condition of u8": loop(again=constant(3, "u8", "", 32, 1)),
    "trips below 0 and nothing joined": loop(trips=constant(0, "i64", "", 16, 8)),
    "double back edge": loop(back=BACK * 2),
    "axis of the condition": loop(NUMBER + CARRIED + AGAIN.replace("/>", ' axis="x"/>') + LAST),
    "another output in version 10": loop(count=(3, 2), version=10),
    "another output in version 10 of a TensorIterator": cut('axis="0"', 'axis="0"', count=(1, 2), version=10),
    "another input in version 10 of a TensorIterator": cut('axis="0"', 'axis="0"', count=(2, 1), version=10),
    "cut and joined": cut('axis="0"', 'axis="0"'),
    "backward": cut('axis="0" start="-1" end="0" stride="-1"', 'axis="0"'),
    "stride of 0 and open sizes": cut('axis="0" stride="0"', x="?,3"),
    "parts of another size": cut('axis="0" stride="3" part_size="2"'),
}


def errors(text: str, folder: Path) -> set[str]:
    path = folder / "m.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes(WEIGHTS)
    return {each.rule.code for each in irlint.check(path).findings if each.severity.value == "error"}


@pytest.mark.parametrize(("code", "name"), [(code, name) for code, texts in REFUSED.items() for name in texts])
def test_what_is_refused(code: str, name: str, tmp_path: Path) -> None:
    assert errors(REFUSED[code][name], tmp_path) == {code}
    (found,) = outcomes([tmp_path / "m.xml"], runs=True)
    assert found[0] != "ok"


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken(name: str, tmp_path: Path) -> None:
    assert errors(TAKEN[name], tmp_path) == set()
    assert compiles(TAKEN[name].encode(), WEIGHTS)


# --- what back edges leave for the next iteration ---------------------------------------------------------------------

SHAPE = constant(7, "i64", "1", 24, 8)


def node(id: int, type: str, data: str = "") -> str:
    """An operation with an axis as its second input."""
    inputs = '<input><port id="0"/><port id="1"/></input>'
    return f'<layer id="{id}" name="n{id}" type="{type}" version="opset1">{data}{inputs}{outputs(2)}</layer>'


CUT_AXIS = node(4, "ReduceSum", '<data keep_dims="false"/>')
NEW_AXIS = node(4, "Unsqueeze")
DOUBLED = node(4, "Concat", '<data axis="0"/>')


def carries(
    change: str,
    last: int,
    *,
    x: str = "2,3",
    trips: str = constant(0, "i64", "", 0, 8),
    twice: bool = False,
    of: int = 6,
) -> str:
    """A Loop whose back edge leads what ``change`` makes of x, Result 6, into x again; its output is Result ``last``:
    6, or 8, which is a Relu of x, or 18, which is one of an input that is no part of that."""
    second = edge(1, 0, 4, 1) if twice else edge(7, 0, 4, 1)
    layers = [parameter(1, x), parameter(11, x), SHAPE, change, constant(3, "boolean", "", 32, 1), relu(9), relu(19)]
    layers += [result(6), result(5), result(8), result(18)]
    edges = [edge(1, 0, 4, 0), second, edge(4, 2, 6, 0), edge(3, 0, 5, 0), edge(1, 0, 9, 0), edge(9, 1, 8, 0)]
    edges += [edge(11, 0, 19, 0), edge(19, 1, 18, 0)]
    body = f"<body><layers>{''.join(layers)}</layers><edges>{''.join(edges)}</edges></body>"
    ports = CARRIED + port("input", 3, 11) + AGAIN + port("output", 4, last)
    given = "".join(map(OPEN.format, range(4)))
    back = f'<edge from-layer="{of}" to-layer="1"/>'
    layer = (
        f'<layer id="9" name="loop" type="Loop" version="opset5"><input>{given}</input>{outputs(4)}'
        f"<port_map>{ports}</port_map><back_edges>{back}</back_edges>{body}</layer>"
    )
    edges = [edge(0, 0, 9, 0), edge(1, 0, 9, 1), edge(2, 0, 9, 2), edge(2, 0, 9, 3), edge(9, 4, 10, 0)]
    return net([trips, constant(1, "boolean", "", 32, 1), parameter(2, x), layer, result(10)], edges)


ONCE = constant(0, "i64", "", 8, 8)
FED = parameter(0, "", "i64")

#: What a back edge leaves behind, whether OpenVINO runs the model with ones, five iterations where nothing else says
#: how many, and what irlint says of it.
BACK_EDGES = {
    "an axis less, as output": (carries(CUT_AXIS, 6), False, "error"),
    "an axis less, as output of one iteration": (carries(CUT_AXIS, 6, trips=ONCE), False, "error"),
    "an axis less, of another output": (carries(CUT_AXIS, 8), False, "error"),
    "an axis less, of another output of one iteration": (carries(CUT_AXIS, 8, trips=ONCE), True, ""),
    "an axis less, of another output of one iteration that is fed": (carries(CUT_AXIS, 8, trips=FED), True, "warning"),
    "an axis less, of an output that needs it not": (carries(CUT_AXIS, 18), False, "warning"),
    "an axis more, as output": (carries(NEW_AXIS, 6), False, "error"),
    "an axis more, of another output": (carries(NEW_AXIS, 8), False, "error"),
    "twice as many rows, as output": (carries(DOUBLED, 6, twice=True), True, ""),
    "twice as many rows, of another output": (carries(DOUBLED, 8, twice=True), False, "error"),
    "twice as many rows of open sizes, of another output": (carries(DOUBLED, 8, twice=True, x="?,3"), True, ""),
    "the same shape": (carries(CUT_AXIS, 8, of=8), True, ""),
    "a scalar for one element": (carries(CUT_AXIS, 8, x="1"), True, ""),
}


def test_what_back_edges_leave_for_the_next_iteration(tmp_path: Path) -> None:
    paths = [tmp_path / f"{at}.xml" for at in range(len(BACK_EDGES))]
    for path, (text, _, severity) in zip(paths, BACK_EDGES.values()):
        path.write_text(text)
        path.with_suffix(".bin").write_bytes(WEIGHTS[:33])
        findings = [each for each in irlint.check(path).findings if each.severity.value != "note"]
        assert [(each.rule.code, each.severity.value) for each in findings] == [("IRL393", severity)] * bool(severity)
    stages = {name: stage for name, (stage, _, _) in zip(BACK_EDGES, outcomes(paths, runs=True))}
    assert stages == {name: "ok" if runs else "run" for name, (_, runs, _) in BACK_EDGES.items()}


def test_a_parameter_that_nothing_is_tied_to(tmp_path: Path) -> None:
    """OpenVINO compiles the document, and the Parameter has whatever is in its memory."""
    addition = (
        '<layer id="3" name="d" type="Add" version="opset1"><data auto_broadcast="numpy"/><input><port id="0"/>'
        '<port id="1"/></input><output><port id="2" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>'
    )
    read = GOOD.replace('<layer id="2" name="o"', f'{parameter(9, "1,2")}{addition}<layer id="2" name="o"').replace(
        f"{edge(1, 1, 2, 0)}</edges></body>",
        f"{edge(1, 1, 3, 0)}{edge(9, 0, 3, 1)}{edge(3, 2, 2, 0)}</edges></body>",
    )
    unread = GOOD.replace('<layer id="2" name="o"', f'{parameter(9, "1,2")}<layer id="2" name="o"')
    assert read != GOOD != unread
    twice = (
        read.replace(
            '<port id="0"/></input><output><port id="1" precision="FP32"><dim>3',
            '<port id="0"/><port id="1"/></input><output><port id="2" precision="FP32"><dim>3',
        )
        .replace(
            '<output external_port_id="1"',
            '\n<input external_port_id="1" internal_layer_id="0" axis="0"/><output external_port_id="2"',
        )
        .replace(f"{edge(1, 1, 2, 0)}</edges></net>", f"{edge(0, 0, 1, 1)}{edge(1, 2, 2, 0)}</edges></net>")
    )
    for document, severities in ((GOOD, []), (unread, []), (read, ["warning"])):
        path = tmp_path / "m.xml"
        path.write_text(document)
        path.with_suffix(".bin").touch()
        found = irlint.check(path, select=["IRL395"]).findings
        assert ([each.severity.value for each in found], compiles(document.encode(), b"")) == (severities, True)
    path.write_text(twice)
    found = irlint.check(path, select=["IRL395"]).findings
    assert [each.severity.value for each in found] == ["warning"]
    assert found[0].line == next(at for at, line in enumerate(twice.splitlines(), 1) if 'external_port_id="2"' in line)
    entries = 'external_port_id="0" and external_port_id="1"'
    assert found[0].help.endswith(f"or write this id in one of the entries with {entries}: both use Parameter 0")


@pytest.mark.oracle
def test_the_help_names_the_parameter_without_an_entry(tmp_path: Path) -> None:
    broken = loop(NUMBER + AGAIN + LAST)
    assert not compiles(broken.encode(), WEIGHTS)
    assert compiles(loop().encode(), WEIGHTS)
    assert errors(broken, tmp_path) == {"IRL395"}
    (found,) = [each for each in irlint.check(tmp_path / "m.xml").findings if each.severity.value == "error"]
    assert 'external_port_id="2" and internal_layer_id="1"' in (found.help or "")


def twice(kind: str, back: str, returned: bool) -> bytes:
    """A Loop or TensorIterator that ties two inputs to Parameter 1 of its body."""
    first = 2 if kind == "Loop" else 0
    layers = parameter(1, "1,3") + relu(4) + result(6) + result(7) * returned
    edges = edge(1, 0, 4, 0) + edge(4, 1, 6, 0) + edge(1, 0, 7, 0) * returned
    ports = port("input", first, 1) + port("input", first + 1, 1) + port("output", first + 2, 6)
    outer = [parameter(2, "1,3"), parameter(8, "1,3")]
    wires = [edge(2, 0, 9, first), edge(8, 0, 9, first + 1), edge(9, first + 2, 10, 0)]
    if kind == "Loop":
        layers, edges, ports = (
            layers + constant(3, "boolean", "", 32, 1) + result(5),
            edges + edge(3, 0, 5, 0),
            ports + AGAIN,
        )
        outer += [constant(0, "i64", "", 0, 8), constant(11, "boolean", "", 32, 1)]
        wires += [edge(0, 0, 9, 0), edge(11, 0, 9, 1)]
    given = "".join(map(OPEN.format, range(first + 2)))
    node = (
        f'<layer id="9" name="n" type="{kind}" version="opset{5 if kind == "Loop" else 1}"><input>{given}</input>'
        f"{outputs(first + 2)}<port_map>{ports}</port_map><back_edges>{back}</back_edges>"
        f"<body><layers>{layers}</layers><edges>{edges}</edges></body></layer>"
    )
    return net([*outer, node, result(10)], wires).encode()


@pytest.mark.parametrize("kind", ["Loop", "TensorIterator"])
@pytest.mark.parametrize("back", ["", '<edge from-layer="7" to-layer="1"/>', BACK])
@pytest.mark.parametrize("returned", [True, False])
def test_two_inputs_of_one_unchanged_parameter(kind: str, back: str, returned: bool, tmp_path: Path) -> None:
    if not returned and "7" in back:
        pytest.skip("there is no Result 7")
    path, document = tmp_path / "m.xml", twice(kind, back, returned)
    path.write_bytes(document)
    path.with_suffix(".bin").write_bytes(WEIGHTS)
    found = [each.severity.value for each in irlint.check(path, select=["IRL395"]).findings]
    assert found == (["error"] if kind == "Loop" and returned and back != BACK else [])
    assert compiles(document, WEIGHTS) == (not found)
