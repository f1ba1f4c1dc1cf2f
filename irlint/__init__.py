"""irlint says, before any runtime is installed, whether an ONNX model or an OpenVINO IR is sound.

Reading order: ``model`` (what a file says) and ``parsers`` (from bytes to that), ``tensor`` and ``dims`` (what is known of a
value), ``diagnostics`` (rules, faults, findings), ``ops`` (one function for each operator), ``bind`` and ``propagate`` (from
nodes to types and shapes), ``checks`` (rules about whole graphs), ``inspection`` (one file, from bytes to findings), ``run``
(many files) and ``session`` (options, configuration, exit status), ``provenance`` and ``pictures`` (why a size is what it is),
``reporters`` and ``cli``. A module imports only from those below it; the list of the layers is a test.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from irlint.lazy_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from irlint.diagnostics import Report

__version__ = "0.1.0"

__all__ = ["__version__", "check", "shapes"]


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
) -> Report:
    """Checks models; ``paths`` is a file, a folder that is searched for models, or several of them.

    ``shapes`` replaces the shapes of inputs: a whole number, a name (one symbol wherever it is used) or None for each dim.
    Raises FileNotFoundError that names every path that does not exist, and ValueError for an input that no model has.
    """
    from irlint.run import checked
    from irlint.shape_options import named_shapes

    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return checked([os.fspath(path) for path in listed], shapes=named_shapes(shapes or {}))


def shapes(
    path: str | os.PathLike[str], *, shapes: Mapping[str, Sequence[int | str | None]] | None = None
) -> dict[str, Any]:
    """Every value of a model with its element type and inferred shape, as ``irlint shapes --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    from irlint.listing import listed
    from irlint.shape_options import named_shapes

    return listed(os.fspath(path), shapes=named_shapes(shapes or {}))
