"""What several files share is shown once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import irlint
from irlint.findings.report import Report
from irlint.reporters import html, markdown
from irlint.reporters import text as text_reporter
from irlint.reporters.repeated import FEWEST

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "onnx" / "bad"
BAD, OTHER = (FIXTURES / f"{name}.onnx" for name in ("IRL201-broadcast-mismatch", "IRL904-unused-opset-import"))


def report(tmp_path: Path, count: int) -> Report:
    for number in range(count):
        shutil.copy(BAD, tmp_path / f"m{number}.onnx")
    shutil.copy(OTHER, tmp_path / "a.onnx")
    return irlint.check(tmp_path)


@pytest.mark.parametrize(("count", "blocks"), [(1, 1), (FEWEST - 1, FEWEST - 1), (FEWEST, 1), (9, 1)])
def test_text(count: int, blocks: int, tmp_path: Path) -> None:
    found = report(tmp_path, count)
    text = found.text()
    assert text.count("error[IRL201]") == blocks
    assert text.count("the same in") == (count >= FEWEST)
    assert f"Found {count} error" in text
    assert text_reporter.rendered(found, every=True).count("error[IRL201]") == count
    assert len(found.as_dict()["findings"]) == count + 1


def test_many_files(tmp_path: Path) -> None:
    found = report(tmp_path, 9)
    lines = " ".join(found.text().split())
    assert f"the same in 8 more files: {tmp_path}/m1.onnx, {tmp_path}/m2.onnx, {tmp_path}/m3.onnx, ..." in lines
    page = markdown.rendered(found)
    assert (page.count("| error | IRL201"), page.count("and 8 more files")) == (1, 1)
    page = html.rendered(found)
    assert (page.count('<article class="finding error"'), page.count("the same in 8 more files")) == (1, 1)


def test_a_page_begins_with_errors_and_has_code(tmp_path: Path) -> None:
    page = html.rendered(report(tmp_path, 1))
    assert page.index('<article class="finding error"') < page.index('<article class="finding note"')
    assert "<code>irlint fix</code>" in page
    assert "`irlint fix`" not in page


def test_a_comment_of_markdown_has_a_limit(tmp_path: Path) -> None:
    for number in range(600):
        (tmp_path / f"{number}{'x' * 90}.onnx").write_bytes(b"\x08" + bytes([number % 100]) * (number + 3))
    page = markdown.rendered(irlint.check(tmp_path))
    assert 20_000 < len(page) <= len(page.encode()) <= 65_536
    assert " more findings.\n" in page
