"""The contract of a model as data: the inputs that it accepts, and the outputs that it returns."""

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
from irlint.run.listing import error_notes, inferred_file, notes_on, typed

if TYPE_CHECKING:
    from irlint.contracts.profiles import Profile
    from irlint.folders.beside import Interface

#: Tools that read ONNX models only.
ONNX_ONLY = ("onnxruntime", "trtexec")

#: Tools that compile all branches of a model, also branches that never run.
BUILD_ALL_BRANCHES = ("trtexec",)


def contract_data(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> dict[str, Any]:
    """The data of ``irlint contract --format json``. Raises like ``listing.shapes_data``."""
    return contract_data_of(inferred_file(path, data, shapes, given_by), path)


def contract_data_of(known: Known, path: str) -> dict[str, Any]:
    """The data of ``irlint contract --format json`` for an inferred model."""
    contract = contract_of(known)
    found: dict[str, Any] = {
        "schema": "irlint-contract-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        **_notes(known, path.replace(os.sep, "/")),
        "inputs": [_input_entry(end) for end in inputs(known) if not end.optional],
        "requires": [_condition_entry(each) for each in contract.conditions],
        "outputs": [_output_entry(end, contract) for end in outputs(known)],
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
    notes = [*notes_on(known).get("notes", ()), *error_notes(known, path)]
    return {"notes": notes} if notes else {}


def profile_for(
    path: str,
    tool: str,
    assumptions: Sequence[str] = (),
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> Profile:
    """The sizes that a model accepts if the ``assumptions`` of the user hold, for ``tool``.

    Raises like ``listing.shapes_data``. Also raises ValueError if an assumption is invalid, if no sizes fit, or if the
    tool does not read the format.
    """
    from irlint.contracts.assumptions import with_assumptions
    from irlint.contracts.profiles import profile_of

    known = inferred_file(path, None, shapes, given_by)
    if tool in ONNX_ONLY and known.format.input_node is not None:
        raise ValueError(f"{tool} reads ONNX models only; this is {known.format.title}")
    ends = [end for end in inputs(known) if not end.optional]
    named = known.format.input_node is None or all(len(end.names) > 1 for end in ends)
    shapes_of_inputs = tuple((end.names[0] if named else end.name, _shape(end.type)) for end in ends)
    names = {name for _, shape in shapes_of_inputs for dim in shape or () if dim is not None for name in symbols(dim)}
    assumed = with_assumptions(known, assumptions, names)
    contract = _contract_of_all_branches(assumed, tool) if tool in BUILD_ALL_BRANCHES else contract_of(assumed)
    unnamed = {name: "" for name in known.symbols if name not in known.model.symbols}
    labels = {**known.model.symbols, **unnamed}
    computed = _symbolic_sizes(known) if tool == "torch" else ()
    shown = path.replace(os.sep, "/")
    found = profile_of(shown, shapes_of_inputs, contract, labels, named=named, computed=computed)
    return replaced(found, notes=tuple(notes_on(known).get("notes", ())))


def interface_and_contract(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> tuple[Interface, Contract]:
    """(inputs and outputs of a model as its runtime reports them, contract). Raises like ``listing.shapes_data``."""
    from irlint.folders.beside import interface_of

    known = inferred_file(path, data, shapes, given_by)
    return interface_of(known), contract_of(known)


def _contract_of_all_branches(known: Known, tool: str) -> Contract:
    """The sizes that all branches accept. Raises ValueError if the model accepts sizes, but all branches do not."""
    from irlint.contracts.assumptions import contradiction

    contract = contract_of(known)
    if not any(demand.when for demand in known.requires):
        return contract
    together = contract_of(replaced(known, requires=tuple(replaced(each, when="") for each in known.requires)))
    if contract.satisfiable and not together.satisfiable:
        demands = contradiction(together.impossible)
        raise ValueError(f"no sizes fit all branches, and {tool} builds all branches: {demands}")
    return together


def _symbolic_sizes(known: Known) -> dict[Dim, None]:
    return dict.fromkeys(dim for each in known.types.values() for dim in _shape(each) or () if isinstance(dim, Expr))


def _shape(type: Type | None) -> Shape | None:
    return type.shape if isinstance(type, (Tensor, SparseTensor)) else None


def _input_entry(end: End) -> dict[str, Any]:
    return {"name": end.name, **typed(end.type)}


def _output_entry(end: End, contract: Contract) -> dict[str, Any]:
    """The entry of an output. The conditions of the contract simplify its sizes."""
    found = end.type
    if isinstance(found, Tensor) and found.shape is not None:
        found = Tensor(
            found.dtype, tuple(None if dim is None else contract.simplified_size(dim) for dim in found.shape), None
        )
    return {"name": end.name, **typed(found)}


def _condition_entry(condition: Condition) -> dict[str, Any]:
    node, requirement = condition.demand.node, condition.demand.requirement
    entry = {
        "condition": condition.text,
        "node": node.label,
        "op": node.op,
        "why": requirement.why,
        "nodes": condition.nodes,
    }
    return {**entry, "when": condition.when} if condition.when else entry
