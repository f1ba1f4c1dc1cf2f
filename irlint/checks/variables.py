"""Checks the variables of an IR: each needs one Assign, one ReadValue, and a known initial shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from itertools import islice

from irlint.dims import MaybeDim, bounds
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import are, counted
from irlint.inference.known import Known
from irlint.inference.questions import outputs_for
from irlint.model import Graph, Node, Place, Problem, Value
from irlint.model.order import live, ordered, producers
from irlint.model.tensor import Tensor, Type, tensor_shape

SOUND = """<?xml version="1.0"?>
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
    bad=SOUND.replace(
        'type="Assign" version="opset6"><data variable_id="v"', 'type="Assign" version="opset6"><data variable_id="w"'
    ),
    good=SOUND,
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
    bad=SOUND.replace(
        '<layer id="2" name="write" type="Assign" version="opset6"><data variable_id="v"/><input><port '
        'id="0"/></input></layer>\n',
        "",
    ).replace('<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>', ""),
    good=SOUND,
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
    bad=SOUND.replace(
        "</layers>",
        """<layer id="4" name="again" type="Assign" version="opset6"><data variable_id="v"/><input><port id="0"/>\
</input></layer>
</layers>""",
    ).replace("</edges>", '<edge from-layer="1" from-port="1" to-layer="4" to-port="0"/>\n</edges>'),
    good=SOUND,
)

STATE_WITHOUT_SIZE = Rule(
    "IRL127",
    "state-without-size",
    Severity.NOTE,
    "A variable without an initial value starts with a size of 0.",
    why=(
        "A variable without an initial value starts with zeros, and its dynamic sizes start with 0. In the first "
        "inference, its batch of 0 does not match the batch of the input: Concat fails, and results of broadcasting "
        "are empty. If a dynamic size has a lower bound above 0, the first inference always fails. irlint does not "
        "report other dynamic sizes after axis 0, because caches that grow start with 0 on purpose."
    ),
    fix="Give the ReadValue an initial value with the batch of the input, or write these sizes in `variable_shape`.",
    bad=SOUND.replace('variable_shape="1,2"/><input><port id="0"/></input>', 'variable_shape="?,2"/>')
    .replace('<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>', "")
    .replace('<port id="1" precision="FP32"><dim>1</dim>', '<port id="1" precision="FP32"><dim>-1</dim>'),
    good=SOUND,
)


#: In these opsets, an Assign must depend on a ReadValue of its variable that is also of one of these opsets.
_EARLY_OPSETS = frozenset({"opset3", "opset4", "opset5"})

#: The maximum number of ids in a message.
SHOWN = 20

#: The maximum number of layers that the searches from all early Assigns of a graph visit in total.
MOST_VISITED = 1_000_000


def problems(known: Known) -> list[Problem]:
    """The problems of the variables of the main graph."""
    assert known.model.graph is not None
    graph = known.model.graph
    unread_problems = [*_assigns_without_read(graph, known.format.keeps_alive)]
    return [
        *unread_problems,
        *_written_with_another_shape(known, graph),
        *_variables_of_unknown_rank(known, graph),
        *_without_initial_value(known, graph),
        *(() if unread_problems else _unpaired(known, graph)),
    ]


def _written_with_another_shape(known: Known, graph: Graph) -> Sequence[Problem]:
    writers = by_variable(graph, "Assign")
    if not writers:
        return []
    from irlint.checks.written_variables import written_with_another_shape

    return [*written_with_another_shape(known, graph, writers)]


def _assigns_without_read(graph: Graph, keeps_alive: tuple[str, ...]) -> Iterator[Problem]:
    """A problem for each Assign whose variable has no ReadValue, or that does not depend on a ReadValue as it must."""
    writers = [node for node in graph.nodes if node.op == "Assign" and "variable_id" in node.attributes]
    if not writers:
        return
    ids = _read_ids(graph, keeps_alive)
    dead = by_variable(graph, "ReadValue").keys() - ids
    written = {variable_of(node) for node in writers}
    search = _Search(graph)
    for node in writers:
        id = variable_of(node)
        if id in ids and (node.version not in _EARLY_OPSETS or search.depends_on_read(node, id)):
            continue
        text, help = _unread_text(id, ids, ids - written, has_only_dead_reads=id in dead)
        fault = VARIABLE_NOT_READ.fault(text, help=help, attribute="variable_id")
        yield Problem(fault, graph.path, node, place=node.located(node.attributes["variable_id"].place))


def _read_ids(graph: Graph, keeps_alive: tuple[str, ...]) -> KeysView[str]:
    """The sorted ids of the variables with a ReadValue that a Result or an Assign needs. OpenVINO creates no others."""
    alive = live(graph, keeps_alive)
    read = {variable_of(node) for node in graph.nodes if node.op == "ReadValue" and node in alive}
    return dict.fromkeys(sorted(id for id in read if id is not None)).keys()


