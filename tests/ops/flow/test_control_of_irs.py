"""If, Loop, TensorIterator and variables of IRs against OpenVINO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from oracles.engines import irlint_on_ir, openvino_verdict
from oracles.openvino_worker import compiles

from irlint.dims import symbol
from irlint.ops.shared.port_maps import iterations
from irlint.parsers.openvino.types import PortMapEntry

N = symbol("N")

NUMBERS = np.array([3, -1, 0, 2**63 - 1], np.int64).tobytes()
FLAGS = bytes([1, 0, 0, 0, 0, 0, 0, 0])
WEIGHTS = NUMBERS + FLAGS + np.arange(16, dtype=np.float32).tobytes()
TRUE, FALSE, FLOATS = 32, 33, 40
PRECISIONS = {"f32": "FP32", "f16": "FP16", "i64": "I64", "boolean": "BOOL"}


def parameter(id: int, kind: str, shape: str) -> str:
    return layer(id, "Parameter", 0, 1, f'element_type="{kind}" shape="{shape}"', kind)


def constant(id: int, kind: str, shape: str, offset: int, size: int) -> str:
    return layer(id, "Const", 0, 1, f'element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"', kind)


def layer(
    id: int, type: str, inputs: int = 0, outputs: int = 0, data: str = "", kind: str = "f32", version: str = "opse"
        "t1", inside: str = ""
) -> str:  # fmt: skip
    ins = "".join(f'<port id="{port}"/>' for port in range(inputs))
    outs = "".join(f'<port id="{inputs + port}" precision="{PRECISIONS[kind]}"/>' for port in range(outputs))
    text = f'<layer id="{id}" name="n{id}" type="{type}" version="{version}">' + (f"<data {data}/>" if data else "")
    return f"{text}{f'<input>{ins}</input>' if ins else ''}{f'<output>{outs}</output>' if outs else ''}{inside}</layer>"


def graph(layers: Sequence[str], *edges: tuple[int, int, int, int]) -> str:
    text = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    return f"<layers>{''.join(layers)}</layers><edges>{text}</edges>"


def document(layers: Sequence[str], *edges: tuple[int, int, int, int]) -> bytes:
    return f'<?xml version="1.0"?><net name="g" version="11">{graph(layers, *edges)}</net>'.encode()


RESULTS = [layer(id, "Result", 1) for id in range(12)]


def iterator(
    x: str = "2,10,4", cut: str = 'axis="1"', join: str = 'axis="1"', state: str = "2,1,4", **ids: int
) -> bytes:
    """A TensorIterator that adds each slice of x to a carried state; ``ids`` replaces ids of its port map."""
    ids = {"input": 0, "parameter": 0, "result": 3, "output": 2, "from": 4, "outputs": 1} | ids
    body = graph(
        [parameter(0, "f32", state), parameter(1, "f32", state), layer(2, "Add", 2, 1), RESULTS[3], RESULTS[4]],
        (0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (2, 2, 4, 0),
    )  # fmt: skip
    ports = f"""<port_map><input external_port_id="{ids["input"]}" internal_layer_id="{ids["parameter"]}" {cut}/>
