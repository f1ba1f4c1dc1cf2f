"""The check for a weights file with bytes after the last constant of its model."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Constant, Problem
from irlint.model.order import graphs

WEIGHTS_LEFT_OVER = Rule(
    "IRL720",
    "weights-left-over",
    Severity.WARNING,
    "The .bin file of an IR is longer than its constants need.",
    why=(
        "A converter writes the two files of an IR together, but neither file identifies the other. A .bin file with "
        "bytes after the last constant of the .xml probably belongs to another model or version. OpenVINO loads it "
        "and uses wrong weights."
    ),
    fix="Copy the .xml and the .bin again, both from the same conversion.",
)


def problems(known: Known) -> list[Problem]:
    """The warning about bytes after the last constant of the model; [] if there are none, or if the end of a constant
    is unknown."""
    constants = [each for graph in graphs(known.model) for each in graph.constants.values()]
    ends = [_end(each) for each in constants]
    last = max((end for end in ends if end is not None), default=0)
    if None in ends or not last:
        return []
    constant = constants[ends.index(last)]
    stored = constant.stored
    assert stored is not None
    size = stored.offset + (stored.available or 0)
    if size <= last:
        return []
    fault = WEIGHTS_LEFT_OVER.fault(
        f"{stored.file} has {counted(size, 'byte')}, and the constants of the model end at byte {last}",
        help=f"copy {stored.file} again together with the model",
    )
    return [Problem(fault, place=constant.place)]


def _end(constant: Constant) -> int | None:
    """The end of a constant's bytes in its file; None if it is unknown."""
    stored = constant.stored
    if stored is None or stored.size is None or stored.available is None or stored.reason:
        return None
    return stored.offset + stored.size
