"""The pages of rules that reports name, where the package's metadata names a documentation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import irlint
from irlint.findings import documentation
from irlint.reporters import sarif

MODEL = Path(__file__).parents[2] / "fixtures/onnx/bad/IRL201-broadcast-mismatch.onnx"
SITE = "Project-URL: Documentation, https://example.com/irlint/"


@pytest.fixture
def named(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package installed with a line in its metadata."""
    folder = tmp_path / f"irlint-{irlint.__version__}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: irlint\n{request.param}\n\nA text.\n{SITE}\n", "utf-8"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path / "absent"), str(tmp_path), *sys.path])
    documentation.address.cache_clear()
    yield
    monkeypatch.setattr(sys, "path", [])
    documentation.address.cache_clear()
    assert documentation.address() == ""


@pytest.mark.parametrize(
    ("named", "address"),
    [
        (SITE, "https://example.com/irlint"),
        ("project-url: documentation , http://localhost", "http://localhost"),
        ("Project-URL: Source, https://example.com/irlint", ""),
        ("Project-URL: Documentation, docs/index.md", ""),
        ("Home-page: https://example.com", ""),
    ],
    indirect=["named"],
)
@pytest.mark.usefixtures("named")
def test_address(address: str) -> None:
    assert documentation.address() == address


@pytest.mark.parametrize(
    ("named", "address"), [(SITE, "https://example.com/irlint/rules/IRL201"), ("A: b", None)], indirect=["named"]
)
@pytest.mark.usefixtures("named")
def test_reports_name_the_page(address: str | None) -> None:
    report = irlint.check(MODEL)
    [rule] = json.loads(sarif.rendered(report))["runs"][0]["tool"]["driver"]["rules"]
    assert rule.get("helpUri") == address
    assert [each.get("url") for each in report.as_dict()["findings"]] == [address]
    text = "explained by `irlint explain IRL201`" + (f" and {address}" if address else "")
    assert f"{text}\n" in str(report).replace("\n            ", " ")


def test_a_report_reads_no_package_of_metadata() -> None:
    import subprocess

    code = f"import sys, irlint; str(irlint.check({str(MODEL)!r})); print('importlib.metadata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
