"""Checks the variables of an IR: each needs an Assign and a ReadValue, one of each, and a known initial shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from irlint.dims import MaybeDim, bounds
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import are, counted
from irlint.inference.known import Known
from irlint.inference.questions import outputs_for
from irlint.model import Graph, Node, Place, Problem, Value
from irlint.model.order import live, ordered, producers
from irlint.model.tensor import Tensor, Type, tensor_shape

_GOOD = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,2" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="1" name="read" type="ReadValue" version="opset6">\
<data variable_id="v" variable_type="f32" variable_shape="1,2"/><input><port id="0"/></input><output>\
<port id="1" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="2" name="write" type="Assign" version="opset6"><data variable_id="v"/><input><port id="0"/></input></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="3" to-port="0"/>
</edges></net>"""

VARIABLE_NOT_READ = Rule(
    "IRL123",
    "variable-not-read",
    Severity.ERROR,
    "An Assign writes a variable that no ReadValue reads.",
    why=(
        'A ReadValue creates the variable of its id. Without one, OpenVINO refuses the Assign with "map::at" or '
        '"Can\'t find variable with id". An Assign of opset 3 must also depend on the ReadValue.'
    ),
    fix="Give the Assign and the ReadValue the same `variable_id`.",
    bad=_GOOD.replace(
        'type="Assign" version="opset6"><data variable_id="v"', 'type="Assign" version="opset6"><data variable_id="w"'
    ),
    good=_GOOD,
    role="absence",
    accepted=("openvino_ir",),
)

VARIABLE_NOT_WRITTEN = Rule(
    "IRL125",
    "variable-not-written",
    Severity.ERROR,
    "A ReadValue reads a variable that no Assign writes.",
    why=(
        "OpenVINO loads and compiles the model, but the first inference fails, because the CPU plugin needs an "
        'Assign for each ReadValue ("doesn\'t have sibling output"). A ReadValue that no output depends on is '
        "removed before that, and causes no failure."
    ),
    fix="Add an Assign with the `variable_id` of the ReadValue, or replace the ReadValue by its initial value.",
    bad=_GOOD.replace(
        '<layer id="2" name="write" type="Assign" version="opset6"><data variable_id="v"/><input><port '
        'id="0"/></input></layer>\n',
        "",
    ).replace('<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>', ""),
    good=_GOOD,
    role="absence",
    accepted=("openvino_ir",),
)

VARIABLE_USED_TWICE = Rule(
    "IRL126",
    "variable-used-twice",
    Severity.WARNING,
    "Several layers read one variable, or several write it.",
    why=(
        "The CPU plugin of OpenVINO expects one ReadValue and one Assign for each variable. It loads and compiles "
        "the model, but the first inference fails or ends the process."
    ),
    fix="Use the output of one ReadValue in all layers, and write the variable once.",
    bad=_GOOD.replace(
        "</layers>",
        """<layer id="4" name="again" type="Assign" version="opset6"><data variable_id="v"/><input><port id="0"/>\
</input></layer>
</layers>""",
    ).replace("</edges>", '<edge from-layer="1" from-port="1" to-layer="4" to-port="0"/>\n</edges>'),
    good=_GOOD,
)

STATE_WITHOUT_SIZE = Rule(
    "IRL127",
    "state-without-size",
    Severity.NOTE,
    "A variable has no initial value and a dynamic size.",
    why=(
        "A variable without an initial value starts with zeros, and its dynamic sizes start with 0. In the first "
        "inference, its batch of 0 does not match the batch of the input: Concat fails, and results of broadcasting "
        "are empty. If `variable_shape` has a lower bound above 0, the first inference always fails."
    ),
    fix="Give the ReadValue an initial value with the batch of the input, or fix the batch in `variable_shape`.",
    bad=_GOOD.replace('variable_shape="1,2"/><input><port id="0"/></input>', 'variable_shape="?,2"/>')
    .replace('<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>', "")
    .replace('<port id="1" precision="FP32"><dim>1</dim>', '<port id="1" precision="FP32"><dim>-1</dim>'),
    good=_GOOD,
)


#: The opsets whose Assign has to depend on its ReadValue.
_OLD = frozenset({"opset3", "opset4", "opset5"})

#: At most this many ids are named in a message.
SHOWN = 20

#: At most this many layers are examined for all such Assigns of a graph.
MOST_LOOKED_AT = 1_000_000


def problems(known: Known) -> list[Problem]:
    """The problems of the variables of the main graph."""
    assert known.model.graph is not None
    graph = known.model.graph
    unread = [*_unread(graph, known.format.keeps_alive)]
    return [
        *unread,
        *_of_unknown_rank(known, graph),
        *_without_initial_value(known, graph),
        *(() if unread else _pairs(known, graph)),
    ]


