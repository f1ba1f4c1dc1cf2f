"""The page of a rule, and tables of rules, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from irlint.findings.faults import Rule
from irlint.reporters.ansi import painted
from irlint.reporters.canvas import wrapped

WIDTH = 100

#: With fewer columns beside the name of a rule, its summary begins on the next line.
BESIDE = 40

#: For a family of rules, a sentence about a command that applies them.
TRIED = {
    "broadcasting": "`irlint broadcast 1,64,56,56 64,1,1` applies each broadcast rule to these shapes; try others, too."
}

#: A good example of at least this many lines is cut to the lines that differ from the bad example.
LONG = 8


def page(rule: Rule, columns: int = WIDTH, *, color: bool = False) -> str:
    """The page of a rule."""
    severity = rule.severity.value
    head = f"{painted(f'{rule.code} {rule.name}', 'head', color)} ({painted(severity, severity, color)})"
    sections = (
        ("Why", _text(rule.why, columns)),
        ("Bad", _example(rule.bad)),
        ("Good", _good(rule)),
        ("How to fix it", _text(rule.fix, columns)),
        ("Try it", _text(TRIED.get(rule.family, ""), columns)),
    )
    parts = [f"{painted(title, 'head', color)}\n{text}" for title, text in sections if text]
    return "\n\n".join([head, _text(rule.summary, columns), *parts]) + "\n"


def _text(text: str, columns: int) -> str:
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n")]
    return "\n\n".join("\n".join(f"  {line}" for line in wrapped(each, columns - 2)) for each in paragraphs if each)


def _example(text: str) -> str:
    return textwrap.indent(text.strip("\n"), "    ")


def _good(rule: Rule) -> str:
    """The good example. A long one is cut to the lines that differ from the bad example, and their neighbors."""
    lines = rule.good.strip("\n").split("\n")
    if len(lines) < LONG:
        return _example(rule.good)
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, rule.bad.strip("\n").split("\n"), lines, autojunk=False)
    changes = [(start, end) for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal"]
    shown = sorted({at for start, end in changes for at in range(start - 1, end + 1) if 0 <= at < len(lines)})
    result: list[str] = []
    for before, at in zip([-1, *shown], [*shown, len(lines)]):
        result += ["..."] * (at > before + 1) + lines[at : at + 1]
    return _example("\n".join(result))


def family(name: str, rules: Iterable[Rule], columns: int | None = None, *, color: bool = False) -> str:
    """A heading and the table of ``rules``. The code of each rule begins with ``name``."""
    every = list(rules)
    subjects = ", ".join(dict.fromkeys(rule.family for rule in every))
    head = painted(f"{name}: {subjects} ({len(every)} rules)", "head", color)
    tried = _text(TRIED.get(name[:4], ""), columns or WIDTH)
    more = f"\n{tried}\n" if tried else ""
    return f"{head}\n\n{table(every, columns, color=color)}{more}"


def document(rules: Iterable[Rule]) -> str:
    """The document ``irlint-rules-1``."""
    import json

    keys = ("code", "name", "severity", "family", "summary", "why", "mend", "bad", "good")
    rows = [
        {**{key: getattr(rule, "fix" if key == "mend" else key) for key in keys}, "severity": rule.severity.value}
        for rule in rules
    ]
    return json.dumps({"schema": "irlint-rules-1", "rules": rows}, indent=2, ensure_ascii=False) + "\n"


def table(rules: Iterable[Rule], columns: int | None = None, *, color: bool = False) -> str:
    """A table with a row for each rule. With ``columns``, longer summaries continue on further lines."""
    every = list(rules)
    name_width = max((len(rule.name) for rule in every), default=0)
    indent = len("IRL000  warning  ") + name_width + 2
    rows = []
    for rule in every:
        severity = painted(f"{rule.severity.value:7}", rule.severity.value, color)
        head = f"{rule.code}  {severity}  {rule.name:{name_width}}"
        if columns is None:
            rows.append(f"{head}  {rule.summary}\n")
        elif columns - indent >= BESIDE:
            first, *more = wrapped(rule.summary, columns - indent)
            rows += [f"{head}  {first}\n", *(f"{' ' * indent}{line}\n" for line in more)]
        else:
            lines = wrapped(rule.summary, columns - 17)
            rows += [f"{head.rstrip()}\n", *(f"{' ' * 17}{line}\n" for line in lines)]
    return "".join(rows)
