"""The wire format as protobuf reads it: what it refuses is an error, and what it takes none."""

from __future__ import annotations

import pytest
from cases import wire

from irlint.findings.faults import Severity
from irlint.parsers import onnx as reader
from irlint.parsers.onnx import protobuf
from irlint.run.files import Settings, outcome


def errors(data: bytes) -> list[str]:
    found = outcome(Settings({}), "model.onnx", data)
    return [each.rule.code for each in found.findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize("name", wire.REFUSED)
def test_what_protobuf_refuses(name: str) -> None:
    assert errors(wire.REFUSED[name]) == ["IRL004"]


@pytest.mark.parametrize("name", wire.TAKEN)
def test_what_protobuf_takes(name: str) -> None:
    assert errors(wire.TAKEN[name]) == []


@pytest.mark.parametrize("name", wire.WRONG)
def test_the_value_that_counts(name: str) -> None:
    data, code = wire.WRONG[name]
    assert errors(data) == [code]


def test_two_names_stay_two() -> None:
    graph = reader.read("model.onnx", wire.TAKEN["two names, one no UTF-8"]).graph
    assert graph is not None
    assert len({output.name for node in graph.nodes for output in node.outputs if output is not None}) == 3


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([wire.field(8, 1) + wire.field(8, b"\2\3") + wire.field(8, 4)], [1, 2, 3, 4]),
        ([wire.field(8, b"\1\2") + wire.field(8, 3) + wire.field(8, b"\4")], [1, 2, 3, 4]),
        ([wire.field(8, 1), wire.field(8, b"\2\3") + wire.field(9, b""), wire.field(8, 4)], [1, 2, 3, 4]),
        ([wire.field(8, 1) + wire.field(8, b"\2") + wire.group(2), wire.field(8, 3) + wire.field(8, b"")], [1, 2, 3]),
    ],
)
def test_numbers_packed_and_not(parts: list[bytes], expected: list[int]) -> None:
    data = b"".join(parts)
    ends = [sum(map(len, parts[: at + 1])) for at in range(len(parts))]
    found = protobuf.merged(data, zip([0, *ends], ends))
    assert protobuf.integers(data, found, 8) == expected


def test_floats_packed_and_not() -> None:
    one, two, three = b"\0\0\x80?", b"\0\0\0@", b"\0\0@@"
    data = wire.field(7, one) + wire.varint(7 << 3 | 5) + two + wire.field(7, three)
    assert protobuf.floats(data, protobuf.fields(data, 0, len(data)), 7) == (1, 2, 3)


def test_a_file_past_two_gigabytes() -> None:
    class Large(bytes):
        def __len__(self) -> int:
            return 1 << 31

    (problem,) = reader.read("model.onnx", Large()).problems
    assert "2147483648 bytes" in problem.fault.message
