"""The kinds of attributes in onnx.proto, such as INT or GRAPH, and the kind of a given AttributeProto."""

from __future__ import annotations

from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.onnx.protobuf import DELIMITED, FIXED32, VARINT, last_known
from irlint.records import record

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Fields

#: The keys of the fields that hold the values of each kind. A field of numbers has two keys: unpacked and packed. The
#: kinds are in the order of AttributeProto.AttributeType, which counts from 1.
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

#: The kind of each number of AttributeProto.AttributeType.
_KINDS = dict(enumerate(_KEYS, start=1))

#: The numbers of AttributeProto.AttributeType, with 0 for UNDEFINED.
_NUMBERS = range(len(_KINDS) + 1)

#: The keys of the fields of AttributeProto that hold a value, and of ``ref_attr_name``.
_VALUE_KEYS = frozenset([21 << 3 | DELIMITED, *(key for keys in _KEYS.values() for key in keys)])

#: The keys of packed numbers, which hold no value if they are empty.
_PACKED_KEYS = frozenset([7 << 3 | DELIMITED, 8 << 3 | DELIMITED])

#: The attribute of a Constant for each kind: ONNX Runtime reads the kind and ignores the name.
CONSTANT_VALUES = {
    "TENSOR": "value",
    "SPARSE_TENSOR": "sparse_value",
    **{kind: f"value_{kind.lower()}" for kind in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS")},
}

#: Kinds whose values depend only on their bytes.
PLAIN = frozenset({"FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS"})

#: Kinds whose values are, until the linker replaces them by graphs or types, graph records or bytes.
LINKED = frozenset({"GRAPH", "GRAPHS", "TYPE_PROTO", "TYPE_PROTOS"})

#: Kinds whose value is one protobuf message. An attribute of such a kind is invalid without this message.
MESSAGES = frozenset({"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"})


@record
class StatedKind:
    """The ``kind`` of an attribute, which its declared type, ``number``, states.

    If onnx.proto has no such type, ``kind`` is the first kind of which the attribute has a value, or "UNDEFINED".
    ``fields`` are the numbers of the fields that hold a value or a reference. ``has_others`` is True if one of these
    fields does not belong to ``kind``.
    """

    kind: str
    number: int
    fields: tuple[int, ...]
    has_others: bool

    @property
    def is_stated(self) -> bool:
        """Whether the declared type is one of onnx.proto."""
        return self.number in _KINDS


def stated_kind(found: Fields) -> StatedKind:
    """The kind of the AttributeProto with the fields ``found``."""
    number = last_known(found, 20 << 3, _NUMBERS)
    keys = [key for key in found if key in _VALUE_KEYS and not (key in _PACKED_KEYS and _is_empty(found, key))]
    kind = _KINDS.get(number) or next(
        (each for each, of_kind in _KEYS.items() if not set(of_kind).isdisjoint(keys)), "UNDEFINED"
    )
    others = set(keys).difference(_KEYS.get(kind, ()))
    return StatedKind(kind, number, tuple([key >> 3 for key in keys]), bool(others))


def _is_empty(found: Fields, key: int) -> bool:
    """Whether all occurrences of a length-delimited field are empty."""
    return all(start == end for start, end in found[key])
