"""Files that are not sound, and large ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import onnx
import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper
from parsers.onnx.models import F, codes, external, field, graph, info, named, names, parsed, proto, varint
from timing import within

from irlint.model import Constant, Model, Value
from irlint.model.tensor import Tensor
from irlint.parsers import onnx as reader
from irlint.parsers.onnx import protobuf, skeleton

# files that are not sound


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"<html></html>", b"hello world", b"\x80\x02}q\x00.", field(1, 8), field(1, 8) + field(2, b"me")],
)
def test_what_is_no_model(content, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    for found in (reader.read(path), parsed(content)):
        assert found.graph is None
        assert codes(found) == ["not-a-model"]


def test_a_pipe_is_not_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        reader.read(path)


@pytest.mark.parametrize("short", [1, 40, 1 << 16])
def test_a_large_file_is_read_without_the_insides_of_weights(short, rich, tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    path.write_bytes(rich)
    whole = repr(reader.read(path))
    monkeypatch.setattr(reader, "SMALL", 0)
    monkeypatch.setattr(skeleton, "SHORT", short)
    monkeypatch.setattr(skeleton, "BLOCK", 1)
    assert (repr(reader.read(path)) == whole) or short == 1
    path.write_bytes(rich[: len(rich) // 2])
    assert codes(reader.read(path)) == codes(parsed(rich[: len(rich) // 2]))


@pytest.mark.parametrize(("entry", "kind"), [(b"\x4a\x04LEAF", 8), (b"\x40\x05", 7)])
def test_a_long_list_of_a_large_file_is_read_at_once(entry, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(skeleton, "BLOCK", 1 << 12)
    attribute = b"\x0a\x01n" + entry * 40_000 + b"\xa0\x01" + bytes([kind])
    content = field(1, 8) + field(7, field(1, field(5, attribute)))
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    parts = []
    read = skeleton._Copy.read
    monkeypatch.setattr(skeleton._Copy, "read", lambda self, start, end: (parts.append(end), read(self, start, end))[1])
    with path.open("rb", buffering=0) as file:
        assert skeleton.copied(file)[:] == content
    assert len(parts) < 10


def test_a_file_that_shrinks_while_it_is_read(rich, tmp_path):
    path = tmp_path / "m.onnx"
    for read in (reader.bytes_of, skeleton.copied):
        path.write_bytes(rich)
        with path.open("r+b", buffering=0) as file, pytest.raises(OSError, match="was truncated"):
            read(Shrinking(file, len(rich) - 20))


class Shrinking:
    """A file that has fewer bytes once it is read."""

    def __init__(self, file, left):
        self.file, self.left, self.name = file, left, file.name

    def __getattr__(self, name):
        if name.startswith("read"):
            self.file.truncate(self.left)
        return getattr(self.file, name)


def test_a_truncated_file_says_how_much_is_missing():
    content = field(1, 10) + field(7, field(1, field(4, b"Relu")) + field(2, b"a name of 20 letters"))
    found = parsed(content[:-15])
    assert (codes(found), found.graph) == (["truncated-file"], None)
    assert found.problems[0].fault.message == (
        f"the field graph runs 15 bytes past the end of the file, which has {len(content) - 15} bytes"
    )
    assert f"at least {len(content)} bytes" in found.problems[0].fault.help


@pytest.mark.parametrize(
    "body",
    [
        b"\x0b\x08\x01",
        b"\x0e",
        b"\x00\x01",
        b"\x08" + b"\xff" * 11,
        b"\x0a\x7f",
        b"\x0d\x01",
        b"\x09\x01",
        b"\x0a",
    ],
    ids=["group", "wire type 6", "field 0", "long varint", "length", "32 bits", "64 bits", "no length"],
)
def test_a_damaged_graph(body):
    content = field(1, 10) + field(7, body)
    with pytest.raises(DecodeError):
        onnx.load_model_from_string(content)
    found = parsed(content)
    assert (codes(found), found.graph) == (["malformed-onnx"], None)


def test_groups_are_passed_over():
    """As every implementation of protobuf does with a field that a message does not have."""
    group = b"\xfb\x07\x08\x01\xfb\x07\x12\x01x\xfc\x07\x15abcd\x11abcdefgh\xfc\x07"
    graph = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Relu") + group) + group
    content = field(1, 10) + group + field(7, graph)
    assert onnx.load_model_from_string(content).graph.node[0].op_type == "Relu"
    found = parsed(content)
    assert codes(found) == []
    assert [node.op for node in found.graph.nodes] == ["Relu"]


@pytest.mark.parametrize("body", [b"\xfb\x07\x08\x01", b"\x0c", b"\x0b\x14", b"\x0b\x0a\x7f\x0c", b"\x0b\x0e\x0c"])
def test_a_damaged_group(body):
    content = field(1, 10) + field(7, body)
    with pytest.raises(DecodeError):
        onnx.load_model_from_string(content)
    found = parsed(content)
    assert (codes(found), found.graph) == (["malformed-onnx"], None)


def test_a_damaged_attribute_leaves_the_rest():
    good = field(1, b"axis") + field(3, 1) + field(20, 2)
    node = field(1, b"x") + field(2, b"y") + field(4, b"Op") + field(5, field(1, b"bad") + b"\x0e") + field(5, good)
    found = parsed(field(1, 10) + field(7, field(1, node) + field(1, field(1, b"y"))))
    (problem,) = found.problems
    assert codes(found) == ["malformed-onnx"]
    assert (problem.node, problem.fault.attribute) == (found.graph.nodes[0], "bad")
    assert (names(found.graph.nodes[1].inputs), found.graph.undefined[1:]) == (["y"], ())
    assert list(found.graph.nodes[0].attributes) == ["axis"]


@pytest.mark.parametrize("kind", [4, 5, 11, 13])
def test_an_attribute_that_holds_no_message(kind):
    node = field(4, b"Op") + field(5, field(1, b"bad") + field(20, kind))
    found = parsed(field(1, 10) + field(7, field(1, node)))
    assert codes(found) == ["malformed-onnx"]
    assert found.graph.nodes[0].attributes == {}


@pytest.mark.parametrize(("kind", "end"), [(1, "is in no function: it is 0 or empty"), (4, "is in no function")])
def test_a_reference_outside_of_functions_has_the_default_of_its_kind(kind, end):
    node = field(4, b"Op") + field(5, field(1, b"a") + field(20, kind) + field(21, b"slope"))
    found = parsed(field(1, 10) + field(7, field(1, node)))
    assert found.problems[0].fault.message == f"attribute `a` refers to an attribute of a function, but {end}"


def test_a_damaged_initializer_is_a_constant_of_unknown_type():
    tensor = field(1, 2) + field(2, 1) + field(8, b"w") + b"\x4a\x7f"
    found = parsed(field(1, 10) + field(7, field(1, field(1, b"w")) + field(5, tensor)))
    assert [(code, problem.value) for code, problem in zip(codes(found), found.problems)] == [("malformed-onnx", "w")]
    assert found.graph.constants == {found.graph.nodes[0].inputs[0]: Constant(Tensor())}


def test_a_damaged_type_is_no_declaration():
    value = field(1, b"x") + field(2, field(1, b"\x0e"))
    found = parsed(field(1, 10) + field(7, field(11, value)))
    assert [(code, problem.value) for code, problem in zip(codes(found), found.problems)] == [("malformed-onnx", "x")]
    assert found.graph.inputs[0].declared == ()


def nested_graphs(depth: int) -> bytes:
    inner = b""
    for _ in range(depth):
        inner = field(1, field(5, field(1, b"b") + field(6, inner) + field(20, 5)))
    return field(1, 10) + field(7, inner)


def nested_types(depth: int) -> bytes:
    inner = field(1, field(1, 1))
    for _ in range(depth):
        inner = field(4, field(1, inner))
    return field(1, 10) + field(7, field(11, field(1, b"x") + field(2, inner)))


@pytest.mark.parametrize(("source", "deepest"), [(nested_graphs, 33), (nested_types, 47)])
def test_nesting_is_bounded_as_in_protobuf(source, deepest):
    onnx.load_model_from_string(source(deepest))
    assert parsed(source(deepest)).problems == ()
    for depth in (deepest + 3, 2000):
        with pytest.raises(DecodeError):
            onnx.load_model_from_string(source(depth))
        assert codes(parsed(source(depth))) == ["malformed-onnx"]


def test_a_field_of_another_wire_type_is_unknown():
    content = field(1, 10) + field(7, field(2, b"g") + field(2, 7) + field(1, 3))
    assert onnx.load_model_from_string(content).graph.name == graph(content).name == "g"


def test_a_field_of_another_wire_type_is_no_type():
    tensor = field(1, field(1, 1) + field(2, b""))
    for declared, expected in ((tensor + field(1, 5), []), (field(1, b"\x0c") + field(1, 5), ["malformed-onnx"] * 2)):
        value = field(1, b"x") + field(2, declared)
        content = field(1, 10) + field(7, field(2, b"g") + field(11, value) + field(12, value)) + field(8, field(2, 17))
        found = parsed(content)
        assert codes(found) == expected
        if not expected:
            assert found.graph.inputs[0].type == Tensor("float32", ())


def test_a_message_in_two_pieces_is_one():
    first, second = (field(7, field(1, field(4, name))) for name in (b"A", b"B"))
    content = field(1, 10) + first + second
    assert len(onnx.load_model_from_string(content).graph.node) == 2
    assert [node.op for node in graph(content).nodes] == ["A", "B"]


def sound(content: bytes) -> bool | None:
    """Whether the onnx package reads a graph; None where only the file's form decides."""
    try:
        return onnx.load_model_from_string(content).HasField("graph") or None
    except DecodeError:
        return False


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_prefix_is_a_model(rich, data):
    content = rich[: data.draw(st.integers(0, len(rich) - 1))]
    found = parsed(content)
    whole = found.graph is not None
    assert len(found.problems) == (0 if whole else 1)
    assert whole == bool(sound(content))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_flipped_bytes_never_raise(rich, data):
    content = bytearray(rich)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(rich) - 1))] = data.draw(st.integers(0, 255))
    found = parsed(bytes(content))
    assert isinstance(found.nodes, int)
    messages = [problem.fault.message for problem in found.problems if problem.fault.rule.family == "reading"]
    if sound(bytes(content)) and not any("has no such value" in text for text in messages):
        assert messages == []


