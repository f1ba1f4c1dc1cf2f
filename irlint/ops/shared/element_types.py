"""Checks of the element types of inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.wording import are, first_few, listed
from irlint.lazy_typing import Literal
from irlint.model.tensor import FLOATS, INTEGERS, Tensor
from irlint.records import record

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


def most_similar(allowed: Collection[str], dtype: str | None = None) -> str:
    """The one of the ``allowed`` types that is most similar to ``dtype``; "" if there is none."""
    order = ("float32", "float16", "int64", "int32") if dtype in FLOATS else ("int64", "int32", "float32", "float16")
    return next((candidate for candidate in order if candidate in allowed), min(allowed, default=""))


def one_of(allowed: Collection[str], dtype: str | None = None) -> str:
    """The ``allowed`` types as the text of a help, which names the type that is most similar to ``dtype``."""
    best = most_similar(allowed, dtype) or "another type"
    return best if len(allowed) < 2 else f"{best}, or to another of these types"


#: The maximum number of refused inputs in a message and in its help.
SHOWN = 3


@record
class RefusedType:
    """An input whose element type the operator refuses."""

    input: int
    dtype: str
    #: The types that the operator takes, as the text of the message.
    takes: str
    #: The type to which the input can be converted, as the text of the help.
    target: str
    #: The name of that type; "" if there is none.
    accepted: str = ""
    #: The name of the input in the schema, or "".
    name: str = ""
    #: What the help says instead, or "".
    help: str = ""
    #: What the help says in addition, or "".
    otherwise: str = ""


def types_refused(refused: Sequence[RefusedType], verb: str) -> Fault:
    """The ``ELEMENT_TYPE_REFUSED`` fault of all refused inputs of a node. The help is to ``verb`` them."""
    by_type: dict[tuple[str, str], list[str]] = {}
    by_target: dict[str, list[str]] = {}
    for each in refused:
        text = f"{each.input} ({each.name})" if each.name else str(each.input)
        by_type.setdefault((each.dtype, each.takes), []).append(text)
        if not each.help:
            by_target.setdefault(each.target, []).append(str(each.input))
    facts = [
        f"{_inputs(texts)} {are(len(texts))} {dtype}; the operator takes {takes}"
        for (dtype, takes), texts in by_type.items()
    ]
    helps = [f"{verb} {_inputs(texts)} to {target}" for target, texts in by_target.items()]
    helps += [each.help for each in refused if each.help]
    otherwise = {each.otherwise for each in refused}
    return ELEMENT_TYPE_REFUSED.fault(
        "; ".join(facts[:SHOWN]),
        help=", and ".join(helps) + (refused[0].otherwise if len(otherwise) == 1 else ""),
        input=refused[0].input,
        refused_types=tuple(refused),
    )


def _inputs(texts: list[str]) -> str:
    names = listed(texts) if len(texts) <= SHOWN else first_few(texts, SHOWN)
    return f"inputs {names}" if len(texts) > 1 else f"input {names}"


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
    accepted = most_similar(allowed, tensor.dtype)
    raise types_refused([RefusedType(index, tensor.dtype, names, one_of(allowed, tensor.dtype), accepted)], "convert")


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
