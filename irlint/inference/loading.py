"""A second walk for faults in code that may never run: does a runtime notice them when it loads the model?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from irlint.binding.calls import Call
from irlint.dims import Shape
from irlint.findings.faults import Fault, Rule
from irlint.inference.known import Known
from irlint.inference.levels import leveled, needs_sizes
from irlint.inference.recorded import Recorded, Recorder
from irlint.inference.walk import Frame, Walk
from irlint.model import Model, Node, Problem, Value
from irlint.model.tensor import Tensor, Type
from irlint.schemas import table_text

#: The note on a fault in the body of a loop that is found with the declared sizes.
DECLARED_SIZES = "the sizes are declared by the inputs of the body, and ONNX Runtime uses them when it loads the model"


def levels(
    faults: Sequence[Recorded], model: Model, calls: Mapping[Node, Call], overridden: Mapping[Value, Shape]
) -> Iterator[tuple[Recorded, Fault]]:
    """Each recorded fault that counts at its place, with a copy at the severity for that place."""
    assert model.format is not None

    @cache
    def seen(*, folds: bool) -> set[tuple[Node, str]]:
        """The faults for the sizes that the file declares, as keys; without ``folds``, computed values are unknown."""
        recorder = Recorder()
        assert model.graph is not None
        Walk(model, {}, folds=folds).graph(model.graph, Frame(), recorder)
        return {each.of_rule for each in recorder.faults}

    for each in faults:
        call = calls.get(each.node)
        facts = {"late": refuses_late(call), "inferred": bool(each.place) and is_inferred(each.fault, call)}
        known = not needs_sizes(each.fault.rule, each.place, model.format, **facts) or each.of_rule in seen(folds=False)
        given = bool(overridden and each.when) and each.of_rule not in seen(folds=True)
        fault = leveled(each.fault, each.place, model.format, **facts, known=known, given=given)
        if fault is not None and "as declared" in each.place:
            fault = fault.changed(notes=(*fault.notes, DECLARED_SIZES))
        if fault is not None:
            yield each, fault


def refused(known: Known, runtime: str, problems: Sequence[Problem], *, newest: bool) -> list[bool]:
    """Whether every release of a runtime, by the name of its module in ``targets``, refuses to load a model with each
    of some errors in code that runs: as in code that never runs, for the sizes that the file declares. The ``newest``
    one also refuses what it was asked about alone: breaches of shape inference, and single faults."""
    graph = known.model.graph

    @cache
    def shown() -> set[tuple[Node | None, str]]:
        """The faults for the declared sizes, without those that computed values show."""
        recorder = Recorder()
        assert graph is not None
        Walk(known.model, {}, folds=False).graph(graph, Frame(), recorder)
        return {each.of_rule for each in recorder.faults}

    def is_refused(problem: Problem) -> bool:
        rule = problem.fault.rule
        call = known.calls.get(problem.node) if problem.node is not None else None
        inferred = newest and runtime == "onnxruntime" and is_inferred(problem.fault, call)
        if runtime == "onnxruntime" and rule.family == "shapes" and not inferred and _is_first(call):
            return False
        if any(rule.is_refused(runtime, where) for where in ("live", "dead", "dead by size")):
            return True
        if runtime == known.format.loaded_by and known.format.errors_are_refused:
            return runtime not in rule.accepted or (newest and problem.fault.refused)
        compared = inferred or (not refuses_late(call) and rule.is_refused(runtime, "dead if sized"))
        return compared and graph is not None and (problem.node, rule.code) in shown()

    return [is_refused(each) for each in problems]


def _is_first(call: Call | None) -> bool:
    """Whether an operator has its first version, for which ONNX's shape inference compares little."""
    return call is not None and call.schema is not None and call.schema.since == 1


def row(fault: Fault, call: Call | None) -> str:
    """The row of ``onnxruntime_loading.txt`` for a fault at an operator with a schema; "" for any other operator."""
    if call is None or call.schema is None:
        return ""
    name, since = f"{call.schema.domain or 'ai.onnx'}:{call.schema.name}", call.schema.since
    return f"{fault.rule.name} {name} {since} {'-' if fault.input is None else fault.input}"


@cache
def _rows() -> frozenset[str]:
    return frozenset(table_text("onnxruntime_loading.txt").splitlines()[1:])


def is_inferred(fault: Fault, call: Call | None) -> bool:
    """Whether ONNX Runtime's shape inference refuses this fault, as measured in ``onnxruntime_loading.txt``."""
    return row(fault, call) in _rows()


def refuses_late(call: Call | None) -> bool:
    """Whether the runtime compares the sizes of a node only when it runs the node."""
    return call is not None and call.operator is not None and call.operator.late


def refused_at_load(rule: Rule, call: Call | None, runtime: str) -> bool:
    """Whether the runtime, with the declared sizes, refuses a fault of a rule at a node when it loads the model."""
    return rule.is_refused(runtime, "as declared") and not refuses_late(call)


def as_loaded(known: Type | None) -> Type | None:
    """The part of an output that the runtime knows when it loads the model: the element type and integer sizes."""
    if not isinstance(known, Tensor) or known.shape is None:
        return Tensor(known.dtype) if isinstance(known, Tensor) else known
    return Tensor(known.dtype, tuple([dim if isinstance(dim, int) else None for dim in known.shape]))
