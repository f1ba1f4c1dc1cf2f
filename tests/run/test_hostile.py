"""Files that were made to stop, exhaust or mislead whoever reads them: each is checked within limits on CPU time and
memory, and four times as much of the same costs at most eight times as much."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import onnx
import pytest
from command.process import FORKS, ran
from onnx import TensorProto, helper
from timing import TRIES, grows_evenly

pytestmark = pytest.mark.skipif(not FORKS, reason="limits of processes")

#: Before irlint runs: limits on CPU time and on memory, and a file that states what the run has taken.
LIMITED = """
import atexit, os, resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 61))
try:
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + (256 << 20),) * 2)
except OSError:
    pass

def report():
    used = resource.getrusage(resource.RUSAGE_SELF)
    with open(os.environ["USAGE"], "w") as file:
        file.write(str(used.ru_utime + used.ru_stime))

atexit.register(report)
"""

#: What says that a file, or a node of it, has not been looked at.
NOT_CHECKED = {"IRL008", "IRL010", "IRL599"}

X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
Y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])
HUGE = "9" * 5000


def model(
    nodes: list[onnx.NodeProto],
    inputs: tuple[onnx.ValueInfoProto, ...] = (X,),
    constants: tuple[onnx.TensorProto, ...] = (),
    opset: int = 17,
    functions: tuple[onnx.FunctionProto, ...] = (),
) -> bytes:
    graph = helper.make_graph(nodes, "g", list(inputs), [Y], list(constants))
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("d", 1)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=8, functions=functions)
    return made.SerializeToString()


RELU = helper.make_node("Relu", ["x"], ["y"])

RELU_ALONE = model([RELU])


def value(name: str, dims: list[int | str | None], dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, dims)


def document(layers: str, edges: str = "", more: str = "") -> bytes:
    return f'<net name="n" version="11"><layers>{layers}</layers><edges>{edges}</edges>{more}</net>'.encode()


PARAMETER = (
    '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/><output>'
    '<port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>'
)


def ports(count: int) -> bytes:
    given = "".join(f'<port id="{at}"><dim>2</dim><dim>3</dim></port>' for at in range(count))
    concat = (
        f'<layer id="1" name="c" type="Concat" version="opset1"><data axis="0"/><input>{given}</input><output>'
        f'<port id="{count}" precision="FP32"><dim>{2 * count}</dim><dim>3</dim></port></output></layer>'
    )
    edges = "".join(f'<edge from-layer="0" from-port="0" to-layer="1" to-port="{at}"/>' for at in range(count))
    return document(PARAMETER + concat, edges)


def twice(depth: int) -> bytes:
    """Functions each of which calls the next one twice."""
    functions = []
    for at in range(depth):
        inner, domain = (f"f{at + 1}", "d") if at + 1 < depth else ("Relu", "")
        nodes = [
            helper.make_node(inner, ["a"], ["b"], domain=domain),
            helper.make_node(inner, ["b"], ["c"], domain=domain),
        ]
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
        functions.append(helper.make_function("d", f"f{at}", ["a"], ["c"], nodes, imports))
    return model([helper.make_node("f0", ["x"], ["y"], domain="d")], functions=tuple(functions))


def branches(depth: int) -> bytes:
    """Branches within both branches."""

    def body(left: int) -> onnx.GraphProto:
        node = helper.make_node("Relu", ["x"], ["z"])
        if left:
            inner = body(left - 1)
            node = helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)
        return helper.make_graph([node], "b", [], [value("z", [None, None])])

    node = helper.make_node("If", ["c"], ["y"], then_branch=body(depth), else_branch=body(depth))
    return model([node], (X, value("c", [], TensorProto.BOOL)))


def chain(op: str, count: int, second: onnx.TensorProto) -> bytes:
    names = ["x", *(f"t{at}" for at in range(count - 1)), "y"]
    nodes = [helper.make_node(op, [names[at], second.name], [names[at + 1]]) for at in range(count)]
    return model(nodes, constants=(second,))


def with_metadata(count: int) -> bytes:
    made = onnx.load_from_string(model([RELU]))
    for at in range(count):
        made.metadata_props.add(key="irlint.ignore", value=f"IRL9{at % 10}x{at}")
    return made.SerializeToString()


def number(**attributes: str) -> bytes:
    """A Softmax of an IR with these attributes."""
    written = " ".join(f'{name}="{text}"' for name, text in attributes.items())
    port = "<dim>2</dim><dim>3</dim></port>"
    return document(
        f'{PARAMETER}<layer id="1" name="s" type="Softmax" version="opset1"><data {written}/><input><port '
        f'id="0">{port}</input>'
        f'<output><port id="1" precision="FP32">{port}</output></layer>',
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>',
    )


def ints(name: str, numbers: list[int]) -> onnx.TensorProto:
    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)


def external(dims: list[int], name: str = "a") -> onnx.TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.INT64, dims=dims, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=f"{name}.bin")
    return tensor


def relu(id: int, *, result: bool = False) -> str:
    """A layer with one input port and, but for a Result, an output port."""
    port = "<dim>2</dim><dim>3</dim></port>"
    output = "" if result else f'<output><port id="1" precision="FP32">{port}</output>'
    type = "Result" if result else "ReLU"
    return (
        f'<layer id="{id}" name="l{id}" type="{type}" version="opset1"><input><port '
        f'id="0">{port}</input>{output}</layer>'
    )


def edge(source: int, port: int, target: int, at: int = 0) -> str:
    return f'<edge from-layer="{source}" from-port="{port}" to-layer="{target}" to-port="{at}"/>'


def rows(count: int, before: Callable[[int], str], last: Callable[[int], str] = lambda at: "") -> bytes:
    """Layers that each lead to a Result of its own; ``before`` and ``last`` give further edges of each."""
    numbers = range(1, count + 1)
    layers = "".join(relu(at) + relu(count + at, result=True) for at in numbers)
    edges = [before(at) + edge(at, 1, count + at) + last(at) for at in numbers]
    return document(PARAMETER + layers, "".join(edges))


def idle_rows(count: int) -> bytes:
    """Layers behind output ports that are not there, and as many that lead nowhere."""
    layers = "".join(relu(at) + relu(count + at) for at in range(1, count + 1))
    return document(PARAMETER + layers, "".join(edge(0, 7 + at, at) for at in range(1, count + 1)))


def one_open_port(count: int) -> bytes:
    """A layer of which only the last input port has an edge."""
    given = "".join(f'<port id="{at}"><dim>2</dim><dim>3</dim></port>' for at in range(count))
    concat = f'<layer id="1" name="c" type="Concat" version="opset1"><data axis="0"/><input>{given}</input></layer>'
    return document(PARAMETER + concat, edge(0, 0, 1, count - 1))


def attributes(text: str) -> bytes:
    return document(PARAMETER.replace("<data ", f"<data {text} "))


def function(count: int) -> bytes:
    """A function with attributes, of which the first is given twice."""
    names = [*(f"a{at}" for at in range(count)), "a0"]
    made = helper.make_function("d", "F", ["x"], ["y"], [RELU], [helper.make_opsetid("", 17)], names)
    return model([helper.make_node("F", ["x"], ["y"], domain="d")], functions=(made,))


def chunks(count: int) -> bytes:
    """A MaxPool whose ``kernel_shape`` is packed in pieces of one number."""
    name, kind = b"\x0a\x0ckernel_shape", b"\xa0\x01\x07"
    held = name + kind + b"\x42\x01\x03" * count
    node = helper.make_node("MaxPool", ["x"], ["y"]).SerializeToString() + b"\x2a" + varint(len(held)) + held
    graph = b"\x0a" + varint(len(node)) + node
    return model([]) + b"\x3a" + varint(len(graph)) + graph


def dims_in_pieces(count: int) -> bytes:
    """A constant whose dims are packed in pieces of one number."""
    held = helper.make_tensor("a", TensorProto.FLOAT, [1], [1.0]).SerializeToString() + b"\x0a\x01\x01" * count
    graph = b"\x2a" + varint(len(held)) + held
    return model([RELU]) + b"\x3a" + varint(len(graph)) + graph


def wrong_sizes(count: int) -> bytes:
    """Constants that each have a byte less than their shapes take."""
    port = '<port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port>'
    consts = "".join(
        f'<layer id="{at}" name="c{at}" type="Const" version="opset1">'
        f'<data element_type="f32" shape="2,3" offset="{24 * at}" size="23"/><output>{port}</output></layer>'
        for at in range(1, count + 1)
    )
    results = "".join(relu(count + at, result=True) for at in range(1, count + 1))
    return document(consts + results, "".join(edge(at, 1, count + at) for at in range(1, count + 1)))


def variables(count: int) -> bytes:
    """Variables that are each read, and never written: what is written are others."""

    def layer(id: int, type: str, data: str) -> str:
        made = relu(id).replace("ReLU", type).replace("opset1", "opset6")
        return made.replace("<input>", f"<data {data}/><input>", 1)

    layers, edges = PARAMETER, ""
    for at in range(1, count + 1):
        layers += layer(2 * at, "ReadValue", f'variable_id="v{at}" variable_type="f32" variable_shape="2,3"')
        layers += layer(2 * at + 1, "Assign", f'variable_id="w{at}"')
        edges += edge(0, 0, 2 * at) + edge(2 * at, 1, 2 * at + 1)
    return document(layers, edges)


def unused_initializers(count: int) -> bytes:
    return model([RELU], constants=tuple(ints(f"a{at}", [at]) for at in range(count)))


def stale_declarations(count: int) -> bytes:
    made = onnx.load_from_string(model([*outputs("Relu", count), RELU]))
    made.graph.value_info.extend([value(f"y{at}", [2, 4]) for at in range(count)])
    return made.SerializeToString()


def chain_of_errors(count: int) -> bytes:
    """Nodes that cannot work, each with what the one before it is declared to give."""
    made = onnx.load_from_string(chain("Add", count, helper.make_tensor("c", TensorProto.FLOAT, [5], [1.0] * 5)))
    made.graph.value_info.extend([value(f"t{at}", [2, 3]) for at in range(count)])
    return made.SerializeToString()


def defaults(count: int) -> bytes:
    """Nodes each of whose inputs has an initializer of another shape."""
    names = [f"a{at}" for at in range(count)]
    nodes = [helper.make_node("Relu", [name], [f"y{name}"]) for name in names]
    return model(nodes, tuple(value(name, [7]) for name in names), tuple(ints(name, [1]) for name in names))


def same_node_names(count: int) -> bytes:
    nodes = [helper.make_node("Relu", ["x"], [f"y{at}"], name=f"n{at // 2}") for at in range(count)]
    return model([*nodes, RELU])


def repeated_imports(count: int) -> bytes:
    made = onnx.load_from_string(model([RELU]))
    made.opset_import.extend(helper.make_opsetid(f"d{at}", 1) for at in range(count) for _ in range(2))
    return made.SerializeToString()


def varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def circle(count: int) -> bytes:
    """Functions each of which calls the next one, and the last one the first."""
    functions = []
    for at in range(count):
        call = helper.make_node(f"f{(at + 1) % count}", ["a"], ["b"], domain="d")
        functions.append(helper.make_function("d", f"f{at}", ["a"], ["b"], [call], [helper.make_opsetid("d", 1)]))
    return model([helper.make_node("f0", ["x"], ["y"], domain="d")], functions=tuple(functions))


def declared(count: int) -> bytes:
    """One value whose type is declared again and again."""
    made = onnx.load_from_string(model([RELU]))
    made.graph.value_info.extend([value("z", [2])] * count)
    return made.SerializeToString()


def ignoring(count: int) -> bytes:
    """A model with errors, which lists rules that none of them breaks."""
    made = onnx.load_from_string(model([helper.make_node("MatMul", ["x", "x"], [f"y{at}"]) for at in range(count)]))
    made.metadata_props.add(key="irlint.ignore", value=" ".join(f"IRL7{at % 100:02}" for at in range(count)))
    return made.SerializeToString()


def fan(count: int) -> bytes:
    """A Concat of as many values of the same size."""
    nodes = [helper.make_node("Relu", ["x"], [f"t{at}"]) for at in range(count)]
    return model([*nodes, helper.make_node("Concat", [f"t{at}" for at in range(count)], ["y"], axis=0)])


def port_map(count: int) -> bytes:
    """A TensorIterator of as many inputs."""
    port = "<dim>2</dim><dim>3</dim></port>"
    ports = "".join(f'<port id="{at}">{port}' for at in range(count))
    entries = "".join(f'<input external_port_id="{at}" internal_layer_id="{at}"/>' for at in range(count))
    inner = "".join(PARAMETER.replace('id="0" name="x"', f'id="{at}" name="p{at}"') for at in range(count))
    iterator = (
        f'<layer id="1" name="t" type="TensorIterator" version="opset1"><input>{ports}</input><output>'
        f'<port id="{count}" precision="FP32">{port}</output><port_map>{entries}'
        f'<output external_port_id="{count}" internal_layer_id="{count}"/></port_map><body>'
        f"<layers>{inner}{relu(count, result=True)}</layers><edges>{edge(0, 0, count)}</edges></body></layer>"
    )
    edges = "".join(edge(0, 0, 1, at) for at in range(count))
    return document(PARAMETER + iterator + relu(2, result=True), edges + edge(1, count, 2))


def in_graph(number: int, count: int) -> bytes:
    """A model whose graph has empty entries in the list with this number."""
    entries = bytes([number << 3 | 2, 0]) * count
    return model([RELU]) + b"\x3a" + varint(len(entries)) + entries


def in_node(number: int, count: int, within: bytes = b"") -> bytes:
    """A model whose node has empty entries in the list with this number, of an attribute that begins with ``within``,
    if any."""
    entries = within + (varint(number << 3 | 2) + b"\0") * count
    entries = b"\x2a" + varint(len(entries)) + entries if within else entries
    node = RELU.SerializeToString() + entries
    held = b"\x0a" + varint(len(node)) + node
    return model([]) + b"\x3a" + varint(len(held)) + held


def in_function(number: int, count: int) -> bytes:
    """A model with a function that has empty entries in the list with this number."""
    held = b"\x0a\x01F\x52\x01d\x4a\x02\x10\x11" + bytes([number << 3 | 2, 0]) * count
    return model([RELU]) + b"\xca\x01" + varint(len(held)) + held


UNSQUEEZE = helper.make_node("Unsqueeze", ["x", "a"], ["y"])

#: Files whose size is a number: what makes one, and the number.
GROWING: dict[str, tuple[Callable[[int], bytes], int]] = {
    "outputs.onnx": (lambda n: model([helper.make_node("Split", ["x"], [f"é{at}" for at in range(n)], axis=0)]), 120),
    "refused-outputs.onnx": (lambda n: model([helper.make_node("Relu", ["x"], [f"é{at}" for at in range(n)])]), 500),
    "functions.onnx": (twice, 8),
    "branches.onnx": (lambda n: branches(n.bit_length()), 64),
    "perm.onnx": (lambda n: model([helper.make_node("Transpose", ["x"], ["y"], perm=list(range(n)))]), 5000),
    "dims.onnx": (lambda n: model([RELU], (value("x", list(range(1, n))),)), 5000),
    "dim-params.onnx": (
        lambda n: model([RELU], (value("x", ["-" * (1 + at % 50) + "é" * (at // 50) for at in range(n)]),)),
        500,
    ),
    "inputs.onnx": (lambda n: model([RELU], (X, *(value("-" * (at + 1), [None]) for at in range(n)))), 300),
    "long-names.onnx": (
        lambda n: model(
            [helper.make_node("MatMul", ["x", "x"], [f"y{at}"], name="n" * 20 * n + str(at)) for at in range(n)],
            (value("x", ["s" * 20 * n, "t" * 20 * n]),),
        ),
        50,
    ),
    "errors.onnx": (lambda n: model([helper.make_node("MatMul", ["x", "x"], [f"y{at}"]) for at in range(n)]), 200),
    "undefined.onnx": (
        lambda n: model([helper.make_node("Relu", [f"name_{at}"], [f"nome_{at}x"]) for at in range(n)]),
        300,
    ),
    "operators.onnx": (lambda n: model([helper.make_node(f"Relu{at}", ["x"], [f"y{at}"]) for at in range(n)]), 100),
    "attributes.onnx": (
        lambda n: model([helper.make_node("Relu", ["x"], ["y"], **{f"a{at}": at for at in range(n)})]),
        500,
    ),
    "concat.onnx": (lambda n: model([helper.make_node("Concat", ["x"] * n, ["y"], axis=0)]), 2000),
    "tile.onnx": (lambda n: chain("Tile", n, ints("r", [2**62, 2**62])), 100),
    "expand.onnx": (lambda n: chain("Expand", n, ints("r", [2**62, 1, 1])), 100),
    "metadata.onnx": (with_metadata, 2000),
    "einsum.onnx": (lambda n: model([helper.make_node("Einsum", ["x"], ["y"], equation="i" * n)]), 10000),
    "ports.xml": (ports, 400),
    "edges.xml": (
        lambda n: document(PARAMETER, '<edge from-layer="0" from-port="0" to-layer="7" to-port="0"/>' * n),
        1000,
    ),
    "layers.xml": (
        lambda n: document("".join(f'<layer id="{at}" name="l" type="Fo{at}" version="opset1"/>' for at in range(n))),
        200,
    ),
    "empty-layers.xml": (lambda n: document(PARAMETER + "<layer/>" * n), 8000),
    "info.xml": (lambda n: document(PARAMETER, more="<rt_info>" + '<a value="1"/>' * n + "</rt_info>"), 3000),
    "wrong-ports.xml": (lambda n: rows(n, lambda at: edge(0, 7 + at, at)), 1000),
    "idle-layers.xml": (idle_rows, 750),
    "doubled-edges.xml": (lambda n: rows(n, lambda at: edge(0, 0, at), lambda at: edge(0, 0, at)), 1500),
    "no-such-layers.xml": (lambda n: rows(n, lambda at: edge(10 * n + at, 1, at)), 1500),
    "open-ports.xml": (lambda n: rows(n, lambda at: ""), 500),
    "one-open-port.xml": (one_open_port, 4000),
    "cycle.xml": (lambda n: rows(n, lambda at: edge(at % n + 1, 1, at)), 1500),
    "bare.xml": (lambda n: attributes(" ".join(f'a{at}="<"' for at in range(n))), 4000),
    "doubled.xml": (lambda n: attributes(" ".join(f'a{at}=""' for at in range(n)) + " a0=''" * n), 3000),
    "graphs.onnx": (lambda n: model([RELU]) * n, 250),
    "same-outputs.onnx": (lambda n: model([*outputs("Relu", n), *outputs("Relu", n)]), 1000),
    "same-outputs-and-a-missing-value.onnx": (
        lambda n: model([*outputs("Relu", n), *outputs("Relu", n), helper.make_node("Relu", ["z"], ["y"])]),
        1000,
    ),
    "same-outputs-of-numbers.onnx": (
        lambda n: model(
            [helper.make_node("Relu", ["x"], [f"{at // 2 * 2}"], name=f"Relu_{at}") for at in range(2 * n)]
        ),
        1500,
    ),
    "same-inputs.onnx": (lambda n: model([RELU], (X,) * n), 4000),
    "function.onnx": (function, 5000),
    "chunks.onnx": (chunks, 20000),
    "circle.onnx": (circle, 200),
    "declared.onnx": (declared, 10000),
    "ignoring.onnx": (ignoring, 500),
    "port-map.xml": (port_map, 1500),
    "missing-data.onnx": (lambda n: model([RELU], constants=tuple(external([2], f"a{at}") for at in range(n))), 500),
    "wrong-sizes.xml": (wrong_sizes, 400),
    "dims-in-pieces.onnx": (dims_in_pieces, 30000),
    "variables.xml": (variables, 250),
    "unused-initializers.onnx": (unused_initializers, 2500),
    "stale-declarations.onnx": (stale_declarations, 750),
    "chain-of-errors.onnx": (chain_of_errors, 400),
    "defaults.onnx": (defaults, 1000),
    "same-node-names.onnx": (same_node_names, 1000),
    "repeated-imports.onnx": (repeated_imports, 1000),
    "nested.xml": (lambda n: document("<a>" * n + "</a>" * n), 5000),
}

#: Two models that differ, whose size is a number.
DIFFERENT: dict[str, tuple[Callable[[int], tuple[bytes, bytes]], int]] = {
    "renamed": (lambda n: (concat([f"a{at}" for at in range(n)]), concat([f"b{at}" for at in range(n)])), 500),
    "reversed": (lambda n: (concat([f"a{at}" for at in range(n)]), concat([f"a{n - at - 1}" for at in range(n)])), 700),
    "operators": (lambda n: (many("Relu", n), many("Exp", n)), 1500),
    "symbols": (lambda n: (concat(list(map(str, range(n))), "N"), concat(list(map(str, range(n))), "N{}")), 500),
}


def outputs(op: str, count: int) -> list[onnx.NodeProto]:
    return [helper.make_node(op, ["x"], [f"y{at}"]) for at in range(count)]


def concat(names: list[str], symbol: str = "") -> bytes:
    """A Concat of inputs in the order of their names, whose first axes are named ``symbol`` with the number of each."""
    inputs = [value(each, [symbol.format(at) if symbol else 2, 3]) for at, each in enumerate(names)]
    return model([helper.make_node("Concat", sorted(names), ["y"], axis=0)], tuple(inputs))


def many(op: str, count: int) -> bytes:
    return model(outputs(op, count))


def multiples(count: int) -> bytes:
    """Reshapes of one input whose size each of the first primes has to divide."""
    primes: list[int] = []
    for number in range(2, 20 * count):
        if len(primes) < count and all(number % each for each in primes):
            primes.append(number)
    nodes = [helper.make_node("Reshape", ["x", f"s{at}"], [f"y{at}"]) for at in range(count)]
    shapes = tuple(ints(f"s{at}", [each, -1]) for at, each in enumerate(primes))
    return model(nodes, (value("x", ["N"]),), shapes)


#: So many entries of a list are empty.
EMPTY = 100_000

#: Files that are small, and the code that each has to get; "" stands for anything but that it has not been checked.
SMALL: dict[str, tuple[Callable[[], bytes], str]] = {
    "million-axes.onnx": (lambda: model([UNSQUEEZE], (X, value("a", [10**6], TensorProto.INT64))), "IRL304"),
    "axes-past-memory.onnx": (lambda: model([UNSQUEEZE], (X, value("a", [2**31], TensorProto.INT64))), "IRL304"),
    "rank.onnx": (
        lambda: model([helper.make_node("Reshape", ["x", "s"], ["y"])], constants=(ints("s", [2, 3] + [1] * 300),)),
        "IRL304",
    ),
    "axes-elsewhere.onnx": (lambda: model([UNSQUEEZE], constants=(external([2**31]),)), "IRL701"),
    "opset-below-0.onnx": (lambda: model([RELU], opset=-1), "IRL"),
    "opset-past-32-bits.onnx": (lambda: model([RELU], opset=2**31), "IRL"),
    "opset-past-62-bits.onnx": (lambda: model([RELU], opset=2**62), "IRL"),
    "no-attribute-at-an-opset-to-come.onnx": (
        lambda: model([helper.make_node("Concat", ["x", "x"], ["y"])], opset=256),
        "IRL80",
    ),
    "initializer.onnx": (
        lambda: model([RELU], constants=(TensorProto(name="a", data_type=1, dims=[2**62] * 300),)),
        "IRL703",
    ),
    "resize.onnx": (
        lambda: model(
            [helper.make_node("Resize", ["x", "", "s"], ["y"])],
            constants=(helper.make_tensor("s", TensorProto.FLOAT, [2], [3e38, 3e38]),),
        ),
        "",
    ),
    "zeros.onnx": (lambda: bytes(40 << 20), "IRL001"),
    "group-of-zeros.onnx": (lambda: model([RELU])[:2] + b"\x0b" + bytes(8 << 20), "IRL004"),
    "long-name.onnx": (lambda: model([helper.make_node("Relu", ["x"], ["y"], name="n" * (30 << 20))]), "IRL011"),
    "empty-nodes.onnx": (lambda: in_graph(1, EMPTY), "IRL012"),
    "empty-initializers.onnx": (lambda: in_graph(5, EMPTY), "IRL708"),
    "empty-inputs.onnx": (lambda: in_graph(11, EMPTY), "IRL403"),
    "empty-sparse-initializers.onnx": (lambda: in_graph(15, EMPTY), "IRL708"),
    "empty-attributes.onnx": (lambda: in_node(5, EMPTY), "IRL522"),
    "empty-tensors.onnx": (lambda: in_node(10, EMPTY, b"\x0a\x01s\xa0\x01\x09"), "IRL503"),
    "empty-graphs.onnx": (lambda: in_node(11, EMPTY, b"\x0a\x01s\xa0\x01\x0a"), "IRL114"),
    "empty-functions.onnx": (lambda: model([RELU]) + b"\xca\x01\0" * EMPTY, "IRL130"),
    "empty-nodes-of-a-function.onnx": (lambda: in_function(7, EMPTY), "IRL012"),
    "empty-defaults.onnx": (lambda: in_function(11, EMPTY), "IRL012"),
    "pointer.onnx": (
        lambda: f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize {'9' * 400}\n".encode(),
        "IRL002",
    ),
    "reference.xml": (lambda: f'<net name="&#{HUGE};" version="11"><layers/><edges/></net>'.encode(), "IRL"),
    "hexadecimal.xml": (lambda: f'<net name="&#x{HUGE};" version="11"><layers/><edges/></net>'.encode(), "IRL"),
    "axis.xml": (lambda: number(axis=HUGE), "IRL5"),
    "negative-axis.xml": (lambda: number(axis=f"-{HUGE}"), "IRL5"),
    "zeros.xml": (lambda: number(axis=f"{'0' * 5000}1"), ""),
    "dim.xml": (lambda: document(PARAMETER.replace("<dim>2</dim>", f"<dim>{HUGE}</dim>")), "IRL"),
    "shape.xml": (lambda: document(PARAMETER.replace("2,3", f"{HUGE},3")), "IRL"),
    "id.xml": (lambda: document(PARAMETER.replace('id="0" name', f'id="{HUGE}" name')), "IRL"),
    "port.xml": (lambda: document(PARAMETER.replace('port id="0"', f'port id="{HUGE}"')), "IRL"),
    "zero-bytes.xml": (lambda: document(PARAMETER).replace(b"</layers>", bytes(60 << 20)), "IRL003"),
    "version.xml": (lambda: document(PARAMETER).replace(b'"11"', f'"{HUGE}"'.encode()), "IRL007"),
    "opset.xml": (lambda: document(PARAMETER.replace("opset1", f"opset{HUGE}")), "IRL"),
    "edge.xml": (
        lambda: document(PARAMETER, f'<edge from-layer="0" from-port="{HUGE}" to-layer="0" to-port="0"/>'),
        "IRL",
    ),
    "offset.xml": (
        lambda: document(
            '<layer id="0" name="c" type="Const" version="opset1">'
            f'<data element_type="f32" shape="2" offset="{HUGE}" size="{HUGE}"/>'
            '<output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>'
        ),
        "IRL705",
    ),
}


def taken(path: Path, *options: str) -> tuple[float, str]:
    """The CPU seconds that a check within limits takes, and its report, which says that the whole file was looked
    at."""
    usage = path.with_suffix(".usage")
    result = ran(path, "--format", "json", "--jobs", "1", *options, prelude=LIMITED, USAGE=str(usage))
    assert result.returncode in (0, 1), result.stderr
    report = json.loads(result.stdout)
    codes = {finding["code"] for finding in report["findings"]}
    assert not codes & NOT_CHECKED, report["findings"]
    assert len(result.stdout) < 20_000_000
    return float(usage.read_text()), " ".join(sorted(codes))


def spent(folder: Path, name: str, made: bytes, *options: str, behind: tuple[str, ...] = ()) -> float:
    """The CPU seconds that a run of text takes within limits."""
    path, usage = folder / name, folder / "usage"
    path.write_bytes(made)
    result = ran(*options, path, *behind, prelude=LIMITED, USAGE=str(usage))
    assert result.returncode in (0, 1), result.stderr
    return float(usage.read_text())


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_size(name: str, tmp_path: Path) -> None:
    made, count = GROWING[name]

    def seconds(size: int) -> float:
        path = tmp_path / f"{size}-{name}"
        path.write_bytes(made(size))
        return taken(path)[0]

    assert grows_evenly(seconds, count, 4 * count)


@pytest.mark.parametrize("name", ["refused-outputs.onnx", "attributes.onnx", "inputs.onnx", "errors.onnx"])
def test_time_of_pictures_grows_with_size(name: str, tmp_path: Path) -> None:
    made, count = GROWING[name]
    assert grows_evenly(lambda size: spent(tmp_path, f"{size}-{name}", made(size), "-v"), count // 8, count // 2)


@pytest.mark.parametrize("name", ["unused-initializers", "stale-declarations", "same-node-names", "repeated-imports"])
def test_time_of_safe_fixes_grows_with_size(name: str, tmp_path: Path) -> None:
    made, count = GROWING[f"{name}.onnx"]
    assert grows_evenly(lambda size: spent(tmp_path, f"{size}.onnx", made(size), "fix"), count, 4 * count)


def test_time_of_baselines_grows_with_size(tmp_path: Path) -> None:
    def seconds(size: int) -> float:
        (tmp_path / "m.onnx").write_bytes(GROWING["errors.onnx"][0](size))
        (tmp_path / "known.json").write_text('{"schema": "irlint-baseline-1", "findings": {}}')
        used = []
        for update in (["--update-baseline"], []):
            options = ("m.onnx", "--baseline", "known.json", *update)
            result = ran(*options, cwd=tmp_path, prelude=LIMITED, USAGE=str(tmp_path / "usage"))
            assert result.returncode == 0, result.stderr
            used.append(float((tmp_path / "usage").read_text()))
        return sum(used)

    assert grows_evenly(seconds, 200, 800)


@pytest.mark.parametrize("kind", ["sums", "multiples"])
def test_time_of_contracts_grows_with_size(kind: str, tmp_path: Path) -> None:
    made, count = {"sums": (sums, 15), "multiples": (multiples, 60)}[kind]
    assert grows_evenly(lambda size: spent(tmp_path, f"{size}.onnx", made(size), "contract"), count, 4 * count)


def test_time_of_profiles_grows_with_size(tmp_path: Path) -> None:
    def seconds(size: int) -> float:
        made = model([RELU], (X, *(value(f"x{at}", [f"A{at}"]) for at in range(size))))
        return spent(tmp_path, f"{size}.onnx", made, "contract", "--as", "onnxruntime")

    assert grows_evenly(seconds, 300, 1200)


@pytest.mark.parametrize(("kind", "count"), [("inputs", 80), ("axes", 60)])
def test_time_of_traces_grows_with_size(kind: str, count: int, tmp_path: Path) -> None:
    made = {"inputs": fan, "axes": lambda n: model([RELU], (value("x", [f"s{at}" for at in range(n)]),))}[kind]
    assert grows_evenly(
        lambda size: spent(tmp_path, f"{size}.onnx", made(size), "why", behind=("y",)), count, 4 * count
    )


@pytest.mark.parametrize("name", DIFFERENT)
def test_time_of_comparisons_grows_with_size(name: str, tmp_path: Path) -> None:
    made, count = DIFFERENT[name]

    def seconds(size: int) -> float:
        old, new = made(size)
        (tmp_path / "old.onnx").write_bytes(old)
        return spent(tmp_path, "new.onnx", new, "diff", str(tmp_path / "old.onnx"))

    assert grows_evenly(seconds, count, 4 * count)


def stale(count: int) -> bytes:
    """Layers with stale ports, behind each of which another one leads to a Result."""
    numbers = range(1, count + 1)
    layers = "".join(
        relu(at).replace('FP32"><dim>2', 'FP32"><dim>5') + relu(count + at) + relu(2 * count + at, result=True)
        for at in numbers
    )
    edges = [edge(0, 0, at) + edge(at, 1, count + at) + edge(count + at, 1, 2 * count + at) for at in numbers]
    return document(PARAMETER + layers, "".join(edges))


def unsorted(count: int) -> bytes:
    """Nodes of one name in the wrong order."""
    names = ["x", *(f"t{at}" for at in range(count)), "y"]
    return model([helper.make_node("Relu", [a], [b], name="n") for a, b in reversed([*pairwise(names)])])


#: Models that are fixed, with options and a size of each.
FIXED: dict[str, tuple[Callable[[int], bytes], tuple[str, ...], int]] = {
    "stale.xml": (stale, (), 150),
    "sizes.xml": (lambda n: rows(n, lambda at: edge(0, 0, at)), ("--freeze", "--shape", "x=4,3"), 200),
    "unsorted.onnx": (unsorted, (), 400),
    "annotated.onnx": (unsorted, ("--annotate",), 400),
}


@pytest.mark.parametrize("name", FIXED)
def test_time_of_fixes_grows_with_size(name: str, tmp_path: Path) -> None:
    made, options, count = FIXED[name]
    assert grows_evenly(lambda size: spent(tmp_path, name, made(size), "fix", *options), count, 4 * count)


@pytest.mark.parametrize("pattern", ["[", "[a", "**/d/"])
@pytest.mark.parametrize("place", [".gitignore", "irlint.toml"])
def test_time_of_globs_grows_with_size(pattern: str, place: str, tmp_path: Path) -> None:
    folder = Path(tmp_path, ".git").parent.joinpath(*"d" * 30)
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()

    def seconds(size: int) -> float:
        text = pattern * size
        (tmp_path / place).write_text(text if place == ".gitignore" else f'exclude = ["{text}"]')
        (folder / "model.onnx").write_bytes(model([RELU]))
        result = ran(".", cwd=tmp_path, prelude=LIMITED, USAGE=str(tmp_path / "usage"))
        assert result.returncode in (0, 1), result.stderr
        return float((tmp_path / "usage").read_text())

    assert grows_evenly(seconds, 2000, 8000)


@pytest.mark.parametrize("node", ["[", "name"])
def test_time_of_suppressions_grows_with_size(node: str, tmp_path: Path) -> None:
    def seconds(size: int) -> float:
        names = [node * size] if node == "[" else [f"{node}{at}" for at in range(size)]
        entry = '[[suppress]]\nfile = "m.onnx"\nrule = "IRL320"\nreason = "known"\nnode = "{}"\n'
        (tmp_path / "irlint.toml").write_text("".join(map(entry.format, names)))
        nodes = [helper.make_node("MatMul", ["x", "x"], [f"y{at}"]) for at in range(2 if node == "[" else size)]
        (tmp_path / "m.onnx").write_bytes(model(nodes))
        result = ran("m.onnx", cwd=tmp_path, prelude=LIMITED, USAGE=str(tmp_path / "usage"))
        assert result.returncode == 1, result.stderr
        return float((tmp_path / "usage").read_text())

    assert grows_evenly(seconds, *((2000, 8000) if node == "[" else (250, 1000)))


def test_time_of_files_grows_with_entries_about_them(tmp_path: Path) -> None:
    models = '[[models]]\nfile = "{0}.onnx"\nshapes.x = "2,3"\n[[suppress]]\nfile = "./{0}.onnx"\nreason = "known"\n'

    def seconds(size: int) -> float:
        ignores = "".join(f'"{at}.onnx" = ["IRL320"]\n' for at in range(size))
        (tmp_path / "irlint.toml").write_text(
            "".join(map(models.format, range(size))) + f"[per-file-ignores]\n{ignores}"
        )
        for at in range(size):
            (tmp_path / f"{at}.onnx").write_bytes(RELU_ALONE)
        result = ran(".", "--jobs", "1", cwd=tmp_path, prelude=LIMITED, USAGE=str(tmp_path / "usage"))
        assert result.returncode == 0, result.stderr
        return float((tmp_path / "usage").read_text())

    assert grows_evenly(seconds, 125, 500)


def test_time_of_folders_grows_with_depth(tmp_path: Path) -> None:
    def seconds(depth: int) -> float:
        folder = root = tmp_path / str(depth)
        (root / ".git").mkdir(parents=True, exist_ok=True)
        for _ in range(depth):
            folder = folder / "f"
            folder.mkdir(exist_ok=True)
            (folder / ".gitignore").write_text("*.q\n/a/b\n!c\n")
            (folder / "m.onnx").write_bytes(model([RELU]))
        result = ran(".", "--jobs", "1", cwd=root, prelude=LIMITED, USAGE=str(tmp_path / "usage"))
        assert result.returncode == 0, result.stderr
        return float((tmp_path / "usage").read_text())

    assert grows_evenly(seconds, 40, 160)


def sums(count: int) -> bytes:
    """Sums of what is put together of two inputs each, all of open sizes."""
    names = [[f"x{at}_{part}" for part in range(4)] for at in range(count)]
    nodes = []
    for at, (a, b, c, d) in enumerate(names):
        nodes.append(helper.make_node("Concat", [a, b], [f"left{at}"], axis=0))
        nodes.append(helper.make_node("Concat", [c, d], [f"right{at}"], axis=0))
        nodes.append(helper.make_node("Add", [f"left{at}", f"right{at}"], [f"y{at}"]))
    return model(nodes, tuple(value(each, [f"N{each}"]) for four in names for each in four))


@pytest.mark.parametrize("name", SMALL)
def test_small_files(name: str, tmp_path: Path) -> None:
    made, code = SMALL[name]
    path = tmp_path / name
    path.write_bytes(made())
    tries = (taken(path) for _ in range(TRIES))
    assert any(seconds < 2 and code in codes for seconds, codes in tries)
