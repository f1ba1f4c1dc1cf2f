"""Compares two models for their users: the inputs, their accepted sizes, and the outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from irlint.contracts.accepted import (
    Accepted,
    Axis,
    Violation,
    carried,
    points,
    resolved,
    shared_axes,
    sizes_of,
    sizes_text,
    swapped,
    tensor_of,
    violations,
)
from irlint.contracts.changes import Change, listed
from irlint.contracts.contract import Condition, Contract
from irlint.contracts.interface import End
from irlint.contracts.sizes import within
from irlint.dims import Dim, Expr, MaybeDim, evaluated, same, symbols
from irlint.model.tensor import Tensor, disagree, shape_text, type_text
from irlint.records import NOTHING, record


@record(eq=False)
class Side:
    """The inputs, the outputs and the contract of one of the two models."""

    inputs: tuple[End, ...]
    outputs: tuple[End, ...]
    contract: Contract
    #: For each symbol, the name in the file. It may look like an expression: ``past + 1``.
    texts: Mapping[str, str] = NOTHING

    @property
    def accepted(self) -> Accepted:
        """The contract and the names of symbols."""
        return Accepted(self.contract, self.texts)


@record
class Matched:
    """The pairs of corresponding inputs (or outputs), and the inputs (or outputs) that only one model has."""

    pairs: tuple[tuple[End, End], ...]
    removed: tuple[End, ...]
    added: tuple[End, ...]


def matched(old: Sequence[End], new: Sequence[End]) -> Matched:
    """Pairs inputs (or outputs) by their names in the file, then by all their names.

    If several inputs have the same name, the first of them is paired first.
    """
    found: dict[int, int] = {}
    paired: set[int] = set()
    for names_of in (_own_name, _every_name):
        indices: dict[str, list[int]] = {}
        for index in reversed(range(len(new))):
            for name in names_of(new[index]) if index not in paired else ():
                indices.setdefault(name, []).append(index)
        for at, one in enumerate(old):
            if at in found:
                continue
            nearest = [_first_unpaired(indices.get(name, []), paired) for name in names_of(one)]
            fitting = [index for index in nearest if index is not None]
            if fitting:
                found[at] = min(fitting)
                paired.add(found[at])
    pairs = tuple((one, new[found[at]]) for at, one in enumerate(old) if at in found)
    removed = tuple(one for at, one in enumerate(old) if at not in found)
    return Matched(pairs, removed, tuple(end for index, end in enumerate(new) if index not in paired))


def _own_name(end: End) -> Collection[str]:
    return (end.name,)


def _every_name(end: End) -> Collection[str]:
    return end.names


def _first_unpaired(indices: list[int], paired: Collection[int]) -> int | None:
    """The smallest unpaired index, or None.

    ``indices`` are in descending order; paired indices at the end are removed.
    """
    while indices and indices[-1] in paired:
        indices.pop()
    return indices[-1] if indices else None


def interface_changes(old: Side, new: Side) -> list[Change]:
    """The changes of inputs, accepted sizes and outputs, for users of the old model."""
    inputs, outputs = matched(old.inputs, new.inputs), matched(old.outputs, new.outputs)
    changes = [*_removed_and_added("input", inputs), *_moved("input", old.inputs, new.inputs, inputs)]
    compared_inputs = [pair for pair in inputs.pairs if not (pair[0].optional and pair[1].optional)]
    changes += [change for pair in compared_inputs for change in _input_types(*pair)]
    axes = shared_axes(compared_inputs)
    if not old.contract.satisfiable or not new.contract.satisfiable:
        changes += _satisfiable(old.contract, new.contract)
    else:
        changes += _sizes(axes, old.contract, new.contract)
        changes += _together(axes, old.accepted, new.accepted)
        changes += _branches(axes, old.contract, new.contract)
    changes += [*_removed_and_added("output", outputs), *_moved("output", old.outputs, new.outputs, outputs)]
    of_outputs = _Outputs(axes, old.accepted, new.accepted)
    changes += [change for pair in outputs.pairs for change in of_outputs.changes(*pair)]
    return changes


def _removed_and_added(what: str, ends: Matched) -> Iterator[Change]:
    removed = [end for end in ends.removed if not end.optional]
    added = [end for end in ends.added if not end.optional]
    by_type: dict[str, list[End]] = {}
    for end in added if removed else ():
        by_type.setdefault(type_text(end.type), []).append(end)
    for end in removed:
        like = by_type.get(type_text(end.type), ())
        instead = f"; {what} {listed([like[0].name])} of the same type is new" if len(like) == 1 else ""
        message = f"{what} `{end.name}` ({type_text(end.type)}) is gone{instead}"
        yield Change(f"{what}-removed", message, end.name, breaking=True)
    for end in added:
        message = f"{what} `{end.name}` ({type_text(end.type)}) is new" + " and required" * (what == "input")
        yield Change(f"{what}-added", message, end.name, breaking=what == "input")
    for kind, change, optional in (
        ("removed", "gone", [end.name for end in ends.removed if end.optional]),
        ("added", "new", [end.name for end in ends.added if end.optional]),
    ):
        if optional:
            count = f"{len(optional)} optional inputs" if len(optional) > 1 else "the optional input"
            verb = "are" if len(optional) > 1 else "is"
            message = f"{count} {listed(optional)} {verb} {change}"
            yield Change(f"input-{kind}", message, optional[0])


def _moved(what: str, old: Sequence[End], new: Sequence[End], ends: Matched) -> Iterator[Change]:
    """The change of the positions of inputs or outputs, unless a removal or an added input explains the change."""
    if any(not end.optional for end in (*ends.removed, *(ends.added if what == "input" else ()))):
        return
    before = [end for end in old if not end.optional]
    after = [end for end in new if not end.optional]
    places = {id(end): at for at, end in enumerate(after)}
    others = {id(first): other for first, other in ends.pairs}
    moved = [
        (one, at, place) for at, one in enumerate(before) if (place := places.get(id(others.get(id(one))), at)) != at
    ]
    if not moved:
        return
    one, at, place = moved[0]
    more = f", and {len(moved) - 1} more moved" if len(moved) > 1 else ""
    message = (
        f"{what} `{one.name}` is at position {place}, where it was at {at}{more}: callers that use positions get "
        "another one"
    )
    yield Change(f"{what}-moved", message, one.name, breaking=True)


def _input_types(old: End, new: End) -> Iterator[Change]:
    if disagree(old.type, new.type):
        message = f"input `{new.name}` is {_type_text(new)}, where it was {_type_text(old)}"
        yield Change("type-changed", message, new.name, breaking=True)
    if old.optional != new.optional:
        change = "is required: its default was removed" if old.optional else "is optional: it has a default"
        kind = "input-narrowed" if old.optional else "input-widened"
        yield Change(kind, f"input `{new.name}` {change}", new.name, breaking=old.optional)
    one, other = tensor_of(old.type), tensor_of(new.type)
    if one is None or other is None or _rank(one.shape) == _rank(other.shape):
        return
    kind = "input-widened" if other.shape is None else "input-narrowed"
    message = f"input `{new.name}` takes {shape_text(other.shape)}, where it took {shape_text(one.shape)}"
    yield Change(kind, message, new.name, breaking=other.shape is not None)


def _rank(shape: Sequence[MaybeDim] | None) -> int | None:
    return None if shape is None else len(shape)


def _type_text(end: End) -> str:
    return end.type.dtype or "?" if isinstance(end.type, Tensor) else type_text(end.type)


def _satisfiable(old: Contract, new: Contract) -> Iterator[Change]:
    if old.satisfiable:
        change = listed([demand.requirement.condition for demand in new.impossible], limit=2)
        yield Change("contract-unsatisfiable", f"no sizes fit the new model any more: {change}", breaking=True)
    elif new.satisfiable:
        yield Change("contract-satisfiable", "no sizes fit the old model; the new one accepts some")


# --- sizes ------------------------------------------------------------------------------------------------------------


def _sizes(axes: Sequence[Axis], old: Contract, new: Contract) -> Iterator[Change]:
    """The changes of the sizes of axes. Axes with equal sizes share a change."""
    groups: dict[tuple[MaybeDim, MaybeDim], list[Axis]] = {}
    for axis in axes:
        groups.setdefault((_resolved(axis.old, old), _resolved(axis.new, new)), []).append(axis)
    for (one, other), group in groups.items():
        before, after = sizes_of(one, old), sizes_of(other, new)
        if before is None or after is None:
            continue
        narrowed, widened = within(before, after) is False, within(after, before) is False
        if not narrowed and not widened:
            continue
        name = str(other) if isinstance(other, Expr) else str(one)
        message = (
            f"{_axes_text(group)}: {sizes_text(name, after)}, where it was {sizes_text(name, before)}"
            f"{_reason_text({str(other), *(str(axis.new) for axis in group)}, new) if narrowed else ''}"
        )
        yield Change("input-narrowed" if narrowed else "input-widened", message, group[0].end.name, breaking=narrowed)


def _resolved(dim: MaybeDim, contract: Contract) -> MaybeDim:
    return None if dim is None else resolved(dim, contract)


def _axes_text(axes: Iterable[Axis]) -> str:
    names_by_axis: dict[int, list[str]] = {}
    for axis in axes:
        names_by_axis.setdefault(axis.axis, []).append(axis.end.name)
    return ", ".join(f"axis {axis} of {listed(names)}" for axis, names in names_by_axis.items())


def _reason_text(names: Collection[str], contract: Contract) -> str:
    """The first node with an unconditional demand on one of the symbols, in parentheses, or ""."""
    found = next(
        (condition for condition in contract.conditions if not condition.when and _names(condition) & set(names)), None
    )
    return "" if found is None else f" ({_demand_text(found)})"


def _names(condition: Condition) -> set[str]:
    relations = condition.demand.requirement.any_of
    return {name for relation in relations for side in (relation.left, relation.right) for name in symbols(side)}


def _demand_text(condition: Condition) -> str:
    node = condition.demand.node
    return f"{node.op} `{node.label}`: {condition.demand.requirement.why}"


def _together(axes: Sequence[Axis], old: Accepted, new: Accepted) -> Iterator[Change]:
    for violation in violations(axes, old, new):
        at = ", ".join(f"{name} = {size}" for name, size in violation.point.items())
        message = f"{_violation_text(violation, axes, 'is now')}; the old model takes {at}"
        yield Change("contract-narrowed", message, _condition_name(violation), breaking=True)
    for violation in violations(swapped(axes), new, old):
        message = _violation_text(violation, swapped(axes), "is no longer")
        yield Change("contract-widened", message, _condition_name(violation))


def _violation_text(violation: Violation, axes: Sequence[Axis], verb: str) -> str:
    if violation.condition is not None:
        return f"`{violation.condition.text}` {verb} required ({_demand_text(violation.condition)})"
    named = [axis for axis in axes if str(axis.new) == violation.name]
    return f"`{violation.name}` {verb} one size for {_axes_text(named)}"


def _condition_name(violation: Violation) -> str:
    return violation.condition.text if violation.condition is not None else violation.name


def _branches(axes: Sequence[Axis], old: Contract, new: Contract) -> Iterator[Change]:
    """The changes of conditions in bodies.

    Conditions are compared as texts. For this, the symbols of the old model get their names in the new model.
    """
    names = {str(axis.old): str(axis.new) for axis in axes if isinstance(axis.old, Expr) and axis.new is not None}
    before = {
        _branch_and_text(condition, _with_new_names(condition.text, names)): condition.when
        for condition in old.conditions
    }
    after = {_branch_and_text(condition, condition.text): condition.when for condition in new.conditions}
    for (branch, text), when in sorted(after.items()):
        if branch and (branch, text) not in before and ("", text) not in before:
            yield Change("contract-narrowed", f"where `{when}` runs, `{text}` is now required", text)
    for (branch, text), when in sorted(before.items()):
        if branch and (branch, text) not in after and ("", text) not in after:
            yield Change("contract-widened", f"where `{when}` runs, `{text}` is no longer required", text)


def _branch_and_text(condition: Condition, text: str) -> tuple[str, str]:
    return condition.when.rpartition("/")[2], text


def _with_new_names(text: str, names: Mapping[str, str]) -> str:
    parts, word = [], ""
    for character in f"{text}\n":
        if character.isalnum() or character == "_":
            word += character
            continue
        parts.append(names.get(word, word) + character)
        word = ""
    return "".join(parts)[:-1]


# --- outputs ----------------------------------------------------------------------------------------------------------


class _Outputs:
    """Compares the shapes of outputs at sizes that both models accept."""

    def __init__(self, axes: Sequence[Axis], old: Accepted, new: Accepted) -> None:
        self.known_symbols = [_symbols(axis.old for axis in axes), _symbols(axis.new for axis in axes)]
        #: Sizes that both models accept, by the symbols of the old and of the new model.
        self.tried: list[tuple[Mapping[str, int], Mapping[str, int]]] = []
        for point in points(axes, old, new) if old.contract.satisfiable and new.contract.satisfiable else ():
            new_point, clash = carried(axes, point)
            if not clash:
                self.tried.append((point, new_point))

    def changes(self, old: End, new: End) -> Iterator[Change]:
        if disagree(old.type, new.type):
            message = f"output `{new.name}` is {_type_text(new)}, where it was {_type_text(old)}"
            yield Change("type-changed", message, new.name, breaking=True)
        one, other = tensor_of(old.type), tensor_of(new.type)
        if one is None or other is None:
            return
        kind = self._shapes(one.shape, other.shape)
        if kind:
            beginning = {"changed": "", "untold": "less is known of ", "told": "more is known of "}[kind]
            now, was = shape_text(other.shape), shape_text(one.shape)
            message = f"{beginning}output `{new.name}`: {now}, where it was {was}"
            yield Change(f"output-{kind}", message, new.name, breaking=kind != "told")

    def _shapes(self, old: Sequence[MaybeDim] | None, new: Sequence[MaybeDim] | None) -> str:
        """``changed``, ``untold`` if less is known of the new shape, ``told`` if more is known, or ""."""
        if old is None or new is None:
            return "" if old is new else "untold" if new is None else "told"
        if len(old) != len(new):
            return "changed"
        found = [self._sizes(one, other) for one, other in zip(old, new)]
        return next((kind for kind in ("changed", "untold", "told") if kind in found), "")

    def _sizes(self, old: MaybeDim, new: MaybeDim) -> str:
        """As ``_shapes``, for one axis. A size is known if the sizes of shared inputs determine it."""
        is_known = [
            dim is not None and (isinstance(dim, int) or symbols(dim) <= names)
            for dim, names in zip((old, new), self.known_symbols)
        ]
        if not all(is_known):
            return "" if is_known[0] == is_known[1] else "untold" if is_known[0] else "told"
        assert old is not None and new is not None
        if isinstance(old, int) and isinstance(new, int):
            return "" if old == new else "changed"
        if not self.tried:
            return "changed" if same(old, new) is False else ""
        return "changed" if any(self._differ(old, new, *pair) for pair in self.tried) else ""

    def _differ(self, old: Dim, new: Dim, old_point: Mapping[str, int], new_point: Mapping[str, int]) -> bool:
        try:
            return evaluated(old, old_point) != evaluated(new, new_point)
        except (KeyError, ZeroDivisionError):
            return False


def _symbols(dims: Iterable[MaybeDim]) -> frozenset[str]:
    return frozenset(name for dim in dims if isinstance(dim, Expr) for name in symbols(dim))
