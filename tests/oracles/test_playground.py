"""The playground in headless Chromium: it finds what the command finds, and no file leaves the browser."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from command.process import ran
from oracles import chromium

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.together]

ROOT = Path(__file__).parents[2]
VARIABLE = "IRLINT_PYODIDE"
PLACES = ("node_modules/pyodide", "/usr/local/lib/node_modules/pyodide", "/usr/lib/node_modules/pyodide")
STATE = "document.getElementById('state').dataset.state"
FOLDERS = ("onnx/bad", "onnx/good", "openvino/bad", "openvino/good")
SEARCH = """(() => {
  const field = document.getElementById("search");
  field.value = "matmul inner";
  field.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll("#found a")].map((link) => link.getAttribute("href"));
})()"""
NEEDS_LXML = "not checked: it needs the package lxml, which is not installed"


@dataclass
class Seen:
    """What a server was asked for, and what the page made of the fixtures."""

    requests: list[tuple[str, str]] = field(default_factory=list)
    reports: dict[str, Any] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    late: list[tuple[str, str]] = field(default_factory=list)
    elsewhere: list[tuple[str, str]] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    widths: tuple[int, int] = (0, 0)
    searched: list[str] = field(default_factory=list)


def pyodide() -> Path | None:
    named = os.environ.get(VARIABLE)
    places = [Path(named)] if named else [ROOT / place for place in PLACES]
    return next((place for place in places if (place / "pyodide.mjs").is_file()), None)


class Recorded(SimpleHTTPRequestHandler):
    """Serves files, and records what it is asked for."""

    def __init__(self, *arguments: Any, requests: list[tuple[str, str]], directory: str) -> None:
        self.requests = requests
        super().__init__(*arguments, directory=directory)

    def parse_request(self) -> bool:
        found = super().parse_request()
        self.requests.append((self.command, self.path))
        return found

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def served(folder: Path, requests: list[tuple[str, str]]) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Recorded, requests=requests, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What the page makes of all fixtures, a folder at a time."""
    browser, library = chromium.executable(), pyodide()
    if browser is None:
        pytest.skip(f"no Chromium is installed; {chromium.VARIABLE} may name one")
    if library is None:
        pytest.skip(f"no Pyodide is installed: npm install pyodide, or {VARIABLE} names its folder")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "tests/make/site.py"), str(folder / "site"), "--pyodide", str(library)]
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, stdout=subprocess.DEVNULL
    )
    found = Seen()
    here, other = served(folder / "site", found.requests), served(folder / "site", found.elsewhere)
    try:
        asyncio.run(visited(browser, here.server_port, other.server_port, folder / "profile", found))
    finally:
        here.shutdown()
        other.shutdown()
    return found


async def visited(browser: str, port: int, other: int, profile: Path, found: Seen) -> None:
    async with chromium.opened(browser, f"http://127.0.0.1:{port}/playground/", profile) as tab:
        await tab.until("document.readyState", "complete")
        assert await tab.until(STATE, "ready", "failed") == "ready", tab.errors
        before = len(found.requests)
        for name in FOLDERS:
            await tab.value("document.getElementById('state').dataset.state = 'waiting'")
            await tab.choose("#files", sorted((ROOT / "fixtures" / name).iterdir()))
            assert await tab.until(STATE, "checked", "failed") == "checked", await tab.value("document.body.innerText")
            found.pages[name] = await tab.value("document.getElementById('report').srcdoc")
            found.reports[name] = json.loads(await tab.value(text_behind("as-json")))
        found.late = found.requests[before:]
        found.errors = list(tab.errors)
        asked = f"fetch('http://127.0.0.1:{other}/', {{method: 'POST', body: 'model'}}).then(() => 'sent', String)"
        for kind, session in (("page", ""), *tab.inside):
            found.refusals[kind] = await tab.value(asked, session)
        await tab.ask("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
        found.searched = await tab.value(SEARCH)
        found.widths = await tab.value("[document.documentElement.scrollWidth, innerWidth]")


def text_behind(link: str) -> str:
    """What the file has that a link offers."""
    return f"fetch(document.getElementById('{link}').href).then((each) => each.text())"


def by_name(document: Any) -> dict[str, Any]:
    """The entry and the findings of each file, by its name."""
    found: dict[str, Any] = {Path(each["path"]).name: (each, []) for each in document["files"]}
    for each in document["findings"]:
        found[Path(each["path"]).name][1].append(each)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_findings_are_those_of_the_command(folder: str, seen: Seen) -> None:
    there = by_name(seen.reports[folder])
    here = by_name(
        json.loads(ran("check", ".", "--format", "json", "--isolated", cwd=ROOT / "fixtures" / folder).stdout)
    )
    assert sorted(there) == sorted(here)
    skipped = {name for name, (file, _) in there.items() if file.get("reason") == NEEDS_LXML}
    assert skipped == ({"IRL006-not-well-formed.xml"} if folder == "openvino/bad" else set())
    assert {name: there[name] for name in there if name not in skipped} == {
        name: here[name] for name in here if name not in skipped
    }
    assert all(not there[name][1] and there[name][0]["status"] == "skipped" for name in skipped)


def test_report_is_shown(seen: Seen) -> None:
    assert "IRL201-behind-a-convolution.onnx" in seen.pages["onnx/bad"]
    assert NEEDS_LXML in seen.pages["openvino/bad"]
    assert seen.errors == []


def test_nothing_leaves_the_browser(seen: Seen) -> None:
    assert seen.late == [] and seen.elsewhere == []
    assert {method for method, _ in seen.requests} == {"GET"}
    assert seen.refusals == dict.fromkeys(("page", "worker", "iframe"), "TypeError: Failed to fetch")


def test_search_finds_a_rule(seen: Seen) -> None:
    assert seen.searched[0] == "../rules/IRL320.html"


def test_page_fits_a_telephone(seen: Seen) -> None:
    content, window = seen.widths
    assert content <= window == 390
