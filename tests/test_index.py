"""The index names the module of every operator and of every rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from make import index

from irlint import ops

ONNX, OPENVINO = ops.tables()


@pytest.mark.parametrize("path", index.WRITTEN, ids=lambda path: path.name)
def test_index_is_as_written(path: Path) -> None:
    assert path.read_text("utf-8") == index.WRITTEN[path](), "run tests/make/index.py"


def test_a_code_that_two_rules_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_codes", lambda path: ["IRL201"])
    with pytest.raises(SystemExit, match=r"IRL201 stands in .* and .*; IRL2xx: the next free code is IRL2"):
        index.rule_index()


@pytest.mark.parametrize("table", [ONNX, OPENVINO], ids=["onnx", "openvino"])
def test_all_versions_of_an_operator_stand_in_one_module(table: dict[object, list[ops.Operator]]) -> None:
    for key, versions in table.items():
        assert len({operator.function.__module__ for operator in versions}) == 1, key


@pytest.mark.parametrize("table", [ONNX, OPENVINO], ids=["onnx", "openvino"])
def test_no_two_rules_serve_one_version(table: dict[object, list[ops.Operator]]) -> None:
    for key, versions in table.items():
        starts = [operator.since for operator in versions]
        assert len(set(starts)) == len(starts), key
