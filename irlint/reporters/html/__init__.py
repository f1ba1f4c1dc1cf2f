"""The report as an HTML page without network access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.faults import SEVERITIES
from irlint.findings.report import CheckedFile, Finding, Report
from irlint.findings.wording import counted
from irlint.reporters.html.cards import Card, card
from irlint.reporters.html.markup import escaped, folded, prose, shown, table
from irlint.reporters.html.models import facts
from irlint.reporters.html.rules import section
from irlint.reporters.html.shell import framed
from irlint.reporters.plain import summary
from irlint.reporters.repeated import once
from irlint.snippets.drawing import Snippet

#: The page has at most PICTURES findings with a drawing, FINDINGS findings, MODELS models with facts, and VALUES rows
#: in the tables of values.
PICTURES = 200
FINDINGS = 10_000
MODELS = 300
VALUES = 20_000

#: The page lists at most LISTED files. A list of at most FEW files is unfolded.
LISTED = 2_000
FEW = 12


def rendered(report: Report) -> str:
    """The page: a section for each model, then the broken rules."""
    cards = _cards(report.findings)
    body = "".join((_head(report), _controls(cards), _overview(report, cards), *_models(report, cards), _rules(cards)))
    return framed(
        f"irlint: {_result(report)}",
        f'<a class="skip" href="#findings">to the findings</a>\n{body}',
        footer=f"irlint {report.version}",
        scripted=True,
    )


def _cards(findings: Sequence[Finding]) -> list[Card]:
    """The findings as cards, the worst models first and the worst findings of each model first."""
    worst: dict[str, int] = {}
    for each in findings:
        worst[each.path] = max(worst.get(each.path, 0), each.severity.rank)
    paths = {path: at for at, path in enumerate(worst)}
    ordered, elsewhere = once(
        sorted(findings, key=lambda each: (-worst[each.path], paths[each.path], -each.severity.rank))
    )
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for each in ordered:
        key = each.path, each.rule.code, each.severity, each.op, each.message, each.help
        groups.setdefault(key, []).append(each)
    return [
        Card(number, first, tuple(others), tuple(elsewhere.get(id(first), ())))
        for number, (first, *others) in enumerate(groups.values(), 1)
    ]


def _result(report: Report) -> str:
    counts = [counted(report.count(each), each.value) for each in SEVERITIES if report.count(each)]
    unchecked = f", {counted(len(report.lacking), 'model')} not checked" if report.lacking else ""
    return f"{', '.join(counts) or 'no findings'} in {counted(report.models, 'model')}{unchecked}"


def _head(report: Report) -> str:
    tiles = [(each.value, report.count(each), f"{each.value}s") for each in SEVERITIES]
    counts = "".join(
        f'<li class="{kind}{"" if count else " none"}"><b>{count:,}</b> {name if count != 1 else kind}</li>'
        for kind, count, name in tiles
    )
    counts += f'<li class="models"><b>{report.models:,}</b> {"model" if report.models == 1 else "models"}</li>'
    text = "<br>".join(prose(line) for line in summary(report).strip().split("\n"))
    return f'<header><h1>irlint</h1><ul class="tiles">{counts}</ul><p>{text}</p></header>\n'


def _controls(cards: Sequence[Card]) -> str:
    if not cards:
        return ""
    boxes = "".join(
        f'<label class="toggle {each.value}"><input type="checkbox" value="{each.value}" checked> {each.value}s</label>'
        for each in SEVERITIES
        if any(one.finding.severity is each for one in cards)
    )
    rules = sorted({(each.finding.rule.code, each.finding.rule.name) for each in cards})
    choices = "".join(f'<option value="{code}">{code} {escaped(name)}</option>' for code, name in rules)
    paths = list(dict.fromkeys(each.finding.path for each in cards))
    files = "".join(f'<option value="m{number}">{shown(path)}</option>' for number, path in enumerate(paths, 1))
    return (
        '<form class="controls" role="search" aria-label="Filter the findings"><p>'
        '<label for="text">search the findings</label> <input type="search" id="text" placeholder="name, operator, '
        'words">'
        f"{boxes}"
        f'<label for="rule">rule</label> <select id="rule"><option value="">all rules</option>{choices}</select>'
        f'<label for="model">model</label> <select id="model"><option value="">all models</option>{files}</select>'
        '<output id="shown" aria-live="polite"></output></p></form>\n'
    )


def _overview(report: Report, cards: Sequence[Card]) -> str:
    """A table of at most LISTED files of the run; "" if the run has fewer than two files."""
    if len(report.files) < 2:
        return ""
    numbers = {path: at for at, path in enumerate(dict.fromkeys(each.finding.path for each in cards), 1)}
    rows = [_line(file, report, numbers) for file in report.files[:LISTED]]
    left = len(report.files) - len(rows)
    caption = f"{left:,} more are not listed" if left else "what was found in each"
    heads = ("file", "format", "nodes", "errors", "warnings", "notes")
    inside = table(heads, rows, caption=caption, kind="files")
    return folded("Files", inside, kind="fact", count=len(report.files), opened=len(report.files) <= FEW)


def _line(file: CheckedFile, report: Report, numbers: dict[str, int]) -> list[str]:
    name = shown(file.path)
    number = numbers.get(file.path)
    mine = [each for each in report.findings if each.path == file.path] if number is not None else []
    counts = [sum(each.severity is severity for each in mine) for severity in SEVERITIES]
    cells = [f'<span class="{each.value}">{count:,}</span>' if count else "" for each, count in zip(SEVERITIES, counts)]
    what = escaped(file.format or ("" if file.status != "skipped" else "no model"))
    linked = f'<a href="#m{number}">{name}</a>' if number is not None else name
    return [linked, what, f"{file.nodes:,}" if file.status == "checked" else escaped(file.status), *cells]


def _models(report: Report, cards: Sequence[Card]) -> Iterator[str]:
    """A section for each model with findings, then for each other model that has facts or was not checked."""
    by_path: dict[str, list[Card]] = {}
    for each in cards[:FINDINGS]:
        by_path.setdefault(each.finding.path, []).append(each)
    files = {file.path: file for file in report.files}
    numbers = {path: at for at, path in enumerate(by_path, 1)}
    clean = [path for path, file in files.items() if path not in by_path and (file.facts is not None or file.lacking)]
    pictured = _pictured(cards)
    room = VALUES
    yield '<main id="findings">\n'
    yield _cut(cards, pictured)
    for at, path in enumerate((*by_path, *clean), 1):
        text, used = facts(files[path], at, room) if path in files and at <= MODELS else ("", 0)
        room -= used
        if path in by_path or text or files[path].lacking:
            yield _model(files.get(path), path, numbers.get(path), text, by_path.get(path, []), pictured)
    yield "</main>\n"


def _pictured(cards: Sequence[Card]) -> frozenset[int]:
    """The numbers of the cards that get a drawing: the worst cards with a snippet, at most PICTURES."""
    with_drawing = [each for each in cards if isinstance(each.finding.detail, Snippet)]
    worst = sorted(with_drawing, key=lambda each: -each.finding.severity.rank)
    return frozenset(each.number for each in worst[:PICTURES])


def _cut(cards: Sequence[Card], pictured: frozenset[int]) -> str:
    notes = []
    if len(cards) > FINDINGS:
        notes.append(f"The first {FINDINGS:,} of {len(cards):,} findings are shown; the other output formats have all.")
    if len(cards) > len(pictured) > 0:
        most = f"and at most {PICTURES} in all, the worst first" if len(pictured) >= PICTURES else "or more with -v"
        text = f"{len(pictured):,} of {len(cards):,} findings have a drawing"
        notes.append(f"{text}: the first ten of each rule in a file, {most}.")
    return "".join(f'<p class="cut">{escaped(note)}</p>\n' for note in notes)


def _model(
    file: CheckedFile | None, path: str, number: int | None, text: str, mine: Sequence[Card], pictured: frozenset[int]
) -> str:
    form = f"{file.format or ''} {file.format_version or ''}".strip() if file is not None else ""
    nodes = f" · {counted(file.nodes, 'node')}" if file is not None and file.status == "checked" else ""
    anchor = f' id="m{number}"' if number is not None else ""
    articles = "".join(card(each, pictured=each.number in pictured) for each in mine)
    nothing = shown(file.reason) if file is not None and file.lacking else "No findings."
    return (
        f'<section class="model"{anchor} aria-label="{shown(path)}"><h2>{shown(path)} '
        f"<small>{escaped(form)}{nodes}</small></h2>\n"
        f"{text}{articles or f'<p>{nothing}</p>'}</section>\n"
    )


def _rules(cards: Sequence[Card]) -> str:
    if not cards:
        return ""
    return (
        '<section class="rules" aria-labelledby="rules"><h2 '
        f'id="rules">Rules</h2>\n{section(cards[:FINDINGS])}</section>\n'
    )
