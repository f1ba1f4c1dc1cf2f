"""The differences of two models, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.reporters.plain import safe, spelled

#: Of the changes of one kind that are not breaking, at most this many are shown.
SHOWN = 12

#: (heading, beginnings of the kinds of changes that are listed below it).
SECTIONS = (
    ("inputs and outputs", ("input", "output", "type", "contract")),
    ("opsets and operators", ("opset", "operator")),
    ("nodes", ("node",)),
    ("costs", ("cost",)),
)

#: The sign before a change, by the last word of its kind.
SIGNS = {"removed": "-", "added": "+"}

Changes = Sequence[dict[str, Any]]


def rendered(diff: dict[str, Any], encoding: str = "utf-8") -> str:
    """The verdict, then the changes by subject. Characters that ``encoding`` lacks are escaped."""
    lines = [f"{_model(diff['old'])} -> {_model(diff['new'])}", _verdict(diff)]
    for heading, changes in _sections(diff):
        lines.append(heading)
        lines += [f"  {sign} {text}" for sign, text in _rows(changes, heading == "breaking")]
    lines += [f"note: {safe(note)}" for note in diff.get("notes", ())]
    return spelled("".join(f"{line}\n" for line in lines), encoding)


def markdown(diff: dict[str, Any]) -> str:
    """The report in Markdown, for a pull request."""
    old, new = (_code(diff[side]["path"]) for side in ("old", "new"))
    lines = [f"### {old} → {new}", "", f"**{_verdict(diff)}**"]
    for heading, changes in _sections(diff):
        rows = [f"- {_in_markdown(text)}" for _, text in _rows(changes, heading == "breaking")]
        folded = heading != "breaking" and len(rows) > SHOWN // 2
        lines += [
            "",
            f"<details><summary>{heading} ({len(changes)})</summary>" if folded else f"#### {heading}",
            "",
            *rows,
        ]
        lines += ["", "</details>"] if folded else []
    lines += [line for note in diff.get("notes", ()) for line in ("", f"> {_in_markdown(safe(note))}")]
    return "\n".join(lines) + "\n"


def _model(side: dict[str, Any]) -> str:
    return f"{safe(side['path'])} ({side['format']})"


def _verdict(diff: dict[str, Any]) -> str:
    changes = diff["changes"]
    count = sum(each["breaking"] for each in changes)
    if not changes:
        return "compatible: no differences"
    if not count:
        return f"compatible: {counted(len(changes), 'change')}, none of which breaks users of the old model"
    verb = "breaks" if count == 1 else "break"
    return f"not compatible: {count} of {counted(len(changes), 'change')} {verb} users of the old model"


def _sections(diff: dict[str, Any]) -> Iterator[tuple[str, Changes]]:
    breaking = [each for each in diff["changes"] if each["breaking"]]
    if breaking:
        yield "breaking", breaking
    for heading, kinds in SECTIONS:
        found = [each for each in diff["changes"] if not each["breaking"] and each["kind"].startswith(kinds)]
        if found:
            yield heading, found


def _rows(changes: Changes, every: bool) -> Iterator[tuple[str, str]]:
    """(sign, text) of each row. Changes of operators share one row. Unless ``every``, a kind has at most SHOWN rows."""
    counts: dict[str, int] = {}
    operators = [each["message"] for each in changes if each["kind"].startswith("operator-") and each["name"]]
    if operators:
        yield "~", safe(", ".join(operators))
    for each in changes:
        kind = each["kind"]
        if kind.startswith("operator-") and each["name"]:
            continue
        counts[kind] = counts.get(kind, 0) + 1
        if every or counts[kind] <= SHOWN:
            yield SIGNS.get(kind.rpartition("-")[2], "~"), safe(_text(each))
    for kind, count in counts.items():
        if not every and count > SHOWN:
            yield SIGNS.get(kind.rpartition("-")[2], "~"), f"{count - SHOWN} more {kind}, which --format json lists"


def _text(change: dict[str, Any]) -> str:
    place = f" (in `{change['graph']}`)" if change.get("graph") else ""
    follow = change.get("follow", 0)
    more = f"; {counted(follow, 'node')} after it {'changes' if follow == 1 else 'change'} with it" if follow else ""
    return f"{change['message']}{place}{more}"


def _code(text: str) -> str:
    return f"`{safe(text).replace('`', chr(39))}`"


def _in_markdown(text: str) -> str:
    """A message in Markdown: escaped, except for the names in backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _escaped(text)
    return "`".join(part if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_<" else letter for letter in text)
