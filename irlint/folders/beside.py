"""The models in the folder of a configuration, and their inputs and outputs as a runtime reports them."""

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

#: The size of an axis as a runtime reports it: a number, -1 if the axis is dynamic, None if the size is uncertain.
Size = int | None


@record
class Stated:
    """An input or output as a runtime reports it.

    ``names`` are all names that select it, and ``tensors`` those without the name of its layer. The element type is
    None if it is unknown or the value is no tensor. The sizes are None if they or their number are uncertain.
    """

    names: tuple[str, ...]
    dtype: str | None
    sizes: tuple[Size, ...] | None
    optional: bool = False
    is_tensor: bool = True
    tensors: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.names[0]


@record
class Interface:
    """A model with its inputs and outputs."""

    known: Known
    inputs: tuple[Stated, ...]
    outputs: tuple[Stated, ...]

    @property
    def file(self) -> str:
        """The name of its file."""
        return os.path.basename(self.known.model.path)


class Unreadable(ValueError):
    """A model that cannot be read."""


def interface(path: str) -> Interface:
    """The model at a path, with its inputs and outputs.

    Raises OSError if the file cannot be opened, and Unreadable if it is no model.
    """
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

    The sizes of all outputs are None if the model has an error.
    """
    fed = [each for each in inputs(known) if not each.optional or known.model.inputs_have_defaults]
    recomputes = known.format.declared_shapes_hold
    returned = tuple(
        _stated(each, each.type) if recomputes else _returned(each, _declared(each.value, "output"))
        for each in outputs(known)
    )
    if any(problem.is_error for problem in known.problems):
        returned = tuple(replaced(each, sizes=None) for each in returned)
    return Interface(known, tuple(_stated(each, _declared(each.value, "input") or each.type) for each in fed), returned)


def _declared(value: Value, by: str) -> Type | None:
    return next((each.type for each in value.declared if each.by == by), None)


def _stated(end: End, found: Type | None) -> Stated:
    shape = tensor_shape(found)
    sizes = None if shape is None else tuple(dim if isinstance(dim, int) else -1 for dim in shape)
    dtype = found.dtype if isinstance(found, Tensor) else None
    is_tensor = isinstance(found, Tensor) or found is None
    return Stated(end.names, dtype, sizes, end.optional, is_tensor, end.tensors)


def _returned(end: End, declared: Type | None) -> Stated:
    """An output of a runtime that merges declared and inferred shapes.

    An axis is None if the merged size is uncertain. The sizes are None if one of the two shapes is unknown or their
    ranks differ.
    """
    found = _stated(end, declared if declared is not None else end.type)
    own = tensor_shape(end.type)
    sizes = found.sizes
    if sizes is None or own is None or tensor_shape(declared) is None or len(own) != len(sizes):
        return replaced(found, sizes=None)
    merged = tuple(size if _holds(size, dim) else None for size, dim in zip(sizes, own))
    return replaced(found, sizes=merged)


def _holds(size: Size, dim: MaybeDim) -> bool:
    """Whether a runtime reports the declared size of an axis for which ``dim`` was inferred.

    A declared number stays unless another number is inferred. A dynamic axis stays if the inferred size is dynamic for
    certain.
    """
    return size == dim or _is_certain(dim) or (size not in (-1, None) and not isinstance(dim, int))


def _is_certain(dim: MaybeDim) -> bool:
    """Whether an inferred size depends only on sizes of inputs, so that it is dynamic and not merely unknown."""
    return isinstance(dim, Expr) and not any(name.startswith("_") for name in symbols(dim))


def by_name(name: str, ends: tuple[Stated, ...]) -> Stated | None:
    """The input or output that has a name."""
    return next((each for each in ends if name in each.names), None)


def shown(file: str, end: Stated) -> tuple[Related, ...]:
    """An input or output of the model in ``file`` as the related place of a finding."""
    sizes = "" if end.sizes is None else f"[{', '.join(text_of(size) for size in end.sizes)}]"
    return (Related(end.tensors[0] if end.tensors else end.name, f"{end.dtype or 'an unknown type'}{sizes} in {file}"),)


def text_of(size: Size) -> str:
    """A size as text: ``?`` if it is dynamic or uncertain."""
    return "?" if size is None or size < 0 else str(size)


def suggestion(name: str, names: list[str]) -> str:
    """The help for a name that does not exist: the most similar of ``names``, else all of them; "" if there are
    none."""
    close = closest(name, names)
    return f"write `{close}`" if close is not None else f"use one of {', '.join(names)}" if names else ""


def new_errors(model: Interface, with_sizes: Known) -> list[Problem]:
    """The errors of ``with_sizes``, the same model with other input sizes, at nodes that have no error in ``model``."""
    before = {id(each.node) for each in model.known.problems if each.is_error}
    return [each for each in with_sizes.problems if each.is_error and id(each.node) not in before]
