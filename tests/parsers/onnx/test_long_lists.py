"""Very long lists in attributes: the same entries whether they are read field by field or by NumPy."""

from __future__ import annotations

import mmap

import pytest
from onnx import AttributeProto

from irlint.model.lists import LongList
from irlint.parsers.onnx import long_lists

KEYS = {AttributeProto.INTS: b"\x42", AttributeProto.FLOATS: b"\x3a"}
LISTS = {
    "small": ("ints", [1, 2, 3] * 50),
    "of two bytes": ("ints", [128, 300, 16383] * 50),
    "of three bytes": ("ints", [16384, 70000, (1 << 21) - 1] * 50),
    "of one byte and two": ("ints", [*range(100, 160), 5, 511, 0, 16383] * 3),
    "of one byte, then two, then three": ("ints", [*range(120, 140), *range(16380, 16400)]),
    "of all sizes": ("ints", [0, 127, 128, 1 << 14, 1 << 35, (1 << 63) - 1, -1, -(1 << 63)] * 9),
    "bytes that are keys": ("ints", [0x40, 0x2040, 0x4040] * 30),
    "floats": ("floats", [0.5, -0.0, 1e30, 3.0] * 40),
    "floats of bytes that are keys": ("floats", [2.3509887e-38, 0.04712677001953125] * 40),
    "texts": ("strings", [b"BRANCH_LEQ", b"LEAF", b"", "größer".encode()] * 30),
    "a text that comes late": ("strings", [b"BRANCH_LEQ", b"LEAF"] * 20 + [b"BRANCH_LT"] + [b"LEAF"] * 20),
    "texts of one size": ("strings", [b"BRANCH_LT", b"BRANCH_EQ", b"LEAF"] * 30),
    "a text with a size in it": ("strings", [b"LEAF", b"x" * 32, b"AXIS A"] * 30),
    "texts within texts": ("strings", [b"LEAF", b"J\x04LEAF!", b"LEAFLEAF"] * 30),
}


def _read(raw: bytes) -> tuple[str, tuple[object, ...]] | None:
    found = long_lists.long_list(raw, 0, len(raw), "")
    if found is None:
        return None
    name, attribute = found
    assert isinstance(attribute.value, LongList) and len(attribute.value) == len(tuple(attribute.value))
    return f"{name}:{attribute.kind}", tuple(attribute.value)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("piece", [40, 1 << 20])
def test_entries_are_those_of_protobuf(name: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lists, "PIECE", piece)
    field, entries = LISTS[name]
    kind = AttributeProto.AttributeType.Value(field.upper())
    raw = AttributeProto(name="list", type=kind, **{field: entries}).SerializeToString()
    found = _read(raw)
    if name == "texts within texts":
        assert found is None
        return
    stated = AttributeProto.FromString(raw)
    expected = tuple(each.decode() if isinstance(each, bytes) else each for each in getattr(stated, field))
    assert found == (f"list:{field.upper()}", expected)
    assert all(isinstance(each, (int, float, str)) for each in found[1])


@pytest.mark.parametrize("field", ["ints", "floats"])
def test_packed_lists(field: str) -> None:
    kind = AttributeProto.AttributeType.Value(field.upper())
    body = bytes([5, 0x80, 1, 7]) if field == "ints" else b"\0\0\x80?" * 3
    raw = b"\n\x01n" + KEYS[kind] + bytes([len(body)]) + body + b"\xa0\x01" + bytes([kind])
    expected = (5, 128, 7) if field == "ints" else (1.0, 1.0, 1.0)
    assert _read(raw) == (f"n:{field.upper()}", expected)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\x01n\x40\x05\x40\xa0\x01\x07",
        b"\n\x01n\x40\x05\x48\x05\xa0\x01\x07",
        b"\n\x01n\x40\x05\x18\x05\xa0\x01\x07",
        b"\n\x01n\x40" + b"\x80" * 10 + b"\x01\xa0\x01\x07",
        b"\n\x01n\x3d\0\0\0\xa0\x01\x06",
        b"\n\x01n\x4a\x05LEAF\xa0\x01\x08",
        b"\n\x01n\x4a\x02\xff\xfe\xa0\x01\x08",
        b"\n\x01n\x40\x05\xa0\x01\x08",
        b"\n\x00\x40\x05\xa0\x01\x07",
    ],
)
def test_what_is_unusual_is_left_to_the_reader_of_fields(raw: bytes) -> None:
    assert _read(raw) is None


def test_lists_are_equal_by_their_entries() -> None:
    lists = [
        long_lists.long_list(raw, 0, len(raw), "")
        for entries in ([1, 2, 3], [1, 2, 3], [1, 2, 4])
        for raw in [AttributeProto(name="n", type=AttributeProto.INTS, ints=entries).SerializeToString()]
    ]
    one, same, other = [each[1].value for each in lists if each is not None]
    assert one == same != other
    assert hash(one) == hash(same)
    assert one[1:] == (2, 3) and one[0] == 1 and repr(one) == "(1, 2, 3)"


@pytest.mark.skipif(not hasattr(mmap.mmap, "madvise"), reason="the system cannot take memory back")
@pytest.mark.parametrize("field", ["ints", "floats", "strings"])
def test_decoded_bytes_of_a_copy_go_back_to_the_system(field: str) -> None:
    entries = {"ints": [300], "floats": [0.5], "strings": [b"LEAF"]}[field] * 9000
    message = AttributeProto(name="entries", type=getattr(AttributeProto, field.upper()), **{field: entries})  # type: ignore[arg-type]
    raw = message.SerializeToString()
    copy = mmap.mmap(-1, len(raw), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    copy[:] = raw
    one, other = long_lists.long_list(raw, 0, len(raw), ""), long_lists.long_list(copy, 0, len(raw), "")
    assert one is not None and other is not None and one[0] == other[0] == "entries"
    assert len(one[1].value) == len(other[1].value) == 9000
    assert not any(copy[mmap.PAGESIZE : len(raw) // mmap.PAGESIZE * mmap.PAGESIZE])