def _unread(graph: Graph, keeps_alive: tuple[str, ...]) -> Iterator[Problem]:
    """A problem for each Assign without a ReadValue of its variable that a result needs."""
    writers = [node for node in graph.nodes if node.op == "Assign" and "variable_id" in node.attributes]
    if not writers:
        return
    ids = _read_ids(graph, keeps_alive)
    sources = _Sources(graph)
    for node in writers:
        id = _variable(node)
        if id in ids and (node.version not in _OLD or sources.lead(node, id)):
            continue
        fault = VARIABLE_NOT_READ.fault(
            _unread_text(id, ids),
            help="give this layer and its ReadValue the same `variable_id`",
            attribute="variable_id",
        )
        yield Problem(fault, graph.path, node, place=node.located(node.attributes["variable_id"].place))


def _read_ids(graph: Graph, keeps_alive: tuple[str, ...]) -> Collection[str]:
    """The sorted ids of the variables whose ReadValues contribute to a result."""
    alive = live(graph, keeps_alive)
    read = {_variable(node) for node in graph.nodes if node.op == "ReadValue" and node in alive}
    return dict.fromkeys(sorted(id for id in read if id is not None))


def _unread_text(id: str | None, ids: Collection[str]) -> str:
    """The message about an Assign to the variable ``id``; ``ids`` are the variables that ReadValues read."""
    if id in ids:
        return f'before opset6, an Assign of "{id}" has to depend on a ReadValue of it, which is also before opset6'
    if not ids:
        return f'the variable "{id}" has no ReadValue that a result needs'
    return f'the variable "{id}" has no ReadValue; the variables with one are: {_quoted(ids)}'


def _quoted(ids: Collection[str]) -> str:
    """The ids in quotes, such as ``"a", "b"``; of more than SHOWN ids, the first ones and the number of the others."""
    shown = [f'"{each}"' for each in islice(ids, SHOWN)]
    return ", ".join([*shown, f"and {len(ids) - SHOWN} more"] if len(ids) > SHOWN else shown)


class _Sources:
    """The nodes that compute the values of a graph, and how many more nodes may be searched."""

    def __init__(self, graph: Graph) -> None:
        self.producers = producers(graph)
        self.left = MOST_LOOKED_AT

    def lead(self, writer: Node, id: str | None) -> bool:
        """Whether a layer depends on the ReadValue of a variable, of an opset before opset6; also True if the search
        takes too long."""
        waiting, seen = [writer], {writer}
        while waiting:
            for value in waiting.pop().inputs:
                node = self.producers.get(value) if value is not None else None
                if node is None or node in seen:
                    continue
                if node.op == "ReadValue" and node.version in _OLD and _variable(node) == id:
                    return True
                seen.add(node)
                waiting.append(node)
            self.left -= 1
            if self.left < 0:
                return True
        return False


def _variable(node: Node) -> str | None:
    attribute = node.attributes.get("variable_id")
    return None if attribute is None else attribute.value


def _of_unknown_rank(known: Known, graph: Graph) -> Iterator[Problem]:
    """Variables of unknown rank, if a variable with a stated shape gets its initial value from them."""
    readers = set(_readers(graph))
    if len(readers) < 2:
        return
    roots: dict[Value, Node] = {}
    for node in ordered(graph).nodes:
        root = next((roots[value] for value in node.inputs if value in roots), None)
        if root is None and node not in readers:
            continue
        given = [_without_shape(known, value, roots) for value in node.inputs]
        outputs = outputs_for(known, node, given)
        if outputs is None:
            continue
        made = _values_of_unknown_rank(node, outputs)
        roots.update(dict.fromkeys(made, root or node))
        if root is not None and node in readers and not made:
            yield _unknown_rank_problem(root, node, graph)


def _readers(graph: Graph) -> list[Node]:
    """The ReadValues of a graph that give a value."""
    return [node for node in graph.nodes if node.op == "ReadValue" and node.outputs and node.outputs[0] is not None]


def _values_of_unknown_rank(node: Node, types: Iterable[Type | None]) -> list[Value]:
    """The outputs of unknown rank of a node, for outputs of these types."""
    without_rank = (
        value for value, type in zip(node.outputs, types) if isinstance(type, Tensor) and type.shape is None
    )
    return [value for value in without_rank if value is not None]


def _unknown_rank_problem(root: Node, node: Node, graph: Graph) -> Problem:
    """The problem of a variable of unknown rank from which the initial value of a variable with a stated shape is
    computed."""
    from irlint.ops.flow.state import VARIABLE_MISMATCH

    stated, attribute = node.attributes["variable_shape"], root.attributes.get("variable_shape")
    fault = VARIABLE_MISMATCH.fault(
        f"the rank of the variable is unknown, and the initial value of {node.label!r} depends on it, which declares "
        f'"{stated.value}": '
        "OpenVINO refuses a shape that may not cover its initial value",
        help="also write `variable_shape` here",
        attribute="variable_shape",
    )
    place = root.place if attribute is None else root.located(attribute.place)
    return Problem(fault, graph.path, root, place=place)


def _without_shape(known: Known, value: Value | None, roots: Mapping[Value, Node]) -> Type | None:
    type = None if value is None else known.types.get(value)
    return Tensor(type.dtype) if value in roots and isinstance(type, Tensor) else type


