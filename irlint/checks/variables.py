"""Variables of an IR that are written and never read, and those whose rank stays open where another one needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import live, ordered
from irlint.model.tensor import Tensor, Type

_GOOD = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,2" element_type="f32"/><output><port id="0" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="1" name="read" type="ReadValue" version="opset6"><data variable_id="v" variable_type="f32" variable_shape="1,2"/><input><port id="0"/></input><output><port id="1" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="2" name="write" type="Assign" version="opset6"><data variable_id="v"/><input><port id="0"/></input></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/><edge from-layer="1" from-port="1" to-layer="2" to-port="0"/><edge from-layer="1" from-port="1" to-layer="3" to-port="0"/>
</edges></net>"""

VARIABLE_NOT_READ = Rule(
    "IRL123",
    "variable-not-read",
    Severity.ERROR,
    "An Assign writes a variable that no ReadValue reads.",
    why='A variable comes into being with the ReadValue of its id. OpenVINO refuses an Assign without one, with "map::at" or '
    '"Can\'t find variable with id"; an Assign of opset 3 has to follow from the ReadValue.',
    mend="Give the Assign and the ReadValue the same `variable_id`.",
    bad=_GOOD.replace(
        'type="Assign" version="opset6"><data variable_id="v"', 'type="Assign" version="opset6"><data variable_id="w"'
    ),
    good=_GOOD,
    role="absence",
)


#: The opsets whose Assign finds its ReadValue by going up from its input.
_OLD = frozenset({"opset3", "opset4", "opset5"})


def problems(known: Known) -> list[Problem]:
    """One problem for each Assign whose variable no layer reads that OpenVINO creates, and for each variable that leaves another open."""
    assert known.model.graph is not None
    graph = known.model.graph
    return [*_unread(graph, known.format.keeps_alive), *_open_variables(known, graph)]


def _unread(graph: Graph, keeps_alive: tuple[str, ...]) -> Iterator[Problem]:
    writers = [node for node in graph.nodes if node.op == "Assign" and "variable_id" in node.attributes]
    if not writers:
        return
    alive = live(graph, keeps_alive)
    readers = [node for node in graph.nodes if node.op == "ReadValue" and node in alive]
    ids = sorted({id for node in readers if (id := _variable(node)) is not None})
    for node in writers:
        id = _variable(node)
        if id in ids and (node.version not in _OLD or _follows(node, id, graph)):
            continue
        read = ", ".join(f'"{each}"' for each in ids)
        told = (
            f"the {'id that is read is' if len(ids) == 1 else 'ids that are read are'} {read}"
            if ids
            else "no layer reads a variable"
        )
        if id in ids:
            told = f"before opset6 this layer has to use the value of the ReadValue of {id}, which has to be as old"
        fault = VARIABLE_NOT_READ.fault(
            f'the variable "{id}" is written and never read: {told}',
            help="give this layer and its ReadValue the same `variable_id`",
            attribute="variable_id",
        )
        yield Problem(fault, graph.path, node, place=node.located(node.attributes["variable_id"].place))


def _follows(writer: Node, id: str | None, graph: Graph) -> bool:
    """Whether a layer uses, directly or through others, what the ReadValue of a variable gives."""
    producers = {value: node for node in graph.nodes for value in node.outputs if value is not None}
    waiting, seen = [writer], {writer}
    while waiting:
        for value in waiting.pop().inputs:
            node = producers.get(value) if value is not None else None
            if node is None or node in seen:
                continue
            if node.op == "ReadValue" and node.version in _OLD and _variable(node) == id:
                return True
            seen.add(node)
            waiting.append(node)
    return False


def _variable(node: Node) -> str | None:
    attribute = node.attributes.get("variable_id")
    return None if attribute is None else attribute.value


def _open_variables(known: Known, graph: Graph) -> Iterator[Problem]:
    """Variables whose rank is open where the initial value of another one that states its shape follows from them."""
    readers = [node for node in graph.nodes if node.op == "ReadValue" and node.outputs and node.outputs[0] is not None]
    if len(readers) < 2:
        return
    from irlint.ops.flow.state import VARIABLE_MISMATCH

    roots: dict[Value, Node] = {}
    for node in ordered(graph).nodes:
        root = next((roots[value] for value in node.inputs if value in roots), None)
        if root is None and node not in readers:
            continue
        given = [_without_shape(known, value, roots) for value in node.inputs]
        answer = asked_again(known, node, given)
        if answer is None or answer.outputs is None:
            continue
        made = [
            each for each, type in zip(node.outputs, answer.outputs) if isinstance(type, Tensor) and type.shape is None
        ]
        roots.update((value, root or node) for value in made if value is not None)
        if root is None or node not in readers or made:
            continue
        stated, attribute = node.attributes["variable_shape"], root.attributes.get("variable_shape")
        fault = VARIABLE_MISMATCH.fault(
            f'the rank of the variable is open, and from it follows the initial value of {node.label!r}, which states "{stated.value}": '
            "OpenVINO refuses a shape that is not known to cover its initial value",
            help="write `variable_shape` here too",
            attribute="variable_shape",
        )
        place = root.place if attribute is None else root.located(attribute.place)
        yield Problem(fault, graph.path, root, place=place)


def _without_shape(known: Known, value: Value | None, roots: Mapping[Value, Node]) -> Type | None:
    type = None if value is None else known.types.get(value)
    return Tensor(type.dtype) if value in roots and isinstance(type, Tensor) else type
