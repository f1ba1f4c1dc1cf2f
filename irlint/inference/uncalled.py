"""The faults of functions that nothing calls."""

from __future__ import annotations

from irlint.binding.calls import MISSING_ATTRIBUTE
from irlint.inference.recorded import Recorded, Recorder
from irlint.inference.walk import Frame, Walk
from irlint.model import Function
from irlint.model.tensor import UNKNOWN


def walked(walk: Walk, recorder: Recorder) -> frozenset[str]:
    """The paths of the functions that nothing calls.

    Infers each of these functions with unknown inputs, and adds its faults to ``recorder``.
    """
    paths = []
    for function in walk.model.functions.values():
        if function not in walk.functions.entered:
            paths.append(function.graph.path)
            own = Recorder()
            frame = Frame(function.attributes, obstacles=("uncalled",))
            walk.graph(function.graph, frame, own, [UNKNOWN] * len(function.graph.inputs))
            recorder.faults += [fault for fault in own.faults if not _lacks_arguments(fault, function)]
    return frozenset(paths)


def _lacks_arguments(fault: Recorded, function: Function) -> bool:
    """Whether a fault may be due to attributes that only a call provides."""
    if not fault.by_rule and fault.fault.rule is not MISSING_ATTRIBUTE:
        return False
    references = (attribute.reference for attribute in fault.node.attributes.values())
    return any(name is not None and function.attributes.get(name) is None for name in references)