def _unread_text(
    id: str | None, read_ids: Collection[str], read_only_ids: Collection[str], *, has_only_dead_reads: bool
) -> tuple[str, str]:
    """(message, help) about an Assign to the variable ``id``."""
    if id in read_ids:
        text = f'an Assign before opset6 has to depend on a ReadValue before opset6; this one depends on none of "{id}"'
        return text, f'write version="opset6" here, or compute the input from an older ReadValue of "{id}"'
    if has_only_dead_reads:
        text = f'no Result or Assign depends on the ReadValue of the variable "{id}", so OpenVINO does not create it'
        return text, "use the value of the ReadValue, or remove this layer"
    others = f"; the variables with a ReadValue are: {_quoted(read_ids)}" if read_ids else ""
    text = f'the variable "{id}" has no ReadValue{others}'
    if len(read_only_ids) == 1:
        return text, f"set variable_id={_quoted(read_only_ids)}, the only variable with a ReadValue and no Assign"
    return text, "give this layer and its ReadValue the same `variable_id`"


def _quoted(ids: Collection[str]) -> str:
    """The first SHOWN ids in quotes, such as ``"a", "b"``, and the number of the others."""
    shown = [f'"{each}"' for each in islice(ids, SHOWN)]
    return ", ".join([*shown, f"and {len(ids) - SHOWN} more"] if len(ids) > SHOWN else shown)


class _Search:
    """Searches the layers on which Assigns of a graph depend."""

    def __init__(self, graph: Graph) -> None:
        self.producers = producers(graph)
        #: The number of layers that may still be visited.
        self.remaining = MOST_VISITED

    def depends_on_read(self, writer: Node, id: str | None) -> bool:
        """Whether ``writer`` depends on a ReadValue of ``id`` with an opset of _EARLY_OPSETS. Also True if MOST_VISITED
        layers did not decide this."""
        waiting, seen = [writer], {writer}
        while waiting:
            for value in waiting.pop().inputs:
                node = self.producers.get(value) if value is not None else None
                if node is None or node in seen:
                    continue
                if node.op == "ReadValue" and node.version in _EARLY_OPSETS and variable_of(node) == id:
                    return True
                seen.add(node)
                waiting.append(node)
            self.remaining -= 1
            if self.remaining < 0:
                return True
        return False


def variable_of(node: Node) -> str | None:
    attribute = node.attributes.get("variable_id")
    return None if attribute is None else attribute.value


def _variables_of_unknown_rank(known: Known, graph: Graph) -> Iterator[Problem]:
    """A problem for each variable of unknown rank from which the initial value of another variable is computed, if that
    variable has a `variable_shape`.

    Inference takes unknown ranks from declared ports, which OpenVINO ignores. Therefore, the layers after a ReadValue
    are inferred again without these ranks.
    """
    readers = set(readers_of(graph))
    if len(readers) < 2:
        return
    # The ReadValue from which each value of unknown rank is computed.
    roots: dict[Value, Node] = {}
    for node in ordered(graph).nodes:
        root = next((roots[value] for value in node.inputs if value in roots), None)
        if root is None and node not in readers:
            continue
        inputs = [_without_shape(known, value, roots) for value in node.inputs]
        outputs = outputs_for(known, node, inputs)
        if outputs is None:
            continue
        without_rank = _values_of_unknown_rank(node, outputs)
        roots.update(dict.fromkeys(without_rank, root or node))
        if root is not None and node in readers and not without_rank:
            yield _unknown_rank_problem(root, node, graph)


def readers_of(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "ReadValue" and node.outputs and node.outputs[0] is not None]


def _values_of_unknown_rank(node: Node, types: Iterable[Type | None]) -> list[Value]:
    without_rank = (
        value for value, type in zip(node.outputs, types) if isinstance(type, Tensor) and type.shape is None
    )
    return [value for value in without_rank if value is not None]


def _unknown_rank_problem(root: Node, node: Node, graph: Graph) -> Problem:
    """The problem of the ReadValue ``root``: OpenVINO refuses the ReadValue ``node`` because the rank is unknown."""
    from irlint.ops.flow.state import VARIABLE_MISMATCH

    stated, attribute = node.attributes["variable_shape"], root.attributes.get("variable_shape")
    fault = VARIABLE_MISMATCH.fault(
        f"the rank of this variable is unknown, and so is the rank of the initial value of {node.label!r}, which is "
        f'computed from it: OpenVINO refuses the `variable_shape` "{stated.value}" of {node.label!r}, because it may '
        "not cover that value",
        help="also write `variable_shape` here",
        attribute="variable_shape",
    )
    place = root.place if attribute is None else root.located(attribute.place)
    return Problem(fault, graph.path, root, place=place)


def _without_shape(known: Known, value: Value | None, roots: Mapping[Value, Node]) -> Type | None:
    """The type of a value. The rank is unknown if the value is in ``roots``."""
    type = None if value is None else known.types.get(value)
    return Tensor(type.dtype) if value in roots and isinstance(type, Tensor) else type


