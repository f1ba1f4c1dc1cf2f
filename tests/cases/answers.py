"""What irlint answers to the model of a case: the text behind the arrow."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from cases.models import document
from cases.notation import Change, Operator, Text

from irlint import parsers
from irlint.checks import compiling
from irlint.dims import MaybeDim, bounds, symbols
from irlint.findings.faults import Severity
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Problem
from irlint.model.tensor import Tensor, Type, type_text
from irlint.run.one_file import inspected

#: Contents of more elements than these are not written.
SHOWN = 16

#: Not reported of a text, whose outputs have no types for short: a missing shape. Not reported of a document,
#: all of which have the same weights: that it does not use all of them.
NOT_REPORTED = ("IRL118", "IRL720")


def answer(model: Operator | Text | Change) -> str:
    """Types of the outputs and codes of warnings, or codes of errors and warnings; ``sound`` where nothing else is
    asked."""
    path, data = _file(model)
    if not isinstance(model, Operator):
        found = inspected(path, data)[1]
        codes = [
            _code(each.rule.code, each.severity, (each.node or each.value) if model.format == "onnx" else each.line)
            for each in found
            if each.severity is not Severity.NOTE and not each.because and each.rule.code not in NOT_REPORTED
        ]
        return " ".join(codes) or "sound"
    parsed = parsers.read(path, data)
    known = inferred(parsed)
    found = (*parsed.problems, *known.problems, *_not_compiled(known))
    faults = [problem.fault for problem in found if problem.fault.severity is not Severity.NOTE]
    codes = [_code(fault.rule.code, fault.severity) for fault in faults]
    if parsed.graph is None or any(fault.severity is Severity.ERROR for fault in faults):
        return " ".join(codes)
    names = {dim for given in model.inputs if given is not None for dim in given.dims or () if isinstance(dim, str)}
    types = [_typed(known.types.get(value), names) for value in parsed.graph.outputs]
    return " ".join([*types, *codes])


def _not_compiled(known: Known) -> list[Problem]:
    """What OpenVINO does not compile, but that it knows the ranks of its inputs, which cases leave open on purpose."""
    graph = known.model.graph
    if graph is None or "compiling" not in known.format.checks:
        return []
    return [each for each in compiling.problems(known) if each.node is not None and each.node.op != "Parameter"]


def findings(model: Operator | Text | Change) -> list[str]:
    """What irlint finds in the model: code, node or line, and message; of a note, which no line has, that it is one."""
    return [
        f"{'note ' * (each.severity is Severity.NOTE)}{_code(each.rule.code, each.severity, each.node or each.line)} "
        f"{each.message}"
        for each in inspected(*_file(model))[1]
        if each.rule.code not in NOT_REPORTED
    ]


def headlines(model: Operator | Text | Change) -> list[tuple[str, str]]:
    """The message and the help of each finding in the model."""
    return [(each.message, each.help) for each in inspected(*_file(model))[1]]


def _file(model: Operator | Text | Change) -> tuple[str, bytes]:
    """A path for the model, with its weights beside it, and its bytes."""
    suffix, data, weights = document(model)
    stem = _stem(weights) if weights or isinstance(model, Change) else _folder() / "m"
    return f"{stem}{suffix}", data


@cache
def _stem(weights: bytes) -> Path:
    """A path without suffix, beside which a file holds the weights."""
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    (folder / "w.bin").write_bytes(weights)
    return folder / "w"


@cache
def _folder() -> Path:
    _folder.kept = tempfile.TemporaryDirectory()  # type: ignore[attr-defined]
    return Path(_folder.kept.name)  # type: ignore[attr-defined]


def _code(code: str, severity: Severity, place: str | int | None = None) -> str:
    text = code if place is None else f"{code}:{place}"
    return text if severity is Severity.ERROR else f"({text})"


def _typed(known: Type | None, names: set[str]) -> str:
    """A type as ``float32[2,N+3,0..5]{1,2}``; of the symbols, those of ``names`` are written, of others the bounds."""
    if not isinstance(known, Tensor):
        return type_text(known).replace(" ", "")
    shape = "..." if known.shape is None else ",".join(_size(dim, names) for dim in known.shape)
    text = f"{known.dtype or '?'}[{shape}]"
    if known.value is None or len(known.value) > SHOWN or all(entry is None for entry in known.value):
        return text
    entries = (repr(entry) if isinstance(entry, (float, bool)) else _size(entry, names) for entry in known.value)
    return f"{text}{{{','.join(entries)}}}".replace("True", "true").replace("False", "false")


def _size(dim: MaybeDim, names: set[str]) -> str:
    if dim is None or isinstance(dim, int):
        return "?" if dim is None else str(dim)
    if set(symbols(dim)) <= names:
        return str(dim).replace(" ", "")
    low, high = bounds(dim)
    low = max(low or 0, 0)
    return "?" if not low and high is None else f"{low}..{'' if high is None else high}"
