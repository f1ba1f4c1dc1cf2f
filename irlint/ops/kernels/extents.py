"""What the numbers of a tensor span, be they kept or only read."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import warn
from irlint.model.tensor import Extent, Tensor

SCALE_UNUSABLE = Rule(
    "IRL730",
    "quantization-scale-unusable",
    Severity.WARNING,
    "A quantization scale is 0, negative, infinite or not a number.",
    why="""What is quantized is divided by its scale, and multiplied by it when it is read back: of a scale of 0 nothing is left,
a negative one turns the signs, the others spread to everything. Runtimes compute it all the same.""",
    mend="Export the model again from data that the scale was measured on; a scale is above 0.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[2,3] x) => (float[2,3] y) <float s = {0.0}> { y = DequantizeLinear (x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[2,3] x) => (float[2,3] y) <float s = {0.5}> { y = DequantizeLinear (x, s) }""",
)


def extent(tensor: Tensor | None) -> Extent | None:
    """What the numbers of a tensor span, of its small contents as far as they are known; None where none of them is."""
    if tensor is None:
        return None
    if tensor.value is None:
        return tensor.extent
    numbers = [entry for entry in tensor.value if isinstance(entry, (int, float)) and not isinstance(entry, bool)]
    return spanned(numbers) if numbers else None


def spanned(numbers: list[int | float]) -> Extent:
    """What numbers span."""
    nans = sum(entry != entry for entry in numbers)
    finite = [entry for entry in numbers if entry - entry == 0]
    return Extent(
        min(finite, default=None),
        max(finite, default=None),
        0 in finite,
        nans,
        len(numbers) - nans - len(finite),
    )


def judge_scale_values(tensor: Tensor | None, index: int, name: str) -> None:
    """Warns of a scale that is not above 0."""
    span = extent(tensor)
    if span is None:
        return
    wrong = ""
    if span.nans:
        wrong = "is not a number"
    elif span.infinities:
        wrong = "is infinite"
    elif span.least is not None and span.least <= 0:
        wrong = "is 0" if span.least == 0 else f"is {span.least:g}"
    if wrong:
        single = tensor is not None and tensor.value is not None and len(tensor.value) == 1
        warn(
            SCALE_UNUSABLE.fault(
                f"input {index} ({name}) {wrong if single else f'holds a scale that {wrong}'}; a scale is a finite number above 0",
                help="measure the scale again",
                input=index,
            )
        )
