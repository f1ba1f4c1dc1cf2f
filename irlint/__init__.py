"""irlint says, before any runtime is installed, whether an ONNX model or an OpenVINO IR is sound.

Reading order, in which each folder imports only from those before it: ``dims`` (sizes), ``findings`` (rules, faults, reports),
``model`` (what a file says), ``parsers`` (from bytes to that), ``schemas`` (what ONNX says of its operators), ``ops`` (one
function for each operator), ``binding`` (from a node to its operator), ``inference`` (types and shapes of every value),
``contracts`` (what a model demands of its inputs), ``targets`` (which releases of runtimes take it), ``checks`` (rules about whole graphs), ``pictures`` (a fault drawn), ``reporters`` (the forms of the report), ``policy`` (what is
reported), ``run`` (one file, and many), ``command`` (the ``irlint`` command).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from irlint.lazy_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from irlint.findings.report import Report

__version__ = "0.1.0"

__all__ = ["__version__", "check", "contract", "diff", "shapes", "targets", "why"]


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
    targets: Sequence[str] = (),
    weights: bool = False,
) -> Report:
    """Checks models; ``paths`` is a file, a folder that is searched for models, or several of them.

    ``shapes`` replaces the shapes of inputs: a whole number, a name (one symbol wherever it is used) or None for each dim.
    ``targets`` are releases of runtimes that have to load the models, such as ``onnxruntime@1.17``. With ``weights`` large
    constants are looked through as well.
    Raises FileNotFoundError that names every path that does not exist, and ValueError for an input that no model has, or a
    target that there is not.
    """
    from irlint.policy.shape_options import named_shapes
    from irlint.run.files import Settings, checked

    if targets:
        from irlint.targets.verdicts import target

        for name in targets:
            target(name)
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    settings = Settings(named_shapes(shapes or {}), targets=tuple(targets), weights=weights)
    return checked([os.fspath(path) for path in listed], settings=settings)


def contract(
    path: str | os.PathLike[str], *, shapes: Mapping[str, Sequence[int | str | None]] | None = None
) -> dict[str, Any]:
    """What a model demands of its inputs and what it then returns, as ``irlint contract --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    from irlint.policy.shape_options import named_shapes
    from irlint.run.contract import demanded

    return demanded(os.fspath(path), shapes=named_shapes(shapes or {}))


def diff(old: str | os.PathLike[str], new: str | os.PathLike[str]) -> dict[str, Any]:
    """What two models differ in, and whether who uses the old one can use the new one, as ``irlint diff --format json`` prints it.

    Raises OSError where a file cannot be opened, and ValueError where one is no model that can be read.
    """
    from irlint.run.comparison import compared

    return compared(os.fspath(old), os.fspath(new))


def shapes(
    path: str | os.PathLike[str], *, shapes: Mapping[str, Sequence[int | str | None]] | None = None
) -> dict[str, Any]:
    """Every value of a model with its element type and inferred shape, as ``irlint shapes --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    from irlint.policy.shape_options import named_shapes
    from irlint.run.listing import listed

    return listed(os.fspath(path), shapes=named_shapes(shapes or {}))


def why(
    path: str | os.PathLike[str],
    value: str,
    *,
    axis: int | None = None,
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
) -> dict[str, Any]:
    """Where each size of a value comes from, or that of one axis, as ``irlint why --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read, where ``value`` names no
    value or several, and where it has no such axis.
    """
    from irlint.policy.shape_options import named_shapes
    from irlint.run.why import traced

    return traced(os.fspath(path), value, axis, shapes=named_shapes(shapes or {}))


def targets(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Which releases of which runtimes take a model, as ``irlint targets --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    from irlint.run.targets import taken

    return taken(os.fspath(path))