@given(st.binary(max_size=200))
def test_any_bytes_give_a_model(content):
    assert isinstance(parsed(content), Model)
    assert isinstance(parsed(field(1, 10) + field(7, content)), Model)


@given(st.integers(-(2**63), 2**63 - 1))
def test_varints(number):
    encoded = varint(number % 2**64)
    assert protobuf.varint(encoded, 0) == (number % 2**64, len(encoded))
    assert protobuf.signed(number % 2**64) == number


# size and speed


def hole(path: Path, head: bytes, size: int) -> None:
    """A file of ``size`` bytes that takes up no more than its head."""
    with path.open("wb") as file:
        file.write(head)
        try:
            file.truncate(size)
        except OSError:
            pytest.skip("the file system has no sparse files")
    if getattr(path.stat(), "st_blocks", 0) * 512 > size // 2:
        pytest.skip("the file system has no sparse files")


@pytest.mark.skipif(sys.maxsize < 2**32, reason="needs an address space of 64 bits")
def test_gigabytes_of_raw_data_are_not_read(tmp_path):
    size = (2 << 30) - (1 << 16)
    lengths = field(1, size >> 2) + field(2, F) + field(8, b"w") + varint(9 << 3 | 2) + varint(size)
    node = field(1, field(1, b"w") + field(2, b"y") + field(4, b"Relu"))
    tensor = varint(5 << 3 | 2) + varint(len(lengths) + size) + lengths
    head = field(1, 10) + varint(7 << 3 | 2) + varint(len(node) + len(tensor) + size) + node + tensor
    hole(tmp_path / "m.onnx", head, len(head) + size)
    found = within(0.5, lambda: reader.read(tmp_path / "m.onnx"))
    assert named(found).problems == ()
    ((value, constant),) = found.graph.constants.items()
    assert (found.graph.nodes[0].inputs, constant.tensor) == ((value,), Tensor("float32", (size >> 2,)))
    assert (constant.stored.size, constant.stored.offset) == (size, len(head))


