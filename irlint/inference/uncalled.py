"""Walks the functions that nothing calls, for their faults."""

from __future__ import annotations

from collections.abc import Collection

from irlint.binding.calls import MISSING_ATTRIBUTE
from irlint.inference.recorded import Recorded, Recorder
from irlint.inference.walk import Frame, Walk
from irlint.model import Function
from irlint.model.tensor import UNKNOWN


def walked(walk: Walk, recorder: Recorder) -> frozenset[str]:
    """The paths of the functions that nothing calls; walks each with unknown inputs and records its faults."""
    paths = []
    for function in walk.model.functions.values():
        if function not in walk.functions.entered:
            paths.append(function.graph.path)
            own = Recorder()
            frame = Frame(function.attributes, place=("uncalled",))
            walk.graph(function.graph, frame, own, [UNKNOWN] * len(function.graph.inputs))
            recorder.faults += [each for each in own.faults if not _lacks_arguments(each, function)]
    return frozenset(paths)


def _lacks_arguments(fault: Recorded, function: Function) -> bool:
    """Whether a fault is at a node that lacks attributes which only a call provides."""
    references: Collection[str] = [
        each.reference for each in fault.node.attributes.values() if each.reference is not None
    ]
    asks = fault.by_rule or fault.fault.rule is MISSING_ATTRIBUTE
    return asks and any(function.attributes.get(name) is None for name in references)
