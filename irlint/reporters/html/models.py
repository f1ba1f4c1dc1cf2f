"""The facts about a model on an HTML page."""

from __future__ import annotations

from itertools import groupby

from irlint.findings.report import CheckedFile
from irlint.lazy_typing import Any
from irlint.reporters.html.markup import escaped, folded, shown, table
from irlint.reporters.html.targets import matrix
from irlint.reporters.info import costs, dearest, title
from irlint.reporters.listing import type_of


def facts(file: CheckedFile, number: int, room: int) -> tuple[str, int]:
    """(folded parts about one model, number of values that they list). They list at most ``room`` values."""
    if file.facts is None:
        return "", 0
    values = file.facts["values"][:room]
    parts = [
        folded("Contract: accepted inputs", _contract(file.facts["contract"]), kind="fact"),
        folded("Costs: parameters, operations and memory", _costs(file.facts["info"]), kind="fact"),
        folded("Targets: which releases load it", matrix(file.facts["targets"]), kind="fact"),
        folded("Values", _values(file, values, number), kind="fact", count=len(values)),
    ]
    return f'<div class="known">{"".join(parts)}</div>\n', len(values)


def _contract(contract: dict[str, Any]) -> str:
    parts = [_typed("takes", contract["inputs"])]
    if not contract.get("satisfiable", True):
        parts.append(_conditions("fits no sizes", contract["contradiction"]))
    for when, entries in groupby(contract["requires"], key=lambda each: each.get("when", "")):
        title = f"{'and ' * (len(parts) > 1)}where {shown(when)} runs" if when else "as long as"
        parts.append(_conditions(title, list(entries)) if contract.get("satisfiable", True) or when else "")
    return "".join([*parts, _typed("returns", contract["outputs"])])


def _costs(info: dict[str, Any]) -> str:
    rows = [(escaped(name), shown(text)) for name, text in costs(info)]
    dear = [(f"<code>{shown(name)}</code>", shown(text)) for name, text in dearest(info)]
    nodes = table(("node", "cost"), dear, caption=shown(title(info))) if dear else ""
    return f"{table(('what', 'how much'), rows, caption='costs')}{nodes}"


def _typed(title: str, entries: list[dict[str, Any]]) -> str:
    rows = [(f"<code>{shown(each['name'])}</code>", f"<code>{shown(type_of(each))}</code>") for each in entries]
    return table(("name", "type"), rows, caption=title)


def _conditions(title: str, entries: list[dict[str, Any]]) -> str:
    rows = [
        (
            f"<code>{shown(each['condition'])}</code>",
            shown(each["why"]),
            f"{escaped(each['op'])} <code>{shown(each['node'])}</code>",
        )
        for each in entries
    ]
    return table(("condition", "why", "first demanded by"), rows, caption=title)


def _values(file: CheckedFile, values: list[Any], number: int) -> str:
    rows = (
        (
            f"<code>{shown(name)}</code>",
            shown(maker),
            f"<code>{shown(type_text)}</code>",
            f"<code>{shown(numbers)}</code>" if numbers else "",
        )
        for name, maker, type_text, numbers in values
    )
    are_all = len(values) == len(file.facts["values"]) and file.facts["all"]
    more = "" if are_all else f" <p>The first {len(values):,}; <code>irlint shapes</code> lists all.</p>\n"
    search = (
        f'<p class="search"><label for="v{number}">search the values</label> '
        f'<input type="search" id="v{number}" data-table="t{number}" placeholder="name, operator or type"></p>\n'
    )
    listed = table(
        ("value", "computed by", "type", "values"), rows, caption="values with their inferred shapes", kind="values"
    )
    return f'{more}{search}<div id="t{number}">{listed}</div>'
