"""A fast reader for plain nodes. The fields of a plain node have the usual order, and its attributes are known.

Attributes are known if an earlier node of the same operator had the same bytes for all of them.
"""

from __future__ import annotations

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import IGNORE, Attribute
from irlint.parsers.onnx.graph_records import STANDARD, NodeRecord, standard
from irlint.parsers.onnx.protobuf import DELIMITED
from irlint.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The largest plain node, in bytes.
PLAIN_BYTES = 1 << 14

#: The largest attribute, in bytes, that is decoded once for all nodes that have it.
SHARED_BYTES = 128

#: The largest number of stored ``End`` records.
_MOST_ENDS = 10_000

_INPUT, _OUTPUT, _NAME, _OP, _ATTRIBUTE, _DOC_STRING, _DOMAIN, _OVERLOAD, _METADATA = (
    number << 3 | DELIMITED for number in (1, 2, 3, 4, 5, 6, 7, 8, 9)
)

#: The only metadata key that irlint reads.
_IGNORE = IGNORE.encode()


@record
class End:
    """The fields of a NodeProto after its inputs, outputs and name."""

    op: str
    domain: str
    overload: str
    attributes: dict[str, Attribute]
    spelled_out: bool


class PlainNodes:
    """Reads plain nodes."""

    def __init__(self) -> None:
        #: (name, value) of each attribute that was read, by its bytes.
        self.attributes: dict[bytes, tuple[str, Attribute]] = {}
        #: The attributes of a node, by (operator, bytes of all attributes).
        self._all_attributes: dict[tuple[str, bytes], dict[str, Attribute]] = {}
        self._ends: dict[bytes, End] = {}

    def keep(self, op: str, raws: Sequence[bytes], attributes: dict[str, Attribute]) -> None:
        """Stores all attributes of a node for other nodes of the operator ``op``.

        ``raws`` has the bytes of each attribute. Stores nothing unless all of ``raws`` are in ``self.attributes``.
        """
        if all(raw in self.attributes for raw in raws):
            self._all_attributes[op, b"".join([b"*" + _size(raw) + raw for raw in raws])] = attributes

    def node(self, raw: bytes) -> NodeRecord | None:
        """The plain NodeProto in ``raw``; None for other nodes."""
        texts: dict[int, list[str]] = {_INPUT: [], _OUTPUT: [], _NAME: []}
        at = 0
        try:
            for key in (_INPUT, _OUTPUT, _NAME):
                while raw[at] == key:
                    begin = at + 2
                    at = begin + raw[at + 1]
                    if at - begin > 127:
                        if raw[begin] > 127:
                            return None
                        at += (raw[begin] - 1) * 128 + 1
                        begin += 1
                    texts[key].append(raw[begin:at].decode())
            end = self._ends.get(raw[at:]) if len(raw) - at <= SHARED_BYTES else None
            end = end or self._end(raw, at)
        except (IndexError, UnicodeDecodeError):
            return None
        if end is None:
            return None
        return NodeRecord(
            texts[_NAME][-1] if texts[_NAME] else "",
            end.op,
            end.domain,
            end.overload,
            texts[_INPUT],
            texts[_OUTPUT],
            end.attributes,
            False,
            [],
            {},
            end.spelled_out,
        )

    def _end(self, raw: bytes, start: int) -> End | None:
        """The fields in ``raw`` from ``start`` on; None if the node is not plain.

        A plain node has no input, output or name after ``start``, and no metadata for irlint. Its attributes are
        consecutive, and ``keep`` has stored them. Raises IndexError and UnicodeDecodeError.
        """
        texts = {_OP: "", _DOMAIN: "", _OVERLOAD: ""}
        at = start
        first = last = 0
        while at < len(raw):
            key, begin = raw[at], at + 2
            stop = begin + raw[at + 1]
            if raw[at + 1] > 127:
                if raw[begin] > 127:
                    return None
                stop += (raw[begin] - 1) * 128 + 1
                begin += 1
            if key in texts:
                texts[key] = raw[begin:stop].decode()
            elif key == _ATTRIBUTE and last in (0, at):
                first, last = first if last else at, stop
            elif key != _DOC_STRING and not (key == _METADATA and _is_other_metadata(raw, begin, stop)):
                return None
            at = stop
        attributes = self._all_attributes.get((texts[_OP], raw[first:last]))
        if attributes is None or at != len(raw):
            return None
        domain = texts[_DOMAIN]
        end = End(texts[_OP], standard(domain), texts[_OVERLOAD], attributes, domain == STANDARD)
        if at - start <= SHARED_BYTES and len(self._ends) < _MOST_ENDS:
            self._ends[raw[start:]] = end
        return end


def _size(raw: bytes) -> bytes:
    """The size of an attribute of at most SHARED_BYTES, as a varint."""
    size = len(raw)
    return bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])


def _is_other_metadata(raw: bytes, start: int, end: int) -> bool:
    """Whether ``raw[start:end]`` is a metadata entry with a short key that irlint does not read. Raises IndexError."""
    at = start + 2 + raw[start + 1]
    size = end - at - 2
    if size > 127:
        size -= 1
        if raw[at + 1] != size & 127 | 128 or raw[at + 2] != size >> 7:
            return False
    elif raw[at + 1] != size:
        return False
    if raw[start] != 10 or raw[at] != 18 or at > start + 129:
        return False
    return at != start + 2 + len(_IGNORE) or raw[start + 2 : at] != _IGNORE
