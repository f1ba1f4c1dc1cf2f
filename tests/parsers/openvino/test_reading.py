"""What the reader of OpenVINO IR makes of a document, sound or damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases.ir_documents import (
    EDGES,
    INPUT,
    LAYERS,
    OUTPUT,
    SMALL,
    SOUND,
    const,
    edge,
    layer,
    loop,
    net,
    node,
    parameter,
    result,
    severities,
    small,
    sound,
    written,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from timing import within

import irlint
from irlint.parsers import openvino
from irlint.parsers.openvino.positions import positions
from irlint.parsers.openvino.types import BackEdge, PortMapEntry


def test_inputs_follow_the_order_of_the_ports(tmp_path):
    model = openvino.read(written(tmp_path, net([*LAYERS[:2], layer(2, "Subtract", "10", "2"), LAYERS[3]], EDGES)))
    assert [value.name for value in node(model, "op").inputs] == ["1:0", "0:0"]


def test_a_graph(tmp_path):
    document = SOUND.replace('<port id="2" precision="FP32">', '<port id="2" precision="FP16" names="a,b\\,c">')
    model = openvino.read(written(tmp_path, document))
    graph, subtract = model.graph, node(model, "op")
    assert (model.format and model.format.name, model.format_version, graph.path, graph.name) == (
        "openvino",
        "11",
        "",
        "n",
    )
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


def test_types_that_have_two_spellings(tmp_path):
    types = ("Constant", "PReLU", "ReLU", "SoftMax", "softmax")
    model = openvino.read(
        written(tmp_path, small(*(layer(9 + at, type, outputs="0") for at, type in enumerate(types))))
    )
    assert [node.op for node in model.graph.nodes[2:]] == ["Const", "PRelu", "Relu", "Softmax", "softmax"]


@pytest.mark.parametrize(
    ("data", "dtype", "shape", "value"),
    [
        ('element_type="i64" shape="2" offset="8" size="16"', "int64", (2,), (6, 7)),
        ('element_type="i64" shape="" offset="24" size="8"', "int64", (), (8,)),
        ('element_type="i32" shape="2,1" offset="8" size="16"', "int32", (2, 1), (6, 0)),
        ('element_type="u4" shape="3" offset="8" size="2"', "uint4", (3,), (6, 0, 0)),
        ('element_type="boolean" shape="2" offset="7" size="2"', "bool", (2,), (False, True)),
        ('element_type="u3" shape="2" offset="0" size="3"', "uint3", (2,), None),
        ('element_type="i64" shape="2" offset="0" size="8"', "int64", (2,), None),
        ('element_type="i64" shape="2" offset="24" size="16"', "int64", (2,), None),
        ('element_type="u8" shape="257" offset="0" size="257"', "uint8", (257,), None),
    ],
)
def test_constants(data, dtype, shape, value, tmp_path):
    model = openvino.read(written(tmp_path, net([const(0, data), result(1)], [edge(0, 0, 1, 0)])))
    (constant,) = model.graph.constants.values()
    assert (constant.tensor.dtype, constant.tensor.shape, constant.tensor.value) == (dtype, shape, value)
    offset = int(data.split('offset="')[1].split('"')[0])
    assert (constant.stored.file, constant.stored.offset) == ("m.bin", offset)
    assert constant.stored.available == 32 - offset
    assert model.problems == ()


@pytest.mark.parametrize("shape", ["2,-1", "+2", "x"])
def test_the_sizes_of_a_constant_are_integers_of_at_least_0(shape, tmp_path):
    data = f'element_type="i64" shape="{shape}" offset="8" size="16"'
    (problem,) = openvino.read(written(tmp_path, net([const(0, data), result(1)], [edge(0, 0, 1, 0)]))).problems
    assert problem.fault.message.endswith(f'has shape="{shape}"; expected integers of at least 0')


@pytest.mark.parametrize(
    ("weights", "available", "reason"),
    [
        (None, None, "m.bin does not exist"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            None,
            "m.bin is a Git LFS pointer",
        ),
        (b"", -8, None),
    ],
)
def test_weights_that_cannot_be_had(weights, available, reason, tmp_path):
    (constant,) = openvino.read(
        written(tmp_path, net([const(0), result(1)], [edge(0, 0, 1, 0)]), weights)
    ).graph.constants.values()
    assert constant.tensor.value is None
    assert constant.stored.available == available
    assert (constant.stored.reason or "").startswith(reason or "")


def test_the_last_extension_is_replaced_by_bin(tmp_path):
    model = openvino.read(written(tmp_path, net([const(0), result(1)], [edge(0, 0, 1, 0)]), name="e.f.xml"))
    (constant,) = model.graph.constants.values()
    assert constant.stored.file == "e.f.bin" and constant.tensor.value == (6, 7)


def test_bodies(tmp_path):
    sliced = INPUT.replace("/>", ' axis="1" start="-1" end="0" stride="-1"/>')
    inside = "<body>" + small(layer(7, "Relu", "0", "1"), edges=[edge(0, 0, 7, 0)]).split(">", 2)[2]
    inside = inside.replace("</net>", "</body>") + f"<port_map>{INPUT}</port_map>"
    inner = layer(1, "TensorIterator", "0", "2", name="in", inside=inside)
    document = loop(sliced + OUTPUT, '<edge from-layer="2" to-layer="0"/>', inside=[parameter(0), inner, result(2)])
    model = openvino.read(written(tmp_path, document))
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


def test_nested_bodies_are_read_to_a_bounded_depth(tmp_path):
    text = "<layers/>"
    for _ in range(200):
        text = f"<layers>{layer(0, 'If', inside=f'<then_body>{text}</then_body>', version='opset8')}</layers>"
    model = openvino.read(written(tmp_path, f'<net version="11">{text}</net>'))
    assert severities(model) == {("IRL005", "warning"), ("IRL121", "warning")}
    assert model.nodes == openvino.DEEPEST + 1


def test_entities_are_not_expanded(tmp_path):
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 20))
    head = f'<?xml version="1.0"?><!DOCTYPE net [<!ENTITY l0 "ha">{laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    text = SMALL.replace('<?xml version="1.0"?>', head)
    for where in ('name="&l19;"', 'name="&f;"'):
        path = written(tmp_path, text.replace('name="x"', where))
        assert len(within(1, lambda: openvino.read(path)).graph.nodes[0].name) < 10  # noqa: B023
    path = written(tmp_path, text.replace("<layers>", "<layers>&l19;&f;"))
    assert len(within(1, lambda: openvino.read(path)).graph.nodes) == 2


# ---- damaged files


def test_every_truncation_is_reported_and_none_raises(tmp_path):
    path = written(tmp_path, b"")
    data = sound('name="n"', 'name="ñ"').encode()
    for end in range(len(data)):
        model = openvino.read(path, data[:end])
        assert model.graph is None
        assert {code for code, _ in severities(model)} <= {"IRL003", "IRL005"}, end
        assert len(model.problems) == 1


SOUND_LOOP = loop(INPUT + OUTPUT).encode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(SOUND_LOOP) - 1), st.integers(0, 255))
def test_a_flipped_byte_never_raises(tmp_path, at, byte):
    data = SOUND_LOOP[:at] + bytes([byte]) + SOUND_LOOP[at + 1 :]
    model = openvino.read(tmp_path / "m.xml", data)
    assert model.graph is not None or model.problems
    positions(data, [problem.place.element for problem in model.problems if problem.place])


def test_a_problem_stands_where_its_element_stands(tmp_path):
    document = net(LAYERS, [EDGES[0], edge(1, 0, 2, 4), EDGES[2]])
    (problem,) = openvino.read(written(tmp_path, document)).problems
    place = positions(document.encode(), [problem.place.element])[problem.place.element]
    line, column, *_ = place.of(problem.place.attribute)
    assert document.splitlines()[line - 1][column - 1 :].startswith('to-port="4"')


# ---- cost


@pytest.mark.parametrize("spelled", ["Constant", "constant"])
def test_contents_of_a_layer_that_is_no_const_are_never_read(spelled, tmp_path):
    """OpenVINO takes the layer and reads memory that is not there: it computes, or crashes, as it comes."""
    layer = f'name="c" type="{spelled}" version="opset1"><data element_type="i64" shape="2" offset="8" size="16"'
    text = SMALL.replace('name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"', layer)
    path = tmp_path / "model.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes(bytes(24))
    assert text != SMALL and [(each.rule.code, each.line) for each in irlint.check(path).errors] == [("IRL705", 4)]


def test_four_thousand_layers(tmp_path):
    layers = [parameter(0)] + [layer(n, "Relu", "0", "1", name=f"r{n}") for n in range(1, 4000)] + [result(4000)]
    edges = [edge(0, 0, 1, 0)] + [edge(n, 1, n + 1, 0) for n in range(1, 4000)]
    path = written(tmp_path, net(layers, edges))
    model = within(2, lambda: openvino.read(path))
    assert model.nodes == 4001 and model.problems == ()


def test_the_reader_loads_no_framework():
    code = "import sys, irlint.parsers.openvino; print({'lxml', 'numpy', 'onnx', 'openvino'} & set(sys.modules))"
    root = Path(openvino.__file__).parents[2]
    output = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert output.stdout.strip() == "set()"
