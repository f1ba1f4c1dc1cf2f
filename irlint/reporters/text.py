"""The text report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from irlint.findings.report import Finding, Report
from irlint.findings.wording import bounded
from irlint.lazy_typing import Any
from irlint.records import record, replaced
from irlint.reporters import frames, names, tables
from irlint.reporters.ansi import PIPE_WIDTH, colored, terminal_width
from irlint.reporters.canvas import UNBOUNDED, Canvas, wrapped
from irlint.reporters.plain import UTF_8, brief, place, safe, spelled, summary
from irlint.snippets.drawing import Line, Piece, Row, Snippet, Table

__all__ = ["PIPE_WIDTH", "colored", "rendered", "terminal_width"]

#: At most this many findings of a rule are shown for each file.
SHOWN = 10

#: A note is cut to this many characters.
NOTE = 800

#: The attempts to make a finding fit the page, in order: (largest width of names in columns, smallest ``expendable``
#: of the pieces that may be omitted, whether dims must stay readable).
CUTS = (
    *((limit, 3, True) for limit in (UNBOUNDED, 64, 48, 40)),
    *((limit, 2, True) for limit in (UNBOUNDED, 64, 48, 40, 32, 28, 24)),
    *((limit, 1, True) for limit in (64, 48, 40, 32, 28, 24, 20)),
    *((limit, 1, False) for limit in (28, 24, 20, 16, 12, 8, 5)),
)

#: A longer name gets a line of its own.
BESIDE = 24

#: At most this many nodes with an equal finding, or with a consequence, are named.
NAMED = 3

#: Of a series of numbers with gaps, at most this many are listed.
SERIES = 8

_NUMBER = re.compile(r"(\d{1,9})")


def rendered(
    report: Report,
    *,
    color: bool = False,
    every: bool = False,
    quiet: bool = False,
    columns: int | None = None,
    encoding: str = "utf-8",
) -> str:
    """The findings of each file, errors first, then the summary unless ``quiet``.

    ``columns`` is the width of a terminal. If it is None, or with ``every``, names are not shortened. Without
    ``every``, equal findings appear once, and a rule at most SHOWN times in a file. Characters outside ``encoding`` are
    escaped.
    """
    canvas = Canvas(columns or PIPE_WIDTH, color, uncut=every or columns is None, complete=every)
    blocks: list[str] = []
    files: dict[str, list[Finding]] = {}
    roots = _errors_first(report.findings)
    shown = [_spelled(each, encoding) for root in roots for each in ((root, *root.following) if every else (root,))]
    elsewhere: dict[int, list[str]] = {}
    if not every and len({each.path for each in shown}) > 1:
        from irlint.reporters.repeated import once

        shown, elsewhere = once(shown)
    for finding in shown:
        files.setdefault(finding.path, []).append(finding)
    for findings in files.values():
        blocks += _file_blocks(findings, canvas, every, elsewhere)
    text = "\n".join(blocks)
    if quiet:
        return text
    return f"{text}\n{summary(report)}" if text else summary(report)


def _errors_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of each file by severity. A finding that is ``explained_by`` an error follows this error."""
    files: dict[str, int] = {}
    for each in findings:
        files.setdefault(each.path, len(files))
    findings = sorted(findings, key=lambda each: (files[each.path], -each.severity.rank))
    listed = {(each.path, each.fingerprint) for each in findings}
    moved: dict[tuple[str, str], list[Finding]] = {}
    first: list[Finding] = []
    for each in findings:
        explaining = each.path, each.detail.explained_by if isinstance(each.detail, Snippet) else ""
        if explaining[1] and explaining in listed:
            moved.setdefault(explaining, []).append(each)
        else:
            first.append(each)
    ordered = [one for each in first for one in (each, *moved.pop((each.path, each.fingerprint), ()))]
    return [*ordered, *(each for remaining in moved.values() for each in remaining)]


def _spelled(entry: Any, encoding: str) -> Any:
    """A finding or a part of a finding. Characters of its texts that ``encoding`` lacks are escaped."""
    if encoding.lower() in UTF_8:
        return entry
    if isinstance(entry, str):
        return spelled(entry, encoding)
    if isinstance(entry, tuple):
        return tuple(_spelled(each, encoding) for each in entry)
    if not isinstance(entry, (Finding, Snippet, Line, Piece, Table, Row)):
        return entry
    return replaced(entry, **{name: _spelled(getattr(entry, name), encoding) for name in type(entry).__match_args__})


