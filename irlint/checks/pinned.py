"""Compares a model with the promises of a configuration: its inputs, the sizes that it accepts, and its outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from irlint.contracts.assumptions import with_assumptions
from irlint.contracts.compared import Side, interface_changes
from irlint.contracts.contract import contract_of
from irlint.contracts.interface import End, inputs, outputs
from irlint.dims import MaybeDim, symbols
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Problem, Value
from irlint.model.tensor import Tensor, Type, tensor_shape
from irlint.ops.signed import ANY, SignatureError, parameters
from irlint.records import record, replaced

PROMISE_BROKEN = Rule(
    "IRL611",
    "promise-broken",
    Severity.ERROR,
    "The model accepts or returns less than the configuration promises.",
    why=(
        "Users of the model rely on the inputs, sizes and outputs that `[[models]]` states. If a new export narrows "
        "them, the failure appears only later, where the model is used."
    ),
    fix=(
        "Export the model as promised, or change the promise: `irlint contract MODEL --as config` prints the "
        "contract of the present model."
    ),
    role="given",
)

#: Changes that do not affect users who address inputs and outputs by name.
HARMLESS_CHANGES = ("input-moved", "output-moved", "output-untold")


@record
class Promise:
    """The promises of ``[[models]]`` about a model."""

    #: The types of the inputs.
    takes: Mapping[str, Tensor]
    #: The conditions on sizes.
    accepts: tuple[str, ...]
    #: The types of the outputs.
    returns: Mapping[str, Tensor]
    #: The place in the configuration.
    place: str


def tensor(text: str) -> Tensor:
    """The type that a text such as ``float32[N, 3, H//2]`` describes. Raises SignatureError if it describes none."""
    from irlint.dims import symbol
    from irlint.dims.expressions import NAME, read

    parameter = parameters(f"{text} -> T").inputs
    if len(parameter) != 1 or parameter[0].optional or parameter[0].type in ("T", "U"):
        raise SignatureError("expected a type with its dims, such as float32[N, 3, H, W]", 0, len(text))
    dims = parameter[0].dims
    if dims is None:
        return Tensor(parameter[0].type, None)
    names = {name: symbol(name, 1) for dim in dims for name in re.findall(NAME, dim)}
    sizes: tuple[MaybeDim, ...] = tuple(None if dim == ANY else read(dim, names) for dim in dims)
    return Tensor(parameter[0].type, sizes)


def broken(known: Known, promise: Promise) -> Iterator[Problem]:
    """A problem for each broken promise; a single problem if a condition of ``accepts`` is invalid."""
    if known.model.graph is None:
        return
    promised_inputs = _promised_ends(inputs(known), promise.takes)
    promised_outputs = _promised_ends(outputs(known), promise.returns)
    types = {each.value: each.type for each in promised_inputs}
    promised = replaced(known, types={**known.types, **types}, requires=())
    names = {name for each in types.values() for name in _symbols_in(each)}
    try:
        promised = with_assumptions(promised, promise.accepts, names)
    except ValueError as error:
        yield _problem(promise, str(error))
        return
    before = Side(promised_inputs, promised_outputs, contract_of(promised))
    after = Side(inputs(known), outputs(known), contract_of(known), known.model.symbols)
    for change in interface_changes(before, after):
        if change.breaking and change.kind not in HARMLESS_CHANGES:
            yield _problem(promise, change.message, change.name)


def _problem(promise: Promise, message: str, name: str = "") -> Problem:
    fault = PROMISE_BROKEN.fault(message, help=f"export the model as promised in {promise.place}")
    return Problem(fault, value=name or None)


def _promised_ends(own: Sequence[End], promised_types: Mapping[str, Tensor]) -> tuple[End, ...]:
    """The promised inputs or outputs, with the promised types. If nothing is promised, those of the model (``own``)."""
    if not promised_types:
        return tuple(own)
    by_name = {name: each for each in own for name in each.names}
    return tuple(
        replaced(by_name[name], name=name, type=given) if name in by_name else End(name, (name,), Value(name), given)
        for name, given in promised_types.items()
    )


def _symbols_in(given: Type | None) -> set[str]:
    return {name for dim in tensor_shape(given) or () if dim is not None for name in symbols(dim)}
