"""What ONNX Runtime refuses when it loads a model, in bodies too that never run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from irlint.binding.calls import Call
from irlint.findings.faults import Severity
from irlint.inference.sightings import Sighting, milder
from irlint.model import Node
from irlint.model.tensor import Tensor, Type
from irlint.records import replaced

#: broadcast-mismatch, matmul-inner-mismatch, concat-shape-mismatch and split-not-divisible: what its shape inference refuses.
#: Of what else a rule forbids, it does not look at some until the model runs.
REFUSED_AT_LOAD = frozenset({"IRL201", "IRL320", "IRL340", "IRL342"})

#: What it refuses of a node without looking at sizes: what is not as the schema says, and attributes that no kernel is made with.
REFUSED_BY_SCHEMA = frozenset(
    {"IRL317", "IRL326", "IRL372", "IRL373", "IRL377", "IRL390", "IRL401", "IRL402", "IRL501", "IRL503", "IRL504"}
    | {"IRL505", "IRL507", "IRL508", "IRL509", "IRL518"}
)

#: What it refuses for the sizes that it knows, whether the node ever runs or not.
REFUSED_BY_SIZES = REFUSED_AT_LOAD | {"IRL331", "IRL332", "IRL341", "IRL345", "IRL515"}


def refused_at_load(code: str, call: Call | None, codes: frozenset[str] = REFUSED_AT_LOAD) -> bool:
    """Whether the runtime, of a node, refuses what the rule of that code forbids when it loads the model."""
    return code in codes and not (call is not None and call.operator is not None and call.operator.late)


def of_dead_body(seen: Iterable[Sighting], calls: Mapping[Node, Call], most: Severity) -> Iterator[Sighting]:
    """What was seen in a body that never runs: no more than ``most``, but what is refused all the same."""
    for each in seen:
        code = each.fault.rule.code
        if code in REFUSED_BY_SCHEMA or each.otherwise is None:
            yield each
        elif refused_at_load(code, calls.get(each.node), REFUSED_BY_SIZES):
            yield replaced(each, otherwise=most)
        else:
            yield replaced(each, worst=milder(each.worst, most))


def of_stated_body(seen: Iterable[Sighting], calls: Mapping[Node, Call]) -> Iterator[Sighting]:
    """What is refused of a body whose inputs are as it declares them, and not as the node gives them."""
    note = "the sizes are those that the inputs of the body declare, which ONNX Runtime takes when it loads the model"
    for each in seen:
        if refused_at_load(each.fault.rule.code, calls.get(each.node)):
            yield replaced(each, fault=each.fault.changed(notes=(*each.fault.notes, note)), otherwise=None)


def unreckoned(known: Type | None) -> Type | None:
    """What the runtime knows of an output: numbers in its shape, none that symbols or the contents of most nodes lead to."""
    if not isinstance(known, Tensor) or known.shape is None:
        return Tensor(known.dtype) if isinstance(known, Tensor) else known
    return Tensor(known.dtype, tuple([dim if isinstance(dim, int) else None for dim in known.shape]))


def as_loaded(faults: list[Sighting], seen: Iterable[Sighting]) -> list[Sighting]:
    """The faults; of those that stand only if the runtime knows the sizes, what is ``seen`` without reckoning."""
    known = {(each.node, each.fault.rule.code) for each in seen}
    found = []
    for each in faults:
        if each.otherwise is Severity.ERROR or (each.node, each.fault.rule.code) in known:
            found.append(each)
        elif each.otherwise is not None:
            found.append(replaced(each, worst=milder(each.worst, each.otherwise)))
    return found
