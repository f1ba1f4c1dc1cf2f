"""Faults of values: irlint reports each where it is, and nothing in the sound twins."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.value_faults import ValueFault, ir_of, onnx_of, value_faults

from irlint.findings.report import Finding
from irlint.run.one_file import inspected

FAULTS = list(value_faults())

#: Rules that are about something else than values.
OTHERS = ("IRL118", "IRL720", "IRL708", "IRL710", "IRL807", "IRL9")

#: A mask of float16 that overflows is reported, whether or not a row of it is left.
OVERFLOWS = "IRL733"


def reported(path: Path, text: str, *, is_ir: bool) -> list[Finding]:
    """The findings about values in a model of a line."""
    if is_ir:
        document, weights = ir_of(text)
        path.with_suffix(".bin").write_bytes(weights)
        path.write_text(document)
    else:
        path.write_bytes(onnx_of(text).SerializeToString())
    return [each for each in inspected(str(path), path.read_bytes())[1] if not each.rule.code.startswith(OTHERS)]


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{at}-{fault.rule}" for at, fault in enumerate(FAULTS)])
def test_a_fault_is_reported_at_its_place(fault: ValueFault, tmp_path: Path) -> None:
    path = tmp_path / f"model{'.xml' if fault.is_ir else '.onnx'}"
    found = reported(path, fault.bad, is_ir=fault.is_ir)
    there = [each.rule.code for each in found if each.node in fault.places or each.value in fault.places]
    assert (fault.rule in there) if fault.rule != "-" else not there, [
        f"{each.rule.code} {each.message}" for each in found
    ]
    sound = reported(path, fault.good, is_ir=fault.is_ir)
    assert not [each.message for each in sound if each.rule.code != OVERFLOWS]


def test_most_faults_are_reported() -> None:
    assert sum(fault.rule != "-" for fault in FAULTS) >= 0.97 * len(FAULTS) > 140