def _unpaired(known: Known, graph: Graph) -> Iterator[Problem]:
    """The problems of variables without an Assign, with several ReadValues, or with several Assigns.

    ReadValues whose elements the CPU plugin does not need are ignored.
    """
    writers, readers = by_variable(graph, "Assign"), by_variable(graph, "ReadValue")
    if not readers or None in writers:
        return
    values, written = _needed_values(known, graph), sorted(filter(None, writers))
    for id, nodes in readers.items():
        needed = [node for node in nodes if not values.isdisjoint(node.outputs) and not _has_empty_output(known, node)]
        if id is None or not needed:
            continue
        if id not in writers:
            yield Problem(_unwritten_fault(id, written), graph.path, needed[0], place=id_place(needed[0]))
        for layers, verb in ((needed, "read"), (writers.get(id, ()), "written")):
            if len(layers) > 1:
                fault = VARIABLE_USED_TWICE.fault(
                    f'the variable "{id}" is {verb} by {counted(len(layers), "layer")}; the CPU plugin expects one '
                    "ReadValue and one Assign",
                    help="use the value of one ReadValue everywhere" if verb == "read" else "write the variable once",
                    attribute="variable_id",
                )
                yield Problem(fault, graph.path, layers[1], place=id_place(layers[1]))


def by_variable(graph: Graph, op: str) -> dict[str | None, list[Node]]:
    """The layers with the operator ``op``, by their `variable_id`. A missing `variable_id` is None."""
    found: dict[str | None, list[Node]] = {}
    for node in graph.nodes:
        if node.op == op:
            found.setdefault(variable_of(node), []).append(node)
    return found


def id_place(node: Node) -> Place | None:
    return node.located(node.attributes["variable_id"].place)


def _unwritten_fault(id: str, written_ids: list[str]) -> Fault:
    others = f"the written {'id' if len(written_ids) == 1 else 'ids'} {are(len(written_ids))} {_quoted(written_ids)}"
    return VARIABLE_NOT_WRITTEN.fault(
        f'the variable "{id}" is read and never written: {others if written_ids else "no layer writes a variable"}',
        help=f'add an Assign with variable_id="{id}", or replace this layer by the initial value',
        attribute="variable_id",
    )


def _needed_values(known: Known, graph: Graph) -> set[Value]:
    """The values whose elements Results and Assigns need.

    The search stops at values that OpenVINO folds, at layers with bodies, and at input 1 of ConvertLike.
    """
    makers = known.makers(graph)
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
    """Whether all elements are known numbers. OpenVINO replaces such a value by a constant."""
    return isinstance(type, Tensor) and type.value is not None and all(isinstance(e, (int, float)) for e in type.value)


def _has_empty_output(known: Known, node: Node) -> bool:
    type = known.types.get(node.outputs[0]) if node.outputs and node.outputs[0] is not None else None
    return isinstance(type, Tensor) and type.shape is not None and 0 in type.shape


def _without_initial_value(known: Known, graph: Graph) -> Iterator[Problem]:
    """The problems of the ReadValues without an initial value that OpenVINO creates.

    Yields a warning for each ReadValue with a dynamic size whose lower bound is above 0, and one note for all other
    ReadValues with a dynamic batch.
    """
    readers = [node for node in readers_of(graph) if not node.inputs]
    alive = live(graph, known.format.keeps_alive) if readers else ()
    empty: list[tuple[Node, str]] = []
    for node in readers:
        if node not in alive:
            continue
        (type,) = known.types_of(node.outputs[:1])
        shape = tensor_shape(type) or ()
        stated = node.attributes.get("variable_shape")
        text = f'`variable_shape` is "{"" if stated is None else stated.value}" and there is no initial value'
        bounded = [
            (axis, low)
            for axis, dim in enumerate(shape)
            if not isinstance(dim, int) and (low := _lower_bound_or_zero(dim))
        ]
        if bounded:
            axis, low = bounded[0]
            fault = STATE_WITHOUT_SIZE.fault(
                f"{text}: axis {axis} starts with 0, but has to be at least {low}",
                help="give this layer an initial value",
                attribute="variable_shape",
                severity=Severity.WARNING,
            )
            yield Problem(fault, graph.path, node, place=node.located(stated.place) if stated else node.place)
        elif len(shape) > 1 and not isinstance(shape[0], int):
            empty.append((node, text))
    if empty:
        yield _empty_batches(empty, graph)


def _empty_batches(empty: Sequence[tuple[Node, str]], graph: Graph) -> Problem:
    """One note about all ReadValues that start with a batch of 0. ``empty`` has (ReadValue, start of its message)."""
    node, text = empty[0]
    more = counted(len(empty) - 1, "other variable starts", "other variables start")
    others = f"; {more} with a batch of 0, too" if len(empty) > 1 else ""
    fault = STATE_WITHOUT_SIZE.fault(
        f"{text}: the batch, axis 0, starts with 0{others}",
        help="give this layer an initial value with the batch of the input",
        attribute="variable_shape",
    )
    return Problem(fault, graph.path, node, place=node.place)


def _lower_bound_or_zero(dim: MaybeDim) -> int:
    return 0 if dim is None else max(bounds(dim)[0] or 0, 0)
