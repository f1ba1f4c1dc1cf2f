"""Checks of the element types of inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from irlint.findings.faults import Refusal, Rule, Severity
from irlint.lazy_typing import Literal
from irlint.model.tensor import FLOATS, INTEGERS, Tensor

ELEMENT_TYPE_REFUSED = Rule(
    "IRL401",
    "element-type-not-allowed",
    Severity.ERROR,
    "The operator does not accept the element type of an input.",
    why=(
        "Each version of an operator accepts certain element types. Runtimes refuse other types when they load the "
        "model."
    ),
    fix="Insert a Cast (ONNX) or Convert (OpenVINO) before the node, or use an operator for that type.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (int32[2,3] x) => (int32[2,3] y) { y = Sigmoid (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Sigmoid (x) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
)

ELEMENT_TYPES_DIFFER = Rule(
    "IRL402",
    "element-types-differ",
    Severity.ERROR,
    "Inputs that must have the same element type have different ones.",
    why=(
        "Neither format converts element types implicitly. Inputs that share a type variable must have the same "
        "type, or runtimes refuse the model when they load it."
    ),
    fix="Insert a Cast (ONNX) or Convert (OpenVINO) before one of the inputs.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float16[3] b) => (float[2,3] y) { y = Add (x, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add (x, b) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt"), Refusal("openvino_frontend")),
)

ARITHMETIC = INTEGERS | FLOATS

#: OpenVINO's real types.
REAL = FLOATS - {"nf4"}
LOGICAL = frozenset({"bool"})
BITWISE = INTEGERS | LOGICAL

#: The types that most operations accept as indices and sizes.
INDEX_TYPES = frozenset({"int32", "int64"})

#: The names of ``INDEX_TYPES`` in an IR.
IndexType = Literal["i32", "i64"]
INDEX_NAMES = {"i32": "int32", "i64": "int64"}


def common_type(tensors: Sequence[Tensor | None], first: int = 0) -> str | None:
    """The common element type of inputs ``first`` and following; None if no type is known.

    Raises an ``ELEMENT_TYPES_DIFFER`` fault.
    """
    known = [(i, x.dtype) for i, x in enumerate(tensors, first) if x is not None and x.dtype is not None]
    if not known:
        return None
    index, dtype = known[0]
    for other, found in known[1:]:
        if found != dtype:
            raise ELEMENT_TYPES_DIFFER.fault(
                f"input {index} is {dtype} and input {other} is {found}: they must have the same element type",
                help=f"convert {to_one_type((index, dtype), (other, found))}",
                input=other,
            )
    return dtype


def to_one_type(one: tuple[int, str], other: tuple[int, str]) -> str:
    """The help to convert one of two inputs, given as (index, type), to the type of the other input."""
    if other[1] in FLOATS and one[1] not in FLOATS:
        one, other = other, one
    return f"input {other[0]} to {one[1]}, or input {one[0]} to {other[1]}"


#: Integer types of constants whose values OpenVINO does not read to infer a shape.
UNREADABLE_INTEGERS = frozenset({"uint1", "uint2", "uint3", "uint6"})


def one_of(allowed: Collection[str], dtype: str | None = None) -> str:
    """The ``allowed`` types as the text of a help, which names the type that is most similar to ``dtype``."""
    order = ("float32", "float16", "int64", "int32") if dtype in FLOATS else ("int64", "int32", "float32", "float16")
    best = next((candidate for candidate in order if candidate in allowed), min(allowed, default="another type"))
    return best if len(allowed) < 2 else f"{best}, or to another of these types"


def expect_type(tensor: Tensor | None, index: int, allowed: Collection[str], *, read: bool = True) -> None:
    """Checks that input ``index`` has one of the ``allowed`` element types.

    ``read``: OpenVINO uses the values of the input, so it must be able to read them. Raises an
    ``ELEMENT_TYPE_REFUSED`` fault.
    """
    if tensor is None or tensor.dtype is None:
        return
    unreadable = bool(index) and tensor.dtype in UNREADABLE_INTEGERS and "int64" in allowed
    if tensor.dtype == "uint2":
        unreadable = unreadable and read and tensor.value is not None
    if tensor.dtype in allowed and not unreadable:
        return
    names = kinds_text(allowed)
    if tensor.dtype in allowed:
        names += f", but no {tensor.dtype}, whose values OpenVINO does not read"
    raise ELEMENT_TYPE_REFUSED.fault(
        f"input {index} is {tensor.dtype}; the operator takes {names}",
        help=f"convert input {index} to {one_of(allowed, tensor.dtype)}",
        input=index,
    )


def kinds_text(allowed: Collection[str]) -> str:
    """The names of up to six element types, or the kinds of more types: "floating-point and integer types"."""
    if len(allowed) <= 6:
        return ", ".join(sorted(allowed))
    kinds = []
    if "float32" in allowed:
        kinds.append("floating-point")
    if "int32" in allowed:
        kinds.append("integer")
    if "bool" in allowed:
        kinds.append("bool")
    if "string" in allowed:
        kinds.append("string")
    return " and ".join((", ".join(kinds[:-1]), kinds[-1])) + " types" if len(kinds) > 1 else f"{kinds[0]} types"
