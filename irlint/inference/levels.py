"""The severity of a fault: it depends on the facts that its rule states about runtimes, its place, and the format."""

from __future__ import annotations

from collections.abc import Collection

from irlint.findings.faults import Fault, Rule, Severity, milder
from irlint.lazy_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from irlint.model.formats import Format

#: Why a node may never run. ``dead``, ``dead by size`` and ``dead by given size``: a constant, a size of the file or a
#: size from --shape disables its body. ``unused``: no result depends on it. ``shape only``: a result depends only on
#: its shape. ``uncalled``: nothing calls its function. ``unused constant``: nothing uses the constant. ``as declared``:
#: it is in the body of a loop, inferred with the declared sizes, and counts only if the runtime refuses it there.
Reach = Literal[
    "dead", "dead by size", "dead by given size", "unused", "shape only", "uncalled", "unused constant", "as declared"
]

#: The greatest severity of a fault in such a place, unless a runtime refuses it there.
MOST: dict[Reach, Severity] = {
    "dead": Severity.WARNING,
    "dead by size": Severity.NOTE,
    "dead by given size": Severity.NOTE,
    "unused": Severity.WARNING,
    "shape only": Severity.WARNING,
    "uncalled": Severity.WARNING,
    "unused constant": Severity.WARNING,
}


def leveled(
    fault: Fault,
    place: Collection[Reach],
    form: Format,
    *,
    late: bool = False,
    inferred: bool = False,
    known: bool = True,
    given: bool = False,
) -> Fault | None:
    """The fault with the severity for its place; None if it does not count there. All entries of ``place`` apply to the
    place.

    ``late``: the runtime compares the sizes of this operator only when it runs the node. ``inferred``: the shape
    inference of the runtime refuses such a fault. ``known``: the runtime knows the faulty sizes when it loads the
    model. ``given``: the fault is caused only by shapes from --shape, in a body that may never run.
    """
    most = Severity.WARNING if given else Severity.ERROR
    for reach in place:
        if reach == "shape only":
            refused = fault.stage == "load"
        else:
            refused = _is_refused(fault.rule, reach, form, late=late, inferred=inferred, known=known)
        if refused:
            continue
        if reach == "as declared":
            return None
        most = milder(most, MOST[reach])
    return fault.at_most(most)


def needs_sizes(
    rule: Rule, place: Collection[Reach], form: Format, *, late: bool = False, inferred: bool = False
) -> bool:
    """Whether the severity depends on the sizes that the runtime knows when it loads the model."""
    return any(
        _is_refused(rule, reach, form, late=late, inferred=inferred, known=True)
        and not _is_refused(rule, reach, form, late=late, inferred=inferred, known=False)
        for reach in place
    )


def _is_refused(rule: Rule, reach: Reach, form: Format, *, late: bool, inferred: bool, known: bool) -> bool:
    """Whether a runtime refuses a fault at such a place as it does in code that runs."""
    runtime = form.loaded_by
    match reach:
        case "uncalled":
            return rule.counts_uncalled
        case "unused constant":
            return rule.is_refused(runtime, "unused constant")
        case "as declared":
            return known and not late and rule.is_refused(runtime, "as declared")
        case "dead" | "dead by size" if form.dead_bodies_are_inferred:
            compared = inferred or (not late and rule.is_refused(runtime, "dead if sized"))
            return (known and compared) or any(rule.is_refused(runtime, where) for where in ("dead", reach))
    return False
