"""The reader of OpenVINO IR, with OpenVINO itself as the referee."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from irlint.diagnostics import RULES, Severity
from irlint.dims import bounds
from irlint.model import Model, Node
from irlint.parsers import openvino
from irlint.parsers.ir_types import BackEdge, PortMapEntry, element_type, partial_shape, port_precision
from irlint.parsers.positions import positions

WEIGHTS = struct.pack("<4q", 5, 6, 7, 8)


def layer(id, type, inputs="", outputs="", *, name="op", data="", version="opset1", inside="", attributes=""):
    """A layer; ``inputs`` and ``outputs`` are port ids, one character each."""
    dims = "<dim>2</dim><dim>3</dim>"
    ins = "".join(f'<port id="{port}">{dims}</port>' for port in inputs)
    outs = "".join(f'<port id="{port}" precision="FP32">{dims}</port>' for port in outputs)
    return (
        f'<layer id="{id}" name="{name}" type="{type}" version="{version}"{attributes}>{data}'
        + (f"<input>{ins}</input>" if inputs else "")
        + (f"<output>{outs}</output>" if outputs else "")
        + f"{inside}</layer>"
    )


def parameter(id, name="x", shape="2,3"):
    return layer(id, "Parameter", outputs="0", name=name, data=f'<data shape="{shape}" element_type="f32"/>')


def result(id, name="r"):
    return layer(id, "Result", "0", name=name)


def const(id, data='element_type="i64" shape="2" offset="8" size="16"', type="Const"):
    return layer(id, type, outputs="0", name="c", data=f"<data {data}/>")


def edge(from_layer, from_port, to_layer, to_port):
    return f'<edge from-layer="{from_layer}" from-port="{from_port}" to-layer="{to_layer}" to-port="{to_port}"/>'


def net(layers, edges, version=11):
    return (
        f'<?xml version="1.0"?>\n<net name="n" version="{version}">\n<layers>\n'
        + "\n".join(layers)
        + "\n</layers>\n<edges>\n"
        + "\n".join(edges)
        + "\n</edges>\n</net>"
    )


LAYERS = (parameter(0, "x"), parameter(1, "y"), layer(2, "Subtract", "01", "2"), result(3))
EDGES = (edge(0, 0, 2, 0), edge(1, 0, 2, 1), edge(2, 2, 3, 0))
DEAD = layer(5, "Subtract", "01", "2", name="dead")
SMALL = net([parameter(0), result(1)], [edge(0, 0, 1, 0)])
SOUND = net(LAYERS, EDGES)


def small(*more, edges=(), version=11):
    return net([parameter(0), result(1), *more], [edge(0, 0, 1, 0), *edges], version)


def dead(text, edges=(edge(0, 0, 5, 0), edge(0, 0, 5, 1))):
    """A sound graph and beside it a layer that nothing uses."""
    return small(text, edges=edges)


def sound(old="", new="", count=-1, version=11, layers=LAYERS, edges=EDGES):
    text = net(layers, edges, version)
    assert old in text
    return text.replace(old, new, count) if old else text


def loop(entries, back_edges="", body_edges=None, inside=None, live=True, tag="port_map"):
    """A TensorIterator whose body is a Relu."""
    layers = inside or [parameter(0), layer(1, "Relu", "0", "2"), result(2)]
    body = "".join(layers), "".join(body_edges or [edge(0, 0, 1, 0), edge(1, 2, 2, 0)])
    text = (
        f"<{tag}>{entries}</{tag}><back_edges>{back_edges}</back_edges>"
        f"<body><layers>{body[0]}</layers><edges>{body[1]}</edges></body>"
    )
    iterator = layer(4, "TensorIterator", "0", "1", name="ti", inside=text)
    if not live:
        return small(iterator, edges=[edge(0, 0, 4, 0)])
    return net([parameter(0), iterator, result(1)], [edge(0, 0, 4, 0), edge(4, 1, 1, 0)])


INPUT = '<input external_port_id="0" internal_layer_id="0"/>'
OUTPUT = '<output external_port_id="1" internal_layer_id="2"/>'


@pytest.fixture
def written(tmp_path):
    """Writes a document, with weights beside it, and gives its path."""

    def write(document, weights=WEIGHTS, name="m.xml"):
        path = tmp_path / name
        path.write_bytes(document if isinstance(document, bytes) else document.encode())
        if weights is not None:
            path.with_suffix(".bin").write_bytes(weights)
        return path

    return write


def severities(model: Model) -> set[tuple[str, str]]:
    return {
        (problem.fault.rule.code, (problem.fault.severity or problem.fault.rule.severity).value)
        for problem in model.problems
    }


def refused(path: Path) -> bool:
    import openvino as library

    try:
        library.Core().read_model(path)
    except Exception:
        return True
    return False


def node(model: Model, name: str) -> Node:
    return next(node for node in model.graph.nodes if node.name == name)


# ---- faults, each against OpenVINO's own verdict


@pytest.mark.parametrize(
    "document, code",
    [
        # edges
        (sound(edges=(edge(8, 0, 2, 0), *EDGES[1:])), "IRL105"),
        (sound(edges=(edge(0, 5, 2, 0), *EDGES[1:])), "IRL105"),
        (sound(edges=(edge(0, 0, 2, 7), *EDGES[1:])), "IRL105"),
        (sound(edges=(*EDGES, edge(1, 0, 0, 0))), "IRL105"),
        (sound(edges=(*EDGES, edge(3, 0, 4, 0)), layers=(*LAYERS, result(4))), "IRL105"),
        (sound(layers=(*LAYERS[:2], layer(2, "Subtract", "0", "2"), LAYERS[3])), "IRL105"),
        (sound("<output>", "<output/><output>", 1), "IRL105"),
        (sound(edges=(*EDGES, EDGES[0])), "IRL107"),
        (sound(edges=(*EDGES, edge(1, 0, 2, 0))), "IRL107"),
        (sound(edges=EDGES[1:]), "IRL108"),
        (sound(edges=EDGES[1:], version=10), "IRL108"),
        (sound(edges=EDGES[:2]), "IRL108"),
        (sound(layers=(*LAYERS[:2], layer(2, "Subtract", "013", "2"), LAYERS[3])), "IRL108"),
        # attributes that must be there
        *((dead(DEAD.replace(f" {name}=", " z=", 1)), "IRL110") for name in ("id", "name", "type", "version")),
        *((dead(DEAD.replace('id="5"', f'id="{id}"')), "IRL110") for id in ("", "-2", "2.7", "two", "0x2", "2 ", "1" * 20)),
        *(
            (dead(DEAD, [edge(0, 0, 5, 0).replace(name, "z"), edge(0, 0, 5, 1)]), "IRL110")
            for name in ("from-layer", "from-port", "to-layer", "to-port")
        ),
        (dead(DEAD, [edge(0, 0, 5, 0), edge(0, 0, 5, "x")]), "IRL110"),
        (dead(DEAD.replace('<port id="0">', "<port>")), "IRL110"),
        (dead(DEAD.replace(' precision="FP32"', "")), "IRL110"),
        # ports
        *((dead(DEAD.replace("FP32", precision)), "IRL111") for precision in ("F32", "", " FP32", "q78", "float")),
        *(
            (dead(DEAD.replace("<dim>2", f"<dim>{dim}", 1)), "IRL111")
            for dim in ("?", "", "-2", "９", "- 1", "--1", "x", "9223372036854775808")
        ),
        (sound(layers=(*LAYERS[:2], layer(2, "Subtract", "00", "2"), LAYERS[3]), edges=(EDGES[0], edge(1, 0, 2, 0), EDGES[2])), "IRL111"),
        (sound(layers=(*LAYERS[:2], layer(2, "Subtract", "01", "22"), LAYERS[3])), "IRL111"),
        # constants
        *(
            (net([const(0, data), result(1)], [edge(0, 0, 1, 0)]), "IRL705")
            for data in (
                'shape="2" offset="0" size="16"',
                'element_type="i64" offset="0" size="16"',
                'element_type="i64" shape="2" size="16"',
                'element_type="i64" shape="2" offset="0"',
                'element_type="i64" shape="2" offset="x" size="16"',
                'element_type="i64" shape="2" offset="0" size=""',
                'element_type="i64" shape="2" offset="-8" size="16"',
                'element_type="i64" shape="2" offset="8abc" size="16"',
                'element_type="i64" shape="a" offset="0" size="16"',
                'element_type="i64" shape="2,,1" offset="0" size="16"',
                'element_type="i64" shape="[2]" offset="0" size="16"',
                'element_type="i64" shape="-1" offset="0" size="16"',
                'element_type="i64" shape="?" offset="0" size="16"',
                'element_type="FP32" shape="2" offset="0" size="16"',
                'element_type="dynamic" shape="2" offset="0" size="16"',
                'element_type="" shape="2" offset="0" size="16"',
            )
        ),
        (net([layer(0, "Const", outputs="0"), result(1)], [edge(0, 0, 1, 0)]), "IRL705"),
        # bodies
        *(
            (loop(entries), "IRL110")
            for entries in (
                INPUT.replace("external", "z") + OUTPUT,
                INPUT.replace("internal", "z") + OUTPUT,
                INPUT + OUTPUT.replace("internal", "z"),
                INPUT + OUTPUT.replace("external", "z"),
                INPUT.replace("/>", ' axis="x"/>') + OUTPUT,
                INPUT.replace("/>", ' axis="-1"/>') + OUTPUT,
                INPUT.replace("/>", ' axis="0" start="0abc"/>') + OUTPUT,
            )
        ),
        (loop(INPUT + OUTPUT, '<edge from-layer="2"/>'), "IRL110"),
        (loop(INPUT + OUTPUT, '<edge to-layer="0"/>'), "IRL110"),
        (loop(INPUT + OUTPUT, body_edges=[edge(0, 0, 1, 0), edge(0, 0, 1, 0), edge(1, 2, 2, 0)]), "IRL107"),
        # the document
        *((sound(version=version), "IRL007") for version in ("7", "9", "12", "", "11x", "1.5")),
        (sound(' version="11"', ""), "IRL007"),
        (sound("</layers>", ""), "IRL005"),
        (sound("</layers>", "</layer>"), "IRL005"),
        (sound("<layers>", "</foo><layers>"), "IRL005"),
        (sound("<layers>", "<layers><></>"), "IRL005"),
        (sound('name="n"', "name=n"), "IRL005"),
        (sound("</net>", "</NET>"), "IRL005"),
        (sound("</net>", ""), "IRL003"),
        (SOUND[:-3], "IRL003"),
        (SOUND[: SOUND.index("Subtract")], "IRL003"),
        (sound("<edges>", "<!-- <edges>"), "IRL003"),
        (SOUND + "<a><b></a>", "IRL005"),
        (SOUND + "<a>", "IRL003"),
    ],
)
def test_what_openvino_refuses_is_one_error(document, code, written):
    path = written(document)
    assert refused(path)
    assert severities(openvino.read(path)) == {(code, "error")}


@pytest.mark.parametrize(
    "document, code",
    [
        (sound(edges=(*EDGES, edge(0, 0, 9, 0))), "IRL105"),
        (small(DEAD, edges=[edge(9, 0, 5, 0), edge(0, 0, 5, 1)]), "IRL105"),
        (small(DEAD, edges=[edge(0, 7, 5, 0), edge(0, 0, 5, 1)]), "IRL105"),
        (small(DEAD, edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 9)]), "IRL105"),
        (small(layer(5, "Relu", outputs="1"), layer(5, "Relu", outputs="1")), "IRL106"),
        (small(DEAD, edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 1), edge(0, 0, 5, 1)]), "IRL107"),
        (small(DEAD), "IRL108"),
        (dead(DEAD.replace('<port id="0">', '<port id="0" precision="junk">'), edges=[edge(0, 0, 5, 0), edge(0, 0, 5, 1)]), "IRL111"),
        *((small().replace("<dim>2", f"<dim>{dim}", 1), "IRL111") for dim in ("1..8", "2.5", "2abc", "0x10", "1 2")),
        (small(layer(5, "Relu", outputs="11")), "IRL111"),
        (small(const(7, 'x="1"')), "IRL705"),
        (net([const(0, 'element_type="i64" shape="2abc" offset="0" size="16"'), result(1)], [edge(0, 0, 1, 0)]), "IRL705"),
        (loop(INPUT + OUTPUT, body_edges=[edge(0, 0, 1, 0), edge(0, 0, 1, 0), edge(1, 2, 2, 0)], live=False), "IRL107"),
        *(
            (SMALL.replace('name="n"', name), "IRL006")
            for name in ('name="a & b"', 'name="&foo;"', 'name="a < b"', 'name="a" name="b"', 'name="\x01"', 'a:b="1"')
        ),
        (SMALL + "text", "IRL006"),
        (SMALL + "<net/>", "IRL006"),
        ("text" + SMALL, "IRL006"),
        (SMALL.replace("<layers>", "<layers> & "), "IRL006"),
        (SMALL.replace('name="x"', 'name="é"').encode("latin-1"), "IRL006"),
        (SMALL.replace('"1.0"?>', '"1.0"?><!DOCTYPE net [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>').replace('"x"', '"&d;"'), "IRL006"),
    ],
)  # fmt: skip
def test_what_openvino_passes_over_is_one_warning(document, code, written):
    path = written(document)
    assert not refused(path)
    model = openvino.read(path)
    assert severities(model) == {(code, "warning")}
    assert model.graph is not None and len(model.graph.outputs) == 1


@pytest.mark.parametrize(
    "document",
    [
        SOUND,
        net([*LAYERS[:2], layer(2, "Subtract", "10", "2"), LAYERS[3]], EDGES),
        sound("<net", "<NET").replace("</net", "</NET"),
        sound(version=" 11"),
        sound(version="+11"),
        sound(version="011"),
        sound(' version="11"', ' xmlns="u" version="11"'),
        sound('id="2"', 'id=" 2"'),
        sound('id="2"', 'id="02"'),
        sound("<dim>2", "<dim> +2 ", 1),
        sound("<dim>2", "<dim><![CDATA[2]]>", 1),
        sound("<dim>2", "<dim><!-- n -->2", 1),
        sound("<dim>2", "<dim>-1", 1),
        sound("</net>", "<layers/><edges><edge/></edges></net>"),
        sound("<layers>", "<?pi?><layers><!-- a -->"),
        sound('name="n"', "name='&quot;'"),
        sound('<?xml version="1.0"?>\n', ""),
        SOUND.encode("utf-16"),
        SOUND.encode("utf-16-le"),
        SOUND.encode("utf-16-be"),
        SOUND.encode("utf-32"),
        b"\xef\xbb\xbf" + SOUND.encode(),
        sound('"1.0"', '"1.0" encoding="ISO-8859-1"').replace('"x"', '"é"').encode("latin-1"),
        small(layer(5, "Relu", outputs="1", name="")),
        small(layer(5, "", outputs="1", name="", version="")).replace('type=""', 'type="Nonsense"'),
        net([const(0), result(1)], [edge(0, 0, 1, 0)]),
        net([const(0, 'element_type="I64" shape=" 2 , 1, " offset="+8" size=" 16"'), result(1)], [edge(0, 0, 1, 0)])
        .replace("1, ", "1,"),
        loop(INPUT + OUTPUT),
        loop(INPUT + OUTPUT, '<edge from-layer="2" to-layer="0"/>'),
        loop(INPUT + OUTPUT.replace("/>", ' axis="-1"/>')),
        loop(INPUT.replace("/>", ' start="x"/>') + OUTPUT),
        '<net version="11"></net>',
    ],
)  # fmt: skip
def test_what_openvino_accepts_has_no_problem(document, written):
    path = written(document)
    assert not refused(path)
    assert severities(openvino.read(path)) == set()


def test_an_id_given_twice_and_used_is_an_error_though_openvino_takes_the_last(written):
    twice = (*LAYERS[:3], layer(2, "Add", "01", "2", name="sum"), LAYERS[3])
    path = written(sound(layers=twice))
    assert not refused(path)
    model = openvino.read(path)
    assert severities(model) == {("IRL106", "error")}
    assert model.problems[0].fault.message == 'Add "sum" has the id 2, which Subtract "op" has already'
    assert model.graph.outputs == (node(model, "sum").outputs[0],)


@pytest.mark.parametrize("code", [f"IRL{number}" for number in ("001", "003", "005", "006", "007", 105, 106, 107, 108, 110, 111, 705)])
def test_the_examples_of_a_rule(code, written):
    from irlint import parsers

    rule = RULES[code]
    bad, good = parsers.read(written(rule.bad, name="bad.xml")), parsers.read(written(rule.good, name="good.xml"))
    assert severities(bad) == {(code, rule.severity.value)}
    assert severities(good) == set()
    assert all(problem.fault.help for problem in bad.problems)


@pytest.mark.parametrize(
    "document, message",
    [
        (sound(edges=(*EDGES[:1], edge(1, 0, 2, 4), *EDGES[2:])), 'edge to port 4 of layer 2 "op", which has input ports 0 and 1'),
        (sound(edges=(edge(1, 3, 2, 0), *EDGES[1:])), 'edge from port 3 of layer 1 "y", which has only the output port 0'),
        (sound(edges=(*EDGES, edge(2, 2, 9, 0))), 'edge from layer 2 "op" to layer 9: no layer has the id 9'),
        (sound(edges=EDGES[1:]), 'no edge leads into input port 0 of layer 2 "op"'),
        (sound('name="op"', ""), 'layer 2 has no attribute "name"'),
        (sound(' from-port="2"', ""), 'an <edge> has no attribute "from-port"'),
        (sound('from-port="2"', 'from-port="b"'), 'an <edge> has from-port="b", where a whole number of at least 0 is expected'),
        (sound('<port id="2"', "<port"), 'an output port of layer 2 "op" has no attribute "id"'),
        (sound("<dim>2", "<dim>?", 1), 'dim 0 of output port 0 of layer 0 "x" is "?", where a whole number or -1 is expected'),
        (sound(version="7"), 'the IR is of version "7", where 10 or 11 is expected'),
        (sound("</layers>", ""), "line 10, column 1: </net> stands where </layers> was expected, which was opened in line 3"),
        (SOUND[: SOUND.index("<edges>")], "line 9, column 1: the file ends inside <net>, which was opened in line 2"),
    ],
)  # fmt: skip
def test_messages(document, message, written):
    model = openvino.read(written(document))
    assert message in [problem.fault.message for problem in model.problems]


def test_one_broken_layer_does_not_hide_the_rest(written):
    document = sound(
        layers=(parameter(0), LAYERS[1].replace("<dim>2", "<dim>?"), LAYERS[2].replace(' type="Subtract"', ""), LAYERS[3]),
        edges=(*EDGES, EDGES[1]),
    )
    model = openvino.read(written(document))
    assert severities(model) == {("IRL111", "error"), ("IRL110", "error"), ("IRL107", "error")}
    assert [node.name for node in model.graph.nodes] == ["x", "y", "r"]


def test_a_layer_without_an_id_does_not_make_its_edges_dangle(written):
    model = openvino.read(written(sound('id="1" name', "name")))
    assert severities(model) == {("IRL110", "error")}


# ---- what is read


def test_inputs_follow_the_order_of_the_ports(written):
    model = openvino.read(written(net([*LAYERS[:2], layer(2, "Subtract", "10", "2"), LAYERS[3]], EDGES)))
    assert [value.name for value in node(model, "op").inputs] == ["1:0", "0:0"]


def test_a_graph(written):
    document = SOUND.replace('<port id="2" precision="FP32">', '<port id="2" precision="FP16" names="a,b\\,c">')
    model = openvino.read(written(document))
    graph, subtract = model.graph, node(model, "op")
    assert (model.format, model.format_version, graph.path, graph.name) == ("openvino", "11", "", "n")
    assert [value.name for value in graph.inputs] == ["0:0", "1:0"]
    assert graph.outputs == subtract.outputs and graph.outputs[0].name == "2:2"
    assert [node.op for node in graph.nodes] == ["Parameter", "Parameter", "Subtract", "Result"]
    assert (subtract.id, subtract.domain, subtract.version, subtract.index) == ("2", "openvino", "opset1", 2)
    assert [port.id for port in subtract.input_ports] == [0, 1]
    port = subtract.output_ports[0]
    assert (port.type.dtype, port.type.shape, port.names) == ("float16", (2, 3), ("a", "b,c"))
    assert subtract.outputs[0].type is port.type and subtract.outputs[0].declared[0].by == "port"
    assert graph.nodes[0].attributes["shape"].value == "2,3"
    assert graph.nodes[0].attributes["shape"].place.attribute == "shape"


def test_types_that_have_two_spellings(written):
    types = ("Constant", "PReLU", "ReLU", "SoftMax", "softmax")
    model = openvino.read(written(small(*(layer(9 + at, type, outputs="0") for at, type in enumerate(types)))))
    assert [node.op for node in model.graph.nodes[2:]] == ["Const", "PRelu", "Relu", "Softmax", "softmax"]


@pytest.mark.parametrize(
    "data, dtype, shape, value",
    [
        ('element_type="i64" shape="2" offset="8" size="16"', "int64", (2,), (6, 7)),
        ('element_type="i64" shape="" offset="24" size="8"', "int64", (), (8,)),
        ('element_type="i32" shape="2,1" offset="8" size="16"', "int32", (2, 1), (6, 0)),
        ('element_type="u4" shape="3" offset="8" size="2"', "uint4", (3,), (6, 0, 0)),
        ('element_type="boolean" shape="2" offset="7" size="2"', "bool", (2,), (False, True)),
        ('element_type="u3" shape="2" offset="0" size="3"', "uint3", (2,), None),
        ('element_type="string" shape="1" offset="0" size="12"', "string", (1,), None),
        ('element_type="i64" shape="2" offset="0" size="8"', "int64", (2,), None),
        ('element_type="i64" shape="2" offset="24" size="16"', "int64", (2,), None),
        ('element_type="u8" shape="257" offset="0" size="257"', "uint8", (257,), None),
    ],
)
def test_constants(data, dtype, shape, value, written):
    model = openvino.read(written(net([const(0, data), result(1)], [edge(0, 0, 1, 0)])))
    (constant,) = model.graph.constants.values()
    assert (constant.tensor.dtype, constant.tensor.shape, constant.tensor.value) == (dtype, shape, value)
    offset = int(data.split('offset="')[1].split('"')[0])
    assert (constant.stored.file, constant.stored.offset) == ("m.bin", offset)
    assert constant.stored.available == max(0, 32 - offset)
    assert model.problems == ()


@pytest.mark.parametrize(
    "weights, available, reason",
    [
        (None, None, "m.bin does not exist"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", None, "m.bin is a Git LFS pointer"),
        (b"", 0, None),
    ],
)
def test_weights_that_cannot_be_had(weights, available, reason, written):
    (constant,) = openvino.read(
        written(net([const(0), result(1)], [edge(0, 0, 1, 0)]), weights)
    ).graph.constants.values()
    assert constant.tensor.value is None
    assert constant.stored.available == available
    assert (constant.stored.reason or "").startswith(reason or "")


def test_the_last_extension_is_replaced_by_bin(written):
    model = openvino.read(written(net([const(0), result(1)], [edge(0, 0, 1, 0)]), name="e.f.xml"))
    (constant,) = model.graph.constants.values()
    assert constant.stored.file == "e.f.bin" and constant.tensor.value == (6, 7)


def test_bodies(written):
    sliced = INPUT.replace("/>", ' axis="1" start="-1" end="0" stride="-1"/>')
    inner = layer(1, "TensorIterator", "0", "2", name="in", inside=loop(INPUT + OUTPUT).split("</output>")[2].split("</layer>\n")[0])
    document = loop(sliced + OUTPUT, '<edge from-layer="2" to-layer="0"/>', inside=[parameter(0), inner, result(2)])
    model = openvino.read(written(document))
    iterator = node(model, "ti")
    body = iterator.attributes["body"].value
    assert iterator.attributes["body"].kind == "GRAPH" and body.path == "ti/body"
    assert [graph.path for node in body.nodes for _, graph in node.bodies] == ["ti/body/in/body"]
    assert body.inputs == body.nodes[0].outputs and body.outputs == body.nodes[1].outputs
    entry, out = iterator.attributes["port_map"].value
    expected = PortMapEntry("input", 0, "0", axis=1, start=-1, end=0, stride=-1, place=entry.place)
    assert entry == expected
    assert (out.kind, out.external_port_id, out.internal_layer_id, out.axis) == ("output", 1, "2", None)
    (back,) = iterator.attributes["back_edges"].value
    assert back == BackEdge("2", "0", back.place)
    assert model.nodes == 9


def test_nested_bodies_are_read_to_a_bounded_depth(written):
    text = "<layers/>"
    for _ in range(2000):
        text = f'<layers><layer id="0" name="b" type="If" version="opset8"><then_body>{text}</then_body></layer></layers>'
    model = openvino.read(written(f'<net version="11">{text}</net>'))
    assert severities(model) == {("IRL005", "warning")}
    assert model.nodes == openvino.DEEPEST + 1


def test_entities_are_not_expanded(written):
    laughs = "".join(f'<!ENTITY l{n} "{"&l%d;" % (n - 1) * 10}">' for n in range(1, 20))
    head = f'<?xml version="1.0"?><!DOCTYPE net [<!ENTITY l0 "ha">{laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    began = time.perf_counter()
    for where in ('name="&l19;"', 'name="&f;"'):
        model = openvino.read(written(SMALL.replace('<?xml version="1.0"?>', head).replace('name="x"', where)))
        assert len(model.graph.nodes[0].name) < 10
    model = openvino.read(written(SMALL.replace('<?xml version="1.0"?>', head).replace("<layers>", "<layers>&l19;&f;")))
    assert len(model.graph.nodes) == 2
    assert time.perf_counter() - began < 2


# ---- damaged files


def test_every_truncation_is_reported_and_none_raises(written, tmp_path):
    path = written(b"")
    data = sound('name="n"', 'name="ñ"').encode()
    for end in range(len(data)):
        model = openvino.read(path, data[:end])
        assert model.graph is None
        assert {code for code, _ in severities(model)} <= {"IRL003", "IRL005"}, end
        assert len(model.problems) == 1


def test_flipped_bytes_never_raise(written):
    path = written(b"")
    data = bytearray(loop(INPUT + OUTPUT).encode())
    state = 1
    for at in range(len(data)):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        kept, data[at] = data[at], state >> 16 & 0xFF
        model = openvino.read(path, bytes(data))
        assert model.graph is not None or model.problems
        positions(bytes(data), [problem.place.element for problem in model.problems if problem.place])
        data[at] = kept


# ---- numbers, types and shapes


@pytest.mark.parametrize(
    "text, shape",
    [
        ("", ()),
        ("[]", ()),
        ("2,3", (2, 3)),
        (" [ 2 , 3 ] ", (2, 3)),
        ("?,-1", (None, None)),
        ("...", None),
        ("[...]", None),
        ("2..2", (2,)),
        ("0..,..", (None, None)),
        ("8..2,1..-1", (None, None)),
        ("-2", (0,)),
        ("99999999999999999999", (0,)),
    ],
)
def test_shapes(text, shape):
    import openvino as library

    assert partial_shape(text, "d") == shape
    known = library.PartialShape(text)
    assert known.rank.is_dynamic if shape is None else len(known) == len(shape)


@pytest.mark.parametrize("text", ["1..8", "..5", "3..", "-3..5", "1..99999999999999999999"])
def test_intervals(text):
    import openvino as library

    (dim,) = partial_shape(text, lambda axis: f"d_{axis}")
    known = library.PartialShape(text)[0]
    assert bounds(dim) == (known.min_length, None if known.max_length == -1 else known.max_length)
    assert partial_shape(text, "d") == (dim,)


@pytest.mark.parametrize(
    "text",
    ["abc", "2,", "2,,3", ",2", "2abc", "2.5", "1 .. 8", "1..x", "...,2", "2,...", "1...3", "?..3", "+3", "[2", "1..2..3"],
)
def test_shapes_that_are_none(text):
    import openvino as library

    with pytest.raises(RuntimeError):
        library.PartialShape(text)
    with pytest.raises(ValueError, match="shape"):
        partial_shape(text, "d")


NAMES = (
    "dynamic undefined unspecified boolean bool bf16 f16 f32 f64 i4 i8 i16 i32 i64 u1 u2 u3 u4 u6 u8 u16 u32 u64 nf4 "
    "f4e2m1 f8e4m3 f8e5m2 f8e8m0 string f8 i2 fp16 fp32 bin q78 fp64 float int char u5 i1"
).split()


@pytest.mark.parametrize("name", [*NAMES, *map(str.upper, NAMES)])
def test_element_types_and_precisions(name, written):
    document = small(layer(5, "Parameter", outputs="0", name="p", data=f'<data shape="" element_type="{name}"/>'))
    assert accepts(element_type, name) is not refused(written(document))
    assert accepts(port_precision, name) is not refused(written(SMALL.replace("FP32", name)))


def accepts(function, text):
    try:
        function(text)
    except ValueError:
        return False
    return True


# ---- positions


DOCUMENT = """<?xml version="1.0"?>
<!-- <net> -->
<net name="ä" version="11"
     extra='1'>
