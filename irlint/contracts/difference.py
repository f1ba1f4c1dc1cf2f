"""The changes between two models: inputs and outputs, accepted sizes, opsets, operators and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.contracts.changes import Change
from irlint.contracts.compared import Side, interface_changes, matched
from irlint.contracts.contract import contract_of
from irlint.contracts.identity import Digest, Numbering, Numbers
from irlint.contracts.interface import End, inputs, outputs
from irlint.contracts.nodes import GraphComparison
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Value
from irlint.model.order import graphs
from irlint.records import replaced

#: Values of a model, each with a number. Values that correspond in the two models have equal numbers.
Numbered = list[tuple[Value, int]]

#: The kinds of changes that are not breaking if the formats differ, because converters declare more or fewer sizes.
_OF_ONE_FORMAT = ("contract-narrowed", "output-untold")

#: If the formats differ, at most this many operators are listed for each model.
NAMED = 8


def differences(old: Known, new: Known, digests: tuple[Digest, Digest]) -> list[Change]:
    """The changes from one model to another. ``digests`` hash the constants of the two models.

    If the formats differ, nodes are only counted.
    """
    sides = [Side(inputs(known), outputs(known), contract_of(known), known.model.symbols) for known in (old, new)]
    changes = interface_changes(*sides)
    if old.format is not new.format:
        marked = [
            replaced(change, breaking=change.breaking and change.kind not in _OF_ONE_FORMAT) for change in changes
        ]
        return [*marked, *_both_counted(old, new)]
    changes += [*_opsets(old, new), *_operators(old, new)]
    return changes + _nodes(old, new, digests, sides)


def _opsets(old: Known, new: Known) -> Iterator[Change]:
    one, other = old.model.format_version, new.model.format_version
    if one != other:
        yield Change("opset-format", f"the {new.format.title} format is of version {other}, where it was {one}", "")
    before, after = old.model.opsets, new.model.opsets
    for domain in sorted({*before, *after}):
        name = domain or "ai.onnx"
        if domain not in after:
            yield Change("opset-removed", f"opset {name} {before[domain]} is not imported any more", name)
        elif domain not in before:
            yield Change("opset-added", f"opset {name} {after[domain]} is imported", name)
        elif before[domain] != after[domain]:
            yield Change("opset-changed", f"opset {name} {before[domain]} -> {after[domain]}", name)


def _operators(old: Known, new: Known) -> Iterator[Change]:
    before, after = operators(old), operators(new)
    for name in sorted({*before, *after}):
        was, now = before.get(name, 0), after.get(name, 0)
        if was == now:
            continue
        kind = "operator-added" if not was else "operator-removed" if not now else "operator-count"
        yield Change(kind, f"{name} {was} -> {now}", name)


def operators(known: Known) -> dict[str, int]:
    """The number of nodes of each operator in all graphs, without nodes for inputs, constants and outputs."""
    form = known.format
    found: dict[str, int] = {}
    for graph in graphs(known.model):
        for node in graph.nodes:
            if node.op not in (form.input_node, form.constant_node, form.output_node):
                name = form.operator_name(node.domain, node.op)
                found[name] = found.get(name, 0) + 1
    return found


def _both_counted(old: Known, new: Known) -> Iterator[Change]:
    counts = " and ".join(f"{known.format.title} has {_counts(operators(known))}" for known in (old, new))
    yield Change("operator-formats", f"the formats differ, so nodes are only counted: {counts}")


def _counts(found: Mapping[str, int]) -> str:
    most = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    named = ", ".join(f"{count} {name}" for name, count in most[:NAMED])
    more = f", ... of {len(most)} operators" if len(most) > NAMED else ""
    return f"{counted(sum(found.values()), 'node')} ({named}{more})" if most else "none"


# --- nodes ------------------------------------------------------------------------------------------------------------


def _nodes(old: Known, new: Known, digests: tuple[Digest, Digest], sides: Sequence[Side]) -> list[Change]:
    numbers = Numbers()
    one, other = (Numbering(known, numbers, digest) for known, digest in zip((old, new), digests))
    inputs_of_both = _numbered(sides[0].inputs, sides[1].inputs, numbers)
    assert old.model.graph is not None and new.model.graph is not None
    before = one.numbered(old.model.graph, dict(inputs_of_both[0]))
    after = other.numbered(new.model.graph, dict(inputs_of_both[1]))
    compared = GraphComparison(one, other)
    changes = compared.changes(before, after, _numbered(sides[0].outputs, sides[1].outputs, numbers))
    return changes + _functions(compared, old, new)


def _numbered(old: Sequence[End], new: Sequence[End], numbers: Numbers) -> tuple[Numbered, Numbered]:
    """The inputs (or outputs) of both models, each with a number. Corresponding inputs have equal numbers.

    Inputs with equal names correspond. The remaining inputs correspond in their order.
    """
    found = matched(old, new)
    pairs = [(one.value, other.value) for one, other in found.pairs]
    pairs += [(one.value, other.value) for one, other in zip(found.removed, found.added)]
    both: tuple[Numbered, Numbered] = ([], [])
    for at, values in enumerate(pairs):
        for value, numbered in zip(values, both):
            numbered.append((value, numbers.of("end", at)))
    shared = min(len(found.removed), len(found.added))
    for which, ends in enumerate((found.removed, found.added)):
        both[which].extend((end.value, numbers.of("alone", which, at)) for at, end in enumerate(ends[shared:]))
    return both


def _functions(compared: GraphComparison, old: Known, new: Known) -> list[Change]:
    found = []
    for key, function in old.model.functions.items():
        other = new.model.functions.get(key)
        if other is None or function.graph not in compared.old.graphs or other.graph not in compared.new.graphs:
            continue
        if compared.old.function(function) != compared.new.function(other):
            found += compared.graphs(function.graph, other.graph)
    return found
