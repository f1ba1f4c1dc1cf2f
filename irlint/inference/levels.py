"""The severity of a fault, by its rule, its place and the format."""

from __future__ import annotations

from collections.abc import Collection

from irlint.findings.faults import Fault, Rule, Severity, milder
from irlint.lazy_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from irlint.model.formats import Format

#: Why a fault of a node or constant may not matter:
#: ``dead``, ``dead by size``, ``dead by given size``: a constant, a size, or a size from --shape disables its body.
#: ``unused``: no result of the model depends on it.
#: ``shape only``: the results of the model depend on its shape, but not on its elements.
#: ``uncalled``: nothing calls its function.
#: ``unused constant``: nothing uses the constant.
#: ``as declared``: it is in the body of a loop, inferred with declared sizes that another iteration may not have.
Obstacle = Literal[
    "dead", "dead by size", "dead by given size", "unused", "shape only", "uncalled", "unused constant", "as declared"
]

#: The greatest severity of a fault with this obstacle, if no runtime refuses the model because of the fault.
MOST_SEVERE: dict[Obstacle, Severity] = {
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
    obstacles: Collection[Obstacle],
    form: Format,
    *,
    compared_late: bool = False,
    refused_by_inference: bool = False,
    sizes_known: bool = True,
    by_given_shapes: bool = False,
) -> Fault | None:
    """The fault with the severity for its place; None if the fault does not count there.

    - ``compared_late``: the runtime compares the sizes of this operator only when it runs the node.
    - ``refused_by_inference``: the shape inference of the runtime refuses a model with this fault.
    - ``sizes_known``: the runtime knows the faulty sizes when it loads the model.
    - ``by_given_shapes``: only shapes from --shape cause the fault, in a body that may never run.
    """
    most = Severity.WARNING if by_given_shapes else Severity.ERROR
    for obstacle in obstacles:
        if obstacle == "shape only":
            refused = fault.stage == "load"
        else:
            refused = _is_refused(
                fault.rule,
                obstacle,
                form,
                compared_late=compared_late,
                refused_by_inference=refused_by_inference,
                sizes_known=sizes_known,
            )
        if refused:
            continue
        if obstacle == "as declared":
            return None
        most = milder(most, MOST_SEVERE[obstacle])
    return fault.at_most(most)


def needs_sizes(
    rule: Rule,
    obstacles: Collection[Obstacle],
    form: Format,
    *,
    compared_late: bool = False,
    refused_by_inference: bool = False,
) -> bool:
    """Whether the severity depends on ``sizes_known`` of ``leveled``."""
    facts = {"compared_late": compared_late, "refused_by_inference": refused_by_inference}
    return any(
        _is_refused(rule, obstacle, form, **facts, sizes_known=True)
        and not _is_refused(rule, obstacle, form, **facts, sizes_known=False)
        for obstacle in obstacles
    )


def _is_refused(
    rule: Rule,
    obstacle: Obstacle,
    form: Format,
    *,
    compared_late: bool,
    refused_by_inference: bool,
    sizes_known: bool,
) -> bool:
    """Whether a runtime refuses a model with a fault of this rule despite the obstacle."""
    runtime = form.loaded_by
    match obstacle:
        case "uncalled":
            return rule.counts_uncalled
        case "unused constant":
            return rule.is_refused(runtime, "unused constant")
        case "as declared":
            return sizes_known and not compared_late and rule.is_refused(runtime, "as declared")
        case "dead" | "dead by size" if form.dead_bodies_are_inferred:
            refused_if_sized = refused_by_inference or (not compared_late and rule.is_refused(runtime, "dead if sized"))
            return (sizes_known and refused_if_sized) or any(
                rule.is_refused(runtime, where) for where in ("dead", obstacle)
            )
    return False
