"""Attributes whose value lies outside of what the operator defines."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.model.tensor import NUMBERED_TYPES
from irlint.ops import Context
from irlint.schemas import official

ATTRIBUTE_OUT_OF_RANGE = Rule(
    "IRL510",
    "attribute-out-of-range",
    Severity.ERROR,
    "An attribute's number lies outside of the range that the operator defines.",
    why="""The operator has no meaning for the number: runtimes refuse the model, divide by zero, or compute something that
nobody asked for. Where a runtime goes on with a value of its own, it is a warning.""",
    mend="Use a value in the range that the message names.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 0> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 2> (x) }""",
)


def numbered_type(number: int, context: Context, attribute: str = "dtype", output: int = 0) -> str:
    """The element type that an ONNX attribute names by its number in TensorProto.DataType.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault for a number that is none, or one of a type that output ``output`` of the
    operator cannot have at this version.
    """
    if not 1 <= number <= len(NUMBERED_TYPES):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{attribute}` is {number}, which is no element type; they are numbered 1 (float) "
            f"to {len(NUMBERED_TYPES)}",
            help="use a number of TensorProto.DataType",
            attribute=attribute,
        )
    dtype = NUMBERED_TYPES[number - 1]
    schema = official(context.op, context.version, context.node.domain)
    if schema is not None and output < len(schema.outputs) and dtype not in schema.outputs[output].types:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{attribute}` is {number} ({dtype}), which the operator cannot give in opset {context.version}",
            help=f"use a type that the operator gives, or import an opset in which it gives {dtype}",
            attribute=attribute,
        )
    return dtype
