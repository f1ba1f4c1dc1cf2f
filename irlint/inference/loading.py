"""Finds the faults that a runtime refuses when it loads a model.

For this, a second walk infers the shapes with only the sizes that the runtime knows when it loads the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial

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

#: The note on a fault in the body of a loop with declared sizes.
DECLARED_SIZES = "the sizes are declared by the inputs of the body, and ONNX Runtime uses them when it loads the model"


def levels(
    faults: Sequence[Recorded], model: Model, calls: Mapping[Node, Call], overridden: Mapping[Value, Shape]
) -> Iterator[tuple[Recorded, Fault]]:
    """The faults that count at their places: (recorded fault, the fault with the severity for its place)."""
    assert model.format is not None
    for_declared_sizes = cache(partial(_keys_for_declared_sizes, model))
    for recorded in faults:
        call = calls.get(recorded.node)
        facts = {
            "compared_late": compares_late(call),
            "refused_by_inference": bool(recorded.obstacles) and is_refused_by_inference(recorded.fault, call),
        }
        fault = leveled(
            recorded.fault,
            recorded.obstacles,
            model.format,
            **facts,
            sizes_known=not needs_sizes(recorded.fault.rule, recorded.obstacles, model.format, **facts)
            or recorded.key in for_declared_sizes(folds=False),
            by_given_shapes=bool(overridden and recorded.when) and recorded.key not in for_declared_sizes(folds=True),
        )
        if fault is not None and "as declared" in recorded.obstacles:
            fault = fault.changed(notes=(*fault.notes, DECLARED_SIZES))
        if fault is not None:
            yield recorded, fault


def refused(known: Known, runtime: str, problems: Sequence[Problem], *, newest: bool) -> list[bool]:
    """For each problem (an error in nodes that run): whether every release of a runtime refuses the model for it.

    ``runtime`` is a module of ``targets``. With ``newest``, only the newest release counts, of which irlint knows more
    refusals.
    """
    for_declared_sizes = cache(partial(_keys_for_declared_sizes, known.model))

    def is_refused(problem: Problem) -> bool:
        rule = problem.fault.rule
        call = known.calls.get(problem.node) if problem.node is not None else None
        by_inference = newest and runtime == "onnxruntime" and is_refused_by_inference(problem.fault, call)
        if runtime == "onnxruntime" and rule.family == "shapes" and not by_inference and _is_first_version(call):
            return False
        if any(rule.is_refused(runtime, where) for where in ("live", "dead", "dead by size")):
            return True
        if runtime == known.format.loaded_by and known.format.errors_are_refused:
            return runtime not in rule.accepted or (newest and problem.fault.refused)
        if_sized = by_inference or (not compares_late(call) and rule.is_refused(runtime, "dead if sized"))
        return if_sized and (problem.node, rule.code) in for_declared_sizes(folds=False)

    return [is_refused(problem) for problem in problems]


def _keys_for_declared_sizes(model: Model, *, folds: bool) -> Collection[tuple[Node | None, str]]:
    """The keys of the faults that occur with the declared sizes. Without ``folds``, computed values are unknown."""
    recorder = Recorder()
    if model.graph is not None:
        Walk(model, {}, folds=folds).graph(model.graph, Frame(), recorder)
    return {recorded.key for recorded in recorder.faults}


def _is_first_version(call: Call | None) -> bool:
    """Whether the operator has its first version, for which ONNX's shape inference compares few sizes."""
    return call is not None and call.schema is not None and call.schema.since == 1


def row(fault: Fault, call: Call | None) -> str:
    """The row of ``onnxruntime_loading.txt`` for a fault; "" for an operator without a schema."""
    if call is None or call.schema is None:
        return ""
    name, since = f"{call.schema.domain or 'ai.onnx'}:{call.schema.name}", call.schema.since
    return f"{fault.rule.name} {name} {since} {'-' if fault.input is None else fault.input}"


@cache
def _rows() -> frozenset[str]:
    return frozenset(table_text("onnxruntime_loading.txt").splitlines()[1:])


def is_refused_by_inference(fault: Fault, call: Call | None) -> bool:
    """Whether ONNX Runtime's shape inference refuses the fault, by ``onnxruntime_loading.txt``."""
    return row(fault, call) in _rows()


def compares_late(call: Call | None) -> bool:
    """Whether the runtime compares the sizes of a node only when it runs the node."""
    return call is not None and call.operator is not None and call.operator.late


def refused_at_load(rule: Rule, call: Call | None, runtime: str) -> bool:
    """Whether the runtime refuses a fault when it loads the model, if the fault occurs with the declared sizes."""
    return rule.is_refused(runtime, "as declared") and not compares_late(call)


def as_loaded(known: Type | None) -> Type | None:
    """The part of a type that the runtime knows when it loads the model: the element type and integer sizes."""
    if not isinstance(known, Tensor) or known.shape is None:
        return Tensor(known.dtype) if isinstance(known, Tensor) else known
    return Tensor(known.dtype, tuple([dim if isinstance(dim, int) else None for dim in known.shape]))
