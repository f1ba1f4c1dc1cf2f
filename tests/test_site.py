"""The site: it is built without network, its links lead somewhere, and nothing is missing from it."""

from __future__ import annotations

import json
import posixpath
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from irlint.ops import index
from irlint.policy.rule_index import RULES
from irlint.reporters.guide import TOPICS

ROOT = Path(__file__).parents[1]

#: Runs a script in a process that cannot open a connection.
OFFLINE = """
import runpy, socket, sys
def refused(*_): raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Links(HTMLParser):
    """The addresses that a page leads to or loads, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                self.addresses.append(value)
                if tag != "a":
                    self.loaded.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "deep" / "inside"
    script = (ROOT / "tests" / "make" / "site.py").as_posix()
    subprocess.run([sys.executable, "-c", OFFLINE, script, folder], cwd=folder.parents[1], check=True)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Links]:
    found = {}
    for path in sorted(site.rglob("*.html")):
        found[path.relative_to(site).as_posix()] = links = Links()
        links.feed(path.read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def searched(site: Path) -> list[list[str]]:
    text = (site / "search-index.js").read_text("utf-8")
    entries: list[list[str]] = json.loads(
        text.removeprefix("const INDEX = ").removesuffix(";\n").replace(",\n]", "\n]")
    )
    return entries


def target(page: str, address: str) -> tuple[str, str]:
    """The file in the site that a link leads to, and the anchor."""
    parts = urlsplit(address)
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path))), parts.fragment


def operators() -> list[str]:
    onnx = [f"operators/{key.replace(':', '/') if key[0] != ':' else f'ai.onnx/{key[1:]}'}.html" for key in index.ONNX]
    return [*onnx, *(f"operators/openvino/{name}.html" for name in index.OPENVINO)]


def test_links_lead_somewhere(site: Path, pages: dict[str, Links]) -> None:
    broken = []
    for page, links in pages.items():
        for address in links.addresses:
            if urlsplit(address).scheme:
                continue
            file, anchor = (page, address[1:]) if address.startswith("#") else target(page, address)
            if address.startswith("/") or not (site / file).is_file() or (anchor and anchor not in pages[file].anchors):
                broken.append((page, address))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, Links]) -> None:
    assert {each for links in pages.values() for each in links.loaded if urlsplit(each).scheme} == {"data:,"}


def test_every_rule_and_operator_has_a_page(pages: dict[str, Links]) -> None:
    assert {f"rules/{code}.html" for code in RULES} | set(operators()) <= set(pages)


def test_lists_name_every_rule_and_operator(pages: dict[str, Links]) -> None:
    for listing, wanted in (("rules/index.html", [f"rules/{code}.html" for code in RULES]),
                            ("operators/index.html", operators())):  # fmt: skip
        assert set(wanted) <= {target(listing, each)[0] for each in pages[listing].addresses}


def test_no_two_pages_differ_in_case_alone(pages: dict[str, Links]) -> None:
    assert len({each.lower() for each in pages}) == len(pages)


def test_guide_is_in_reading_order(pages: dict[str, Links]) -> None:
    wanted = [f"guide/{topic}.html" for topic in TOPICS]
    found = [target("guide/index.html", each)[0] for each in pages["guide/index.html"].addresses]
    assert len(wanted) > 10
    assert [each for each in found if each in wanted] == wanted


def test_search_knows_every_page(pages: dict[str, Links], searched: list[list[str]]) -> None:
    known = {target("index.html", address)[0] for address, *_ in searched}
    assert known == set(pages)


def test_search_leads_to_sections(pages: dict[str, Links], searched: list[list[str]]) -> None:
    places = [target("index.html", address) for address, *_ in searched]
    assert [each for each in places if each[1] and each[1] not in pages[each[0]].anchors] == []
    assert ("changelog.html", "unreleased") in places


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("rules/IRL201.html", "differ, and neither is 1"),
        ("rules/IRL201.html", '<a href="../operators/openvino/Add.html"><code>Add</code></a> (OpenVINO)'),
        ("rules/IRL104.html", '<span class="warning">warning[IRL104]</span>'),
        ("rules/IRL002.html", "$ irlint fixtures/onnx/bad/IRL002-lfs-pointer.onnx"),
        ("operators/ai.onnx/Gelu.html", "<td>20</td><td>1.17 and later</td><td>1.18 and later</td>"),
        ("operators/ai.onnx/Concat.html", '<a href="../../rules/IRL340.html">'),
        ("operators/openvino/Convolution.html", '<a href="../../rules/IRL310.html">'),
        ("operators/openvino/ISTFT.html", "<td>opset16</td><td>2025.1 and later</td>"),
        ("operators/com.microsoft/MatMulNBits.html", "<code>block_size</code></td><td>int</td><td>required</td>"),
    ],
)
def test_pages_show(page: str, text: str, site: Path) -> None:
    assert text in (site / page).read_text("utf-8")


def test_good_examples_have_no_findings(site: Path) -> None:
    for page in sorted((site / "rules").glob("IRL*.html")):
        _, _, kept = page.read_text("utf-8").partition("An example that keeps it</h2>")
        assert kept.count("\nNo findings.") == kept.count("$ irlint ")


@pytest.mark.parametrize(
    ("names", "models"),
    [
        (["m.xml", "m.bin"], ["m.xml"]),
        (["onnx/m.onnx", "onnx/weights.data"], ["onnx/m.onnx"]),
        (["m.onnx", "n.XML", "config.json"], ["m.onnx", "n.XML"]),
        (["model.bin"], ["model.bin"]),
        (["pointer", "m.bin"], ["pointer"]),
    ],
)
def test_playground_checks_models_and_what_is_none_where_there_are_none(
    names: list[str], models: list[str], tmp_path: Path
) -> None:
    from make.pages.playground import check

    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(
            b"version https://git-lfs.github.com/spec/v1\n" if name == "pointer" else b"no model"
        )
    assert check.models(str(tmp_path)) == models


def test_playground_without_pyodide_says_so(site: Path) -> None:
    assert "written without Pyodide" in (site / "playground" / "index.html").read_text("utf-8")
    assert [each.name for each in (site / "playground").iterdir()] == ["index.html"]


TEXT = """# Reading <!-- note -->

See `IRL201`, `IRL999`, [changes](../../CHANGELOG.md#unreleased), [code](../run/files.py) and [it](https://example.com).

## A `code` heading

## A `code` heading

| a | b |
| --- | --- |
| <b> | 2 |
"""


def test_text_in_markdown() -> None:
    from make.pages.markdown import rendered

    def rule(code: str) -> str:
        return f"/rules/{code}.html" if code in RULES else ""

    def moved(address: str) -> str:
        return {"https://example.com": "https://example.com"}.get(address, "/c.html" * ("CHANGELOG" in address))

    text = rendered(TEXT, moved, rule)
    assert text.title == "Reading"
    assert [each.anchor for each in text.sections] == ["reading", "a-code-heading", "a-code-heading-1"]
    assert text.sections[2].text == "a b <b> 2"
    assert '<a href="/rules/IRL201.html"><code>IRL201</code></a>, <code>IRL999</code>' in text.markup
    assert '<a href="/c.html">changes</a>, code and <a href="https://example.com">it</a>' in text.markup
    assert '<div class="scroll"><table>' in text.markup and "&lt;b&gt;" in text.markup
    assert "note" not in text.markup
