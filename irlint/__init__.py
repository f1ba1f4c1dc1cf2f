"""irlint says, before any runtime is installed, whether an ONNX model or an OpenVINO IR is sound.

Reading order, in which each folder imports only from those before it: ``dims`` (sizes), ``findings`` (rules, faults,
reports), ``model`` (what a file says), ``parsers`` (from bytes to that), ``schemas`` (what ONNX says of its operators),
``ops`` (one function for each operator), ``binding`` (from a node to its operator), ``inference`` (types and shapes of
every value), ``contracts`` (what a model demands of its inputs), ``targets`` (which releases of runtimes take it),
``costs`` (parameters, bytes, MACs and memory), ``checks`` (rules about whole graphs), ``fixes`` (edits, and how they
are written), ``snippets`` (a fault drawn), ``reporters`` (the forms of the report), ``policy`` (what is reported),
``run`` (one file, and many), ``command`` (the ``irlint`` command).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from irlint.lazy_typing import TYPE_CHECKING, Any, BinaryIO, Protocol

if TYPE_CHECKING:
    from typing import TypeAlias

    from irlint.findings.edits import Fixed as Fixed
    from irlint.findings.faults import Severity as Severity
    from irlint.findings.report import Finding as Finding
    from irlint.findings.report import InvalidModel as InvalidModel
    from irlint.findings.report import Report as Report

    class ModelProto(Protocol):
        """An ``onnx.ModelProto``."""

        def SerializeToString(self) -> bytes: ...

    class Exported(Protocol):
        """What has a ModelProto, as what ``torch.onnx.export`` returns."""

        @property
        def model_proto(self) -> ModelProto: ...

    #: A model: its path, its bytes, a binary file object, or an ``onnx.ModelProto``.
    Model: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | ModelProto | Exported
    #: For each input a whole number, a name (one symbol wherever it is used) or None for each dim.
    Shapes: TypeAlias = Mapping[str, Sequence[int | str | None]]
    Rules: TypeAlias = str | Iterable[str]

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "check",
    "assert_valid",
    "contract",
    "diff",
    "fix",
    "info",
    "shapes",
    "targets",
    "why",
    "Report",
    "Finding",
    "Severity",
    "InvalidModel",
    "Fixed",
]

#: Where the types stand that are imported when they are asked for.
_TYPES = {"Fixed": "edits", "Report": "report", "Finding": "report", "InvalidModel": "report", "Severity": "faults"}


def __getattr__(name: str) -> Any:
    if name not in _TYPES:
        raise AttributeError(f"module 'irlint' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"irlint.findings.{_TYPES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


def check(
    models: Model | Iterable[Model],
    *,
    shapes: Shapes | None = None,
    select: Rules | None = None,
    ignore: Rules = (),
    targets: str | Sequence[str] | None = None,
    weights: bool = False,
    name: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
) -> Report:
    """Checks models: a file, a folder that is searched for models, a model in memory (its bytes, a binary file object,
    an ``onnx.ModelProto``), or several of them.

    ``shapes`` replaces the shapes of inputs: a whole number, a name (one symbol wherever it is used) or None for each
    dim. Of the rules those of ``select`` (all without it) are reported, less those of ``ignore``: codes, prefixes of
    codes, or names. ``targets`` are releases of runtimes that have to load the models, such as ``onnxruntime@1.17``.
    With ``weights`` large constants are looked through as well. ``name`` is what a model in memory is called; beside
    that its external data are looked for, which without a name are not missed. No configuration is read but the file
    that ``config`` names.

    Raises FileNotFoundError that names every path that does not exist, TypeError for what is no model, and ValueError
    for an input that no model has, a rule or a target that there is not, and a configuration that cannot be used.
    """
    from irlint.run.requests import answered
    from irlint.run.sources import sources

    return answered(
        sources(models, name),
        shapes=shapes,
        select=select,
        ignore=ignore,
        targets=targets,
        weights=weights,
        config=config,
    )


def assert_valid(
    models: Model | Iterable[Model],
    *,
    shapes: Shapes | None = None,
    select: Rules | None = None,
    ignore: Rules = (),
    targets: str | Sequence[str] | None = None,
    weights: bool = False,
    name: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
) -> None:
    """Raises AssertionError with the text report where ``check`` of the same finds an error, or no model at all."""
    __tracebackhide__ = True
    report = check(
        models,
        shapes=shapes,
        select=select,
        ignore=ignore,
        targets=targets,
        weights=weights,
        name=name,
        config=config,
    )
    if not report.ok:
        raise AssertionError(str(report))


def contract(
    model: Model, *, shapes: Shapes | None = None, name: str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """What a model demands of its inputs and what it then returns, as ``irlint contract --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.contract import demanded
    from irlint.run.sources import source

    given = source(model, name)
    return demanded(given.path, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def diff(
    old: Model, new: Model, *, names: tuple[str | os.PathLike[str] | None, str | os.PathLike[str] | None] = (None, None)
) -> dict[str, Any]:
    """What two models differ in, and whether who uses the old one can use the new one, as ``irlint diff --format json``
    prints it.

    ``names`` are what those in memory are called. Raises OSError where a file cannot be opened, and ValueError where
    one is no model that can be read.
    """
    from irlint.run.comparison import compared
    from irlint.run.sources import source

    one, other = source(old, names[0], stem="old"), source(new, names[1], stem="new")
    return compared(one.path, other.path, (one.data, other.data))


def fix(model: Model, *, unsafe: bool = False, name: str | os.PathLike[str] | None = None) -> Fixed:
    """Fixes a model as far as it computes the same afterwards, bit for bit: nodes are sorted, node names that occur
    twice become different ones, and what nothing uses is removed. A file stays as it is.

    With ``unsafe`` it also makes the one edit with which an error disappears, where no other edit does the same: the
    model then computes what its author most likely intended.

    What comes back has the ``data`` of the fixed model, the ``edits`` that were made, and the ``report`` on what is
    left. ``name`` is what a model in memory is called. Raises FileNotFoundError, OSError where the model cannot be
    opened, and TypeError for what is no model.
    """
    from irlint.run.requests import fixed
    from irlint.run.sources import source

    return fixed(source(model, name), unsafe=unsafe)


def info(model: Model, *, shapes: Shapes | None = None, name: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """What a model is and what it costs, as ``irlint info --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.info import described
    from irlint.run.sources import source

    given = source(model, name)
    return described(given.path, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def shapes(model: Model, *, shapes: Shapes | None = None, name: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Every value of a model with its element type and inferred shape, as ``irlint shapes --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.listing import listed
    from irlint.run.sources import source

    given = source(model, name)
    return listed(given.path, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def why(
    model: Model,
    value: str,
    *,
    axis: int | None = None,
    shapes: Shapes | None = None,
    name: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Where each size of a value comes from, or that of one axis, as ``irlint why --format json`` prints it.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read, where
    ``value`` names no value or several, and where it has no such axis.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.sources import source
    from irlint.run.why import traced

    given = source(model, name)
    return traced(given.path, value, axis, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def targets(
    model: Model,
    *,
    name: str | os.PathLike[str] | None = None,
    targets: Sequence[str] = (),
    shapes: Shapes | None = None,
) -> dict[str, Any]:
    """Which releases of which runtimes take a model, as ``irlint targets --format json`` prints it.

    ``targets`` are the releases to report, such as ``onnxruntime@1.17``; without them all are reported. With ``shapes``
    the answer holds for these sizes of the inputs. Raises OSError where the file cannot be opened, and ValueError where
    it is no model that can be read, or a target is not known.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.sources import source
    from irlint.run.targets import taken

    given = source(model, name)
    named = [targets] if isinstance(targets, str) else targets
    return taken(given.path, given.data, named, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))
