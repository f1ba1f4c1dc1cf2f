"""The faults of an AttributeProto in its type, name or reference."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.faults import Fault, Rule, Severity
from irlint.lazy_typing import Literal
from irlint.parsers.onnx.attribute_kinds import MESSAGE_KINDS, AttributeKind

#: The kind of the graph of a node. A body in a function counts as ``function``; any other body is ``body``.
Where = Literal["main", "body", "function"]

ATTRIBUTE_TYPE = Rule(
    "IRL520",
    "attribute-type-mismatch",
    Severity.ERROR,
    "The declared type of an attribute does not match the type of its value.",
    why=(
        "In onnx.proto, an attribute has a separate field for each type of value, and its `type` states which field "
        "to read. The type is required, and all other fields must be empty. The ONNX checker and ONNX Runtime refuse "
        "the model. In a Constant outside of bodies, ONNX Runtime ignores the fields of other types."
    ),
    fix="Write the attribute with onnx.helper.make_attribute, which sets the type that matches the value.",
)

ATTRIBUTE_REFERENCE = Rule(
    "IRL521",
    "attribute-reference-misplaced",
    Severity.WARNING,
    "An attribute has both a reference and a value, or a reference although it is not in a function.",
    why=(
        "In a function, an attribute may refer to an attribute of the call. onnx.proto forbids such a reference "
        "elsewhere, and forbids a reference together with a value. Outside of functions, ONNX Runtime reads a "
        "reference without a value as 0 or empty, and the report shows that value. If an attribute has both, ONNX "
        "Runtime ignores the reference in the main graph, and refuses the model in a body."
    ),
    fix="Replace the reference by a value, or move the node into the function.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { y = Elu <alpha: float = @slope> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { y = Elu <alpha = 1.0> (x) }""",
)

ATTRIBUTE_WITHOUT_NAME = Rule(
    "IRL522",
    "attribute-without-name",
    Severity.ERROR,
    "An attribute has no name.",
    why=(
        "An attribute without a name cannot be identified. The ONNX checker and ONNX Runtime refuse the model. In a "
        "Constant outside of bodies, ONNX Runtime reads the value anyway."
    ),
    fix="Add the attribute's name, or remove the attribute.",
)

#: The names of the value fields of AttributeProto, by number.
_FIELDS = {
    2: "f",
    3: "i",
    4: "s",
    5: "t",
    6: "g",
    7: "floats",
    8: "ints",
    9: "strings",
    10: "tensors",
    11: "graphs",
    14: "tp",
    15: "type_protos",
    22: "sparse_tensor",
    23: "sparse_tensors",
}

#: The number of the field ``ref_attr_name``.
_REFERENCE = 21


def attribute_faults(name: str, kind: AttributeKind, *, in_constant: bool, where: Where) -> list[Fault]:
    """The faults of an attribute. A fault is a warning if ONNX Runtime does not read the wrong part."""
    if not name:
        return [_nameless(kind, ignored=in_constant and where != "body" and kind.is_declared)]
    filled = [_FIELDS[field] for field in kind.fields if field in _FIELDS]
    refers = _REFERENCE in kind.fields
    from_call = refers and where == "function"
    faults = []
    if refers and (filled or where != "function"):
        faults.append(_reference_fault(name, kind.name, bool(filled), where))
    if not kind.is_declared:
        faults.append(_undeclared_type(name, kind.number, filled, ignored=from_call and not in_constant))
    elif any(_kind_of_field(field) != kind.name for field in filled):
        has_value = any(_kind_of_field(field) == kind.name for field in filled)
        # Without a value, ONNX Runtime reads an empty list or, in the main graph, 0 or an empty text.
        may_be_empty = kind.name.endswith("S") or (where == "main" and kind.name not in MESSAGE_KINDS)
        ignored = from_call or (in_constant and where != "body" and (has_value or may_be_empty))
        faults.append(_mismatch(name, kind.name, filled, ignored=ignored))
    return faults


def _nameless(kind: AttributeKind, *, ignored: bool) -> Fault:
    return ATTRIBUTE_WITHOUT_NAME.fault(
        f"an attribute of type {kind.name} has no name",
        help="write its name, or remove it",
        severity=Severity.WARNING if ignored else None,
    )


def _reference_fault(name: str, kind: str, has_value: bool, where: Where) -> Fault:
    if has_value:
        text = f"attribute `{name}` has both a value and a reference to an attribute of a function"
    else:
        text = f"attribute `{name}` refers to an attribute of a function, but is in no function"
        text += "" if kind in MESSAGE_KINDS else ": it is 0 or empty"
    return ATTRIBUTE_REFERENCE.fault(
        text,
        help="remove the reference" if has_value else f"write the value of `{name}`",
        attribute=name,
        severity=Severity.ERROR if has_value and where == "body" else None,
    )


def _undeclared_type(name: str, number: int, filled: Sequence[str], *, ignored: bool) -> Fault:
    declared = f"has the type {number}, which does not exist" if number else "has no type"
    kind = _kind_of_field(filled[0]) if filled else ""
    return ATTRIBUTE_TYPE.fault(
        f"attribute `{name}` {declared}" + (f"; its value is in `{filled[0]}`" if filled else ""),
        help=f"set the type to {kind}" if kind else "set its type",
        attribute=name,
        severity=Severity.WARNING if ignored else None,
    )


def _mismatch(name: str, kind: str, filled: Sequence[str], *, ignored: bool) -> Fault:
    others = [f"`{field}`" for field in filled if _kind_of_field(field) != kind]
    also = " as well" if len(others) < len(filled) else ""
    if also:
        help = f"clear {' and '.join(others)}"
    else:
        help = f"set the type to {_kind_of_field(filled[0])}, or write the value as {kind}"
    return ATTRIBUTE_TYPE.fault(
        f"attribute `{name}` is of type {kind}, and {' and '.join(others)} {'have' if len(others) > 1 else 'has'} a "
        f"value{also}",
        help=help,
        attribute=name,
        severity=Severity.WARNING if ignored else None,
    )


def _kind_of_field(field: str) -> str:
    return {"f": "FLOAT", "i": "INT", "s": "STRING", "t": "TENSOR", "g": "GRAPH", "tp": "TYPE_PROTO"}.get(
        field, field.upper()
    )
