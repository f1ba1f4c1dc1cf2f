"""Asks the rule of a node for its outputs with inputs that differ from those in the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from irlint.binding.calls import Call
from irlint.findings.faults import Severity
from irlint.inference.answers import Answer
from irlint.inference.known import Known
from irlint.inference.recorded import Recorded, Recorder
from irlint.inference.walk import Frame, Walk
from irlint.model import Attribute, Function, Graph, Node, Value
from irlint.model.tensor import Type

#: A function like ``asked_again`` for one model.
Asked = Callable[[Node, Sequence[Type | None], Call | None], Answer | None]


def asked_again(known: Known, node: Node, inputs: Sequence[Type | None], call: Call | None = None) -> Answer | None:
    """The answer of the node's rule for these inputs; None if the rule cannot be asked.

    ``call`` is used in place of the node's own call.
    """
    return questions(known)(node, inputs, call)


def outputs_for(
    known: Known, node: Node, inputs: Sequence[Type | None], call: Call | None = None
) -> tuple[Type | None, ...] | None:
    """The outputs of ``asked_again``; None if the rule cannot be asked or refuses the inputs."""
    answer = asked_again(known, node, inputs, call)
    return None if answer is None else answer.outputs


def questions(known: Known) -> Asked:
    """``asked_again`` as a function that is faster for many questions about one model."""
    walk, frame, recorder = Walk(known.model, {}, known), Frame(), Recorder(discards=True)

    def answered(node: Node, inputs: Sequence[Type | None], call: Call | None) -> Answer | None:
        call = known.calls.get(node) if call is None else call
        if call is None or call.broken or call.operator is None:
            return None
        try:
            return walk.ask(frame, node, call, inputs, recorder)
        except RecursionError:
            return None

    return answered


def types_within(
    known: Known, function: Function, inputs: Sequence[Type | None], attributes: Mapping[str, Attribute | None]
) -> Mapping[Value, Type | None]:
    """The types of the values in a function, for a call with these inputs and attributes."""
    walk = Walk(known.model, {}, known)
    arguments = (*inputs, *[None] * (len(function.graph.inputs) - len(inputs)))
    with suppress(RecursionError):
        walk.graph(function.graph, Frame(attributes, depth=1), Recorder(discards=True), arguments)
    return walk.types


def faults_within(known: Known, body: Graph, inputs: Sequence[Type | None]) -> list[Recorded]:
    """The errors of the nodes in a body that receives these inputs."""
    walk, recorder = Walk(known.model, {}, known), Recorder()
    with suppress(RecursionError):
        walk.graph(body, Frame(depth=1), recorder, inputs)
    return [each for each in recorder.faults if each.by_rule and each.fault.severity is Severity.ERROR]
