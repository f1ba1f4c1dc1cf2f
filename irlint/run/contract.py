"""The contract of a model (which inputs it accepts, and which outputs it then returns), as data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from irlint.contracts.contract import Condition, Contract, contract_of
from irlint.contracts.interface import End, inputs, outputs
from irlint.dims import Dim, Expr, Shape, symbols
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model.tensor import SparseTensor, Tensor, Type
from irlint.records import NOTHING, replaced
from irlint.run.listing import errors_on, notes_on, typed, worked_out

if TYPE_CHECKING:
    from irlint.contracts.profiles import Profile
    from irlint.folders.beside import Interface

#: Tools that do not read OpenVINO IR.
ONNX_ONLY = ("onnxruntime", "trtexec")

#: Tools that build all branches of a model, also branches that never run.
BUILDS_BRANCHES = ("trtexec",)


def demanded(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> dict[str, Any]:
    """The data of ``irlint contract --format json``. Raises like ``listing.listed``."""
    return demanded_by(worked_out(path, data, shapes, given_by), path)


def demanded_by(known: Known, path: str) -> dict[str, Any]:
    """The data of ``irlint contract --format json`` for an inferred model."""
    contract = contract_of(known)
    found: dict[str, Any] = {
        "schema": "irlint-contract-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        **_notes(known, path.replace(os.sep, "/")),
        "inputs": [_entry(end) for end in inputs(known) if not end.optional],
        "requires": [_condition(each) for each in contract.conditions],
        "outputs": [_returned(end, contract) for end in outputs(known)],
        "symbols": {name: text for name, text in known.symbols.items() if not name.startswith("_")},
    }
    if not contract.satisfiable:
        found["satisfiable"] = False
        found["contradiction"] = [
            {
                "condition": each.requirement.condition,
                "node": each.node.label,
                "op": each.node.op,
                "why": each.requirement.why,
            }
            for each in contract.impossible
        ]
    if contract.unknown:
        found["undecided"] = len(contract.unknown)
    return found


def _notes(known: Known, path: str) -> dict[str, list[str]]:
    notes = [*notes_on(known).get("notes", ()), *errors_on(known, path)]
    return {"notes": notes} if notes else {}


def fitted(
    path: str,
    tool: str,
    assumptions: Sequence[str] = (),
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> Profile:
    """The sizes that a model accepts under the assumptions, for a tool.

    Raises like ``listing.listed``. Raises ValueError for an invalid assumption, if no sizes meet all assumptions and
    conditions, and if the tool does not read the format.
    """
    from irlint.contracts.assumptions import with_assumptions
    from irlint.contracts.profiles import profile_of

    known = worked_out(path, None, shapes, given_by)
    if tool in ONNX_ONLY and known.format.input_node is not None:
        raise ValueError(f"{tool} reads ONNX models only; this is {known.format.title}")
    ends = [end for end in inputs(known) if not end.optional]
    named = known.format.input_node is None or all(len(end.names) > 1 for end in ends)
    shapes_of_inputs = tuple((end.names[0] if named else end.name, _shape(end.type)) for end in ends)
    names = {name for _, shape in shapes_of_inputs for dim in shape or () if dim is not None for name in symbols(dim)}
    assumed = with_assumptions(known, assumptions, names)
    contract = _built(assumed, tool) if tool in BUILDS_BRANCHES else contract_of(assumed)
    unnamed = {name: "" for name in known.symbols if name not in known.model.symbols}
    labels = {**known.model.symbols, **unnamed}
    computed = _computed(known) if tool == "torch" else ()
    shown = path.replace(os.sep, "/")
    found = profile_of(shown, shapes_of_inputs, contract, labels, named=named, computed=computed)
    return replaced(found, notes=tuple(notes_on(known).get("notes", ())))


def stated(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> tuple[Interface, Contract]:
    """The inputs and outputs of a model as its runtime declares them, and the contract of the model.

    Raises like ``listing.listed``.
    """
    from irlint.folders.beside import interface_of

    known = worked_out(path, data, shapes, given_by)
    return interface_of(known), contract_of(known)


def _built(known: Known, tool: str) -> Contract:
    """The contract of a model of which the tool builds all branches.

    Raises ValueError if the model accepts some sizes, but all branches together accept none.
    """
    contract = contract_of(known)
    if not any(demand.when for demand in known.requires):
        return contract
    together = contract_of(replaced(known, requires=tuple(replaced(each, when="") for each in known.requires)))
    if contract.satisfiable and not together.satisfiable:
        demands = " and ".join(dict.fromkeys(each.requirement.condition for each in together.impossible))
        raise ValueError(f"no sizes fit all branches, and {tool} builds all branches: {demands}")
    return together


def _computed(known: Known) -> dict[Dim, None]:
    """The symbolic sizes of all values, each once."""
    return dict.fromkeys(dim for each in known.types.values() for dim in _shape(each) or () if isinstance(dim, Expr))


def _shape(given: Type | None) -> Shape | None:
    return given.shape if isinstance(given, (Tensor, SparseTensor)) else None


def _entry(end: End) -> dict[str, Any]:
    return {"name": end.name, **typed(end.type)}


def _returned(end: End, contract: Contract) -> dict[str, Any]:
    """The entry of an output, with its sizes under the conditions of the contract."""
    found = end.type
    if isinstance(found, Tensor) and found.shape is not None:
        found = Tensor(
            found.dtype, tuple(None if dim is None else contract.simplified_size(dim) for dim in found.shape), None
        )
    return {"name": end.name, **typed(found)}


def _condition(condition: Condition) -> dict[str, Any]:
    node, requirement = condition.demand.node, condition.demand.requirement
    entry = {
        "condition": condition.text,
        "node": node.label,
        "op": node.op,
        "why": requirement.why,
        "nodes": condition.nodes,
    }
    return {**entry, "when": condition.when} if condition.when else entry
