"""Nodes whose bytes are laid out as every writer lays them out, read at once; of their attributes, only those read before."""

from __future__ import annotations

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import IGNORE, Attribute
from irlint.parsers.onnx.graph_records import STANDARD, NodeRecord, standard
from irlint.parsers.onnx.protobuf import DELIMITED
from irlint.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Nodes of more bytes are not tried.
PLAIN_BYTES = 1 << 14

#: Attributes of at most so many bytes are decoded once for all nodes that have them.
SHARED_BYTES = 128

#: So many different ends are kept.
_MOST_ENDS = 10_000

_INPUT, _OUTPUT, _NAME, _OP, _ATTRIBUTE, _DOC_STRING, _DOMAIN, _OVERLOAD, _METADATA = (
    number << 3 | DELIMITED for number in (1, 2, 3, 4, 5, 6, 7, 8, 9)
)

#: The key of metadata that irlint looks for.
_IGNORE = IGNORE.encode()


@record
class End:
    """What stands in a NodeProto behind its inputs, outputs and name."""

    op: str
    domain: str
    overload: str
    attributes: dict[str, Attribute]


class PlainNodes:
    """Reads plain nodes; ``attributes`` are those that were read before, with their names, by their bytes."""

    def __init__(self) -> None:
        self.attributes: dict[bytes, tuple[str, Attribute]] = {}
        #: Attributes of nodes by the operator and the bytes of all of them.
        self._lists: dict[tuple[str, bytes], dict[str, Attribute]] = {}
        self._ends: dict[bytes, End] = {}

    def keep(self, op: str, raws: Sequence[bytes], attributes: dict[str, Attribute]) -> None:
        """Keeps the attributes of a node for others of its operator with the same bytes, where each is one of ``attributes``."""
        if all(raw in self.attributes for raw in raws):
            self._lists[op, b"".join([b"*" + _size(raw) + raw for raw in raws])] = attributes

    def node(self, raw: bytes) -> NodeRecord | None:
        """The NodeProto in ``raw``, where it has inputs, outputs and a name, and then an end as ``_end`` reads it; None for any other."""
        texts: dict[int, list[str]] = {_INPUT: [], _OUTPUT: [], _NAME: []}
        at, last = 0, _INPUT
        try:
            for key, begin, stop in _short_fields(raw, 0):
                if key < last or key > _NAME:
                    break
                texts[key].append(raw[begin:stop].decode())
                at, last = stop, key
            end = self._ends.get(raw[at:]) or self._end(raw, at)
        except (KeyError, IndexError, UnicodeDecodeError):
            return None
        if end is None:
            return None
        return NodeRecord(
            texts[_NAME][-1] if texts[_NAME] else "",
            end.op,
            standard(end.domain),
            end.overload,
            texts[_INPUT],
            texts[_OUTPUT],
            end.attributes,
            False,
            [],
            {},
            end.domain == STANDARD,
        )

    def _end(self, raw: bytes, start: int) -> End | None:
        """What stands in ``raw`` from ``start`` on, where that is an operator, texts, and attributes in one run that were read before;
        None for anything else. Raises IndexError and UnicodeDecodeError."""
        texts = {_OP: "", _DOMAIN: "", _OVERLOAD: ""}
        at = start
        first = last = 0
        for key, begin, stop in _short_fields(raw, start):
            if key in texts:
                texts[key] = raw[begin:stop].decode()
            elif key == _ATTRIBUTE and last in (0, at):
                first, last = first if last else at, stop
            elif key != _DOC_STRING and not (key == _METADATA and _is_passed_over(raw, begin, stop)):
                return None
            at = stop
        attributes = self._lists.get((texts[_OP], raw[first:last]))
        if attributes is None or at != len(raw):
            return None
        end = End(texts[_OP], texts[_DOMAIN], texts[_OVERLOAD], attributes)
        if at - start <= SHARED_BYTES and len(self._ends) < _MOST_ENDS:
            self._ends[raw[start:]] = end
        return end


def _short_fields(raw: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """The key, the begin and the end of each field from ``at`` on, taken as length-delimited, up to one that runs past the end or
    whose size takes more than two bytes. Raises IndexError where ``raw`` ends within a key or a size."""
    while at < len(raw):
        begin = at + 2
        stop = begin + raw[at + 1]
        if raw[at + 1] > 127:
            if raw[begin] > 127:
                return
            stop += (raw[begin] - 1) * 128 + 1
            begin += 1
        if stop > len(raw):
            return
        yield raw[at], begin, stop
        at = stop


def _size(raw: bytes) -> bytes:
    """The size of at most SHARED_BYTES, as a varint."""
    size = len(raw)
    return bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])


def _is_passed_over(raw: bytes, start: int, end: int) -> bool:
    """Whether ``raw[start:end]`` is a key and a value of metadata as every writer writes them, and the key is not what irlint looks for.
    Raises IndexError."""
    entry = list(_short_fields(raw[start:end], 0))
    if [key for key, _, _ in entry] != [1 << 3 | DELIMITED, 2 << 3 | DELIMITED] or entry[1][2] != end - start:
        return False
    return raw[start + entry[0][1] : start + entry[0][2]] != _IGNORE
