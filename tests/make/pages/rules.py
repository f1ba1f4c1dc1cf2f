"""A page for each rule: what it is about, the examples that break it and keep it, and the reports on them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from irlint.findings.faults import FAMILIES, Rule
from irlint.findings.wording import counted
from irlint.policy.rulebook import every_rule
from irlint.reporters.ansi import ROLES
from irlint.reporters.text import rendered
from irlint.run.files import Settings, checked

from .layout import Entry, Page, code, linked, listing, table

ROOT = Path(__file__).resolve().parents[3]

#: A rule has so many operators on its page.
OPERATORS = 60

_ESCAPES = re.compile(r"\x1b\[([\d;]*)m")
_CLASSES = {codes: role for role, codes in reversed(ROLES.items())}


def address(rule: Rule) -> str:
    return f"rules/{rule.code}.html"


def shown(rule: Rule) -> str:
    """A rule as a link."""
    return f"{linked(address(rule), code(rule.code))} {escape(rule.name)}"


def pages(operators: Mapping[str, Sequence[str]]) -> Iterator[Page]:
    """The list of all rules, and a page for each; ``operators`` are links to those that can break it, by its code."""
    every = every_rule()
    yield _index(every)
    examples = _examples()
    for at, rule in enumerate(every):
        around = [each for each in (every[at - 1] if at else None, *every[at + 1 : at + 2]) if each is not None]
        yield _page(rule, examples.get(rule.code, []), operators.get(rule.code, ()), around)


def _index(every: Sequence[Rule]) -> Page:
    body = f"<h1>Rules</h1>\n<p>{counted(len(every), 'rule')}, by what they are about.</p>\n"
    for number, family in enumerate(FAMILIES):
        mine = [each for each in every if each.code[3] == str(number)]
        heads = ("code", "rule", "severity", "what it finds")
        rows = [
            (linked(address(each), code(each.code)), escape(each.name), _badge(each), prose(each.summary))
            for each in mine
        ]
        title = f"IRL{number} {family.replace('-', ' ')}"
        body += f'<h2 id="{family}">{title}</h2>\n{table(heads, rows)}' if mine else ""
    return Page("rules/index.html", "Rules", body, (Entry("rules/index.html", "All rules", "rule"),))


def _badge(rule: Rule) -> str:
    severity = rule.severity.value
    return f'<span class="badge {severity}">{severity}</span>'


def _page(rule: Rule, examples: Sequence[Path], operators: Sequence[str], around: Iterable[Rule]) -> Page:
    body = f"<h1>{rule.code} {escape(rule.name)} {_badge(rule)}</h1>\n<p>{prose(rule.summary)}</p>\n"
    body += f"<h2>Why</h2>\n{_paragraphs(rule.why)}" if rule.why else ""
    body += f"<h2>How to fix it</h2>\n{_paragraphs(rule.fix)}" if rule.fix else ""
    for kind, title, text in (("bad", "breaks", rule.bad), ("good", "keeps", rule.good)):
        files = sorted(
            (each for each in examples if each.parent.name == kind), key=lambda each: rule.name not in each.name
        )
        if text or files:
            body += f"<h2>An example that {title} it</h2>\n"
            body += f"<pre>{escape(text.strip())}</pre>\n" if text else ""
            body += "".join(map(_report, files))
    if operators:
        more = f"<p>And {len(operators) - OPERATORS} more.</p>\n" if len(operators) > OPERATORS else ""
        body += f"<h2>Operators</h2>\n<p>{', '.join(operators[:OPERATORS])}</p>\n{more}"
    body += "<h2>In a check</h2>\n" + listing(
        (
            f"{code(f'irlint explain {rule.code}')} prints this page.",
            f"{code(f'irlint check --select {rule.code} MODEL')} reports this rule alone.",
            f"{code(f'irlint check --ignore {rule.code} MODEL')} does not report it.",
        )
    )
    body += f"<p>See also: {', '.join(map(shown, around))}.</p>\n"
    entry = Entry(address(rule), f"{rule.code} {rule.name}", "rule", f"{rule.summary} {rule.why}")
    return Page(address(rule), f"{rule.code} {rule.name}", body, (entry,))


def _paragraphs(text: str) -> str:
    parts = [" ".join(each.split()) for each in text.split("\n\n")]
    return "".join(f"<p>{prose(each)}</p>\n" for each in parts if each)


def prose(text: str) -> str:
    """A text in which backticks mark code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _examples() -> dict[str, list[Path]]:
    """The models under ``fixtures`` that are named after a rule, by its code."""
    found: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "fixtures").glob("*/*/IRL*")):
        if path.suffix in (".onnx", ".xml"):
            found.setdefault(path.name.partition("-")[0], []).append(path)
    return found


def _report(path: Path) -> str:
    """What a check of a model prints, in colour."""
    name = path.relative_to(ROOT).as_posix()
    folder = os.getcwd()
    os.chdir(ROOT)
    try:
        text = rendered(checked([name], settings=Settings({}, drawn=True)), color=True)
    finally:
        os.chdir(folder)
    return f'<pre class="terminal">$ irlint {escape(name)}\n{painted(text.rstrip())}</pre>\n'


def painted(text: str) -> str:
    """A text with escape sequences as markup, each piece in a class named for its role."""
    result = []
    role = ""
    for at, piece in enumerate(_ESCAPES.split(text)):
        if at % 2:
            role = _CLASSES.get(piece, "")
        elif piece:
            result.append(f'<span class="{role}">{escape(piece)}</span>' if role else escape(piece))
    return "".join(result)
