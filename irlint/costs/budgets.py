"""Limits of the configuration on the parameters, bytes, MACs and peak memory of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from irlint.costs.activations import size_of, weight
from irlint.costs.assumed import assumed_sizes
from irlint.costs.counted import Cost, counted
from irlint.costs.stored import Sums, sums
from irlint.dims import Dim, MaybeDim, at_least, guarded
from irlint.dims.proofs import fed
from irlint.dims.rounding import rounded, sizes_text
from irlint.findings.faults import Fault, Rule, Severity
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.records import record

BUDGET_EXCEEDED = Rule(
    "IRL640",
    "budget-exceeded",
    Severity.ERROR,
    "A model costs more than its budget in the configuration allows.",
    why="A `[[models]]` entry of the configuration limits the parameters, bytes, MACs or peak memory of its models, so "
    "that a model that is too large for a device fails the check. The message names the most expensive nodes. If the "
    "cost exceeds the limit only for some values of a dynamic size, irlint warns: state the sizes in `shapes` of the "
    "same entry.",
    fix="Make the nodes that the message names cheaper, or raise the budget.",
    role="given",
)

#: The most nodes that a message lists.
NAMED = 3


@record
class Budget:
    """A limit on a cost."""

    #: The key in the configuration.
    name: str
    most: int
    #: The limit as it is written.
    text: str
    #: The file and line of the key.
    place: str


def problems(known: Known, budgets: Sequence[Budget]) -> list[Problem]:
    """The problems of the budgets that a model exceeds or may exceed."""
    cost = counted(known) if any(budget.name in ("max-macs", "max-peak-memory") for budget in budgets) else None
    stored = sums(known)
    found = (_fault(budget, known, stored, cost) for budget in budgets)
    return [Problem(fault) for fault in found if fault is not None]


def _fault(budget: Budget, known: Known, stored: Sums, cost: Cost | None) -> Fault | None:
    """An error if the model always exceeds the budget, a warning if it may, else None."""
    size, what = _size(budget.name, stored, cost)
    fits = None if size is None else at_least(budget.most, guarded(fed, size))
    if fits:
        return None
    nodes = _costs_of_nodes(budget.name, known, stored, cost)
    sizes = assumed_sizes(known, (size, *(count for _, count in nodes)))
    shown = "not known" if size is None else rounded(size, sizes)
    if isinstance(size, int):
        shown = _with_exact(shown, size)
    limit = _with_exact(budget.text, budget.most) if isinstance(size, int) else budget.text
    text = f"{what} {shown}, and `{budget.name}` is {limit} ({budget.place}){_most_expensive(nodes, sizes)}"
    if size is not None and fits is False:
        return BUDGET_EXCEEDED.fault(text, help=BUDGET_EXCEEDED.advice)
    return BUDGET_EXCEEDED.fault(
        text,
        help="state the sizes of the inputs in `shapes` of the entry, so that the cost is a number",
        severity=Severity.WARNING,
    )


def _with_exact(text: str, count: int) -> str:
    """``1.5K (1500)``; a text that is the number itself stays."""
    return text if text == str(count) else f"{text} ({count})"


def _most_expensive(nodes: Sequence[tuple[str, Dim]], sizes: Mapping[str, int]) -> str:
    """``; most expensive at N = 1: c2 (1152*N), c1 (216*N)``."""
    if not nodes:
        return ""
    largest = sorted(nodes, key=lambda node: -weight(node[1], sizes))[:NAMED]
    where = f" at {sizes_text(sizes)}" if sizes else ""
    return f"; most expensive{where}: {', '.join(f'{label} ({rounded(count, sizes)})' for label, count in largest)}"


def _size(name: str, stored: Sums, cost: Cost | None) -> tuple[MaybeDim, str]:
    """The size that a budget limits, and the start of its message."""
    if name == "max-parameters":
        return stored.parameters, "the number of parameters is"
    if name == "max-bytes":
        return stored.bytes, "the number of stored bytes is"
    assert cost is not None
    if name == "max-macs":
        return cost.macs, "the number of MACs is"
    return cost.peak, "the peak memory of activations in bytes is"


def _costs_of_nodes(name: str, known: Known, stored: Sums, cost: Cost | None) -> list[tuple[str, Dim]]:
    """The nodes with costs, in the order of the file. For peak memory, the costs are the sizes of first outputs."""
    if name in ("max-parameters", "max-bytes"):
        counts = stored.by_node if name == "max-parameters" else stored.bytes_by_node
        found: Iterable[tuple[str, MaybeDim]] = ((node.label, count) for node, count in counts.items())
    elif name == "max-macs" and cost is not None:
        found = ((cost_of_node.node.label, cost_of_node.macs) for cost_of_node in cost.nodes)
    else:
        found = _output_bytes(known)
    return [(label, size) for label, size in found if size is not None and size != 0]


def _output_bytes(known: Known) -> Iterator[tuple[str, MaybeDim]]:
    graph = known.model.graph
    without_cost = (known.format.input_node, known.format.constant_node, known.format.output_node)
    for node in graph.nodes if graph is not None else ():
        value = node.outputs[0] if node.outputs else None
        if value is not None and node.op not in without_cost:
            yield node.label, size_of(known.types.get(value))
