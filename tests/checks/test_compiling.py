"""What only several layers of an IR together show that OpenVINO refuses: variables, lists of no elements, and constants
that it does not work out."""

import struct

import pytest
from cases.ir_documents import edge, net
from oracles.openvino_worker import compiles

import irlint
from irlint.checks import compiling, variables
from irlint.inference.walk import inferred
from irlint.parsers import openvino as parser

LISTS = struct.pack("<4q", 1, 0, 2, 3)


def layer(id, type, inputs=0, data="", version="opset1", outputs=1):
    """A layer whose ports state no sizes; its inputs are 0 and on, its outputs 8 and 9."""
    ins = "".join(f'<port id="{port}"/>' for port in range(inputs))
    outs = "".join(f'<port id="{8 + port}" precision="dynamic"/>' for port in range(outputs))
    return (
        f'<layer id="{id}" name="{type}{id}" type="{type}" version="{version}"><data {data}/>'
        + f"<input>{ins}</input><output>{outs}</output></layer>"
    )


def parameter(id, shape="2,3", type="f32"):
    return layer(id, "Parameter", data=f'shape="{shape}" element_type="{type}"')


def const(id, shape, offset, size, type="i64"):
    return layer(id, "Const", data=f'element_type="{type}" shape="{shape}" offset="{offset}" size="{size}"')


def read(id, variable, shape):
    stated = f' variable_shape="{shape}"' if shape else ""
    return layer(id, "ReadValue", 1, f'variable_id="{variable}" variable_type="f32"{stated}', "opset6")


def assign(id, variable):
    return layer(id, "Assign", 1, f'variable_id="{variable}"', "opset6", 0)


def result(id):
    return layer(id, "Result", 1, outputs=0)


def document(layers, edges):
    return net(layers, [edge(source, 8, target, port) for source, target, port in edges])


def chained(first, second):
    """Two variables, the initial value of the second made of the first."""
    layers = [parameter(0), read(1, "u", first), layer(2, "Relu", 1), read(3, "v", second), result(4)]
    layers += [assign(5, "u"), assign(6, "v")]
    return document(layers, [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 4, 0), (2, 5, 0), (3, 6, 0)])


def begun(*more, edges=()):
    """A variable of open rank, whose initial value ``more`` may use too."""
    layers = [parameter(0), layer(1, "Relu", 1), read(2, "v", ""), result(3), assign(4, "v"), *more]
    return document(layers, [(0, 1, 0), (1, 2, 0), (2, 3, 0), (2, 4, 0), *edges])


def ordered(version, *lists):
    """A layer whose second input is the list that other layers make of constants."""
    return document([parameter(0, "1,3,4,4"), version, result(9), *lists[0]], [(0, 1, 0), (1, 9, 0), *lists[1]])


LRN = layer(1, "LRN", 2, 'alpha="1" beta="1" bias="1" size="3"')
TRANSPOSE = layer(1, "Transpose", 2)
SQUEEZE = layer(1, "Squeeze", 2)
ONE = const(2, "1", 0, 8)
ROLLED = [ONE, const(3, "1", 8, 8), const(4, "1", 8, 8), layer(5, "Roll", 3, version="opset7")]
BOTH = [const(2, "2", 8, 16), const(3, "1", 8, 8), const(4, "1", 8, 8), layer(5, "Roll", 3, version="opset7")]
ABS = [ONE, layer(5, "Abs", 1)]
FROM_ROLL = [(2, 5, 0), (3, 5, 1), (4, 5, 2), (5, 1, 1)]
EMPTY = [const(2, "0", 0, 0)]
AS_NF4 = layer(1, "Convert", 1, 'destination_type="nf4"')

#: Bounds of quantization in float32 and float16: 0, 1, 1 + 2**-20, 1.5.
BOUNDS = struct.pack("<4f4e", 0, 1, 1 + 2**-20, 1.5, 0, 1, 1, 1.5)


def quantized(before=False, after=False, high=1, type="f32", levels=65536, dtype="f32", shape="2,3", results=()):
    """A FakeQuantize with equal bounds, but for ``high`` of the output; a Relu before or behind; ``results`` are other
    outputs."""
    size, start = (4, 0) if type == "f32" else (2, 16)
    bounds = [const(20 + at, "", start + size * at, size, type) for at in range(4)]
    layers = [parameter(0, shape, dtype), layer(1, "Relu", 1), layer(2, "FakeQuantize", 5, f'levels="{levels}"')]
    layers += [layer(3, "Relu", 1), result(4), *(result(10 + each) for each in results), *bounds]
    edges = [(0, 1, 0), (1 if before else 0, 2, 0), (2, 3, 0), (3 if after else 2, 4, 0)]
    edges += [(20, 2, 1), (21, 2, 2), (20, 2, 3), (20 + high, 2, 4), *((each, 10 + each, 0) for each in results)]
    return document(layers, edges)


