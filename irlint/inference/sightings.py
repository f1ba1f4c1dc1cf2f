"""What the walk sees at the nodes, and the problems that it makes of that."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.faults import Fault, Rule, Severity
from irlint.inference.known import Demand
from irlint.lazy_typing import Any
from irlint.model import Node, Problem
from irlint.model.tensor import CONTENTS_LIMIT, Tensor, Type
from irlint.records import record

FAILING_CALL = Rule(
    "IRL136",
    "function-call-fails",
    Severity.ERROR,
    "A node of a function cannot work with what a call gives to the function.",
    why="""The nodes of a function stand in the place of each call. What is wrong there may lie in the function or in the call:
the finding at the node of the function says what, and this one which call led there.""",
    mend="Give the call what the function takes, or mend the function.",
)


SIZE_TOO_LARGE = Rule(
    "IRL303",
    "size-too-large",
    Severity.ERROR,
    "A size is larger than any that a tensor can have.",
    why="""Both formats hold sizes in 64 bits, of which one is the sign: no runtime has a tensor with an axis of more than
9223372036854775807 elements, and what is reckoned with such a size overflows.""",
    mend="Look where the size comes from: a repeat, a pad or a scale that is too large, or garbage in its place.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[n] y) <int64[1] r = {4611686018427387904}> { y = Tile (x, r) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[n] y) <int64[1] r = {4}> { y = Tile (x, r) }""",
)

RANK_TOO_LARGE = Rule(
    "IRL304",
    "rank-too-large",
    Severity.WARNING,
    "A list that has an entry for each axis is so long that irlint does not work out the shape that it leads to.",
    why="""irlint keeps lists of up to 256 entries. ONNX Runtime and many operators of OpenVINO take more axes than that, while NumPy has
arrays of at most 64: a longer list is more likely a mistake, and no node behind it is judged by its shape.""",
    mend="Look where the list comes from: its length is the number of axes.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6] x, int64[300] s) => (float[m,n] y) { z = Reshape (x, s) y = Flatten <axis = 0> (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6] x, int64[3] s) => (float[m,n] y) { z = Reshape (x, s) y = Flatten <axis = 0> (z) }""",
)

#: The largest size.
LARGEST = 2**63 - 1


def too_large(outputs: Sequence[Type | None]) -> Fault | None:
    """The fault of outputs of a node with a size that no tensor can have."""
    for index, known in enumerate(outputs):
        if not isinstance(known, Tensor) or known.shape is None:
            continue
        for axis, dim in enumerate(known.shape):
            if isinstance(dim, int) and dim > LARGEST:
                told = str(dim) if dim.bit_length() < 256 else f"about 2**{dim.bit_length() - 1}"
                return SIZE_TOO_LARGE.fault(
                    f"axis {axis} of output {index} is {told}; a size has to be at most {LARGEST}",
                    help="look where the size comes from",
                )
    return None


def too_many_axes(inputs: Sequence[Type | None], outputs: Sequence[Type | None]) -> Fault | None:
    """The fault of a node of which an output has no known rank because a list of its inputs is too long to be kept."""
    for port, made in enumerate(outputs):
        if not isinstance(made, Tensor) or made.shape is not None:
            continue
        for index, given in enumerate(inputs):
            match given:
                case Tensor(shape=None):
                    return None
                case Tensor(dtype="int32" | "int64", shape=(int(count),)) if count > CONTENTS_LIMIT:
                    return RANK_TOO_LARGE.fault(
                        f"input {index} has {count} entries, one for each axis; irlint works out shapes of at most "
                        f"{CONTENTS_LIMIT} axes, and takes output {port} as the file declares it",
                        help="look where the list comes from",
                        input=index,
                    )
    return None


@record(eq=False)
class Sighting:
    """A fault of a node, how bad it can be there at most, whether the operator's rule said so, the body that may never run, and
    the call that led into the function where it stands, with its graph.

    ``otherwise`` is how bad it is where ONNX Runtime does not know of it when it loads the model, None for no fault at all.
    """

    graph: str
    node: Node
    fault: Fault
    worst: Severity
    by_rule: bool
    when: str
    call: tuple[str, Node] | None = None
    otherwise: Severity | None = Severity.ERROR

    @property
    def key(self) -> tuple[object, ...]:
        return self.fault.rule.code, self.node, self.fault.message


class Said:
    """What one run of a graph found."""

    __slots__ = ("faults", "requires")

    def __init__(self) -> None:
        self.faults: list[Sighting] = []
        self.requires: list[Demand] = []


def once(faults: Sequence[Sighting]) -> tuple[Problem, ...]:
    """The problems that the faults of a walk are: each once, as bad as the worst place makes it, and a note once for all nodes
    of an operator.
    """
    mentioned: set[tuple[object, ...]] = set()
    found: dict[tuple[object, ...], Problem] = {}
    calls: dict[tuple[str, Node], tuple[object, ...]] = {}
    for each in faults:
        node, fault = each.node, each.fault
        if fault.severity is Severity.NOTE:
            mention = (fault.rule.code, node.domain, node.op, fault.attribute)
            if mention in mentioned:
                continue
            mentioned.add(mention)
        if fault.severity.rank > each.worst.rank:
            fault = fault.lowered(each.worst)
        if each.key not in found or fault.severity.rank > found[each.key].fault.severity.rank:
            found[each.key] = Problem(fault, each.graph, node, None, place_of_fault(node, fault), by_rule=each.by_rule)
        if each.call is not None and found[each.key].is_error:
            calls.setdefault(each.call, each.key)
    return (*found.values(), *(_at_the_call(graph, node, found[key]) for (graph, node), key in calls.items()))


def _at_the_call(graph: str, node: Node, inside: Problem) -> Problem:
    """The problem of a call that led to one inside its function."""
    assert inside.node is not None
    where = f"node {inside.node.index} of {inside.graph.partition(':')[2] or 'the function'}"
    fault = FAILING_CALL.fault(
        f"the call fails inside the function, at {where}: {inside.fault.message}", help=inside.fault.help
    )
    return Problem(fault, graph, node, None, node.place, because=inside)


def place_of_fault(node: Node, fault: Fault) -> Any:
    if fault.place is not None:
        return fault.place
    attribute = node.attributes.get(fault.attribute) if fault.attribute is not None else None
    return node.located(attribute.place) or node.place if attribute is not None else node.place


def milder(one: Severity, other: Severity) -> Severity:
    return one if one.rank <= other.rank else other
