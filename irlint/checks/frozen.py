"""Sizes that the file declares dynamic and that the graph restricts to one, and models that no sizes fit."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Problem

FROZEN_SIZE = Rule(
    "IRL608",
    "frozen-size",
    Severity.WARNING,
    "An input size is declared dynamic, but the graph works only with one value of it.",
    why=(
        "An exporter that traces a model with an example writes the example's sizes into Reshape targets, masks, "
        "states or position tables, but declares the size as dynamic. The model loads, and fails for every other "
        "size. If the fixed size is broadcast, a size of 1 also works. If a layer consumes all pixels at once, only "
        "their product is fixed. irlint does not report divisors (`H % 32 == 0`), bounds (`seq <= 512`) and fixed "
        "sums. OpenVINO's converter declares every axis of every input dynamic; in such a file, a size that a weight "
        "fixes is only a note."
    ),
    fix=(
        "Export the model so that the node uses the dynamic size: -1 or the Shape of the input in a target, and "
        "masks and tables sliced to the size of the input. Or declare the size that works."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[n,128] y) { s = Constant <value_ints = [1, 128]> () y = Reshape (x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[batch,128] y) { s = Constant <value_ints = [-1, 128]> () y = Reshape (x, s) }""",
)

NO_SIZES_FIT = Rule(
    "IRL609",
    "no-sizes-fit",
    Severity.ERROR,
    "No input sizes of at least 1 meet the conditions of all operators.",
    why=(
        "Either one operator cannot work for any size, such as a Reshape of [batch, 64] to [0, 12, -1], or the "
        "conditions of several operators contradict each other. The model fails for every input."
    ),
    fix="Correct the node with the unintended condition.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[n] x, float[6] a, float[12] b) => (float[6] y, float[12] z) {
  r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x) z = Sub (b, s)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[3] x, float[6] a, float[9] b) => (float[6] y, float[9] z) {
  r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x) z = Sub (b, s)
}""",
)


def problems(known: Known) -> list[Problem]:
    """What the operators demand of sizes that the file declares dynamic: one problem for each that is fixed, and one
    where none work."""
    if known.overridden or known.model.graph is None or not known.requires:
        return []
    from irlint.checks import fixed

    return fixed.problems(known)
