"""Shows a finding that several files have only once."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.report import Finding
from irlint.findings.wording import counted

#: If at least this many files have equal findings, only those of the first file are shown.
FEWEST = 3

#: The largest number of other files that are named.
NAMED = 3


def once(findings: Sequence[Finding]) -> tuple[list[Finding], dict[int, list[str]]]:
    """(findings without those that repeat a finding of an earlier file, these later files).

    The later files are keyed by the ``id`` of the first of the equal findings. Equal findings differ only in the file
    and the place.
    """
    groups: dict[tuple[object, ...], dict[str, list[Finding]]] = {}
    for each in findings:
        key = each.rule.code, each.severity, each.op, each.message, each.help
        groups.setdefault(key, {}).setdefault(each.path, []).append(each)
    hidden: set[int] = set()
    elsewhere: dict[int, list[str]] = {}
    for files in groups.values():
        if len(files) < FEWEST:
            continue
        (_, (first, *_)), *others = files.items()
        elsewhere[id(first)] = [path for path, _ in others]
        hidden.update(id(each) for _, those in others for each in those)
    return [each for each in findings if id(each) not in hidden], elsewhere


def in_more_files(paths: Sequence[str]) -> str:
    """``the same in 999 more files: a.onnx, b.onnx, c.onnx, ...``."""
    more = ", ..." if len(paths) > NAMED else ""
    return f"the same in {counted(len(paths), 'more file')}: {', '.join(paths[:NAMED])}{more}"
