"""The operators: decorators that register their rules, and the lookup.

Each subject (``math``, ``layout`` …) is a folder whose modules register rules with the decorators ``onnx`` and
``openvino``. A rule is a function that maps the known facts of the inputs to those of the outputs. Its signature is the
schema of the operator: positional parameters are inputs, keyword-only parameters are attributes, and ``*xs`` is
variadic.

Some keyword-only parameters have another meaning: ``context`` receives a ``Context``, ``fold`` receives the decorator's
argument of that name, and a parameter annotated with a record of ``signatures.group`` receives the attributes that are
the fields of the record. If ONNX Runtime's schema names the inputs, ``*others`` are the last ones, which the rule
ignores.

All versions of an operator are in one module, for both formats if they agree; ``index``, written by
``tests/make/index.py``, maps operators to modules. The operators that ONNX Runtime adds are beside the standard
operator that they vary, or in ``onnxruntime``. A new version needs a rule only if the signature or the meaning changes,
because the element types of ONNX come from its schemas.

Each message is beside the code that raises it, with its ``findings.faults.Rule``. ``shared`` has the functions that
several modules use; they know no node and no format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from irlint.findings.faults import Fault
from irlint.lazy_typing import Any, Literal, TypeVar
from irlint.model import Attribute, Graph, Node
from irlint.model.tensor import Type
from irlint.ops import index
from irlint.records import NOTHING, record

Rule = TypeVar("Rule", bound=Callable[..., Any])

#: The domain under which ``index`` has types that no opset of OpenVINO has.
OPENVINO = "openvino"

#: What to write for an operation of OpenVINO's documents that came after the release whose operations irlint has.
LATER = "replace it by other operations: it is newer than OpenVINO 2026.4, the newest release that irlint knows"


#: Whether a body runs with some inputs: ``as declared``, with those that it declares; only ``tried``, findings are
#: dropped.
Runs = Literal["always", "maybe", "never", "as declared", "tried"]


@record
class Operator:
    """The rule of an operator from an opset version on, and all facts about the operator that are not in the rule's
    signature.

    ``onnx`` and ``openvino`` accept these fields as keywords, in addition to their own parameters.
    """

    name: str
    since: int
    function: Callable[..., Any]
    #: The last opset that has the operator in this form, None for no end, and opsets in between that lack it.
    until: int | None = None
    missing: tuple[int, ...] = ()
    #: What the parameter of that name receives, of a rule that several operators share: how each computes contents.
    fold: Any = None

    # Where ONNX Runtime takes more than the standard does.
    #: It has the operator in every opset, also before the standard has it.
    early: bool = False
    #: It does not compare the sizes of the inputs before it runs the node.
    late: bool = False
    #: It passes over attributes that the operator does not have.
    unchecked: bool = False
    #: Attributes of which it takes any text that it does not know for the default.
    lenient: tuple[str, ...] = ()
    #: Attributes whose texts it takes in capital and in small letters.
    any_case: tuple[str, ...] = ()
    #: Attributes that it reads only if another one has a value: ``{"nearest_mode": ("mode", "nearest")}``.
    read_if: Mapping[str, tuple[str, str]] = NOTHING
    #: Attributes of which it takes an empty text for the default.
    empty: tuple[str, ...] = ()
    #: Another kind that it takes an attribute as.
    kinds: Mapping[str, str] = NOTHING
    #: The attributes that it uses where a node breaks the schema, and the fault where the schema alone has none; None
    #: where it refuses the node.
    taken_as: Callable[[Node], tuple[Mapping[str, Attribute], Fault | None] | None] | None = None
    #: Inputs whose contents decide a shape here, and are not read by ONNX's own inference: they may lie in external
    #: data. By their names, with a function of the node's inputs and attributes that says whether that is so, None for
    #: always.
    unread: Mapping[str, Callable[..., bool] | None] = NOTHING

    #: Its result is made of the sizes of its input, and of none of the elements.
    of_shape: bool = False
    #: How many multiplications with an addition it does: a formula of ``costs.products`` with its arguments, () for
    #: none.
    macs: tuple[str | int, ...] = ()

    # Of the attributes of an OpenVINO operation, by parameter.
    #: The name of the attribute where that is no identifier.
    spelled: Mapping[str, str] = NOTHING
    #: What the library takes where an attribute is not written that the specification requires.
    absent: Mapping[str, object] = NOTHING
    #: The default of the specification, which the library does not take: it takes ``absent``.
    documented: Mapping[str, object] = NOTHING
    #: The default of the specification where the library refuses the layer without the attribute.
    refused_without: Mapping[str, object] = NOTHING
    #: Whether the library refuses to compile such a layer for want of an attribute that is ``absent``.
    needed: Callable[[Node], bool] | None = None
    #: Attributes that older writers put on the operation, which has not got them.
    legacy: tuple[str, ...] = ()
    #: Numbers that have to be at least 0, and texts that the library compares letter for letter.
    strict: tuple[str, ...] = ()
    #: Texts of any kind that the rule does not look at, so that layers which differ in them alone are bound once.
    unheeded: tuple[str, ...] = ()

    # Of an OpenVINO operation.
    #: The library does not compute it where all inputs are constants.
    kept: bool = False
    #: Inputs whose elements the library asks for when it reads the layer, even where they are none.
    lists: tuple[int, ...] = ()
    #: In a file of the format's lax version the library passes over inputs behind the last.
    spare_inputs: bool = False
    #: The fault of a layer (``shared.compiling.Layer``) that the library reads and refuses to compile for the CPU.
    compiles: Callable[..., Fault | None] | None = None
    #: Types that are written for it by mistake, and that it is written for, with the same ports and attributes.
    confused_with: tuple[str, ...] = ()

    # Of an OpenVINO operation in all its versions, wherever one of them states it.
    #: The opset that is meant where a layer of this type has another label as its ``version``.
    labels: Mapping[str, int] = NOTHING
    #: The library fills in last inputs that no edge leads to.
    fills_in: bool = False
    #: Other types that the library takes for it.
    spellings: tuple[str, ...] = ()

    @property
    def moves_data(self) -> bool:
        """Whether the operator copies elements without computing with them, so that specifications allow every
        element type."""
        return self.function.__module__.split(".")[2] in ("layout", "indexing")


class Context:
    """The facts about a node that its rule may use.

    ``op`` is the operator as the specification spells it, with its ``domain``; ``version`` is the opset version that
    applies, ``imported`` the one that the file imports, and ``outputs`` the number of the node's outputs. A rule that
    uses only these facts gives the same answer for all nodes with equal calls; ``particular`` is set if a rule used
    anything else.

    ``run(graph, inputs, runs)`` infers the outputs of a body; ``runs`` is False if the body may never receive the
    inputs. ``unknown(key, upper, lower)`` is a data-dependent size within bounds, the same one for each node and
    key. ``constant(index)`` tests whether an input is a constant of the model rather than a computed value.
    """

    __slots__ = (
        "op",
        "domain",
        "version",
        "imported",
        "outputs",
        "particular",
        "_node",
        "_run",
        "_unknown",
        "_constant",
    )

    def __init__(
        self,
        op: str,
        node: Node,
        version: int,
        *,
        run: Callable[..., tuple[Type | None, ...]],
        unknown: Callable[..., Any],
        constant: Callable[[int], bool],
    ) -> None:
        self.op = op
        self.domain = node.domain
        self.version = version
        self.imported = node.version
        self.outputs = len(node.outputs)
        self.particular = False
        self._node = node
        self._run = run
        self._unknown = unknown
        self._constant = constant

    @property
    def node(self) -> Node:
        self.particular = True
        return self._node

    @property
    def run(self) -> Callable[..., tuple[Type | None, ...]]:
        self.particular = True
        return self._run

    @property
    def unknown(self) -> Callable[..., Any]:
        self.particular = True
        return self._unknown

    @property
    def constant(self) -> Callable[[int], bool]:
        self.particular = True
        return self._constant

    def body(self, name: str) -> Graph | None:
        """The graph attribute of that name."""
        attribute = self.node.attributes.get(name)
        return attribute.value if attribute is not None and attribute.kind == "GRAPH" else None


#: The custom operators that a configuration describes, by domain and name, within ``signed.in_force``.
custom: dict[tuple[str, str], Any] = {}

_onnx: dict[tuple[str, str], list[Operator]] = {}
_openvino: dict[str, list[Operator]] = {}
_without_rule: dict[str, str] = {}
_openvino_modules = {name.lower(): module for name, module in index.OPENVINO.items()}


def onnx(*names: str, since: int = 1, domain: str = "", **facts: Any) -> Callable[[Rule], Rule]:
    """Registers a rule for ONNX operators of ``domain`` from opset version ``since`` on; ``facts`` are fields of
    ``Operator``."""

    def register(function: Rule) -> Rule:
        for name in names:
            operator = Operator(name, since, function, **facts)
            _onnx.setdefault((domain, name), []).append(operator)
        return function

    return register


def openvino(*names: str, since: int = 1, until: int = 16, **facts: Any) -> Callable[[Rule], Rule]:
    """Registers a rule for OpenVINO operations in the opsets ``since`` to ``until``; ``facts`` are fields of
    ``Operator``.

    Raises ValueError if ``until`` is before ``since``.
    """
    if until < since:
        raise ValueError(
            f"{', '.join(names)}: since opset {since}, until opset {until}; say until which opset it is there"
        )

    def register(function: Rule) -> Rule:
        for name in names:
            operator = Operator(name, since, function, until, **facts)
            _openvino.setdefault(name.lower(), []).append(operator)
        return function

    return register


def without_rule(*names: str, domain: str = "", help: str = "") -> None:
    """Names operators without a rule: experimental operators of early ONNX that no runtime supports, or types that
    no opset of OpenVINO has (``domain="openvino"``). ``help`` is the suggested replacement."""
    for name in names:
        _without_rule[f"{domain}:{name}"] = help


def load_all() -> None:
    """Imports every module that has operators."""
    for module in sorted({*index.ONNX.values(), *index.OPENVINO.values(), *index.WITHOUT_RULE.values()}):
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
    versions = _onnx.get((domain, name))
    if versions is None:
        module = index.ONNX.get(f"{domain}:{name}")
        if module is None:
            return []
        import_module(f"{__name__}.{module}")
        versions = _onnx[domain, name]
    return versions


def openvino_versions(name: str) -> list[Operator]:
    """Every rule of an OpenVINO operation, looked up without regard to case as the library does."""
    versions = _openvino.get(name.lower())
    if versions is None:
        module = _openvino_modules.get(name.lower())
        if module is None:
            return []
        import_module(f"{__name__}.{module}")
        versions = _openvino[name.lower()]
    return versions


def instead_of(name: str, domain: str = OPENVINO) -> str:
    """The replacement for an operator that was registered by ``without_rule``, or "" for any other. OpenVINO's types
    are compared without regard to case."""
    wanted = f"{domain}:{name}"
    for key, module in index.WITHOUT_RULE.items():
        if key == wanted or (domain == OPENVINO and key.lower() == wanted.lower()):
            import_module(f"{__name__}.{module}")
            return _without_rule[key]
    return ""


def onnx_operator(domain: str, name: str, version: int) -> Operator | None:
    """The rule of an ONNX operator at an opset version, or None."""
    return _chosen(onnx_versions(domain, name), version)


def openvino_operator(name: str, version: int) -> Operator | None:
    """The rule of an OpenVINO operation in an opset, or None."""
    return _chosen(openvino_versions(name), version)


def registered() -> tuple[Mapping[tuple[str, str], list[Operator]], Mapping[str, list[Operator]]]:
    """The operators of the imported modules for both formats, by domain and name, and by the name in lower case."""
    return _onnx, _openvino


def tables() -> tuple[Mapping[tuple[str, str], list[Operator]], Mapping[str, list[Operator]]]:
    """All operators of both formats."""
    load_all()
    return registered()
