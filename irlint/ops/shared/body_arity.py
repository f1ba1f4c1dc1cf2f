"""Checks of the numbers of inputs and outputs of bodies."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.faults import Fault
from irlint.findings.wording import counted, listed
from irlint.model import Graph, Value
from irlint.model.tensor import Type, disagree, shape_text, tensor_shape
from irlint.ops import Context
from irlint.ops.shared.bodies import BODY_ARITY, graph_inputs, is_impossible

#: A message lists at most this many inputs of a body.
MOST_LISTED = 6


def arity_fault(body: Graph, name: str, kind: str, *, expected: int, why: str, instead: str = "") -> Fault | None:
    """The fault of a body with a wrong number of inputs or outputs; None if the number is right.

    ``kind`` is "input" or "output", and ``why`` is the reason for the number. ``instead`` is the help if the node may
    be wrong.
    """
    found = len(graph_inputs(body)) if kind == "input" else len(body.outputs)
    if found == expected or (kind == "input" and len(body.inputs) == expected):
        return None
    lost = max(expected - found, 0) if kind == "input" else 0
    names = [repr(value.name) for value in body.undefined]
    uses = f": its nodes use {listed(names)}, which nothing defines" if 0 < len(names) <= lost else ""
    give = f"give `{name}` {counted(expected, kind)}" if expected else f"remove the {kind}s of `{name}`"
    return BODY_ARITY.fault(
        f"`{name}` has {counted(found, kind)}; expected {counted(expected, kind) if expected else 'none'}: {why}",
        help=f"give `{name}` {counted(expected, kind)}{uses}" if uses else instead or give,
        attribute=name,
        notes=_notes_of_inputs(body, name) if kind == "input" else (),
        loses=lost,
    )


def _help_for_inputs(body: Graph, name: str, expected: int, *, first: int, outputs: int) -> str:
    """The help if a body has another number of inputs than the node passes.

    ``first`` is the input of the node that input 0 of the body receives. If the body also returns more values than the
    node has outputs, the node needs ``outputs`` outputs; else ``outputs`` is 0.
    """
    names = [f"`{value.name}`" for value in graph_inputs(body)]
    added, give = names[expected:], f"give `{name}` {counted(expected, 'input')}"
    if not added:
        return f"{give}, or remove {counted(expected - len(names), 'input')} of the node"
    if len(added) > MOST_LISTED:
        return f"{give}, or pass {len(added)} more values to the node"
    places = listed([str(first + expected + at) for at in range(len(added))])
    what = f"a value for {added[0]} as input" if len(added) == 1 else f"values for {listed(added)} as inputs"
    returned = f" and give the node {counted(outputs, 'output')}" if outputs else ""
    return f"pass {what} {places}{returned}, or remove {listed(added)} from `{name}`"


def _notes_of_inputs(body: Graph, name: str) -> tuple[str, ...]:
    names = [f"`{value.name}`" for value in graph_inputs(body)]
    if not names:
        return ()
    more = len(names) - MOST_LISTED
    shown = f"{', '.join(names[:MOST_LISTED])} and {more} more" if more > 1 else listed(names)
    return (f"`{name}` takes {shown}",)


def check_arity(
    body: Graph,
    name: str,
    inputs: int,
    *,
    outputs: int,
    context: Context,
    why: str,
    node: str = "the node",
    first: int = 0,
    help: str = "",
) -> None:
    """Checks the numbers of inputs and outputs of a body. Raises a ``BODY_ARITY`` fault.

    ``node`` names, for the help, what else has as many outputs; "" if the numbers of the body are certain. ``first`` is
    the input of the node that input 0 of the body receives. ``help`` replaces the help for a wrong number of inputs.
    """
    condition = "the condition comes first, and " if outputs > context.outputs else ""
    returned = context.outputs + len(body.outputs) - outputs
    is_more = returned > context.outputs
    of_inputs = _help_for_inputs(body, name, inputs, first=first, outputs=returned if is_more else 0)
    of_outputs = f"give `{name}` {counted(outputs, 'output')}, or {node} {returned}"
    faults = (
        arity_fault(body, name, "input", expected=inputs, why=why, instead=help or of_inputs * bool(node and inputs)),
        arity_fault(
            body,
            name,
            "output",
            expected=outputs,
            why=f"{condition}the node has {context.outputs}",
            instead=of_outputs if node and returned > 0 else "",
        ),
    )
    for fault in faults:
        if fault is not None:
            raise fault


def help_for_state(body: Graph, given: Sequence[Type | None], op: str, *, states: range, outputs: int) -> str:
    """The help for a node ``op`` that passes one value less to its body than the body has inputs.

    ``given`` has the types of the passed values; None for values of any type. ``states`` are the inputs of the body
    that may lack a value: of those that fit, the last is named. ``outputs`` is the expected number of outputs.
    "" if no input fits.
    """
    values, more = graph_inputs(body), len(body.outputs) - outputs
    if len(values) != len(given) + 1 or more not in (0, 1):
        return ""
    fitting = [at for at in states if _fit((*values[:at], *values[at + 1 :]), given)]
    if not fitting:
        return ""
    at = fitting[-1]
    shape = tensor_shape(values[at].type)
    what = f"`{values[at].name}`" + f" ({shape_text(shape)})" * (shape is not None)
    returned = f" and add its final value as output {at - states.start}" * more
    return f"pass an initial value of {what} as input {at} of the {op}{returned}, or remove it from the body"


def _fit(values: Sequence[Value], given: Sequence[Type | None]) -> bool:
    pairs = list(zip(values, given))
    return not any(disagree(value.type, known) or is_impossible(value.type, known) for value, known in pairs)
