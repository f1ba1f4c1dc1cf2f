"""Bytes behind the last constant of an IR."""

from __future__ import annotations

from pathlib import Path

from cases.ir_documents import BASES, SMALL, WEIGHTS, written

import irlint


def reported(path: Path) -> list[str]:
    return [each.message for each in irlint.check(path).findings if each.rule.code == "IRL720"]


def test_bytes_that_no_constant_uses(tmp_path: Path) -> None:
    assert reported(written(tmp_path, BASES["const"], WEIGHTS[:24])) == []
    assert reported(written(tmp_path, BASES["const"], WEIGHTS)) == [
        "m.bin has 32 bytes, and the constants of the model end at byte 24"
    ]


def test_a_model_without_constants(tmp_path: Path) -> None:
    assert reported(written(tmp_path, SMALL, b"\0")) == []


def test_weights_that_are_too_short_are_reported_alone(tmp_path: Path) -> None:
    assert reported(written(tmp_path, BASES["const"], WEIGHTS[:20])) == []
