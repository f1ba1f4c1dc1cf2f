"""The contract of a model, as text."""

from __future__ import annotations

from irlint.lazy_typing import Any
from irlint.reporters.canvas import display
from irlint.reporters.plain import headed, safe, spelled

#: The largest width of the first column. Longer entries shift what follows.
WIDEST = 44


def rendered(contract: dict[str, Any], encoding: str = "utf-8") -> str:
    """The inputs, conditions and outputs; characters that ``encoding`` lacks are escaped."""
    parts = [f"{headed(contract)}\n"]
    parts.append(f"takes\n{_values(contract['inputs'])}")
    always = [each for each in contract["requires"] if "when" not in each]
    if not contract.get("satisfiable", True):
        parts.append(
            f"fits no sizes\n{_rows([(each['condition'], _reason(each)) for each in contract['contradiction']])}"
        )
    elif always:
        parts.append(f"as long as\n{_rows([(each['condition'], _reason(each)) for each in always])}")
    for when in dict.fromkeys(each["when"] for each in contract["requires"] if "when" in each):
        mine = [(each["condition"], _reason(each)) for each in contract["requires"] if each.get("when") == when]
        parts.append(f"{'and ' * (len(parts) > 2)}where {safe(when)} runs\n{_rows(mine)}")
    parts.append(f"returns\n{_values(contract['outputs'])}")
    parts += _notes(contract)
    return spelled("".join(parts), encoding)


def _values(values: list[dict[str, Any]]) -> str:
    rows = []
    for each in values:
        shape = "[...]" if each["shape"] is None else f"[{', '.join(map(str, each['shape']))}]"
        rows.append((safe(each["name"]), f"{each['dtype'] or '?'}{shape}"))
    return _rows(rows)


def _reason(each: dict[str, Any]) -> str:
    count = each.get("nodes", 1)
    more = f", and {count - 1} more" if count > 1 else ""
    return safe(f"{each['why']} ({each['op']} {each['node']}{more})")


def _rows(rows: list[tuple[str, str]]) -> str:
    width = min(max((display(first) for first, _ in rows), default=0), WIDEST)
    return "".join(f"  {first}{' ' * (width - display(first))}  {second}\n" for first, second in rows)


def _notes(contract: dict[str, Any]) -> list[str]:
    """Notes: the meanings of symbols that are not sizes of inputs, and the number of undecided conditions."""
    notes = []
    mentioned = " ".join(
        str(each) for part in ("inputs", "outputs") for entry in contract[part] for each in entry["shape"] or ()
    )
    shown = {
        (name, f"{each['name']}[{axis}]")
        for each in contract["inputs"]
        for axis, name in enumerate(each["shape"] or ())
    }
    named = {
        name: text for name, text in contract["symbols"].items() if name in mentioned and (name, text) not in shown
    }
    if named:
        notes.append("where\n" + _rows([(name, f"is {safe(text)}") for name, text in named.items()]))
    count = contract.get("undecided", 0)
    if count:
        what = "1 condition depends" if count == 1 else f"{count} conditions depend"
        notes.append(f"{what} on sizes that depend on data; `irlint shapes` lists them\n")
    return notes
