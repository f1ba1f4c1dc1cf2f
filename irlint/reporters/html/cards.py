"""A card: a finding on an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.report import Finding
from irlint.findings.wording import counted
from irlint.records import record
from irlint.reporters.headlines import place_in_graph
from irlint.reporters.html.graph import svg
from irlint.reporters.html.markup import escaped, folded, prose, shown, table
from irlint.reporters.tables import first_column
from irlint.snippets.drawing import Line, Row, Snippet, Table

#: A card lists at most this many places, as many files, and as many consequences.
NAMED = 50


@record
class Card:
    """A finding on a page."""

    #: The position on the page, counted from 1.
    number: int
    finding: Finding
    #: Findings at other nodes of the same model with the same text.
    others: tuple[Finding, ...] = ()
    #: Other files that have an equal finding, if there are at least two of them.
    files: tuple[str, ...] = ()


def card(each: Card, *, pictured: bool) -> str:
    """The card as an HTML article. If ``pictured``, it has the drawing and the lines of the model."""
    finding = each.finding
    severity, code = finding.severity.value, finding.rule.code
    snippet = finding.detail if isinstance(finding.detail, Snippet) else Snippet()
    inside = "".join(_inside(each, snippet, pictured))
    where = place_in_graph(finding.graph, finding.node if finding.node is not None else finding.value)
    at = snippet.place or where
    return (
        f'<article class="finding {severity}" id="f{each.number}" data-rule="{code}" data-severity="{severity}">\n'
        f'<h3><span class="badge {severity}">{severity}</span> <a class="code" href="#{code}">{code}</a> '
        f"{headline(finding)}</h3>\n"
        f'<p class="place">{" ".join(f"<span>{prose(each)}</span>" for each in (_line_of(finding), at) if each)}</p>\n'
        f"{inside}</article>\n"
    )


def _line_of(finding: Finding) -> str:
    return "" if finding.line is None else f"line {finding.line}, column {finding.column or 1}"


def headline(finding: Finding) -> str:
    """The message in one line."""
    op = f"{shown(finding.op)}: " if finding.op else ""
    return f"{op}{prose(finding.message)}"


def _inside(each: Card, snippet: Snippet, pictured: bool) -> Iterator[str]:
    finding = each.finding
    text = _lines(snippet.lines) if snippet.lines and pictured else ""
    has_table = snippet.table is not None
    facts = "".join(_facts(snippet)) if has_table else text + "".join(_facts(snippet))
    help = "".join(f'<p class="help"><b>help</b> {prose(each)}</p>\n' for each in finding.helps)
    if pictured and snippet.around is not None:
        figure = f'<figure class="scroll">{svg(snippet.around, each.number)}</figure>\n'
        yield f'<div class="beside">{figure}<div class="facts">{facts}{help}</div></div>\n'
    else:
        yield facts + help
    if each.others:
        names = _names(each.others)
        yield folded(f"the same at {counted(len(each.others), 'more place')}", names)
    if each.files:
        rest = len(each.files) - NAMED
        items = "".join(f"<li><code>{shown(path)}</code></li>" for path in each.files[:NAMED])
        items += f"<li>and {rest:,} more</li>" if rest > 0 else ""
        yield folded(f"the same in {counted(len(each.files), 'more file')}", f"<ul>\n{items}</ul>\n")
    following = [one for root in (finding, *each.others) for one in root.following]
    if following:
        items = "".join(f"<li>{one.rule.code} {headline(one)} {_at(one)}</li>\n" for one in following[:NAMED])
        verb = "follows" if len(following) == 1 else "follow"
        yield folded(f"{len(following)} more {verb} from this", f"<ul>\n{items}{_and_more(following)}</ul>\n")
    if text and has_table:
        yield folded("in the model's own text", text)


def _names(others: Sequence[Finding]) -> str:
    return f"<ul>\n{''.join(f'<li>{_at(one)}</li>' for one in others[:NAMED])}{_and_more(others)}</ul>\n"


def _at(finding: Finding) -> str:
    name = place_in_graph(finding.graph, finding.node if finding.node is not None else finding.value)
    line = f", line {finding.line}" if finding.line is not None else ""
    return f"<code>{shown(name or 'the file')}</code>{line}"


def _and_more(entries: Sequence[Finding]) -> str:
    return f"<li>and {len(entries) - NAMED:,} more</li>\n" if len(entries) > NAMED else ""


def _facts(snippet: Snippet) -> Iterator[str]:
    if snippet.table is not None:
        yield _shapes(snippet.table)
    if snippet.notes:
        yield f'<ul class="notes">{"".join(f"<li>{prose(note)}</li>" for note in snippet.notes)}</ul>\n'


def _shapes(found: Table) -> str:
    rank = max((len(row.dims) for row in found.rows if row.dims is not None), default=0)
    named = any(row.name for row in found.rows)
    heads = [
        "<span>value</span>",
        *(["name"] if named else []),
        *(f"axis {axis}" for axis in range(rank)),
        "type",
        "from",
    ]
    rows = [
        [escaped(row.label), *([f"<code>{shown(row.name)}</code>"] if named else []), *_cells(row, found, rank)]
        for row in found.rows
    ]
    remark = f" <em>{escaped(found.remark)}</em>" if found.remark else ""
    more = f"; {counted(found.hidden, 'more input is', 'more inputs are')} not shown" if found.hidden else ""
    return table(heads, rows, caption=f"shapes{more}{remark}", kind="shapes")


def _cells(row: Row, found: Table, rank: int) -> Iterator[str]:
    dims, offset = row.dims, first_column(row, rank if found.aligned == "right" else 0)
    for axis in range(rank):
        at = axis - offset
        if dims is None or not 0 <= at < len(dims):
            yield escaped(row.instead or "?") if dims is None and not axis else ""
        else:
            yield f'<mark class="clash">{shown(dims[at])}</mark>' if at in row.marked else shown(dims[at])
    yield escaped(row.dtype)
    line = f", line {row.line}" if row.line is not None else ""
    yield f"{shown(row.origins[0]) if row.origins else ''}{line}"


def _lines(lines: Sequence[Line]) -> str:
    """The marked lines of the model, each with its labels."""
    result = []
    for line in lines:
        text = "".join(
            f'<mark class="{piece.mark}">{escaped(piece.text)}</mark>' if piece.mark else escaped(piece.text)
            for piece in line.pieces
        )
        labels = [
            f'<span class="label {piece.mark}">{escaped(piece.label)}</span>' for piece in line.pieces if piece.label
        ]
        comment = f' <span class="label">{escaped(line.comment)}</span>' if line.comment else ""
        gap = "…\n" if line.gap else ""
        result.append(
            f'{gap}<span class="gutter">{escaped(line.gutter):>5}</span> '
            f"{text}{comment}{''.join(f'  {each}' for each in labels)}\n"
        )
    return f'<pre class="lines">{"".join(result)}</pre>\n'
