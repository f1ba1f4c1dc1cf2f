"""The releases that run a model, as a matrix on an HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.lazy_typing import Any
from irlint.reporters.html.markup import escaped, prose, shown
from irlint.reporters.targets import (
    HEADINGS,
    SHOWN,
    SIGNS,
    UNMEASURED,
    UNMEASURED_REMARK,
    Entries,
    advice,
    by_runtime,
    more,
    shared,
    spans,
)


def rendered(found: dict[str, Any]) -> str:
    """A page about the releases that run one model."""
    from irlint.reporters.html.shell import framed

    body = f"<header><h1>irlint targets</h1><p><code>{shown(found['path'])}</code></p></header>\n{matrix(found)}"
    return framed(f"irlint targets: {found['path']}", body)


def matrix(found: dict[str, Any]) -> str:
    """The verdicts of the releases of each runtime. Each reason appears once, with the releases that share it."""
    parts = []
    for name, releases in by_runtime(found).items():
        title = f"{escaped(name)}{escaped(UNMEASURED_REMARK) if name == UNMEASURED else ''}"
        chips = "".join(map(_chip, releases))
        parts.append(f'<h4>{title}</h4>\n<ul class="releases">{chips}</ul>\n{"".join(_reasons(name, releases))}')
    if "restamp" in found:
        parts.append(f"<p>{prose(advice(found['restamp']))}</p>\n")
    return "".join(parts)


def _chip(entry: dict[str, Any]) -> str:
    verdict = escaped(entry["verdict"])
    return (
        f'<li class="{verdict}"><span aria-hidden="true">{SIGNS[entry["verdict"]]}</span> {escaped(entry["release"])} '
        f'<span class="hidden">{HEADINGS[entry["verdict"]]}</span></li>'
    )


def _reasons(name: str, releases: Entries) -> Iterator[str]:
    reasons = shared({name: releases})
    if not reasons:
        return
    lines = "".join(
        f"<li>{escaped(spans(releases, each.entries[name]))}: {prose(each.message)}"
        f"{f' <em>{prose(each.help)}</em>' if each.help else ''}</li>\n"
        for each in reasons[:SHOWN]
    )
    rest = f"<li>{prose(more(len(reasons) - SHOWN))}</li>\n" if len(reasons) > SHOWN else ""
    yield f'<ul class="notes">{lines}{rest}</ul>\n'
