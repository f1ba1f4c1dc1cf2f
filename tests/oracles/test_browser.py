"""The page for a browser, in one: headless Chromium, where it is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from command.process import ran
from lxml import html as markup
from oracles import chromium

pytestmark = pytest.mark.oracle

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
MODELS = [FIXTURES / "onnx/bad/IRL201-behind-a-convolution.onnx", FIXTURES / "onnx/bad/IRL104-nodes-not-sorted.onnx"]


@pytest.fixture(scope="module")
def browser() -> str:
    found = chromium.executable()
    if found is None:
        pytest.skip(f"no Chromium is installed; {chromium.VARIABLE} may name one")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    assert ran("check", *map(str, MODELS), "--output", f"html={folder}/report.html").returncode == 1
    return folder / "report.html"


def opened(browser: str, address: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", *options, address]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=True)


def shown(browser: str, page: Path, query: str = "") -> Any:
    """The document after its script has run; nothing was refused on the way."""
    result = opened(browser, page.as_uri() + query, "--dump-dom")
    assert "Content Security Policy" not in result.stderr
    assert "Uncaught" not in result.stderr
    return markup.fromstring(result.stdout)


@pytest.mark.parametrize(
    ("query", "left", "text"),
    [
        ("", ["IRL104", "IRL201"], ""),
        ("?text=behind-a+relu", ["IRL201"], "1 of 2 shown"),
        ("?rule=IRL104", ["IRL104"], "1 of 2 shown"),
        ("?text=no-such-thing", [], "0 of 2 shown"),
    ],
)
def test_script_filters(query: str, left: list[str], text: str, browser: str, page: Path) -> None:
    root = shown(browser, page, query)
    assert root.get("class") == "js"
    found = [each.get("data-rule") for each in root.iter("article") if each.get("hidden") is None]
    assert sorted(found) == left
    assert (root.get_element_by_id("shown").text or "") == text


@pytest.mark.parametrize("size", ["1200,900", "420,900"])
def test_page_is_drawn(size: str, browser: str, page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    opened(browser, page.as_uri(), f"--screenshot={picture}", f"--window-size={size}", "--hide-scrollbars")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000
