"""The list of operator families is whole, and each operator stands in one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from irlint import ops

FOLDER = Path(ops.__file__).parent
ONNX, OPENVINO = ops.tables()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_module_with_rules_is_a_family(path: Path) -> None:
    text = path.read_text("utf-8")
    has_rules = any(line.startswith(("@onnx(", "@openvino(")) for line in text.splitlines())
    assert has_rules is (path.stem in ops.FAMILIES)


@pytest.mark.parametrize("table", [ONNX, OPENVINO], ids=["onnx", "openvino"])
def test_all_versions_of_an_operator_stand_in_one_module(table: dict[object, list[ops.Operator]]) -> None:
    for key, versions in table.items():
        assert len({operator.function.__module__ for operator in versions}) == 1, key


@pytest.mark.parametrize("table", [ONNX, OPENVINO], ids=["onnx", "openvino"])
def test_no_two_rules_serve_one_version(table: dict[object, list[ops.Operator]]) -> None:
    for key, versions in table.items():
        starts = [operator.since for operator in versions]
        assert len(set(starts)) == len(starts), key
