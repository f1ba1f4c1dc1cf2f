"""The ``config.pbtxt`` of a model for Triton's server (``model_config.proto``)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from irlint.contracts.contract import Contract
from irlint.dims import Expr
from irlint.folders.beside import Interface, Reported, Size
from irlint.folders.triton.requests import PADDING
from irlint.folders.triton.tensors import BACKEND_RULES, TYPES, BackendRules, type_text
from irlint.model.tensor import tensor_shape
from irlint.reporters.pasted import comment, pasted


def rendered(model: Interface, contract: Contract) -> str:
    """The configuration. Raises ValueError if the server does not support an input or output of the model."""
    name = next(iter(model.known.format.runtimes))
    _require_support(model, BACKEND_RULES[name])
    return pasted(_lines(model, contract, name))


def _require_support(model: Interface, backend: BackendRules) -> None:
    for end in (*model.inputs, *model.outputs):
        if not end.is_tensor:
            raise ValueError(f"{end.name} is not a tensor, and Triton supports only tensors")
        if end.dtype not in TYPES or end.dtype in backend.refused_types:
            raise ValueError(f"{end.name} is {end.dtype or 'of an unknown type'}, which the backend does not support")
        if end.sizes is not None and 0 in end.sizes:
            raise ValueError(f"{end.name} has an axis of size 0, which Triton does not support")
        if end.sizes == () and not backend.allows_scalars:
            raise ValueError(f"{end.name} is a scalar, which the backend does not support")


def _lines(model: Interface, contract: Contract, backend: str) -> Iterator[str]:
    batches = _batches(model, contract)
    file = os.path.basename(model.known.model.path)
    yield comment("put this file beside the folder of a version: NAME/config.pbtxt, NAME/1/" + file)
    for condition in contract.conditions:
        if not condition.when:
            yield comment(f"the model runs if {condition.text}")
    yield f"backend: {_protobuf_text(backend)}"
    if file != BACKEND_RULES[backend].filename:
        yield f"default_model_filename: {_protobuf_text(file)}"
    if batches:
        yield comment("the model accepts any batch: write the largest one that fits into the memory of the server")
    yield f"max_batch_size: {8 if batches else 0}"
    if batches and BACKEND_RULES[backend].sets_batch_size:
        yield comment("the backend runs batches of that size, and fills up smaller ones only with this parameter")
        yield f'parameters {{ key: "{PADDING}" value {{ string_value: "YES" }} }}'
    yield from _tensors("input", [each for each in model.inputs if not each.optional], batches=batches)
    for end in model.inputs:
        if end.optional:
            yield comment(f"{end.name} has a default; to feed it, add it with `optional: true` and without batches")
    yield from _tensors("output", model.outputs, batches=batches)


def _batches(model: Interface, contract: Contract) -> bool:
    """Whether the first axes of all required inputs and all outputs are the same dynamic size, without a limit."""
    ends = [*(each for each in model.inputs if not each.optional), *model.outputs]
    if not all(each.sizes and each.sizes[0] == -1 for each in ends):
        return False
    graph = model.known.model.graph
    shapes = [tensor_shape(model.known.types.get(value)) for value in (graph.inputs if graph is not None else ())]
    names = {str(shape[0]) for shape in shapes if shape and isinstance(shape[0], Expr)}
    limited = contract.sizes.keys() | contract.values.keys() | {name for each in contract.joint for name in each.names}
    return len(names) <= 1 and not names & limited


def _tensors(kind: str, ends: Sequence[Reported], *, batches: bool) -> Iterator[str]:
    """The lines of the inputs or outputs. If a shape is not known, a comment instead."""
    if any(each.sizes is None or None in each.sizes for each in ends):
        yield comment(f"the server completes the {kind}s: their shapes are known once it has loaded the model")
        return
    if not ends:
        return
    yield f"{kind} ["
    for number, end in enumerate(ends, 1):
        yield "  {"
        yield f"    name: {_protobuf_text(end.name)}"
        yield f"    data_type: {type_text(end.dtype)}"
        yield from _dims(end.sizes or (), batches=batches)
        yield "  }" + ("," if number < len(ends) else "")
    yield "]"


def _dims(sizes: Sequence[Size], *, batches: bool) -> Iterator[str]:
    own = list(sizes[1:] if batches else sizes)
    if own:
        yield f"    dims: [ {', '.join(map(str, own))} ]"
    else:
        yield "    dims: [ 1 ]"
    if not own and batches:
        yield "    reshape { shape: [ ] }"


def _protobuf_text(text: str) -> str:
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '\\"':
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
