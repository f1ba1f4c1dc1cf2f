"""Reads the models in the folder of a configuration, with their inputs and outputs as a runtime reports them."""

from __future__ import annotations

import os

from irlint import parsers
from irlint.contracts.interface import End, inputs, outputs
from irlint.dims import Expr, MaybeDim, symbols
from irlint.findings.report import Related
from irlint.findings.wording import closest
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Problem, Value
from irlint.model.tensor import Tensor, Type, tensor_shape
from irlint.parsers.opening import is_url
from irlint.records import record, replaced

#: The size of an axis as a runtime reports it: a number, -1 for a dynamic axis, None if it is uncertain.
Size = int | None


@record
class Reported:
    """An input or output as a runtime reports it."""

    #: All names that select the input or output.
    names: tuple[str, ...]
    #: None for an unknown element type, and for a value that is no tensor.
    dtype: str | None
    #: None if the rank is uncertain.
    sizes: tuple[Size, ...] | None
    optional: bool = False
    is_tensor: bool = True
    #: The ``names`` except the name of the layer.
    tensors: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.names[0]


@record
class Interface:
    """A model with its inputs and outputs."""

    known: Known
    inputs: tuple[Reported, ...]
    outputs: tuple[Reported, ...]

    @property
    def file(self) -> str:
        """The name of the file of the model, without its folder."""
        return os.path.basename(self.known.model.path)


class Unreadable(ValueError):
    """A file is not a readable model."""


def interface(path: str) -> Interface:
    """The model at a path. Raises OSError if the file cannot be opened, and Unreadable if it is not a model."""
    if is_url(path):
        from irlint.parsers.remote.session import session_of

        with session_of(path):
            return _interface(path)
    return _interface(path)


def _interface(path: str) -> Interface:
    model = parsers.read(path)
    if model.graph is None:
        raise Unreadable("; ".join(problem.fault.message for problem in model.problems) or "it is no model")
    return interface_of(inferred(model))


def interface_of(known: Known) -> Interface:
    """The inputs and outputs of a model as its runtime reports them.

    OpenVINO reports the inferred shapes of outputs. ONNX Runtime merges declared and inferred shapes. In a model with
    errors, the ``sizes`` of outputs are None.
    """
    ends = [each for each in inputs(known) if not each.optional or known.model.inputs_have_defaults]
    reported_inputs = tuple(_reported(each, _declared(each.value, "input") or each.type) for each in ends)
    is_inferred = known.format.declared_shapes_hold
    reported_outputs = tuple(
        _reported(each, each.type) if is_inferred else _merged(each, _declared(each.value, "output"))
        for each in outputs(known)
    )
    if any(problem.is_error for problem in known.problems):
        reported_outputs = tuple(replaced(each, sizes=None) for each in reported_outputs)
    return Interface(known, reported_inputs, reported_outputs)


def _declared(value: Value, by: str) -> Type | None:
    """The type that the entry ``by`` ("input" or "output") of the graph declares for a value, or None."""
    return next((each.type for each in value.declared if each.by == by), None)


def _reported(end: End, type: Type | None) -> Reported:
    shape = tensor_shape(type)
    sizes = None if shape is None else tuple(dim if isinstance(dim, int) else -1 for dim in shape)
    dtype = type.dtype if isinstance(type, Tensor) else None
    is_tensor = isinstance(type, Tensor) or type is None
    return Reported(end.names, dtype, sizes, end.optional, is_tensor, end.tensors)


def _merged(end: End, declared: Type | None) -> Reported:
    """An output as ONNX Runtime reports it. ``sizes`` is None unless the declared and the inferred shape are
    known and have the same rank."""
    found = _reported(end, declared if declared is not None else end.type)
    inferred_shape = tensor_shape(end.type)
    sizes = found.sizes
    if sizes is None or inferred_shape is None or tensor_shape(declared) is None or len(inferred_shape) != len(sizes):
        return replaced(found, sizes=None)
    merged = tuple(size if _is_reported(size, dim) else None for size, dim in zip(sizes, inferred_shape))
    return replaced(found, sizes=merged)


def _is_reported(declared: Size, dim: MaybeDim) -> bool:
    """Whether ONNX Runtime certainly reports the declared size of an axis whose inferred size is ``dim``."""
    return declared == dim or _is_dynamic(dim) or (declared not in (-1, None) and not isinstance(dim, int))


def _is_dynamic(dim: MaybeDim) -> bool:
    """Whether an inferred size depends only on sizes of inputs."""
    return isinstance(dim, Expr) and not any(name.startswith("_") for name in symbols(dim))


def by_name(name: str, ends: tuple[Reported, ...]) -> Reported | None:
    """The input or output with this name, or None."""
    return next((each for each in ends if name in each.names), None)


def shown(file: str, end: Reported) -> tuple[Related, ...]:
    """An input or output of the model in ``file`` as the related place of a finding."""
    sizes = "" if end.sizes is None else f"[{', '.join(text_of(size) for size in end.sizes)}]"
    return (Related(end.tensors[0] if end.tensors else end.name, f"{end.dtype or 'an unknown type'}{sizes} in {file}"),)


def text_of(size: Size) -> str:
    """A size as text: ``?`` if it is dynamic or uncertain."""
    return "?" if size is None or size < 0 else str(size)


def suggestion(name: str, names: list[str]) -> str:
    """The help for a name that does not exist. It names the most similar of ``names``; if none is similar, all of
    them."""
    close = closest(name, names)
    if close is not None:
        return f"write `{close}`"
    return f"use one of {', '.join(names)}" if names else ""


def new_errors(model: Interface, with_sizes: Known) -> list[Problem]:
    """The errors of ``with_sizes``, the model with other input sizes, at nodes without an error in ``model``."""
    before = {id(each.node) for each in model.known.problems if each.is_error}
    return [each for each in with_sizes.problems if each.is_error and id(each.node) not in before]
