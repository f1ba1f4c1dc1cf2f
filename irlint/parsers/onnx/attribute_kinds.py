"""The kinds of attributes in onnx.proto, such as INT or GRAPH, and the kind of a given AttributeProto."""

from __future__ import annotations

from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.onnx.protobuf import DELIMITED, FIXED32, VARINT, last_known
from irlint.records import record

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Fields

#: The keys of the field that holds the value, by kind. A list of numbers has two keys: unpacked and packed. The kinds
#: are in the order of AttributeProto.AttributeType, which counts from 1.
_KEYS = {
    "FLOAT": (2 << 3 | FIXED32,),
    "INT": (3 << 3 | VARINT,),
    "STRING": (4 << 3 | DELIMITED,),
    "TENSOR": (5 << 3 | DELIMITED,),
    "GRAPH": (6 << 3 | DELIMITED,),
    "FLOATS": (7 << 3 | FIXED32, 7 << 3 | DELIMITED),
    "INTS": (8 << 3 | VARINT, 8 << 3 | DELIMITED),
    "STRINGS": (9 << 3 | DELIMITED,),
    "TENSORS": (10 << 3 | DELIMITED,),
    "GRAPHS": (11 << 3 | DELIMITED,),
    "SPARSE_TENSOR": (22 << 3 | DELIMITED,),
    "SPARSE_TENSORS": (23 << 3 | DELIMITED,),
    "TYPE_PROTO": (14 << 3 | DELIMITED,),
    "TYPE_PROTOS": (15 << 3 | DELIMITED,),
}

_KINDS = dict(enumerate(_KEYS, start=1))

#: The numbers of AttributeProto.AttributeType, with 0 for UNDEFINED.
_NUMBERS = range(len(_KINDS) + 1)

#: The keys of the value fields and of ``ref_attr_name``.
_VALUE_KEYS = frozenset([21 << 3 | DELIMITED, *(key for keys in _KEYS.values() for key in keys)])

_PACKED_KEYS = frozenset([7 << 3 | DELIMITED, 8 << 3 | DELIMITED])

#: The name of the attribute of a Constant node, by kind. ONNX Runtime ignores the name that the file declares.
CONSTANT_VALUES = {
    "TENSOR": "value",
    "SPARSE_TENSOR": "sparse_value",
    **{kind: f"value_{kind.lower()}" for kind in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS")},
}

#: Kinds of numbers and texts. Equal bytes of such an attribute always give an equal value.
PLAIN_KINDS = frozenset({"FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS"})

#: Kinds whose values ``linking`` replaces: it turns a record of a graph into a graph, and bytes into a type.
LINKED_KINDS = frozenset({"GRAPH", "GRAPHS", "TYPE_PROTO", "TYPE_PROTOS"})

#: Kinds whose value is a single protobuf message. If the message is missing, the attribute has no value.
MESSAGE_KINDS = frozenset({"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"})


@record
class AttributeKind:
    """The kind of an attribute."""

    #: The declared kind or, without a declaration, the first kind with a value, or else "UNDEFINED".
    name: str
    #: The number in the field ``type``.
    number: int
    #: The numbers of the fields that hold a value or a reference.
    fields: tuple[int, ...]
    #: Whether ``fields`` has any number other than that of the value field of the kind.
    has_other_fields: bool

    @property
    def is_declared(self) -> bool:
        """Whether the field ``type`` has the number of a kind in onnx.proto; UNDEFINED is no kind."""
        return self.number in _KINDS


def attribute_kind(found: Fields) -> AttributeKind:
    """The kind of the AttributeProto with the fields ``found``."""
    number = last_known(found, 20 << 3, _NUMBERS)
    filled = [key for key in found if key in _VALUE_KEYS and not (key in _PACKED_KEYS and _is_empty(found, key))]
    name = _KINDS.get(number) or next(
        (kind for kind, keys in _KEYS.items() if not set(keys).isdisjoint(filled)), "UNDEFINED"
    )
    others = set(filled).difference(_KEYS.get(name, ()))
    return AttributeKind(name, number, tuple([key >> 3 for key in filled]), bool(others))


def _is_empty(found: Fields, key: int) -> bool:
    return all(start == end for start, end in found[key])
