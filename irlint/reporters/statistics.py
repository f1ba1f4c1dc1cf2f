"""The numbers of findings in a run over many models, as text, JSON and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from irlint.findings.tally import Tally, most_first, most_models_first
from irlint.findings.wording import counted
from irlint.reporters.plain import brief, errors_hidden

#: The text report lists at most this many operators, and at most this many exporters.
LISTED = 20


def rendered(tally: Tally) -> str:
    """Three lists: findings by rule, findings by operator, and models by exporter. The largest counts come first."""
    return "\n".join(_section_lines(tally, LISTED)) + "\n" if tally.files else ""


def headline(tally: Tally, configuration: str = "") -> str:
    """The closing lines of a run that counts findings but does not keep them in memory."""
    models = tally.files - tally.skipped
    counts = [counted(count, severity) for severity, count in tally.severities.items() if count]
    found = (
        f"Found {', '.join(counts)} in {tally.with_roots} of {counted(models, 'model')}." if counts else "No findings."
    )
    more = [(tally.skipped, "skipped"), (tally.suppressed, "suppressed")]
    more += [(tally.hidden, "in the baseline"), (tally.following, "more follow from others")]
    parts_text = "".join(f"; {count:,} {what}" for count, what in more if count)
    parts_text += f"; {errors_hidden(tally.errors_hidden, configuration)}" if tally.errors_hidden else ""
    checked = f"Checked {counted(models, 'model')}"
    if tally.unreadable:
        checked = f"{counted(models, 'model')}: {models - tally.unreadable:,} checked, {tally.unreadable:,} unreadable"
    return f"{found}\n{checked}{parts_text}.\n"


def document(tally: Tally) -> str:
    """The document ``irlint-summary-1``."""
    import json

    return json.dumps(tally.as_dict(), indent=2, ensure_ascii=False) + "\n"


def page(tally: Tally, title: str) -> str:
    """An HTML page without external resources."""
    from html import escape

    models = tally.files - tally.skipped
    rows = [(name, f"{count:,}") for name, count in tally.summary().items()]
    tables = [
        _table("Run", ("", ""), [("models", f"{models:,}"), ("unreadable", f"{tally.unreadable:,}"), *rows]),
        _table("Rules", ("findings", "code", "rule"), [(f"{n:,}", *rule) for rule, n in most_first(tally.rules)]),
        _table("Operators", ("findings", "operator"), [(f"{n:,}", op) for op, n in most_first(tally.operators)]),
        _table(
            "Exporters",
            ("models", "with errors", "findings", "exporter"),
            [(*(f"{n:,}" for n in counts), name) for name, counts in most_models_first(tally.exporters)],
        ),
    ]
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta '
        f'charset="utf-8">\n<title>{escape(title)}</title>\n{_STYLE}</head>\n'
    )
    return f"{head}<body>\n<h1>{escape(title)}</h1>\n{''.join(tables)}</body>\n</html>\n"


_STYLE = """<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse; margin-bottom: 2rem }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere }
tr { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent) }
</style>
"""


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    from html import escape

    named = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    first = f"<thead><tr>{named}</tr></thead>\n" if any(heads) else ""
    lines = "".join(f"<tr>{''.join(f'<td>{escape(brief(each))}</td>' for each in row)}</tr>\n" for row in rows)
    return f"<h2>{escape(title)}</h2>\n<table>\n{first}<tbody>\n{lines}</tbody>\n</table>\n"


def _section_lines(tally: Tally, limit: int) -> Iterator[str]:
    if tally.rules:
        yield "by rule"
        yield from (f"{count:6}  {brief(code)}  {brief(name)}" for (code, name), count in most_first(tally.rules))
    if tally.operators:
        yield "by operator"
        rows = [f"{count:6}  {brief(op)}" for op, count in most_first(tally.operators)]
        yield from _some(rows, limit)
    yield "by exporter"
    rows = [
        f"{models:6}  {brief(name)}: {counted(count, 'finding')}, errors in {counted(broken, 'model')}"
        for name, (models, broken, count) in most_models_first(tally.exporters)
    ]
    yield from _some(rows, limit)


def _some(rows: Sequence[str], limit: int) -> list[str]:
    return [*rows[:limit], *([f"   ...  and {len(rows) - limit:,} more"] if len(rows) > limit else [])]
