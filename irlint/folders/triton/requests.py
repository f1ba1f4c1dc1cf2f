"""Finds batches and sizes that a configuration allows although requests with them fail."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.contracts.contract import Contract, contract_of
from irlint.contracts.sizes import Sizes
from irlint.dims import Dim, Expr
from irlint.findings.report import Related
from irlint.folders.beside import Interface, by_name, interface_of, new_errors
from irlint.folders.rules import NO_BATCH_AXIS, SIZE_EXCLUDED
from irlint.folders.statements import ConfigFault
from irlint.folders.triton.config import Config
from irlint.folders.triton.fields import ANY
from irlint.folders.triton.tensors import BACKEND_RULES, shape_text
from irlint.inference.walk import inferred
from irlint.model.tensor import tensor_shape

#: The parameter that lets the OpenVINO backend pad batches.
PADDING = "ENABLE_BATCH_PADDING"


def request_faults(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """The findings about sizes that the configuration allows but the model excludes; none for a model with errors."""
    if any(problem.is_error for problem in model.known.problems):
        return
    if config.has_batches and BACKEND_RULES[config.backend].sets_batch_size:
        yield from _batch_of_openvino(config, model)
    elif config.has_batches:
        yield from _batch_sizes(config, model, contract_of(model.known))
    yield from _fixed_dims(config, model)


def _batch_of_openvino(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """A finding if batches of ``max_batch_size`` fail, or if smaller batches fail.

    The OpenVINO backend sets the first axis of all inputs to ``max_batch_size``.
    """
    most, span = config.message.max_batch_size, config.at("max_batch_size", 0)
    shapes = {each.name: _own_shape(model, each.name) for each in model.inputs}
    changed = inferred(model.known.model, {name: (most, *shape[1:]) for name, shape in shapes.items() if shape})
    found = new_errors(model, changed)
    fixed = [each for each in interface_of(changed).outputs if each.sizes and each.sizes[0] not in (most, ANY, None)]
    reason = found[0].fault.message if found else ""
    if fixed and not found:
        reason = f"its output `{fixed[0].name}` is {shape_text(fixed[0].sizes or ())}"
    if reason:
        message = f"max_batch_size is {most}, and the model does not run with batches of {most}: {reason}"
        help = "export the model with a dynamic first axis, or write `max_batch_size: 0` and full dims"
        yield ConfigFault(NO_BATCH_AXIS.fault(message, help=help), span)
        return
    parameters = config.message.parameters
    if most > 1 and (PADDING not in parameters or parameters[PADDING].string_value.lower() != "yes"):
        message = f"the openvino backend runs batches of exactly {most}, and requests of fewer fail"
        help = f'add `parameters {{ key: "{PADDING}" value {{ string_value: "YES" }} }}`, or write `max_batch_size: 1`'
        yield ConfigFault(SIZE_EXCLUDED.fault(message, help=help), span)


def _batch_sizes(config: Config, model: Interface, contract: Contract) -> Iterator[ConfigFault]:
    """The findings about each preferred batch size that fails, and about the smallest batch size that fails."""
    most = config.message.max_batch_size
    sizes = _sizes_of_batch(model, contract)
    if sizes is None:
        return
    preferred = config.message.dynamic_batching.preferred_batch_size
    candidates: list[tuple[tuple[str | int, ...], int]] = [
        (("dynamic_batching", 0, "preferred_batch_size", at), size) for at, size in enumerate(preferred)
    ]
    smallest_failing = next((size for size in range(1, min(most, 4096) + 1) if size not in sizes), None)
    if smallest_failing is not None:
        candidates.append((("max_batch_size", 0), smallest_failing))
    for path, size in candidates:
        if 1 <= size <= most and size not in sizes:
            working = [each for each in range(1, min(most, 64) + 1) if each in sizes][:4]
            text = ", ".join(map(str, working)) or "none of them"
            what = "preferred_batch_size lists" if path[0] == "dynamic_batching" else f"max_batch_size {most} allows"
            message = f"{what} batches of {size}, with which the model does not run; it runs with {text}"
            help = "export the model for any batch" if working else "set max_batch_size: 0"
            if working and working == list(range(1, len(working) + 1)):
                help += f", or write `max_batch_size: {working[-1]}`"
            related = _first_demand(contract)
            yield ConfigFault(SIZE_EXCLUDED.fault(message, help=help), config.at(*path), related=related)


def _sizes_of_batch(model: Interface, contract: Contract) -> Sizes | None:
    """The batch sizes with which the model runs; None if any size works, or if no sizes work at all.

    A name of the batch axis is ignored if another axis has the same name, because runtimes do not compare these axes.
    """
    graph = model.known.model.graph
    shapes = [tensor_shape(model.known.types.get(value)) or () for value in (graph.inputs if graph is not None else ())]
    names = {str(shape[0]) for shape in shapes if shape and isinstance(shape[0], Expr)}
    others = {str(dim) for shape in shapes for dim in shape[1:]}
    limits = [contract.sizes[name] for name in sorted(names - others) if name in contract.sizes]
    return limits[0] if limits and contract.satisfiable else None


def _first_demand(contract: Contract) -> tuple[Related, ...]:
    """The node of the first demand in a contract, as a related place."""
    first = next((demand for demands in contract.limiting.values() for demand, _ in demands), None)
    return () if first is None else (Related(first.node.label, first.requirement.why),)


def _fixed_dims(config: Config, model: Interface) -> Iterator[ConfigFault]:
    """A finding if ``dims`` state sizes for dynamic axes with which the model does not run."""
    shapes: dict[str, tuple[Dim | None, ...]] = {}
    changed: list[tuple[int, str, list[int]]] = []
    for at, tensor in enumerate(config.message.input):
        end = by_name(tensor.name, model.inputs)
        dims = list(tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims)
        batch: list[int] = [ANY] if config.has_batches else []
        if end is None or end.sizes is None or not dims or len(batch) + len(dims) != len(end.sizes):
            continue
        shape = _own_shape(model, end.name)
        full = [*batch, *dims]
        if shape is None or not any(dim != ANY and size == ANY for dim, size in zip(full, end.sizes)):
            continue
        shapes[end.name] = tuple(own if dim == ANY else dim for dim, own in zip(full, shape))
        changed.append((at, end.name, dims))
    if not shapes:
        return
    found = new_errors(model, inferred(model.known.model, shapes))
    if found:
        at, name, dims = changed[0]
        fault, node = found[0].fault, found[0].node
        listed = " and ".join(f"{each} {text}" for _, each, text in changed)
        message = f"the model does not run with the dims {listed}: {fault.message}"
        related = () if node is None else (Related(node.label, fault.message),)
        help = "use sizes that `irlint contract` lists, or -1"
        yield ConfigFault(SIZE_EXCLUDED.fault(message, help=help), config.at("input", at, "dims", 0), name, related)


def _own_shape(model: Interface, name: str) -> tuple[Dim | None, ...] | None:
    """The inferred shape of an input; None if the name or the shape is unknown."""
    from irlint.inference.inputs import input_names

    value = input_names(model.known.model).get(name)
    return None if value is None else tensor_shape(model.known.types.get(value))
