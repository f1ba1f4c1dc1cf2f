"""Sizes that the file declares dynamic and that the graph restricts to one, and models that no sizes fit."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Problem

FROZEN_SIZE = Rule(
    "IRL608",
    "frozen-size",
    Severity.WARNING,
    "An input size is declared dynamic, but the graph works with one size only.",
    why="An exporter that traces a model with one example writes the example's sizes into Reshape targets, masks, "
    "states or position tables. The model still declares the size as dynamic; it loads, and fails for every "
    "other size. A size of 1 also works where the fixed size is broadcast. Where a layer consumes all pixels at "
    "once, only their product is fixed. A divisor (`H % 32 == 0`), a bound (`seq <= 512`) and a fixed sum are "
    "not reported. In a file that declares every axis of every input dynamic, as OpenVINO's converter writes it, "
    "a size that a weight fixes is a note.",
    fix="Export the model with this size dynamic through to the node (-1 or the Shape of the input in a target; "
    "masks and tables cut to the input), or declare the size that works.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[n,128] y) { s = Constant <value_ints = [1, 128]> () y = Reshape (x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[batch,128] y) { s = Constant <value_ints = [-1, 128]> () y = Reshape (x, s) }""",
)

NO_SIZES_FIT = Rule(
    "IRL609",
    "no-sizes-fit",
    Severity.ERROR,
    "No input sizes of at least 1 satisfy all operators of the model.",
    why="One operator may need what no size provides, such as a Reshape of 64 features into rows of 12 for any "
    "batch. Or each of several operators works alone, but not together. The model fails for every input.",
    fix="Correct the node whose condition is not intended.",
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
