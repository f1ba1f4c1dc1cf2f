"""The operators: how their rules are registered, and how one is found.

A module of one of the subjects (``math``, ``layout`` …) registers its rules with the decorators ``onnx`` and ``openvino``. A
rule is a function from what is known of the inputs to what is known of the outputs; its signature is the operator's schema:
positional parameters are inputs, keyword-only ones attributes, ``*xs`` is variadic. A keyword-only parameter ``context``
receives a ``Context``.

Every version of an operator stands in one module, in both formats side by side where they agree; ``index`` says in which one,
and is written by ``tests/make/index.py``. What ONNX Runtime adds stands with the operators that it varies, or in
``onnxruntime``. A new version needs a rule only where the signature or the meaning changes, since the element types of ONNX
are read from its own schemas. What a fault says stands beside the code that raises it, as a ``findings.faults.Rule``.

``kernels`` holds what several modules share, the arithmetic of shapes: it knows no node and no format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from irlint.lazy_typing import Any, TypeVar
from irlint.model import Graph, Node
from irlint.model.tensor import Type
from irlint.ops import index
from irlint.records import NOTHING, record

Rule = TypeVar("Rule", bound=Callable[..., Any])


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
            operator = Operator(name, since, function, until, absent or NOTHING, spelled or NOTHING, missing)
            _openvino.setdefault(name.lower(), []).append(operator)
        return function

    return register


def load_all() -> None:
    """Imports every module that has operators."""
    for module in sorted({*index.ONNX.values(), *index.OPENVINO.values()}):
        import_module(f"{__name__}.{module}")


def _chosen(versions: list[Operator], version: int) -> Operator | None:
    best: Operator | None = None
    for operator in versions:
        if operator.since <= version and (best is None or operator.since >= best.since):
            best = operator
    if best is None or version in best.missing or (best.until is not None and version > best.until):
        return None
    return best


def onnx_versions(domain: str, name: str) -> list[Operator]:
    """Every rule of an ONNX operator."""
    module = index.ONNX.get(f"{domain}:{name}")
    if module is None:
        return []
    import_module(f"{__name__}.{module}")
    return _onnx[domain, name]


def openvino_versions(name: str) -> list[Operator]:
    """Every rule of an OpenVINO operation, looked up without regard to case as the library does."""
    module = index.OPENVINO.get(name.lower())
    if module is None:
        return []
    import_module(f"{__name__}.{module}")
    return _openvino[name.lower()]


def onnx_operator(domain: str, name: str, version: int) -> Operator | None:
    """The rule of an ONNX operator at an opset version, None where there is none."""
    return _chosen(onnx_versions(domain, name), version)


def openvino_operator(name: str, version: int) -> Operator | None:
    """The rule of an OpenVINO operation in an opset, None where there is none."""
    return _chosen(openvino_versions(name), version)


def registered() -> tuple[Mapping[tuple[str, str], list[Operator]], Mapping[str, list[Operator]]]:
    """The operators of both formats whose modules have been imported, by domain and name and by the name in lower case."""
    return _onnx, _openvino


def tables() -> tuple[Mapping[tuple[str, str], list[Operator]], Mapping[str, list[Operator]]]:
    """The operators of both formats, all of them."""
    load_all()
    return registered()
