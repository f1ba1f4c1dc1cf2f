"""Finds inputs and outputs of an IR of version 10 that have the name of another tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from irlint.binding.calls import Call
from irlint.findings.faults import Rule, Severity
from irlint.inference.answers import Answer
from irlint.inference.known import Known
from irlint.inference.questions import questions
from irlint.model import Graph, Node, Problem, Value
from irlint.model.tensor import Type

_GOOD = """<net version="10">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="2,3" element_type="f32"/>
      <output><port id="0" precision="FP32" names="x"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="1" name="op" type="ReLU" version="opset1">
      <input><port id="0"><dim>2</dim><dim>3</dim></port></input>
      <output><port id="1" precision="FP32" names="y"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="2" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>2</dim><dim>3</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
  </edges>
</net>
"""

TENSOR_NAME_COLLISION = Rule(
    "IRL128",
    "tensor-name-collision",
    Severity.ERROR,
    "In an IR of version 10, an input or an output has the name of another tensor.",
    why=(
        "For an IR of version 10, OpenVINO adds the names of the Parameters, and of the layers before Results, to "
        "the tensor names. It refuses the model if one of these names already belongs to another input or output, or "
        "if one tensor that already has a name is the source of two outputs."
    ),
    fix="Give the layer or the port another name, or write the IR as version 11, which has no such limit.",
    bad=_GOOD.replace('names="x"', 'names="a"').replace('names="y"', 'names="x"'),
    good=_GOOD,
)

#: A function that infers the outputs of a layer.
Infer = Callable[[Node, Sequence[Type | None], Call | None], Answer | None]

#: (layer, index of the output port) that computes each value.
Makers = dict[Value, tuple[Node, int]]


def problems(known: Known) -> Iterator[Problem]:
    """The first name collision of the main graph.

    Returns nothing if two output ports have the same tensor name, because OpenVINO then renames one of them.
    """
    graph = known.model.graph
    assert graph is not None
    if _has_repeated_name(graph):
        return
    makers: Makers = {
        value: (node, port) for node in graph.nodes for port, value in enumerate(node.outputs) if value is not None
    }
    owners = {name: value for value in graph.inputs for name in _tensor_names(makers, value)}
    collision = _output_collision(known, graph, makers, owners)
    if collision is not None:
        yield collision
        return
    yield from _layer_name_collision(known, graph, makers, owners)


def _output_collision(known: Known, graph: Graph, makers: Makers, owners: dict[str, Value]) -> Problem | None:
    """The problem of the first output whose tensor name belongs to an input or to an earlier output.

    ``owners`` maps names of tensors to values; the function adds the outputs.
    """
    for node in graph.nodes:
        if node.op != known.format.output_node or not node.inputs or node.inputs[0] is None:
            continue
        names = _tensor_names(makers, node.inputs[0])
        owned_name = next((name for name in names if name in owners), None)
        if owned_name is not None:
            return _output_problem(graph, node, owned_name)
        owners.update(dict.fromkeys(names, node.inputs[0]))
    return None


def _has_repeated_name(graph: Graph) -> bool:
    ports = [port for node in graph.nodes for port in {each.id: each for each in node.output_ports}.values()]
    names = [name for port in ports for name in port.names]
    return len(set(names)) < len(names)


def _tensor_names(makers: Makers, value: Value) -> tuple[str, ...]:
    node, port = makers.get(value, (None, 0))
    return node.output_ports[port].names if node is not None and port < len(node.output_ports) else ()


def _output_problem(graph: Graph, node: Node, name: str) -> Problem:
    fault = TENSOR_NAME_COLLISION.fault(
        f'the tensor "{name}" is an output here, and is already an input or another output of the model',
        help=f'remove "{name}" from the `names` of the port, or insert a layer before the Result',
    )
    return Problem(fault, graph.path, node, place=node.place)


def _layer_name_collision(known: Known, graph: Graph, makers: Makers, owners: dict[str, Value]) -> Iterator[Problem]:
    """The problem of the first Parameter, or layer before a Result, whose name belongs to another value of
    ``owners``."""
    infer = questions(known)
    results = [node.inputs[0] for node in graph.nodes if node.op == known.format.output_node and node.inputs]
    for value in (*results, *graph.inputs):
        node, port = makers.get(value, (None, 0)) if value is not None else (None, 0)
        name = None if node is None else _output_name(known, infer, node, port)
        if value is None or node is None or not name:
            continue
        owner = owners.setdefault(name, value)
        if owner is value:
            continue
        other = makers[owner][0]
        fault = TENSOR_NAME_COLLISION.fault(
            f'the layer {node.id} is named "{name}", like another input or output, which comes from layer {other.id}',
            help="rename one of the two, or write the IR again as version 11",
        )
        yield Problem(fault, graph.path, node, place=node.place)
        return


def _output_name(known: Known, infer: Infer, node: Node, port: int) -> str | None:
    """The name that OpenVINO adds for an output of a layer; None if it is unknown."""
    if not node.name or node.op == known.format.input_node:
        return node.name
    answer = infer(node, known.types_of(node.inputs), None)
    if answer is None or answer.outputs is None:
        return None
    return node.name if len(answer.outputs) == 1 else f"{node.name}.{port}"
