"""irlint checks ONNX models and OpenVINO IR without a runtime.

The folders in reading order; each one imports only from those before it:

* ``dims``: sizes of axes
* ``findings``: rules, faults, reports
* ``model``: the content of a file
* ``parsers``: from bytes to a model
* ``schemas``: ONNX's tables of operators
* ``ops``: one function for each operator, and the rules that operators report
* ``binding``: from a node to its operator
* ``inference``: types and shapes of every value
* ``contracts``: the inputs that a model accepts
* ``targets``: the runtime releases that load it
* ``costs``: parameters, bytes, MACs and memory
* ``checks``: rules about complete graphs
* ``folders``: configurations beside models
* ``fixes``: edits, and how they are written
* ``snippets``: the excerpt of a finding
* ``reporters``: output formats
* ``policy``: the findings that are reported
* ``run``: one file, and many
* ``command``: the ``irlint`` command

The rule of a finding has a default severity (``findings/faults.py``), which the code that raises a fault may change.
``inference/levels.py`` lowers the severity in places that may never run. ``policy`` applies the user's settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from irlint.lazy_typing import TYPE_CHECKING, Any, BinaryIO, Protocol

if TYPE_CHECKING:
    from typing import SupportsIndex, TypeAlias

    from irlint.findings.edits import Fixed as Fixed
    from irlint.findings.faults import Severity as Severity
    from irlint.findings.report import Finding as Finding
    from irlint.findings.report import InvalidModel as InvalidModel
    from irlint.findings.report import Report as Report

    class ModelProto(Protocol):
        """An ``onnx.ModelProto``."""

        def SerializeToString(self) -> bytes: ...

    class Exported(Protocol):
        """An object that holds a ModelProto, such as the result of ``torch.onnx.export``."""

        @property
        def model_proto(self) -> ModelProto: ...

    #: A model: its path, its bytes, a binary file object, or an ``onnx.ModelProto``.
    Model: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | ModelProto | Exported
    #: For each input, a text such as ``N,3,640,640``, or a list of dims: an integer, a name (the same symbol wherever
    #: it occurs), or None.
    Shapes: TypeAlias = Mapping[str, str | Iterable[SupportsIndex | str | None]]
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

#: The modules of ``irlint.findings`` that define these types; they are imported on first use.
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
    """Checks models: a file, a folder, a model in memory (bytes, a binary file object, an ``onnx.ModelProto``), or
    several of them.

    * ``shapes`` replaces the shapes of inputs. A shape is a text such as ``N,3,640,640``, or a list of dims. A dim is
      an integer, a name, or None if it is unknown.
    * ``select`` and ``ignore`` choose the reported rules by codes, prefixes of codes, or names.
    * ``targets`` are runtime releases that must load the models, such as ``onnxruntime@1.17``.
    * ``weights`` also searches large constants.
    * ``name`` is the path of a model in memory. Without it, external data are not checked.
    * ``config`` is the only configuration file that is read.

    Raises FileNotFoundError with every missing path, TypeError for an argument that is not a model, and ValueError for
    an input that no model has, an unknown rule or target, or an invalid configuration.
    """
    from irlint.run.requests import report_on
    from irlint.run.sources import sources

    return report_on(
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
    """Raises AssertionError with the text report if ``check`` finds an error or no model."""
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
    """The inputs that a model accepts and its outputs, as ``irlint contract --format json`` prints them.

    Raises OSError if the file cannot be opened, and ValueError if it is not a readable model.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.contract import contract_data
    from irlint.run.sources import source

    given = source(model, name)
    return contract_data(given.path, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def diff(
    old: Model, new: Model, *, names: tuple[str | os.PathLike[str] | None, str | os.PathLike[str] | None] = (None, None)
) -> dict[str, Any]:
    """The differences of two models, as ``irlint diff --format json`` prints them.

    The result states whether users of the old model can use the new one. ``names`` are the names of models in memory.
    Raises OSError if a file cannot be opened, and ValueError if one is not a readable model.
    """
    from irlint.run.comparison import diff_data
    from irlint.run.sources import source

    one, other = source(old, names[0], stem="old"), source(new, names[1], stem="new")
    return diff_data(one.path, other.path, (one.data, other.data))


def fix(model: Model, *, unsafe: bool = False, name: str | os.PathLike[str] | None = None) -> Fixed:
    """A model with its safe fixes. The file is not changed.

    The fixed model computes the same outputs, bit for bit. ``unsafe`` also applies an edit if it is the only one that
    fixes an error; the model may then compute other outputs. ``name`` is the name of a model in memory.

    The result has the ``data`` of the fixed model, the applied ``edits``, and the ``report`` on the remaining findings.

    Raises FileNotFoundError, OSError if the model cannot be opened, and TypeError for an argument that is not a model.
    """
    from irlint.run.requests import fixed
    from irlint.run.sources import source

    return fixed(source(model, name), unsafe=unsafe)


def info(model: Model, *, shapes: Shapes | None = None, name: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """The size and cost of a model, as ``irlint info --format json`` prints them.

    Raises OSError if the file cannot be opened, and ValueError if it is not a readable model.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.info import info_data
    from irlint.run.sources import source

    given = source(model, name)
    return info_data(given.path, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def shapes(model: Model, *, shapes: Shapes | None = None, name: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Every value of a model with its element type and inferred shape, as ``irlint shapes --format json`` prints it.

    Raises OSError if the file cannot be opened, and ValueError if it is not a readable model.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.listing import shapes_data
    from irlint.run.sources import source

    given = source(model, name)
    return shapes_data(given.path, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def why(
    model: Model,
    value: str,
    *,
    axis: int | None = None,
    shapes: Shapes | None = None,
    name: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """The origin of each size of a value, or of the size of one axis, as ``irlint why --format json`` prints it.

    Raises OSError if the file cannot be opened, and ValueError if it is not a readable model, if ``value`` matches
    no value or several, or if the value has no such axis.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.sources import source
    from irlint.run.why import why_data

    given = source(model, name)
    return why_data(given.path, value, axis, given.data, named_shapes(shapes or {}), dict.fromkeys(shapes or (), BY))


def targets(
    model: Model,
    *,
    name: str | os.PathLike[str] | None = None,
    targets: Sequence[str] = (),
    shapes: Shapes | None = None,
    coverage: bool = False,
) -> dict[str, Any]:
    """The runtime releases that load a model, as ``irlint targets --format json`` prints them.

    ``targets`` are the releases to report (default: all). ``shapes`` replaces the shapes of inputs. With ``coverage``,
    the entries of NPUs list the partitions of the model and the values that stay dynamic.

    Raises OSError if the file cannot be opened, and ValueError if it is not a readable model or a target is unknown.
    """
    from irlint.policy.shape_options import BY, named_shapes
    from irlint.run.sources import source
    from irlint.run.targets import targets_data

    given = source(model, name)
    named = [targets] if isinstance(targets, str) else targets
    given_by = dict.fromkeys(shapes or (), BY)
    return targets_data(given.path, given.data, named, named_shapes(shapes or {}), given_by, covers=coverage)
