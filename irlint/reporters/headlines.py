"""Findings as one line of text, and paths relative to the root of a repository."""

from __future__ import annotations

import os
from collections.abc import Iterable

from irlint.findings.report import Finding, Report
from irlint.reporters.plain import safe


def headline(finding: Finding) -> str:
    """The finding in one line, such as ``Add: … (add_12), and 3 that follow``."""
    op = f"{safe(finding.op)}: " if finding.op else ""
    where = place_in_graph(finding.graph, finding.node if finding.node is not None else finding.value)
    return f"{op}{safe(finding.message)}" + (f" ({where})" if where else "") + and_following(finding)


def and_following(finding: Finding) -> str:
    """The number of consequences of a finding, such as ``, and 43 that follow``; "" if it has none."""
    count = len(finding.following)
    return f", and {count} that {'follows' if count == 1 else 'follow'}" if count else ""


def place_in_graph(graph: str, name: str | None) -> str:
    """A name with its graph, such as ``loop_1/body: add_12``. Omits what is empty."""
    return safe(f"{graph}: {name}" if graph and name else name or graph)


def repository_paths(report: Report) -> dict[str, str]:
    """For each path of a report, the path relative to the root of the repository, with forward slashes.

    The root is the nearest folder with ``.git`` from the working directory upwards, or else the working directory. A
    path outside of the root becomes absolute.
    """
    root = _root(os.getcwd())
    paths = [file.path for file in report.files] + [finding.path for finding in report.findings]
    return {path: _from_root(path, root) for path in dict.fromkeys(paths)}


def _root(start: str) -> str:
    folder = start
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, last = os.path.dirname(folder), folder
        if folder == last:
            return start
    return folder


def _from_root(path: str, root: str) -> str:
    absolute = os.path.abspath(path)
    inside = root.rstrip(os.sep) + os.sep
    for place in _with_and_without_links(absolute):
        if os.path.normcase(place).startswith(os.path.normcase(inside)):
            return place[len(inside) :].replace(os.sep, "/")
    return absolute.replace(os.sep, "/")


def _with_and_without_links(absolute: str) -> Iterable[str]:
    yield absolute
    try:
        yield os.path.realpath(absolute)
    except (OSError, ValueError):
        return
