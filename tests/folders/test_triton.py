"""What irlint finds in configurations of Triton, case by case."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders.triton_cases import CASES, PAIR, written

import irlint


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    found = irlint.check(written(tmp_path / "model", CASES[name])).findings
    codes = sorted({each.rule.code for each in found})
    assert codes == CASES[name][2].split(), [each.message for each in found]


def test_a_template_is_skipped(tmp_path: Path) -> None:
    path = written(tmp_path / "model", ("pair", PAIR.replace("8", "${max_batch_size}"), ""))
    assert irlint.check(path).files[0].reason == "it is a template, which a script fills in"
