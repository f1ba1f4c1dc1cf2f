"""The faults that a walk records, and the problems that result from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from irlint.findings.faults import Fault, Rule, Severity
from irlint.inference.known import Demand
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Node, Problem
from irlint.records import record, replaced

if TYPE_CHECKING:
    from irlint.inference.levels import Obstacle

FAILING_CALL = Rule(
    "IRL136",
    "function-call-fails",
    Severity.ERROR,
    "A node of a function fails with the inputs of a call.",
    why=(
        "Runtimes replace each call by the nodes of the function. The mistake is either in the function or in the "
        "call. The finding at the node states what is wrong; this finding states which call leads to it."
    ),
    fix="Pass inputs that the function accepts, or correct the function.",
)


@record(eq=False)
class Recorded:
    """A fault of a node, as the walk found it."""

    graph: str
    node: Node
    fault: Fault
    obstacles: tuple[Obstacle, ...]
    #: Whether the operator's rule raised the fault.
    by_rule: bool
    when: str
    #: For a node in a function, the outermost call: (path of its graph, calling node).
    call: tuple[str, Node] | None = None

    @property
    def key(self) -> tuple[Node, str]:
        """A key that is equal for the same fault in another walk."""
        return self.node, self.fault.rule.code


class Recorder:
    """The faults and requirements of one walk. With ``discards``, no faults are stored."""

    __slots__ = ("discards", "faults", "requires")

    def __init__(self, *, discards: bool = False) -> None:
        self.discards = discards
        self.faults: list[Recorded] = []
        self.requires: list[Demand] = []


def in_second_iteration(faults: Iterable[Recorded], before: Set[Node], *, is_certain: bool) -> Iterator[Recorded]:
    """The errors that occur only in the second iteration of a loop, with a note that states this.

    ``before`` are the nodes that failed in the first iteration. Unless ``is_certain``, the errors become warnings.
    """
    most = Severity.ERROR if is_certain else Severity.WARNING
    note = "this is the second iteration of the loop; its inputs are what the first one returns"
    for recorded in faults:
        if recorded.fault.severity is Severity.ERROR and recorded.by_rule and recorded.node not in before:
            yield replaced(recorded, fault=recorded.fault.changed(notes=(*recorded.fault.notes, note)).at_most(most))


def problems(faults: Iterable[tuple[Recorded, Fault]]) -> tuple[Problem, ...]:
    """The problems for pairs (recorded fault, the fault with the severity for its place).

    Each problem appears once, with its worst severity. A fault of severity note appears once for all nodes of an
    operator.
    """
    noted: set[tuple[object, ...]] = set()
    found: dict[tuple[object, ...], Problem] = {}
    calls: dict[tuple[str, Node], tuple[object, ...]] = {}
    for recorded, fault in faults:
        node = recorded.node
        if recorded.fault.severity is Severity.NOTE:
            note = (fault.rule.code, node.domain, node.op, fault.attribute)
            if note in noted:
                continue
            noted.add(note)
        key = (*recorded.key, fault.message)
        if key not in found or fault.severity.rank > found[key].fault.severity.rank:
            found[key] = Problem(
                fault, recorded.graph, node, None, place_of_fault(node, fault), by_rule=recorded.by_rule
            )
        if recorded.call is not None and found[key].is_error:
            calls.setdefault(recorded.call, key)
    return (*found.values(), *(_at_the_call(graph, node, found[key]) for (graph, node), key in calls.items()))


def _at_the_call(graph: str, node: Node, inside: Problem) -> Problem:
    """The problem of a call with a problem inside its function."""
    assert inside.node is not None
    where = f"node {inside.node.index} of {inside.graph.partition(':')[2] or 'the function'}"
    fault = FAILING_CALL.fault(
        f"the call fails inside the function, at {where}: {inside.fault.message}", help=inside.fault.help
    )
    return Problem(fault, graph, node, None, node.place, because=inside)


def place_of_fault(node: Node, fault: Fault) -> Any:
    """The place of a fault in the file. If the fault has none, the place of its attribute or its node."""
    if fault.place is not None:
        return fault.place
    attribute = node.attributes.get(fault.attribute) if fault.attribute is not None else None
    return node.located(attribute.place) or node.place if attribute is not None else node.place
