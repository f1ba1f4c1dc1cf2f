"""What ``irlint diff`` says of costs: changes of parameters, bytes, MACs and peak memory, none of which is breaking."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from command.process import FIXTURES, run

import irlint

HEAD = '<ir_version: 9, opset_import: ["" : 17]> g '


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def dense(columns: int, size: str = "N") -> onnx.ModelProto:
    weights = ", ".join(["1.0"] * (4 * columns))
    return model(
        f"(float[{size},4] x) => (float[{size},{columns}] y) <float[4,{columns}] w = {{{weights}}}>"
        " { a = MatMul (x, w) y = Neg (a) }"
    )


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (dense(4), []),
        (
            dense(8),
            [
                "parameters: 16 before, 32 now (+100 %)",
                "stored bytes: 64 before, 128 now (+100 %)",
                "MACs: 16*N before, 32*N now",
                "peak memory in bytes: 32*N before, 64*N now",
            ],
        ),
        (
            dense(2),
            [
                "parameters: 16 before, 8 now (-50 %)",
                "stored bytes: 64 before, 32 now (-50 %)",
                "MACs: 16*N before, 8*N now",
                "peak memory in bytes: 32*N before, 16*N now",
            ],
        ),
        (dense(4, "M"), []),
    ],
)
def test_changes_of_costs(new: onnx.ModelProto, expected: list[str]) -> None:
    found = [each for each in irlint.diff(dense(4), new)["changes"] if each["kind"].startswith("cost-")]
    assert [each["message"] for each in found] == expected
    assert not any(each["breaking"] for each in found)


def test_they_have_a_section(tmp_path: Path) -> None:
    for name, columns in (("old.onnx", 4), ("new.onnx", 8)):
        onnx.save(dense(columns), tmp_path / name)
    lines = run("diff", "old.onnx", "new.onnx", cwd=tmp_path).stdout.splitlines()
    assert lines[lines.index("costs") + 1] == "  ~ parameters: 16 before, 32 now (+100 %)"


def test_an_ir_is_not_compared_with_the_model_that_it_was_made_from() -> None:
    one, other = (
        FIXTURES / "onnx" / "good" / "small-detector.onnx",
        FIXTURES / "openvino" / "good" / "IRL105-dangling-edge.xml",
    )
    assert not [each for each in irlint.diff(one, other)["changes"] if each["kind"].startswith("cost-")]