def branched(first, second, condition=1):
    """An If with a layer in each branch; its condition is computed, or is 0, an input of the model."""
    bodies = [
        f"<{name}_port_map><input external_port_id='1' internal_layer_id='0'/>"
        f"<output external_port_id='8' internal_layer_id='2'/></{name}_port_map><{name}_body><layers>"
        f"{parameter(0, '2,1')}{layer(1, type, 1)}{result(2)}</layers><edges>{edge(0, 8, 1, 0)}{edge(1, 8, 2, 0)}"
        f"</edges></{name}_body>"
        for name, type in (("then", first), ("else", second))
    ]
    choice = layer(2, "If", 2, version="opset8").replace("</layer>", f"{''.join(bodies)}</layer>")
    layers = [parameter(0, "", "boolean"), layer(1, "LogicalNot", 1), choice, parameter(3, "2,1"), result(4)]
    return document(layers, [(0, 1, 0), (condition, 2, 0), (3, 2, 1), (2, 4, 0)])


def quantized_often():
    """FakeQuantize layers that differ only in the numbers of their bounds; those of the last one are equal."""
    layers, edges = [parameter(0, "2,3"), *[const(20 + at, "", 4 * at, 4, "f32") for at in range(4)]], []
    for id, high in ((1, 23), (2, 23), (3, 23), (4, 21)):
        layers += [layer(id, "FakeQuantize", 5, 'levels="65536"'), result(10 + id)]
        edges += [(0, id, 0), (20, id, 1), (21, id, 2), (20, id, 3), (high, id, 4), (id, 10 + id, 0)]
    return document(layers, edges)


#: IRs, their weights, and the codes of what OpenVINO refuses to read or to compile, "" where it compiles them.
IRS = {
    "both variables state their shape": (chained("2,3", "2,3"), b"", ""),
    "the first states none": (chained("", "2,3"), b"", "IRL396 IRL525"),
    "the first states the open rank": (chained("...", "2,3"), b"", "IRL396 IRL525"),
    "the first leaves a size open": (chained("?,3", "2,3"), b"", "IRL396"),
    "the first leaves a size open, and the second too": (chained("?,3", "?,3"), b"", ""),
    "an initial value of its own": (begun(), b"", ""),
    "an initial value that is a result too": (begun(result(5), edges=[(1, 5, 0)]), b"", "IRL525"),
    "branches of one rank": (branched("Relu", "Abs"), b"", ""),
    "branches of different ranks": (branched("Relu", "Squeeze"), b"", "IRL525"),
    "branches of different ranks that an input decides on": (branched("Squeeze", "Relu", 0), b"", "IRL525"),
    "axes that are a constant": (ordered(LRN, [ONE], [(2, 1, 1)]), LISTS, ""),
    "axes that OpenVINO works out": (ordered(LRN, ABS, [(2, 5, 0), (5, 1, 1)]), LISTS, ""),
    "axes that it does not work out": (ordered(LRN, ROLLED, FROM_ROLL), LISTS, "IRL525"),
    "a rank that it does not work out": (ordered(SQUEEZE, BOTH, FROM_ROLL), LISTS, "IRL525"),
    "65536 levels after layers with other bounds of the same type": (quantized_often(), BOUNDS, "IRL525"),
    **{
        f"65536 levels {name}": (quantized(**given), BOUNDS, codes)
        for name, given, codes in [
            ("between input and output", {}, "IRL525"),
            ("behind a layer", {"before": True}, ""),
            ("before a layer", {"after": True}, ""),
            ("behind a layer that is an output too", {"before": True, "results": [1]}, "IRL525"),
            ("that leave before a layer too", {"after": True, "results": [2]}, "IRL525"),
            ("beside an output", {"results": [1]}, "IRL525"),
            ("with nearly equal bounds", {"high": 2}, "IRL525"),
            ("with other bounds", {"high": 3}, ""),
            ("but for one", {"levels": 65535}, ""),
            ("and one more", {"levels": 65537}, ""),
            ("of float16", {"type": "f16", "before": True, "after": True}, "IRL525"),
            ("of float16 with other bounds", {"type": "f16", "before": True, "after": True, "high": 3}, ""),
        ]
    },
    **{
        f"256 levels of {dtype} {shape}{' behind a layer' * before}": (
            quantized(levels=256, dtype=dtype, shape=shape, before=before),
            BOUNDS,
            codes,
        )
        for dtype, shape, before, codes in [
            ("f64", "2,3", False, "IRL525"),
            ("f64", "3", False, ""),
            ("f64", "1,1,1,1,2,3", False, ""),
            ("u16", "3", False, ""),
            ("u16", "?,3", False, "IRL525"),
            ("i32", "3", False, "IRL525"),
        ]
    },
    "float64 of an input as nf4": (
        document([parameter(0, type="f64"), AS_NF4, result(9)], [(0, 1, 0), (1, 9, 0)]),
        b"",
        "IRL525",
    ),
    "float64 of a layer as nf4": (
        document([parameter(0, type="f64"), layer(2, "Relu", 1), AS_NF4, result(9)], [(0, 2, 0), (2, 1, 0), (1, 9, 0)]),
        b"",
        "",
    ),
    "an empty list": (ordered(TRANSPOSE, EMPTY, [(2, 1, 1)]), LISTS, ""),
    "an empty list in an empty file": (ordered(TRANSPOSE, EMPTY, [(2, 1, 1)]), b"", "IRL705"),
    "an empty list of a layer that asks for none": (
        ordered(layer(1, "Concat", 2, 'axis="0"'), [const(2, "0,3,4,4", 0, 0, "f32")], [(2, 1, 1)]),
        b"",
        "",
    ),
}