<input external_port_id="1" internal_layer_id="1"/>
<output external_port_id="{ids["output"]}" internal_layer_id="{ids["result"]}" {join}/></port_map>
<back_edges><edge from-layer="{ids["from"]}" from-port="0" to-layer="1" to-port="0"/></back_edges>"""
    node = layer(2, "TensorIterator", 2, ids["outputs"], inside=f"{ports}<body>{body}</body>")
    return document(
        [parameter(0, "f32", x), parameter(1, "f32", state), node, RESULTS[3]], (0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)
    )


def looping(
    trip: str = constant(0, "i64", "1", 0, 8),
    condition: str = constant(1, "boolean", "", TRUE, 1),
    x: str = "1,2",
    inside: str = "true",
    back: bool = True,
    grow: bool = False,
    join: str = 'axis="0"',
    mapped: bool = True,
    purpose: bool = True,
    from_layer: int = 6,
    kind: str = "f32",
) -> bytes:
    """A Loop that carries x and stacks it; ``inside`` is its condition: true, false, given on, computed or float."""
    flags = {
        "true": [constant(3, "boolean", "", TRUE, 1)],
        "false": [constant(3, "boolean", "", FALSE, 1)],
        "given": [parameter(3, "boolean", "")],
        "computed": [parameter(30, "boolean", ""), layer(3, "LogicalNot", 1, 1, kind="boolean")],
        "float": [constant(3, "f32", "", FLOATS, 4)],
    }[inside]
    edges = [(30, 0, 3, 0), (3, 1, 4, 0)] if inside == "computed" else [(3, 0, 4, 0)]
    step = layer(5, "Concat", 2, 1, 'axis="0"') if grow else layer(5, "Relu", 1, 1)
    edges += (
        [(2, 0, 5, 0), (2, 0, 5, 1), (5, 2, 6, 0), (5, 2, 7, 0)] if grow else [(2, 0, 5, 0), (5, 1, 6, 0), (5, 1, 7, 0)]
    )
    body = graph([parameter(2, "f32", "1,2"), *flags, RESULTS[4], step, RESULTS[6], RESULTS[7]], *edges)
    flag = {"given": 3, "computed": 30}.get(inside)
    ports = '<input external_port_id="2" internal_layer_id="2"/>' if mapped else ""
    ports += f'<input external_port_id="1" internal_layer_id="{flag}"/>' if flag else ""
    ports += '<output external_port_id="-1" internal_layer_id="4" purpose="execution_condition"/>' if purpose else ""
    ports += (
        '<output external_port_id="3" internal_layer_id="6"/><output external_port_id="4" internal_layer_id="7" '
        f"{join}/>"
    )
    backs = f'<edge from-layer="{from_layer}" from-port="0" to-layer="2" to-port="0"/>' if back else ""
    backs += f'<edge from-layer="4" from-port="0" to-layer="{flag}" to-port="0"/>' if flag else ""
    text = f"<port_map>{ports}</port_map><back_edges>{backs}</back_edges><body>{body}</body>"
    node = layer(3, "Loop", 3, 2, version="opset5", inside=text)
    return document(
        [trip, condition, parameter(2, kind, x), node, RESULTS[4], RESULTS[5]],
        (0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0), (3, 4, 5, 0),
    )  # fmt: skip


def choosing(
    condition: str = parameter(0, "boolean", ""),
    shapes: tuple[str, str] = ("2,3", "2,3"),
    kinds: tuple[str, str] = ("f32", "f32"),
    add: int = 0,
    parameter_id: int = 0,
    result_id: int = 2,
    input_id: int = 1,
    output_ids: tuple[str, str] = ("0", "0"),
    outputs: int = 1,
    bodies: tuple[str, str] = ("then", "else"),
) -> bytes:
    """An If whose branches give on inputs 1 and 2; with ``add`` the second one adds a vector of so many elements."""

    def body(shape: str, kind: str, plus: int) -> str:
        if not plus:
            return graph([parameter(0, kind, shape), layer(1, "Relu", 1, 1), RESULTS[2]], (0, 0, 1, 0), (1, 1, 2, 0))
        vector = constant(3, "f32", str(plus), FLOATS, 4 * plus)
        layers = [parameter(0, kind, f"2,{plus}"), vector, layer(1, "Add", 2, 1), RESULTS[2]]
        return graph(layers, (0, 0, 1, 0), (3, 0, 1, 1), (1, 2, 2, 0))

    text = ""
    for name, index, output in (("then", input_id, output_ids[0]), ("else", 2, output_ids[1])):
        ties = f'<output external_port_id="{output}" internal_layer_id="{result_id}"/>' if output else ""
        ties = f'<input external_port_id="{index}" internal_layer_id="{parameter_id}"/>{ties}'
        text += f"<{name}_port_map>{ties}</{name}_port_map>"
    for name, shape, kind, plus in (("then", shapes[0], kinds[0], 0), ("else", shapes[1], kinds[1], add)):
        text += f"<{name}_body>{body(shape, kind, plus)}</{name}_body>" if name in bodies else ""
    node = layer(3, "If", 3, outputs, version="opset8", inside=text)
    return document(
        [condition, parameter(1, kinds[0], shapes[0]), parameter(2, kinds[1], shapes[1]), node, RESULTS[4]],
        (0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0),
    )  # fmt: skip


def reading(attributes: str, x: str = "1,2", kind: str = "f32", version: str = "opset6", init: bool = True) -> bytes:
    """A variable that is read with an initial value, and written again."""
    before = [parameter(0, kind, x)] if init else []
    layers = [*before, layer(1, "ReadValue", int(init), 1, f'variable_id="a" {attributes}', version=version)]
    layers += [layer(2, "Relu", 1, 1), RESULTS[3], layer(4, "Assign", 1, 1, 'variable_id="a"', version="opset6")]
    edges = [(0, 0, 1, 0)] if init else []
    return document(layers, *edges, (1, int(init), 2, 0), (2, 1, 3, 0), (2, 1, 4, 0))


FULL = 'variable_type="f32" variable_shape="{}"'

IRS = {
    "iterator": iterator(),
    "iterator, length unknown": iterator(x="2,?,4"),
    "iterator, slices of 2": iterator(cut='axis="1" part_size="2"', join='axis="1" part_size="2"', state="2,2,4"),
    "iterator, slices of 3 of 10": iterator(cut='axis="1" part_size="3"', join='axis="1" part_size="3"', state="2,3,4"),
    "iterator, slices of 2 give 1": iterator(cut='axis="1" part_size="2"', state="2,2,4"),
    "iterator, stride without part": iterator(cut='axis="1" stride="2"'),
    "iterator, backward": iterator(cut='axis="1" start="-1" end="0" stride="-1"'),
    "iterator, a part of it": iterator(cut='axis="1" start="2" end="5"'),
    "iterator, start behind the end": iterator(cut='axis="1" start="20" end="5"'),
    "iterator, the last one": iterator(join=""),
    "iterator, input axis": iterator(cut='axis="3"'),
    "iterator, output axis": iterator(join='axis="3"'),
    "iterator, state differs": iterator(x="3,10,4"),
    "iterator, external input": iterator(input=9),
    "iterator, internal parameter": iterator(parameter=9),
    "iterator, internal result": iterator(result=9),
    "iterator, external output": iterator(output=7),
    "iterator, two outputs": iterator(outputs=2),
    "iterator, back edge": iterator(**{"from": 9}),
    "loop": looping(),
    "loop, size unknown": looping(x="?,2"),
    "loop, condition false inside": looping(inside="false"),
    "loop, condition given on": looping(inside="given"),
    "loop, condition computed": looping(inside="computed"),
    "loop, condition float": looping(inside="float"),
    "loop, trip count unknown": looping(trip=parameter(0, "i64", "")),
    "loop, trip count of two": looping(trip=parameter(0, "i64", "2")),
    "loop, constant trip count of two": looping(trip=constant(0, "i64", "2", 0, 16)),
    "loop, trip count of two axes": looping(trip=parameter(0, "i64", "1,1")),
    "loop, trip count float": looping(trip=constant(0, "f32", "", FLOATS + 8, 4)),
    "loop, no trip": looping(trip=constant(0, "i64", "", 16, 8)),
    "loop, endless": looping(trip=constant(0, "i64", "", 8, 8)),
    "loop, longest": looping(trip=constant(0, "i64", "", 24, 8)),
    "loop, condition unknown": looping(condition=parameter(1, "boolean", "")),
    "loop, condition of two": looping(condition=parameter(1, "boolean", "2")),
    "loop, condition of two axes": looping(condition=parameter(1, "boolean", "1,1")),
    "loop, condition of a float": looping(condition=parameter(1, "f32", "")),
    "loop, grows": looping(grow=True),
    "loop, grows once": looping(grow=True, back=False),
    "loop, other element type": looping(kind="f16"),
    "loop, input not mapped": looping(mapped=False),
    "loop, axis 1": looping(join='axis="1"'),
    "loop, axis 5": looping(join='axis="5"'),
    "loop, back edge": looping(from_layer=66),
    "loop, no condition": looping(purpose=False),
    "if": choosing(),
    "if, sizes differ": choosing(shapes=("2,3", "2,4")),
    "if, sizes unknown": choosing(shapes=("2,3", "?,4")),
    "if, ranks differ": choosing(shapes=("2,3", "2")),
    "if, scalar and one": choosing(shapes=("1", "")),
    "if, scalar and five": choosing(shapes=("5", "")),
    "if, types differ": choosing(kinds=("f32", "f16")),
    "if, condition float": choosing(condition=parameter(0, "f32", "")),
    "if, condition of two": choosing(condition=parameter(0, "boolean", "2")),
    "if, condition of two axes": choosing(condition=parameter(0, "boolean", "1,1")),
    "if, constant of two": choosing(condition=constant(0, "boolean", "2", TRUE, 2)),
    "if, true": choosing(condition=constant(0, "boolean", "", TRUE, 1), shapes=("2,3", "2,4")),
    "if, false": choosing(condition=constant(0, "boolean", "", FALSE, 1), shapes=("2,3", "2,4")),
    "if, false and types differ": choosing(condition=constant(0, "boolean", "", FALSE, 1), kinds=("f32", "f16")),
    "if, dead branch at fault": choosing(condition=constant(0, "boolean", "", TRUE, 1), add=5),
    "if, branch at fault": choosing(add=5),
    "if, output ids": choosing(output_ids=("5", "0")),
    "if, then without output": choosing(output_ids=("", "0")),
    "if, else without output": choosing(output_ids=("0", "")),
    "if, false, then without output": choosing(condition=constant(0, "boolean", "", FALSE, 1), output_ids=("", "0")),
    "if, true, then without output": choosing(condition=constant(0, "boolean", "", TRUE, 1), output_ids=("", "0")),
    "if, true, else without output": choosing(condition=constant(0, "boolean", "", TRUE, 1), output_ids=("0", "")),
    "if, false, no output": choosing(condition=constant(0, "boolean", "", FALSE, 1), output_ids=("", "")),
    "if, false, two outputs": choosing(condition=constant(0, "boolean", "", FALSE, 1), outputs=2),
    "if, false, external input": choosing(condition=constant(0, "boolean", "", FALSE, 1), input_id=9),
    "if, external input": choosing(input_id=9),
    "if, internal parameter": choosing(parameter_id=9),
    "if, internal result": choosing(result_id=9),
    "if, two outputs": choosing(outputs=2),
    "if, no else": choosing(bodies=("then",)),
    "read": reading(FULL.format("1,2")),
    "read, relaxed": reading(FULL.format("?,2")),
    "read, interval": reading(FULL.format("1..4,2")),
    "read, interval too small": reading(FULL.format("2..4,2")),
    "read, size differs": reading(FULL.format("1,3")),
    "read, rank differs": reading(FULL.format("1,2,3")),
    "read, type differs": reading(FULL.format("1,2"), kind="i64"),
    "read, any": reading('variable_type="dynamic" variable_shape="..."'),
    "read, without an initial value": reading(FULL.format("?,2"), init=False),
    "read, no shape": reading('variable_type="f32"'),
    "read, nothing": reading(""),
    "read, bad type": reading('variable_type="FP32" variable_shape="1,2"'),
    "read, bad shape": reading(FULL.format("1,a")),
    "read 3": reading("", version="opset3"),
    "read 3, unknown size": reading("", version="opset3", x="?,2"),
    "read 3, no input": reading("", version="opset3", init=False),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", IRS)
def test_openvino_says_the_same(name: str) -> None:
    theirs, ours = openvino_verdict(IRS[name], WEIGHTS), irlint_on_ir(IRS[name], WEIGHTS)
    if isinstance(theirs, str) or isinstance(ours, str):
        refused = isinstance(theirs, str) or not compiles(IRS[name], WEIGHTS)
        assert refused == isinstance(ours, str), f"openvino: {theirs}\nirlint: {ours}"
        return
    assert ours == theirs


def test_no_trip_at_all() -> None:
    """OpenVINO gives shapes of its own making to a Loop whose condition is false before it begins."""
    assert irlint_on_ir(looping(condition=constant(1, "boolean", "", FALSE, 1)), WEIGHTS) == [("float32", None)] * 2


def test_slices_of_nothing_are_an_error() -> None:
    """OpenVINO ends with a division by zero."""
    assert str(irlint_on_ir(iterator(cut='axis="1" part_size="0"'), WEIGHTS)).startswith("IRL395")


def test_a_variable_without_an_id_is_an_error() -> None:
    """OpenVINO ends with a segmentation fault."""
    text = reading(FULL.format("1,2")).replace(b'variable_id="a" variable_type', b"variable_type")
    assert str(irlint_on_ir(text, WEIGHTS)).startswith("IRL504")


@pytest.mark.parametrize(
    ("entry", "size", "count"),
    [
        ({}, N, N),
        ({"part_size": 2}, N, N // 2),
        ({"start": -1, "end": 0, "stride": -1}, N, N),
        ({"start": 2, "end": 5}, N, 4),
        ({"start": 2}, N, N - 2),
        ({}, None, None),
        ({"start": -3, "end": -1}, 10, 3),
    ],
)
def test_iterations(entry: dict[str, int], size: Any, count: Any) -> None:
    assert iterations(size, PortMapEntry("input", 0, "0", axis=0, **entry)) == count