@record(frozen=False)
class _Repeated:
    first: Finding
    others: list[Finding]


def _file_blocks(
    findings: Sequence[Finding], canvas: Canvas, every: bool, elsewhere: Mapping[int, Sequence[str]]
) -> Iterator[str]:
    if every:
        yield from (block(finding, [], canvas) for finding in findings)
        return
    counts: dict[tuple[str, str], int] = {}
    omitted: dict[tuple[str, str], int] = {}
    for group in _grouped(findings):
        rule = group.first.rule.code, group.first.rule.name
        counts[rule] = counts.get(rule, 0) + 1
        if counts[rule] > SHOWN:
            omitted[rule] = omitted.get(rule, 0) + 1 + len(group.others)
            continue
        yield block(group.first, group.others, canvas, elsewhere.get(id(group.first), ()))
    for (code, name), count in omitted.items():
        text = f"{count} more {code} {name} in this file; -v shows them all"
        yield "".join(f"{canvas.painted(line, 'tag')}\n" for line in wrapped(text, canvas.columns))


def _grouped(findings: Sequence[Finding]) -> list[_Repeated]:
    """The groups of findings that differ only in the place and the operator."""
    groups: dict[tuple[object, ...], _Repeated] = {}
    for finding in findings:
        key = finding.rule.code, finding.severity, finding.message, finding.help
        known = groups.get(key)
        if known is None:
            groups[key] = _Repeated(finding, [])
        else:
            known.others.append(finding)
    return list(groups.values())


def block(finding: Finding, others: Sequence[Finding], canvas: Canvas, elsewhere: Sequence[str] = ()) -> str:
    """One finding in full. ``others`` are equal findings at other nodes; ``elsewhere`` are files that have it, too."""
    from irlint.findings.documentation import url

    snippet = finding.detail if isinstance(finding.detail, Snippet) else Snippet(_place_text(finding))
    gutter = max([3, *(len(line.gutter) for line in snippet.lines)])
    page = canvas.page(gutter, finding.severity.value, safe(finding.path))
    scope = names.scope_of(map(safe, snippet.names), page.intact, safe(finding.node or ""))
    letters = {safe(symbol): letter for symbol, letter in snippet.letters}
    words = letters | dict(snippet.types)

    def with_words(text: str) -> str:
        if words:
            from irlint.snippets.letters import lettered

            text = lettered(text, words)
        return text

    def short(text: str) -> str:
        return names.without_scope(with_words(text), scope)

    page.headline(f"{finding.severity.value}[{finding.rule.code}]", with_words(_headline(finding)))
    _place(snippet, place(finding), page, scope)
    if letters:
        page.legend(f"{letter} is {symbol}" for symbol, letter in letters.items())
    snippet = _with_fitting_names(names.named_shortly(snippet, scope), page)
    if snippet.lines or snippet.table:
        page.bar()
    if snippet.lines:
        frames.frame(snippet.lines, page)
        page.bar()
    if snippet.table is not None:
        tables.table(snippet.table, page)
        page.bar()
    for note in snippet.notes:
        page.remark("note", brief(note, NOTE), "tag")
    if others:
        page.remark("note", short(_repetition(finding, others)), "tag")
    if elsewhere:
        from irlint.reporters.repeated import in_more_files

        page.remark("note", brief(in_more_files([safe(path) for path in elsewhere]), NOTE), "tag")
    following = [each for root in (finding, *others) for each in root.following]
    if following:
        page.remark("note", short(_consequences(following, finding)), "tag")
    for ordered in finding.helps:
        page.remark("help", short(safe(ordered)), "help")
    code = finding.rule.code
    address = url(code)
    more = f" and {address}" if address else ""
    page.remark("rule", f"{code} {finding.rule.name}, explained by `irlint explain {code}`{more}", "tag")
    return page.text