@pytest.fixture
def known(request, tmp_path):
    xml, weights, _ = IRS[request.param]
    path = tmp_path / "m.xml"
    path.write_text(xml)
    path.with_suffix(".bin").write_bytes(weights)
    return inferred(parser.read(path))


@pytest.mark.parametrize(
    ("known", "codes"), [(name, each[2]) for name, each in IRS.items()], indirect=["known"], ids=list(IRS)
)
def test_what_openvino_refuses_is_found(known, codes):
    found = (*known.model.problems, *known.problems, *compiling.problems(known), *variables.problems(known))
    refused = {each.fault.rule.code for each in found if each.is_error or each.fault.stage == "compile"}
    assert refused == set(codes.split())


OPEN = ordered(LRN, ROLLED, FROM_ROLL)


@pytest.mark.parametrize(
    ("xml", "targets", "level"),
    [
        (OPEN, (), "warning"),
        (OPEN, ("openvino",), "error"),
        (OPEN, ("openvino@2024.0", "openvino@2026.4"), "error"),
        (OPEN, ("openvino@2025.2",), "warning"),
        (ordered(layer(1, "LRN", 2, 'alpha="1" beta="1" bias="1" size="-1"'), [ONE], [(2, 1, 1)]), (), "error"),
    ],
)
def test_what_the_specification_allows_is_an_error_for_whoever_names_the_runtime(xml, targets, level, tmp_path):
    path = tmp_path / "m.xml"
    path.write_text(xml)
    path.with_suffix(".bin").write_bytes(LISTS)
    found = [each for each in irlint.check(path, targets=targets).findings if each.rule.code == "IRL525"]
    assert [each.severity.value for each in found] == [level]


def test_what_openvino_takes_stays_a_warning_for_whoever_names_it(tmp_path):
    """It takes 0 for the `min` of a Clamp that is misspelled."""
    path = tmp_path / "m.xml"
    clamp = layer(1, "Clamp", 1, 'mim="0" max="6"')
    path.write_text(document([parameter(0, "2,3"), clamp, result(9)], [(0, 1, 0), (1, 9, 0)]))
    found = irlint.check(path, targets=["openvino"]).findings
    assert [f"{each.severity.value} {each.rule.code}" for each in found] == ["warning IRL503"]


@pytest.mark.parametrize("targets", [(), ("openvino",)])
def test_what_follows_from_a_layer_that_is_not_compiled_follows_from_it_for_every_target(targets, tmp_path):
    path = tmp_path / "m.xml"
    path.write_text(chained("", "2,3"))
    assert {each.rule.code for each in irlint.check(path, targets=targets).findings} >= {"IRL396", "IRL525"}


CONVERT = layer(1, "Convert", 1)
DYNAMIC = layer(1, "Convert", 1, 'destination_type="dynamic"')
SHAPE = layer(2, "ShapeOf", 1, 'output_type="i64"', version="opset3")


#: Layers behind an input, edges, and what irlint says of them: an error where OpenVINO does not compile the IR.
TYPELESS = [
    ([CONVERT], [(1, 9, 0)], "error IRL504"),
    ([CONVERT, SHAPE], [(1, 2, 0), (2, 9, 0)], "warning IRL504"),
    ([CONVERT, SHAPE, result(10)], [(1, 2, 0), (2, 9, 0), (1, 10, 0)], "error IRL504"),
    ([DYNAMIC], [(1, 9, 0)], "error IRL510"),
    ([DYNAMIC, SHAPE], [(1, 2, 0), (2, 9, 0)], "warning IRL510"),
]


@pytest.mark.parametrize(("layers", "edges", "findings"), TYPELESS)
def test_a_type_is_needed_where_the_elements_are(layers, edges, findings, tmp_path):
    """OpenVINO reads a Convert without a type, and compiles it where a result needs its shape alone."""
    path = tmp_path / "m.xml"
    path.write_text(document([parameter(0, "2,3"), *layers, result(9)], [(0, 1, 0), *edges]))
    found = irlint.check(path).findings
    assert [f"{each.severity.value} {each.rule.code}" for each in found if each.rule.family == "operators"] == [
        findings
    ]


@pytest.mark.oracle
@pytest.mark.parametrize(("layers", "edges", "findings"), TYPELESS)
def test_openvino_compiles_what_is_no_error(layers, edges, findings):
    xml = document([parameter(0, "2,3"), *layers, result(9)], [(0, 1, 0), *edges])
    assert compiles(xml.encode(), b"") == findings.startswith("warning")


@pytest.mark.oracle
@pytest.mark.parametrize("name", IRS)
def test_openvino_refuses_the_same(name):
    xml, weights, codes = IRS[name]
    assert compiles(xml.encode(), weights) == (not codes)
