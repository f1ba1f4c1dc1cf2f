"""The two operator tables, and the families of operators that fill them.

A family's module registers its rules with the decorators ``onnx`` and ``openvino``. A rule is a function from what is
known of the inputs to what is known of the outputs; its signature is the operator's schema: positional parameters are
inputs, keyword-only ones attributes, ``*xs`` is variadic. A keyword-only parameter ``context`` receives a ``Context``.

Every version of an operator stands in one of the modules that ``FAMILIES`` names, in both formats side by side where they
agree; looking for ``"Concat"`` in this folder finds it. What ONNX Runtime adds stands with the operators that it varies, in
a module ``fused_…`` or ``quantized_…`` of the family, or in ``contrib``.

An operator is added by a decorated function in its family's module and a line of cases in that family's test; a new version
only where the signature or the meaning changes, since the element types of ONNX are read from its own schemas. A new family
is a module, and a line in ``FAMILIES``. What a fault says stands beside the code that raises it, as a ``diagnostics.Rule``.

Kernels, the arithmetic of shapes, know no node and no format. Those that several families share stand in modules without
operators: ``axes``, ``broadcast``, ``contents``, ``element_types``, ``expected``, ``shape_inputs``, ``windows`` and
``filters``, ``gates`` (of recurrent operators), ``bodies`` and ``port_maps`` (of operators that run graphs). ``schema`` and
``type_variables`` judge every ONNX node before its rule is asked; no operator needs to touch them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from irlint.lazy_typing import Any, TypeVar
from irlint.model import Graph, Node
from irlint.records import NOTHING, record
from irlint.tensor import Type

Rule = TypeVar("Rule", bound=Callable[..., Any])

#: Modules of this package in the order in which they are searched for an operator, the most used first.
FAMILIES = (
    "creation",
    "elementwise",
    "convolution",
    "casting",
    "reshaping",
    "joining",
    "slicing",
    "striding",
    "gathering",
    "linear",
    "activation",
    "pooling",
    "global_pooling",
    "reduction",
    "normalization",
    "axes_normalization",
    "expanding",
    "rearranging",
    "einsum",
    "selecting",
    "scattering",
    "indexing",
    "quantization",
    "quantized_convolution",
    "quantized_linear",
    "control",
    "state",
    "resampling",
    "transposed_convolution",
    "imaging",
    "deformable_convolution",
    "blocks",
    "unpooling",
    "attention",
    "fused_attention",
    "multi_head_attention",
    "grouped_attention",
    "fused_normalization",
    "fused_activation",
    "transformer",
    "recurrent",
    "ctc",
    "detection",
    "regions",
    "priors",
    "proposals",
    "sequence",
    "sampling",
    "signal",
    "text",
    "trees",
    "encoders",
    "predictors",
    "training",
    "contrib",
)

#: ONNX Runtime's domains: its own operators, and those of its layouts with channels last and with channels in blocks.
MICROSOFT = "com.microsoft"
NHWC = "com.ms.internal.nhwc"
NCHWC = "com.microsoft.nchwc"

_NO_NAMES: Mapping[str, str] = {}


@record
class Operator:
    """The rule of an operator from one opset version on.

    ``until`` is the last opset that has the operator in this form, None for no end. ``absent`` tells, for OpenVINO
    attributes that the specification requires, what the library takes where they are missing. ``spelled`` maps a
    parameter to the attribute's name where that is no identifier. ``missing`` are opsets in between that lack it.
    """

    name: str
    since: int
    function: Callable[..., Any]
    until: int | None = None
    absent: Mapping[str, object] = NOTHING
    spelled: Mapping[str, str] = NOTHING
    missing: tuple[int, ...] = ()


@record
class Context:
    """What a rule may ask about its node: ``op`` as the specification spells it, ``outputs`` how many the node has.

    ``run(graph, inputs)`` works out the outputs of a body; ``quiet`` drops its findings, ``dead`` tells that it
    never runs: no finding in it is more than a warning. ``unknown(key, upper, lower)`` is the size that depends on data,
    within its bounds: one per node and key.
    """

    op: str
    node: Node
    version: int
    outputs: int
    run: Callable[..., tuple[Type | None, ...]]
    unknown: Callable[..., Any]

    def body(self, name: str) -> Graph | None:
        """The graph attribute of that name."""
        attribute = self.node.attributes.get(name)
        return attribute.value if attribute is not None and attribute.kind == "GRAPH" else None


_onnx: dict[tuple[str, str], list[Operator]] = {}
_openvino: dict[str, list[Operator]] = {}
_pending = list(reversed(FAMILIES))


def onnx(*names: str, since: int = 1, until: int | None = None, domain: str = "") -> Callable[[Rule], Rule]:
    """Registers a rule for ONNX operators from opset version ``since`` of ``domain`` on."""

    def register(function: Rule) -> Rule:
        for name in names:
            _onnx.setdefault((domain, name), []).append(Operator(name, since, function, until))
        return function

    return register


def openvino(
    *names: str,
    since: int = 1,
    until: int = 16,
    absent: Mapping[str, object] | None = None,
    spelled: Mapping[str, str] | None = None,
    missing: tuple[int, ...] = (),
) -> Callable[[Rule], Rule]:
    """Registers a rule for OpenVINO operations in the opsets ``since`` to ``until``."""

    def register(function: Rule) -> Rule:
        for name in names:
            operator = Operator(name, since, function, until, absent or _NO_NAMES, spelled or _NO_NAMES, missing)
            _openvino.setdefault(name.lower(), []).append(operator)
        return function

    return register


def _load_next() -> bool:
    """Imports the next family; False where all are there."""
    if not _pending:
        return False
    name = f"{__name__}.{_pending.pop()}"
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    return True


def load_all() -> None:
    """Imports every family."""
    while _load_next():
        pass


def _chosen(versions: list[Operator], version: int) -> Operator | None:
    best: Operator | None = None
    for operator in versions:
        if operator.since <= version and (best is None or operator.since >= best.since):
            best = operator
    if best is None or version in best.missing or (best.until is not None and version > best.until):
        return None
    return best


def onnx_versions(domain: str, name: str) -> list[Operator]:
    """Every rule of an ONNX operator, loading families until one has it."""
    key = (domain, name)
    while key not in _onnx and _load_next():
        pass
    return _onnx.get(key, [])


def openvino_versions(name: str) -> list[Operator]:
    """Every rule of an OpenVINO operation, looked up without regard to case as the library does."""
    key = name.lower()
    while key not in _openvino and _load_next():
        pass
    return _openvino.get(key, [])


def onnx_operator(domain: str, name: str, version: int) -> Operator | None:
    """The rule of an ONNX operator at an opset version, None where there is none."""
    return _chosen(onnx_versions(domain, name), version)


def openvino_operator(name: str, version: int) -> Operator | None:
    """The rule of an OpenVINO operation in an opset, None where there is none."""
    return _chosen(openvino_versions(name), version)


def tables() -> tuple[Mapping[tuple[str, str], list[Operator]], Mapping[str, list[Operator]]]:
    """Both operator tables, whole."""
    load_all()
    return _onnx, _openvino
