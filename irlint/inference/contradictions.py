"""Compares the inferred type of a value with the types that the file declares for it."""

from __future__ import annotations

from irlint.dims import same
from irlint.model import Value
from irlint.model.formats import Format
from irlint.model.tensor import Tensor, Type


def contradicts(found: Type | None, value: Value) -> bool:
    """Whether an inferred type certainly differs from a declared type of a value."""
    return any(differ(found, declaration.type) for declaration in value.declared)


def differ(found: Type | None, declared: Type | None, form: Format | None = None) -> bool:
    """Whether an inferred type certainly differs from a declared type in a file of the format ``form``."""
    if not isinstance(found, Tensor) or not isinstance(declared, Tensor):
        return False
    if found.dtype and declared.dtype and found.dtype != declared.dtype:
        return True
    if found.shape is None or declared.shape is None or found.shape == declared.shape:
        return False
    if form is not None and form.no_dims_means_unknown and not declared.shape:
        return False
    return len(found.shape) != len(declared.shape) or any(
        same(a, b) is False for a, b in zip(found.shape, declared.shape)
    )
