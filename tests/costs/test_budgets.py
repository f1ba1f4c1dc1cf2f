"""Budgets of the configuration: what exceeds one fails the check, and names the nodes that cost most."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command.process import FIXTURES, run

DETECTOR = FIXTURES / "onnx" / "good" / "small-detector.onnx"
SIZED = 'shapes = { images = "1,3,640,640" }'

#: The lines of an entry for the detector, its exit status, and what the message has.
BUDGETS = [
    ("max-parameters = 1592", 0, ""),
    ("max-parameters = 1591", 1, "the number of parameters is 1592, and `max-parameters` is 1591 (irlint.toml:1)"),
    ("max-parameters = 1591", 1, "most expensive: c2 (1168), c1 (224), heads (200)"),
    ('max-bytes = "6.384K"', 0, ""),
    ('max-bytes = "6K"', 1, "the number of stored bytes is 6384"),
    (f'{SIZED}\nmax-macs = "71.3M"', 0, ""),
    (
        f'{SIZED}\nmax-macs = "71M"',
        1,
        "the number of MACs is 71.3M (71270400), and `max-macs` is 71M (71000000) (irlint.toml:1)",
    ),
    (f'{SIZED}\nmax-peak-memory = "20M"', 0, ""),
    (f'{SIZED}\nmax-peak-memory = "19.66M"', 1, "is 19.7M (19660800), and `max-peak-memory` is 19.66M (19660000)"),
    (f"{SIZED}\nmax-macs = 71270399", 1, "is 71.3M (71270400), and `max-macs` is 71270399 (irlint.toml:1)"),
    (f'{SIZED}\nmax-peak-memory = "0.01G"', 1, "in bytes is 19.7M (19660800)"),
    ("max-macs = 0", 1, "the number of MACs is 1920*N*"),
    ('max-macs = "1G"', 0, "warning[IRL640]"),
    ('max-macs = "1G"', 0, "`max-macs` is 1G (irlint.toml:1); most expensive at N = 1, H = 224, W = 224: c2 (1152*N"),
    ('max-peak-memory = "1G"', 0, "state the sizes of the inputs in `shapes`"),
]


@pytest.mark.parametrize(("lines", "status", "text"), BUDGETS)
def test_budgets(lines: str, status: int, text: str, tmp_path: Path) -> None:
    shutil.copy(DETECTOR, tmp_path / "m.onnx")
    (tmp_path / "irlint.toml").write_text(f'[[models]]\nfile = "m.onnx"\n{lines}\n', "utf-8")
    result = run("m.onnx", cwd=tmp_path)
    printed = " ".join(result.stdout.split())
    assert (result.returncode, text in printed) == (status, True), result.stdout
    assert ("IRL640" in printed) is bool(text)


def test_of_two_entries_the_last_one_counts(tmp_path: Path) -> None:
    shutil.copy(DETECTOR, tmp_path / "m.onnx")
    entries = '[[models]]\nfile = "*.onnx"\nmax-parameters = 1\n[[models]]\nfile = "m.onnx"\nmax-parameters = "2K"\n'
    (tmp_path / "irlint.toml").write_text(entries, "utf-8")
    assert run("m.onnx", cwd=tmp_path).returncode == 0
    assert run("m.onnx", "--isolated", cwd=tmp_path).returncode == 0


def test_the_bytes_of_an_ir(tmp_path: Path) -> None:
    source = FIXTURES / "openvino" / "good" / "IRL705-invalid-const.xml"
    for path in (source, source.with_suffix(".bin")):
        shutil.copy(path, tmp_path)
    (tmp_path / "irlint.toml").write_text('[[models]]\nfile = "*.xml"\nmax-bytes = 1\n', "utf-8")
    result = run(".", cwd=tmp_path)
    assert (result.returncode, "IRL640" in result.stdout) == (1, True)