def test_gigabytes_of_external_data_are_not_read(tmp_path):
    hole(tmp_path / "w.bin", b"", 3 << 30)
    found = within(0.5, lambda: external(tmp_path, (1 << 29,), None, offset=str(1 << 30), length=str(1 << 31)))
    assert (found.stored.size, found.stored.available) == (1 << 31, 1 << 31)


@pytest.mark.parametrize(("nodes", "seconds"), [(100, 0.03), (2000, 0.6)])
def test_reading_is_quick(tmp_path, nodes, seconds):
    chain = [
        helper.make_node("Conv", [f"x{n}", "w"], [f"x{n + 1}"], f"conv_{n}", pads=[1, 1, 1, 1], group=n % 7 + 1)
        for n in range(nodes)
    ]
    infos = [info(f"x{n}", "N", 64, 56, 56) for n in range(1, nodes)]
    source = proto(chain, [info("x0", "N", 64, 56, 56)], [info(f"x{nodes}")], value_info=infos)
    path = tmp_path / "m.onnx"
    path.write_bytes(source.SerializeToString())
    assert within(seconds, lambda: reader.read(path)).nodes == nodes


def test_values_are_equal_to_themselves_only():
    found = graph("m (float[2] x) => (float[2] y) { y = Relu (x) }")
    assert found.inputs[0] != Value("x", found.inputs[0].declared)