def _pairs(known: Known, graph: Graph) -> Iterator[Problem]:
    """Variables without an Assign, and variables with several layers if the plugin expects one."""
    writers, readers = _by_variable(graph, "Assign"), _by_variable(graph, "ReadValue")
    if not readers or None in writers:
        return
    needed, written = _needed(known, graph), sorted(filter(None, writers))
    for id, nodes in readers.items():
        counting = [node for node in nodes if not needed.isdisjoint(node.outputs) and not _is_empty(known, node)]
        if id is None or not counting:
            continue
        if id not in writers:
            yield Problem(_unwritten(id, written), graph.path, counting[0], place=_id_place(counting[0]))
        for several, verb in ((counting, "read"), (writers.get(id, ()), "written")):
            if len(several) > 1:
                fault = VARIABLE_USED_TWICE.fault(
                    f'the variable "{id}" is {verb} by {counted(len(several), "layer")}; the CPU plugin expects one '
                    "ReadValue and one Assign",
                    help="use the value of one ReadValue everywhere" if verb == "read" else "write the variable once",
                    attribute="variable_id",
                )
                yield Problem(fault, graph.path, several[1], place=_id_place(several[1]))


def _by_variable(graph: Graph, op: str) -> dict[str | None, list[Node]]:
    """The layers of a type, by the variable that they state."""
    found: dict[str | None, list[Node]] = {}
    for node in graph.nodes:
        if node.op == op:
            found.setdefault(_variable(node), []).append(node)
    return found


def _id_place(node: Node) -> Place | None:
    return node.located(node.attributes["variable_id"].place)


def _unwritten(id: str, written: list[str]) -> Fault:
    others = f"the written {'id' if len(written) == 1 else 'ids'} {are(len(written))} {_quoted(written)}"
    return VARIABLE_NOT_WRITTEN.fault(
        f'the variable "{id}" is read and never written: {others if written else "no layer writes a variable"}',
        help=f'add an Assign with variable_id="{id}", or replace this layer by the initial value',
        attribute="variable_id",
    )


def _needed(known: Known, graph: Graph) -> set[Value]:
    """The values on which results and variables depend, except those of which OpenVINO uses only the shape or type.
    Uses inside bodies do not count."""
    makers = producers(graph)
    waiting = [value for node in graph.nodes if node.op in known.format.keeps_alive for value in node.inputs]
    found: set[Value] = set()
    while waiting:
        value = waiting.pop()
        if value is None or value in found or _is_folded(known.types.get(value)):
            continue
        found.add(value)
        node = makers.get(value)
        if node is not None and not node.bodies:
            waiting += node.inputs[:1] if node.op == "ConvertLike" else node.inputs
    return found


def _is_folded(type: Type | None) -> bool:
    """Whether OpenVINO replaces a value by a constant."""
    return isinstance(type, Tensor) and type.value is not None and all(isinstance(e, (int, float)) for e in type.value)


def _is_empty(known: Known, node: Node) -> bool:
    type = known.types.get(node.outputs[0]) if node.outputs and node.outputs[0] is not None else None
    return isinstance(type, Tensor) and type.shape is not None and 0 in type.shape


def _without_initial_value(known: Known, graph: Graph) -> Iterator[Problem]:
    """A warning for each ReadValue without an initial value that has a dynamic axis of a least size above 0, and one
    note for the others with a dynamic batch."""
    readers = [node for node in _readers(graph) if not node.inputs]
    alive = live(graph, known.format.keeps_alive) if readers else ()
    found: list[tuple[Node, str]] = []
    for node in readers:
        if node not in alive:
            continue
        (type,) = known.types_of(node.outputs[:1])
        shape = tensor_shape(type) or ()
        stated = node.attributes.get("variable_shape")
        text = f'`variable_shape` is "{"" if stated is None else stated.value}" and there is no initial value'
        least = [(axis, low) for axis, dim in enumerate(shape) if not isinstance(dim, int) and (low := _least(dim))]
        if least:
            fault = STATE_WITHOUT_SIZE.fault(
                f"{text}: axis {least[0][0]} starts with 0 and has to be at least {least[0][1]}",
                help="give this layer an initial value",
                attribute="variable_shape",
                severity=Severity.WARNING,
            )
            yield Problem(fault, graph.path, node, place=node.located(stated.place) if stated else node.place)
        elif len(shape) > 1 and not isinstance(shape[0], int):
            found.append((node, text))
    if found:
        yield _empty_batches(found, graph)


def _empty_batches(found: Sequence[tuple[Node, str]], graph: Graph) -> Problem:
    """One problem for all variables that begin with an empty batch, with a description of each."""
    node, text = found[0]
    others = f"; so do those of {counted(len(found) - 1, 'other variable')}" if len(found) > 1 else ""
    fault = STATE_WITHOUT_SIZE.fault(
        f"{text}: the batch, axis 0, starts with 0{others}",
        help="give this layer an initial value with the batch of the input",
        attribute="variable_shape",
    )
    return Problem(fault, graph.path, node, place=node.place)


def _least(dim: MaybeDim) -> int:
    return 0 if dim is None else max(bounds(dim)[0] or 0, 0)
