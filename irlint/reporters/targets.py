"""The releases that run a model, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.records import record, replaced
from irlint.reporters.plain import safe, spelled

#: The runtime whose results come from a list of its vendor. The results of other runtimes were measured.
UNMEASURED = "tensorrt"
UNMEASURED_REMARK = " (by its vendor's list: not measured)"

#: The report lists at most this many reasons, as many partitions, and as many dynamic values.
SHOWN = 30

#: The runtime that compiles for an NPU.
NPU = "qnn"

#: The remark on a verdict, by (verdict, stage). A verdict about loading has no remark.
STAGE_REMARKS = {
    ("runs", "read"): " (read)",
    ("unknown", "read"): " (read; not asked to compile)",
    ("runs", "compiled"): " (compiled for the CPU)",
    ("refused", "compiled"): " (read, and not compiled for the CPU)",
}

#: The heading of each verdict in the order of the report, and its sign in tables.
HEADINGS = {"runs": "runs on", "refused": "refused by", "unknown": "not known"}
SIGNS = {"runs": "✓", "refused": "✗", "unknown": "?"}

PLACES = {
    "npu": "on the NPU",
    "cpu": "on the CPU",
    "removed": "computed or removed when the model is loaded",
    "refused": "refused by the compiler",
}

Entries = Sequence[dict[str, Any]]


@record
class Shared:
    """A reason that one or several releases share."""

    #: The operators with their versions, such as ``Conv (11)``. Empty for a reason about the model as a unit.
    operators: tuple[str, ...]
    text: str
    help: str
    nodes: int
    #: The positions of these releases among the entries of a runtime, by runtime.
    entries: dict[str, list[int]]

    @property
    def message(self) -> str:
        """``Conv (11), Clip (13): it has a dynamic size``."""
        return f"{', '.join(self.operators)}: {self.text}" if self.operators else self.text


def by_runtime(found: dict[str, Any]) -> dict[str, Entries]:
    """The entries of each runtime, oldest first, and each release once."""
    entries: dict[str, dict[str, dict[str, Any]]] = {}
    for each in found["targets"]:
        entries.setdefault(each["name"], {})[each["release"]] = each
    return {name: sorted(of_name.values(), key=_numbers) for name, of_name in entries.items()}


def _numbers(entry: dict[str, Any]) -> list[int]:
    return [int(part) for part in entry["release"].split(".")]


def shared(runtimes: dict[str, Entries]) -> list[Shared]:
    """Each reason once, in the order of the first release that has the reason.

    Reasons that differ only in the operator become one reason.
    """
    reasons: dict[tuple[str, str, str, int], Shared] = {}
    for name, entries in runtimes.items():
        for at, entry in enumerate(entries):
            for each in entry.get("reasons", ()):
                operator, _, text = each["message"].partition(": ") if "op" in each else ("", "", each["message"])
                key = operator, text, each.get("help", ""), each.get("nodes", 0)
                reason = reasons.setdefault(key, Shared((operator,) if operator else (), *key[1:], {}))
                reason.entries.setdefault(name, []).append(at)
    joined: dict[object, Shared] = {}
    for each in reasons.values():
        releases = tuple((name, *places) for name, places in each.entries.items())
        key_of_fix = bool(each.operators), each.text, each.help, releases
        first = joined.get(key_of_fix)
        operators = tuple(dict.fromkeys((*first.operators, *each.operators))) if first else each.operators
        nodes = (first.nodes if first else 0) + each.nodes
        joined[key_of_fix] = replaced(each, operators=operators, nodes=nodes)
    return list(joined.values())


def more(count: int) -> str:
    """The line about reasons or parts that are not shown."""
    return f"and {count} more: `irlint targets MODEL --format json` lists all"


def spans(entries: Entries, places: Sequence[int]) -> str:
    """The releases of the entries at ``places`` as a text, such as ``1.15 to 1.17, 1.19``.

    No measured release is between two neighbors of a range.
    """
    parts: list[list[int]] = []
    for at in places:
        if parts and at == parts[-1][-1] + 1 and _are_neighbors(entries[at - 1], entries[at]):
            parts[-1].append(at)
        else:
            parts.append([at])
    return ", ".join(_span(entries, part) for part in parts)


def _are_neighbors(entry: dict[str, Any], later: dict[str, Any]) -> bool:
    from irlint.targets import tables
    from irlint.targets.tables import short

    measured = [short(each) for each in tables.releases(entry["name"])]
    pair = [entry["release"], later["release"]]
    return pair in [measured[at : at + 2] for at in range(len(measured) - 1)]


def _span(entries: Entries, part: list[int]) -> str:
    first, last = (_release(entries[at]) for at in (part[0], part[-1]))
    return first if len(part) == 1 else f"{first} to {last}"


def _release(entry: dict[str, Any]) -> str:
    measured = entry.get("assumed")
    return str(entry["release"]) if measured is None else f"{entry['release']} (judged as {measured})"


def rendered(found: dict[str, Any], encoding: str = "utf-8") -> str:
    """The report as text; characters that ``encoding`` lacks are escaped."""
    runtimes = by_runtime(found)
    lines = [f"{safe(found['path'])} ({found['format']})", *_verdicts(runtimes), *_reasons(runtimes)]
    if not runtimes:
        lines += ["", f"no named target loads {found['format']} files"]
    for name, entries in runtimes.items():
        lines += [line for entry in entries if "coverage" in entry for line in _coverage(name, entry)]
    if "restamp" in found:
        lines += ["", advice(found["restamp"])]
    return spelled("\n".join([*lines, ""]), encoding)


def _coverage(name: str, entry: dict[str, Any]) -> Iterator[str]:
    found = entry["coverage"]
    counts = [f"{found[place]} {text}" for place, text in PLACES.items() if found[place]]
    yield from ("", f"coverage by {name} {_release(entry)}: {counted(found['nodes'], 'node')}; {', '.join(counts)}")
    for number, part in enumerate(found["partitions"][:SHOWN], 1):
        operators = ", ".join(f"{op} {count}" if count > 1 else op for op, count in part["operators"].items())
        place = PLACES[part["place"]].removeprefix("on the ")
        yield f"  {number}. {place}: {counted(len(part['nodes']), 'node')}: {safe(operators)}"
    if len(found["partitions"]) > SHOWN:
        yield f"  {more(len(found['partitions']) - SHOWN)}"
    for each in found["dynamic"][:SHOWN]:
        shape = "unknown shape" if each["shape"] is None else f"[{', '.join(map(str, each['shape']))}]"
        yield f"  dynamic: {safe(each['name'])} {shape}" + (
            f", given by {each['op']}" if "op" in each else ", an input"
        )
    if len(found["dynamic"]) > SHOWN:
        yield f"  {more(len(found['dynamic']) - SHOWN)}"


def _verdicts(runtimes: dict[str, Entries]) -> Iterator[str]:
    width = max(map(len, runtimes), default=0)
    for verdict, heading in HEADINGS.items():
        rows = []
        for name, entries in runtimes.items():
            rows += [
                f"  {name:{width}}  {spans(entries, places)}{remark}"
                for remark, places in _by_remark(name, entries, verdict).items()
            ]
        if rows or (runtimes and verdict == "runs"):
            yield from ("", heading, *(rows or ["  none of these releases"]))


def _remark(name: str, entry: dict[str, Any]) -> str:
    if name == UNMEASURED:
        return UNMEASURED_REMARK
    if "fallback" in entry:
        return f" ({counted(entry['fallback'], 'node')} on the CPU)"
    return "" if name == NPU else STAGE_REMARKS.get((entry["verdict"], entry.get("stage", "")), "")


def _by_remark(name: str, entries: Entries, verdict: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, each in enumerate(entries):
        if each["verdict"] == verdict:
            found.setdefault(_remark(name, each), []).append(at)
    return found


def _reasons(runtimes: dict[str, Entries]) -> Iterator[str]:
    reasons = shared(runtimes)
    if reasons:
        yield from ("", "reasons")
    for each in reasons[:SHOWN]:
        yield f"  {safe(_text(each))}"
        yield f"    {_holders(each, runtimes)}"
        if each.help:
            yield f"    -> {safe(each.help)}"
    if len(reasons) > SHOWN:
        yield f"  {more(len(reasons) - SHOWN)}"


def _text(reason: Shared) -> str:
    return f"{reason.message} ({reason.nodes} nodes)" if reason.nodes > 1 else reason.message


def _holders(reason: Shared, runtimes: dict[str, Entries]) -> str:
    """``onnxruntime 1.15 to 1.17; openvino 2023.1``."""
    return "; ".join(f"{name} {spans(runtimes[name], places)}" for name, places in reason.entries.items())


def advice(stamp: dict[str, Any]) -> str:
    """``save with opset 17 and IR version 8: runs on onnxruntime 1.15 to 1.32``."""
    from irlint.targets import tables
    from irlint.targets.tables import short

    parts = []
    for name, running in by_runtime({"targets": stamp["runs"]}).items():
        entries = [{"name": name, "release": short(each)} for each in tables.releases(name)]
        releases = {each["release"] for each in running}
        parts.append(f"{name} {spans(entries, [at for at, each in enumerate(entries) if each['release'] in releases])}")
    return f"save with opset {stamp['opset']} and IR version {stamp['ir_version']}: runs on {'; '.join(parts)}"


def markdown(found: dict[str, Any]) -> str:
    """The report as Markdown: a table for each runtime, with a column for each release."""
    runtimes = by_runtime(found)
    lines = [f"### {_cell(found['path'])} ({found['format']})"]
    for name, entries in runtimes.items():
        lines += ["", *_table(name, entries)]
    if not runtimes:
        lines += ["", f"No named target loads {found['format']} files."]
    if "restamp" in found:
        lines += ["", f"> {advice(found['restamp'])}"]
    return "\n".join([*lines, ""])


def _table(name: str, entries: Entries) -> Iterator[str]:
    listed = UNMEASURED_REMARK if name == UNMEASURED else ""
    yield _line([f"{name}{listed}", *map(_release, entries)])
    yield _line(["---", *(":-:" for _ in entries)])
    yield _line(["**verdict**", *(SIGNS[each["verdict"]] for each in entries)])
    reasons = shared({name: entries})
    for each in reasons[:SHOWN]:
        holding = set(each.entries[name])
        text = _cell(_text(each)) + (f"<br>*{_cell(each.help)}*" if each.help else "")
        yield _line([text, *("•" if at in holding else "" for at in range(len(entries)))])
    if len(reasons) > SHOWN:
        yield _line([more(len(reasons) - SHOWN), *("" for _ in entries)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    from irlint.reporters.markdown import MARKDOWN, unlinked

    return unlinked(safe(text).translate(MARKDOWN))