\t<a ü="1"/><![CDATA[<no>]]><b x = "<>"
  y='"'
  />
</net>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_positions(encoding, newline):
    text = DOCUMENT.replace("\n", newline)
    data = text.encode(encoding)
    found = positions(data, [0, 1, 2])
    assert [(p.line, p.column) for p in found.values()] == [(3, 1), (5, 2), (5, 28)]
    assert [(p.end_line, p.end_column) for p in found.values()] == [(4, 16), (5, 12), (7, 5)]
    plain = encoding.removesuffix("-sig")
    units = {"utf-16": "utf-16-le" if sys.byteorder == "little" else "utf-16-be"}.get(plain, plain)
    units = {"utf-32": "utf-32-le" if sys.byteorder == "little" else "utf-32-be"}.get(units, units)
    for position, start in zip(found.values(), ("<net", "<a", "<b"), strict=True):
        assert data[position.offset : position.end_offset].decode(units).startswith(start)
        assert data[position.offset : position.end_offset].decode(units).endswith(">")
    assert found[0].attributes == (("name", 3, 6), ("version", 3, 15), ("extra", 4, 6))
    assert found[1].attributes == (("ü", 5, 5),)
    assert found[2].of("y") == (6, 3) and found[2].of("z") == found[2].of(None) == (5, 28)


