"""Finds input sizes that are declared dynamic although only one value works, and models for which no sizes work."""

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
        "states or position tables, but declares the sizes as dynamic. The model loads, but fails for every other "
        "size. irlint also reports a size if, besides the one value, 1 works because it broadcasts. It reports two "
        "sizes if only their product is fixed, because a layer uses all pixels at once. It reports a size that "
        "depends on data if a Transpose brings it to an axis whose size a weight fixes. It does not report divisors "
        "(`H % 32 == 0`), bounds (`seq <= 512`) and fixed sums. OpenVINO's converter declares every axis of every "
        "input dynamic. In an IR of this converter, a size that a weight fixes is only a note."
    ),
    fix=(
        "Export the model so that the node uses the dynamic size. In the target of a Reshape, use -1 or the Shape of "
        "the input; slice masks and tables to the size of the input. Or declare the size that works."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[n,128] y) { s = Constant <value_ints = [1, 128]> () y = Reshape (x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[n,128] y) { s = Constant <value_ints = [-1, 128]> () y = Reshape (x, s) }""",
)

NARROW_SIZE = Rule(
    "IRL613",
    "narrow-size",
    Severity.WARNING,
    "An input size is declared dynamic, but only a few neighboring values of it work.",
    why=(
        "Convolutions and poolings with strides give the same size for several sizes of the input: with strides of 32, "
        "heights from 224 to 255 give 7. If a later node needs exactly this size, only these heights work. An "
        "exporter wrote the size into a Reshape target or a table of positions, or a skip connection adds two "
        "resolutions that are equal only for tiny inputs. The model loads, but fails for every other size. irlint "
        "does not report bounds (`seq <= 512`)."
    ),
    fix=(
        "Export the model so that the node uses the dynamic size, or correct the connection of the node. Or declare "
        "one of the sizes that work."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,H] x) => (float[1,8] y) {
  s = Constant <value_ints = [1, 8]> () p = MaxPool <kernel_shape = [4], strides = [4]> (x) y = Reshape (p, s)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,H] x) => (float[1,n] y) {
  s = Constant <value_ints = [1, -1]> () p = MaxPool <kernel_shape = [4], strides = [4]> (x) y = Reshape (p, s)
}""",
)

NO_SIZES_FIT = Rule(
    "IRL609",
    "no-sizes-fit",
    Severity.ERROR,
    "No input sizes meet the conditions of all operators.",
    why=(
        "Each operator works for some sizes, but the conditions of several operators contradict each other: one may "
        "need an even size and another one an odd size. The model fails for every input. irlint considers only sizes "
        "of at least 1."
    ),
    fix="Correct the node whose condition is not intended.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[n] x, float[1] a) => (float[h,2] y, float[k,2] z) {
  s = Constant <value_ints = [-1, 2]> () y = Reshape (x, s) c = Concat <axis = 0> (x, a) z = Reshape (c, s)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[n] x, float[2] a) => (float[h,2] y, float[k,2] z) {
  s = Constant <value_ints = [-1, 2]> () y = Reshape (x, s) c = Concat <axis = 0> (x, a) z = Reshape (c, s)
}""",
)


def problems(known: Known) -> list[Problem]:
    """The problems of ``fixed`` (input sizes), ``transposed``, ``mixed_rows`` and ``index_bounds``.

    Returns [] if the user passed shapes (``known.overridden``), or if no operator has a condition on sizes.
    """
    if known.overridden or known.model.graph is None or not known.requires:
        return []
    from irlint.checks import fixed, index_bounds, mixed_rows, transposed

    found = *fixed.problems(known), *transposed.problems(known), *mixed_rows.problems(known)
    return [*found, *index_bounds.problems(known)]
