"""Writes the site into a folder, without network: ``python tests/make/site.py FOLDER``.

It has the guide, a page for each rule with the reports on its examples, a page for each operator, the change log and a
search. Links are relative: the site may stand in any folder, and opens from a disk. With the package pyodide of npm, as
``--pyodide node_modules/pyodide``, the playground checks models in the browser.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from pages import markdown, operators, playground, rules
from pages.layout import Entry, Page, linked, listing, written

import irlint
from irlint.policy.rule_index import RULES
from irlint.reporters.guide import FOLDER, TOPICS

ROOT = Path(__file__).resolve().parents[2]


def moved(address: str) -> str:
    """Where a link in a text of the project leads on the site: pages in Markdown have another suffix; "" for files
    that are no pages."""
    path, mark, anchor = address.partition("#")
    if re.match(r"[a-z][a-z+.-]*:", address) or not path:
        return address
    name = Path(path).name
    if name == "CHANGELOG.md":
        return f"/changelog.html{mark}{anchor}"
    if name.removesuffix(".md") in TOPICS:
        return f"/guide/{name.removesuffix('.md')}.html{mark}{anchor}"
    return ""


def rule(code: str) -> str:
    return f"/rules/{code}.html" if code in RULES else ""


def text_page(source: Path, address: str, kind: str) -> tuple[Page, markdown.Text]:
    """The page of a text in Markdown, with an entry for each section in the search."""
    text = markdown.rendered(source.read_text("utf-8"), moved, rule)
    title = text.title or source.stem
    entries = [
        Entry(
            f"{address}#{each.anchor}" if each.anchor else address,
            title if each.title in ("", title) else f"{title}: {each.title}",
            kind,
            each.text,
        )
        for each in text.sections
    ]
    return Page(address, title, text.markup, tuple(entries)), text


def guide() -> list[Page]:
    """The pages of the guide, behind the list of them."""
    pages = []
    lines = []
    for topic in TOPICS:
        page, text = text_page(Path(FOLDER, f"{topic}.md"), f"guide/{topic}.html", "guide")
        pages.append(page)
        opening = next((each.text for each in text.sections if each.text), "")
        lines.append(f"{linked(page.address, escape(page.title))}: {escape(first_sentence(opening))}")
    body = f"<h1>Guide</h1>\n{listing(lines)}"
    return [Page("guide/index.html", "Guide", body, (Entry("guide/index.html", "Guide", "guide"),)), *pages]


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?:])\s", text, maxsplit=1)[0]


def block(text: str, language: str) -> str:
    """The first fenced block of a language."""
    return text.partition(f"```{language}\n")[2].partition("\n```")[0]


def home(every: Sequence[operators.Subject], topics: Sequence[Page]) -> Page:
    """The first page: what irlint is, a report, and how to run it, as README.md has them."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    about = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(readme.split("\n\n")[1].split())))
    report, start = block(readme, "console"), block(readme.partition("## Quick start")[2], "sh")
    body = (
        f"<h1>irlint {irlint.__version__}</h1>\n<p>{about}</p>\n<pre>{escape(report)}</pre>\n"
        f"<p>Run it in a checkout of the repository:</p>\n<pre>{escape(start)}</pre>\n"
        + listing(
            (
                f"{linked('playground/index.html', 'Playground')}: check a model in this browser, without any upload.",
                f"{linked('rules/index.html', f'{len(RULES)} rules')}, each with an example and its report.",
                f"{linked('operators/index.html', f'{len(every)} operators')} of ONNX, ONNX Runtime and OpenVINO, and "
                "the releases that accept them.",
                f"{linked('changelog.html', 'Changes')} of each version.",
            )
        )
    )
    body += "<h2>Guide</h2>\n" + listing(linked(each.address, escape(each.title)) for each in topics)
    return Page("index.html", "ONNX models and OpenVINO IR, checked", body, (Entry("index.html", "irlint", "page"),))


def site(pyodide: Path | None) -> Iterator[Page]:
    """Every page."""
    every = operators.subjects()
    topics = guide()
    yield home(every, topics[1:])
    yield from topics
    yield from rules.pages(operators.by_rule(every))
    yield from operators.pages(every)
    yield playground.page(pyodide)
    yield text_page(ROOT / "CHANGELOG.md", "changelog.html", "changes")[0]


def main() -> None:
    options = argparse.ArgumentParser(description="Writes the site into a folder, without network.")
    options.add_argument("folder", type=Path, help="where the site is written; made where it does not exist")
    options.add_argument(
        "--pyodide", type=Path, help="the folder of the package pyodide, with which the playground runs"
    )
    given = options.parse_args()
    folder = given.folder
    pages = list(site(given.pyodide))
    written(pages, folder)
    if given.pyodide is not None:
        playground.written(given.pyodide, folder)
    print(f"wrote {len(pages)} pages to {folder}")


if __name__ == "__main__":
    main()