def test_positions_agree_with_expat_past_line_65535():
    from xml.parsers import expat

    text = "<net>\n" + "".join(f"<layer\n id='{n}'>\n<é/><port/></layer>\n" for n in range(40_000)) + "</net>"
    expected = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: expected.append(
        (parser.CurrentLineNumber, parser.CurrentByteIndex)
    )
    parser.Parse(text.encode(), True)
    wanted = range(0, len(expected), 7)
    found = positions(text.encode(), wanted)
    assert [(found[n].line, found[n].offset) for n in wanted] == [expected[n] for n in wanted]
    assert found[wanted[-1]].line > 100_000


def test_positions_in_documents_that_are_not_well_formed():
    data = b"text <net a='&' a='<'> & <b/>\xff<c/></nett><d/>< <e/>"
    assert {n: p.offset for n, p in positions(data, range(9)).items()} == {0: 5, 1: 25, 2: 30, 3: 41}


def test_a_problem_stands_where_its_element_stands(written):
    document = net(LAYERS, [EDGES[0], edge(1, 0, 2, 4), EDGES[2]])
    (problem,) = openvino.read(written(document)).problems
    place = positions(document.encode(), [problem.place.element])[problem.place.element]
    line, column = place.of(problem.place.attribute)
    assert document.splitlines()[line - 1][column - 1 :].startswith('to-port="4"')


# ---- cost


def test_ten_thousand_layers_take_less_than_a_few_seconds(written):
    layers = [parameter(0)] + [layer(n, "Relu", "0", "1", name=f"r{n}") for n in range(1, 10_000)] + [result(10_000)]
    edges = [edge(0, 0, 1, 0)] + [edge(n, 1, n + 1, 0) for n in range(1, 10_000)]
    path = written(net(layers, edges))
    began = time.perf_counter()
    model = openvino.read(path)
    assert time.perf_counter() - began < 4
    assert model.nodes == 10_001 and model.problems == ()


def test_the_reader_loads_no_framework():
    code = "import sys, irlint.parsers.openvino; print({'lxml', 'numpy', 'onnx', 'openvino'} & set(sys.modules))"
    root = Path(openvino.__file__).parents[2]
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(root)}
    )
    assert output.stdout.strip() == "set()"


def test_severities_are_those_of_the_enum():
    assert {severity.value for severity in Severity} == {"error", "warning", "note"}
