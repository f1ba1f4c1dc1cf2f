"""The operators: decorators that register their rules, and the lookup.

Each subject (``math``, ``layout`` …) is a folder whose modules register rules with the decorators ``onnx`` and
``openvino``. A rule is a function that maps the known facts of the inputs to those of the outputs. Its signature is the
schema of the operator: positional parameters are inputs, keyword-only parameters are attributes, and ``*xs`` is
variadic.

Some keyword-only parameters have another meaning: ``context`` receives a ``Context``, ``fold`` receives the decorator's
argument of that name, and a parameter annotated with a record of ``signatures.group`` receives the attributes that the
record's fields name. If ONNX Runtime's schema names the inputs, ``*others`` are the last ones, which the rule ignores.

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

#: The domain in ``index`` for types that no opset of OpenVINO has.
OPENVINO = "openvino"

#: The help for an operation that OpenVINO's documents describe, but irlint's newest release does not have.
LATER = "replace it by other operations: it is newer than OpenVINO 2026.4, the newest release that irlint knows"


#: How certainly a body runs with the given inputs. ``as declared``: the body runs with the inputs that it declares.
#: ``tried``: the run only answers a question, and its findings are dropped. ``again``: the second iteration of a loop,
#: which ``maybe again`` may not reach. Only errors of a second iteration count, at nodes that did not fail before.
#: ``probed``: such an error makes the outputs (), and is not reported.
Runs = Literal["always", "maybe", "never", "as declared", "tried", "again", "maybe again", "probed"]


@record
class Operator:
    """The rule of an operator from an opset version on, and all facts about the operator that are not in the rule's
    signature.

    ``onnx`` and ``openvino`` accept these fields as keywords, in addition to their own parameters.
    """

    name: str
    since: int
    function: Callable[..., Any]
    #: The last opset that has the operator in this form; None if there is none.
    until: int | None = None
    #: Opsets from ``since`` on that lack the operator.
    missing: tuple[int, ...] = ()
    #: The value of the rule's parameter ``fold``. Operators that share a rule use it to state how each computes known
    #: values.
    fold: Any = None

    # How ONNX Runtime is more lenient than the standard.
    #: ONNX Runtime has the operator in every opset, even before the standard.
    early: bool = False
    #: ONNX Runtime compares the sizes of the inputs only when it runs the node.
    late: bool = False
    #: ONNX Runtime ignores attributes that the operator does not have.
    unchecked: bool = False
    #: Attributes for which ONNX Runtime reads any unknown text as the default.
    lenient: tuple[str, ...] = ()
    #: Attributes whose texts ONNX Runtime accepts in upper and lower case.
    any_case: tuple[str, ...] = ()
    #: Attributes that ONNX Runtime reads only if another attribute has a certain value: ``{"nearest_mode": ("mode",
    #: "nearest")}``.
    read_if: Mapping[str, tuple[str, str]] = NOTHING
    #: Attributes for which ONNX Runtime reads an empty text as the default.
    empty: tuple[str, ...] = ()
    #: Attributes of which ONNX Runtime also accepts another kind, and this kind.
    kinds: Mapping[str, str] = NOTHING
    #: For a node that breaks the schema: the attributes that ONNX Runtime uses, and a fault for what the schema does
    #: not state. The function returns None if ONNX Runtime refuses the node.
    taken_as: Callable[[Node], tuple[Mapping[str, Attribute], Fault | None] | None] | None = None
    #: Inputs whose values decide a shape in irlint but not in ONNX's own inference, so that they may be external data.
    #: The function gets the node's inputs and attributes, and returns whether this is so; None means always.
    unread: Mapping[str, Callable[..., bool] | None] = NOTHING

    #: The result consists of sizes of the input, not of its elements.
    of_shape: bool = False
    #: The number of multiply-accumulate operations: a formula of ``costs.products`` with its arguments; () for no
    #: operations.
    macs: tuple[str | int, ...] = ()
    #: The number of elements of temporary memory that ONNX Runtime allocates for the node: a formula of
    #: ``costs.scratch`` with its arguments; () for a negligible number.
    scratch: tuple[str | int, ...] = ()

    # The attributes of an OpenVINO operation, by the name of the parameter.
    #: The name of the attribute in the file, if it is not an identifier.
    spelled: Mapping[str, str] = NOTHING
    #: The value that the library uses if a required attribute is missing.
    absent: Mapping[str, object] = NOTHING
    #: The default in the specification, if the library uses another one (``absent``).
    documented: Mapping[str, object] = NOTHING
    #: The default in the specification, if the library refuses a layer without the attribute.
    refused_without: Mapping[str, object] = NOTHING
    #: Whether the library refuses to compile the layer because an attribute of ``absent`` is missing.
    needed: Callable[[Node], bool] | None = None
    #: Attributes that older writers add, although the operation does not have them.
    legacy: tuple[str, ...] = ()
    #: Numbers that must be at least 0, and texts that the library compares with case.
    strict: tuple[str, ...] = ()
    #: Text attributes that the rule ignores. Layers that differ only in these attributes are bound once.
    unheeded: tuple[str, ...] = ()

    # Facts about one version of an OpenVINO operation.
    #: The library does not fold the operation if all inputs are constants.
    kept: bool = False
    #: Inputs whose values the library requests when it reads the layer, so that even a constant without elements needs
    #: a position in the weights file.
    lists: tuple[int, ...] = ()
    #: In files of version 10, the library ignores inputs after the last input of the operation.
    ignores_extra_inputs: bool = False
    #: The fault of a layer (``shared.compiling.Layer``) that the library reads, but refuses to compile for the CPU.
    compiles: Callable[..., Fault | None] | None = None
    #: Other types with the same ports and attributes that writers confuse with it.
    confused_with: tuple[str, ...] = ()

    # Facts about all versions of an OpenVINO operation; one version may state them for all.
    #: The opset to use if a layer of this type has one of these texts as its ``version``.
    labels: Mapping[str, int] = NOTHING
    #: The library supplies the last inputs if they have no edge.
    fills_in: bool = False
    #: Other types that the library reads as this one.
    spellings: tuple[str, ...] = ()

    @property
    def moves_data(self) -> bool:
        """Whether the operator copies elements without computing with them. Specifications then allow every element
        type."""
        return self.function.__module__.split(".")[2] in ("layout", "indexing")


class Context:
    """The facts about a node that its rule may use.

    ``op`` is the operator as the specification spells it, with its ``domain``; ``version`` is the opset version that
    applies, ``imported`` the one that the file imports, and ``outputs`` the number of the node's outputs. A rule that
    uses only these facts gives the same answer for all nodes with equal calls; ``particular`` is set if a rule used
    anything else.

    ``run(graph, inputs, runs)`` infers the outputs of a body; ``runs``, one of ``Runs``, states how it runs.
    ``unknown(key, upper, lower)`` is a data-dependent size within bounds, the same one for each node and key.
    ``constant(index)`` tests whether an input is a constant of the model rather than a computed value.
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


#: The custom operators of the configuration by domain and name, while ``signed.in_force`` is active.
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
            f"{', '.join(names)}: since opset {since}, until opset {until}; state the last opset as `until`"
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