def _place(snippet: Snippet, at: str, page: Canvas, scope: str) -> None:
    """Writes the place of a finding, and what ``~`` stands for. If necessary, the name gets its own line."""
    uncut = brief(snippet.place)
    if not snippet.name or (page.fits(at, uncut) and not scope and len(snippet.name) <= BESIDE):
        page.at(at, uncut)
    else:
        page.at(at, brief(snippet.unnamed))
        page.alone(bounded(safe(snippet.name)))
    if scope:
        page.alone(bounded(f"`{names.SCOPE}` stands for {scope[:-1]}"))


def _with_fitting_names(snippet: Snippet, page: Canvas) -> Snippet:
    shown = snippet
    for limit, expendable, readable in CUTS if not page.uncut else ():
        wide = frames.crowding(snippet.lines, page.room, expendable)
        if snippet.table is not None and not tables.fits(snippet.table, page, readable=readable):
            wide.update(row.name for row in snippet.table.rows)
        shown = names.with_cut_names(snippet, limit, wide)
        if not frames.crowding(shown.lines, page.room, expendable) and tables.fits(
            shown.table, page, readable=readable
        ):
            break
    return shown


def _headline(finding: Finding) -> str:
    return f"{brief(finding.op)}: {safe(finding.message)}" if finding.op else safe(finding.message)


def _place_text(finding: Finding) -> str:
    graph = f' of graph "{finding.graph}"' if finding.graph else ""
    if finding.node is not None:
        return f'node "{finding.node}"{graph}'
    return f"value `{finding.value}`{graph}" if finding.value is not None else graph.strip()


def _repetition(first: Finding, others: Sequence[Finding]) -> str:
    """The note on equal findings: ``the same at 3 more nodes: /a/Add, /b/Add, ...``. Names may become a series."""
    what = "nodes" if others[0].node is not None else "places"
    head = f"the same at {len(others)} more {what if len(others) > 1 else what[:-1]}: "
    called = [_name(each, first) for each in others]
    series = _series(called)
    if series:
        return f"{head}{brief(series, NOTE // 2)}"
    return head + ", ".join(map(brief, called[:NAMED])) + ", ..." * (len(called) > NAMED)


def _consequences(following: Sequence[Finding], root: Finding) -> str:
    """The note on consequences: ``3 more follow from this: IRL201 at /a/Add (Add), IRL321 at …``."""
    head = f"{len(following)} more {'follows' if len(following) == 1 else 'follow'} from this: "
    own = next((each for each in following if (each.graph, each.node) == (root.graph, root.node)), None)
    if own is not None and len(following) == 1:
        return brief(f"{head}{own.rule.code}, {own.message}", NOTE)
    called = list(dict.fromkeys(f"{each.rule.code} at {_name(each, root)}" for each in following))
    return brief(head + ", ".join(called[:NAMED]) + ", ..." * (len(called) > NAMED), NOTE)


def _name(finding: Finding, first: Finding) -> str:
    """The name of the node or value of ``finding``. Adds its graph and operator where these differ from ``first``."""
    name = finding.node if finding.node is not None else finding.value or finding.graph or "the file"
    graph = f"{finding.graph or 'main graph'}: " if finding.graph not in (first.graph, name) else ""
    line = "" if finding.line is None else f" (line {finding.line})"
    return f"{graph}{name}" + f" ({finding.op})" * (finding.op not in (None, first.op)) + line


def _series(called: Sequence[str]) -> str:
    """``/layers.N/attn/Add, N from 1 to 39`` if more than NAMED names differ in one number, else ""."""
    parts = [_NUMBER.split(name) for name in called] if len(called) > NAMED else []
    if not parts or len({len(each) for each in parts}) > 1:
        return ""
    varying = [index for index, texts in enumerate(zip(*parts)) if len(set(texts)) > 1]
    if len(varying) != 1 or not varying[0] % 2:
        return ""
    numbers = [int(each[varying[0]]) for each in parts]
    before, after = "".join(parts[0][: varying[0]]), "".join(parts[0][varying[0] + 1 :])
    if all(following - number == 1 for number, following in pairwise(numbers)):
        values = f"from {numbers[0]} to {numbers[-1]}"
    else:
        values = f"being {', '.join(map(str, numbers[:SERIES]))}" + f", ... {numbers[-1]}" * (len(numbers) > SERIES)
    return f"{before}N{after}, N {values}"
