"""The operators: decorators that register their rules, and the lookup.

A rule is a function that computes the types of an operator's outputs from the types of its inputs. The decorators
``onnx`` and ``openvino`` register it. The signature of the rule is the schema of the operator:

* Positional parameters are inputs, and ``*xs`` is any number of inputs. A rule ignores inputs named ``*others``.
* Keyword-only parameters are attributes.
* A parameter whose annotation is a record of ``signatures.group`` has the attributes that the fields name.
* ``context`` is a ``Context``, and ``fold`` is the operator's entry in the argument ``folds`` of the decorator.

One module has all versions of an operator. A new version needs a rule only if the signature or the meaning changes: the
element types of ONNX come from its schemas.
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

#: The ``domain`` of OpenVINO's types in ``without_rule`` and ``index.WITHOUT_RULE``.
OPENVINO = "openvino"

#: The help for operations of later OpenVINO releases.
LATER = "replace it by other operations: it is newer than OpenVINO 2026.4, the newest release that irlint knows"


#: How a body is inferred with certain inputs:
#:
#: * ``always``, ``maybe``, ``never``: whether the node runs the body with these inputs
#: * ``as declared``: the inputs have the declared types
#: * ``tried``: only the outputs are needed, and the findings are dropped
#: * ``second``, ``maybe second``: the second iteration of a loop, which the loop reaches or may reach
#: * ``probed``: the second iteration, but the findings are dropped; the outputs are () if there are findings
Runs = Literal["always", "maybe", "never", "as declared", "tried", "second", "maybe second", "probed"]


@record
class Operator:
    """The rule of an operator in a range of opsets, and the facts that are not in the rule's signature.

    The decorators ``onnx`` and ``openvino`` accept the fields except ``fold`` as keywords.
    """

    name: str
    since: int
    function: Callable[..., Any]
    #: The last opset; None if the newest opset still has the operator.
    until: int | None = None
    #: Opsets after ``since`` that lack the operator.
    missing: tuple[int, ...] = ()
    #: The argument for the rule's parameter ``fold``: how the operator computes known values.
    fold: Any = None

    # Differences between ONNX Runtime and the standard.
    #: ONNX Runtime has the operator in every opset, even before the standard.
    early: bool = False
    #: ONNX Runtime compares the sizes of the inputs only when it runs the node.
    late: bool = False
    #: ONNX Runtime ignores attributes that the operator does not have.
    unchecked: bool = False
    #: Text attributes for which ONNX Runtime reads an unknown text as the default.
    lenient: tuple[str, ...] = ()
    #: Text attributes that ONNX Runtime reads without regard to case.
    any_case: tuple[str, ...] = ()
    #: Attributes that ONNX Runtime reads only if another attribute has a value: ``{name: (other name, value)}``.
    read_if: Mapping[str, tuple[str, str]] = NOTHING
    #: Text attributes for which ONNX Runtime reads an empty text as the default.
    empty: tuple[str, ...] = ()
    #: A second kind, such as SPARSE_TENSOR, that ONNX Runtime accepts for an attribute, by the attribute's name.
    kinds: Mapping[str, str] = NOTHING
    #: For a node with wrong attributes, returns (attributes that ONNX Runtime uses, fault of the other attributes or
    #: None). Returns None if ONNX Runtime refuses the node.
    read_as: Callable[[Node], tuple[Mapping[str, Attribute], Fault | None] | None] | None = None
    #: Inputs whose values ONNX's inference does not use, so the values may be external data. By the name of an input: a
    #: function of (types of the inputs, attributes) that returns whether this holds; None if it always holds.
    may_be_external: Mapping[str, Callable[..., bool] | None] = NOTHING

    #: The values of the outputs depend only on the shapes of the inputs.
    of_shape: bool = False
    #: The number of multiply-accumulate operations: a formula of ``costs.products`` and its arguments, () for 0.
    macs: tuple[str | int, ...] = ()
    #: The number of elements in ONNX Runtime's temporary memory: a formula of ``costs.scratch`` and its arguments, ()
    #: for a negligible number.
    scratch: tuple[str | int, ...] = ()

    # The attributes of an OpenVINO operation, by the name of the parameter.
    #: The name of the attribute in the file, if it is not an identifier.
    spelled: Mapping[str, str] = NOTHING
    #: The value that the library uses if a required attribute is missing.
    absent: Mapping[str, object] = NOTHING
    #: The default in the specification, if the library uses another default (``absent``).
    documented: Mapping[str, object] = NOTHING
    #: The default in the specification, if the library refuses a layer without the attribute.
    refused_without: Mapping[str, object] = NOTHING
    #: Whether the library refuses to compile the layer because an attribute of ``absent`` is missing.
    needed: Callable[[Node], bool] | None = None
    #: Attributes that older writers add, although the operation does not have them.
    legacy: tuple[str, ...] = ()
    #: Attributes that are lists of numbers of at least 0, or texts in which upper and lower case matter.
    strict: tuple[str, ...] = ()
    #: Text attributes that the rule ignores.
    unheeded: tuple[str, ...] = ()

    # Facts about one version of an OpenVINO operation.
    #: The library does not fold the operation, even if all inputs are constants.
    kept: bool = False
    #: Inputs whose values the library uses while it reads the layer. If such an input is a constant without elements,
    #: the library still requires a position inside the weights file.
    read_at_load: tuple[int, ...] = ()
    #: In files of version 10, the library ignores inputs after the last input of the operation.
    ignores_extra_inputs: bool = False
    #: Returns the fault of a ``shared.compiling.Layer`` that the library reads but does not compile for the CPU.
    compiles: Callable[..., Fault | None] | None = None
    #: Operations with the same ports and attributes, which writers confuse with this operation.
    confused_with: tuple[str, ...] = ()

    # Facts about all versions of an OpenVINO operation; one version may state them for all.
    #: The opset of a layer, by the text of the layer's attribute ``version``.
    labels: Mapping[str, int] = NOTHING
    #: The library's parser accepts input ports without an edge, if no later input port has an edge.
    fills_in: bool = False
    #: Other names that the library reads as the name of this operation.
    spellings: tuple[str, ...] = ()

    @property
    def moves_data(self) -> bool:
        """Whether the folder of the rule is ``layout`` or ``indexing``."""
        return self.function.__module__.split(".")[2] in ("layout", "indexing")


class Context:
    """The facts about a node that its rule may use.

    Nodes with the same operator, attributes and number of outputs agree in ``op``, ``domain``, ``version``,
    ``imported`` and ``outputs``. If a rule uses any other fact, ``particular`` becomes True.
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
        #: The name in the specification.
        self.op = op
        self.domain = node.domain
        #: The opset version that applies.
        self.version = version
        #: The opset version that the file imports.
        self.imported = node.version
        #: The number of outputs.
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
        """A function ``run(graph, inputs, runs)`` that returns the types of a body's outputs."""
        self.particular = True
        return self._run

    @property
    def unknown(self) -> Callable[..., Any]:
        """A function ``unknown(key, upper, lower)`` that returns a symbol for a data-dependent size of the node."""
        self.particular = True
        return self._unknown

    @property
    def constant(self) -> Callable[[int], bool]:
        """A function ``constant(index)`` that returns whether an input is a constant of the model."""
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


def onnx(
    *names: str, since: int = 1, domain: str = "", folds: Mapping[str, Any] = NOTHING, **facts: Any
) -> Callable[[Rule], Rule]:
    """Registers a rule for ONNX operators from opset version ``since`` on; ``facts`` are fields of ``Operator``.

    ``folds`` maps the names of further operators of the rule to their ``fold``.
    """

    def register(function: Rule) -> Rule:
        for name in (*names, *folds):
            operator = Operator(name, since, function, fold=folds.get(name), **facts)
            _onnx.setdefault((domain, name), []).append(operator)
        return function

    return register


def openvino(
    *names: str, since: int = 1, until: int = 16, folds: Mapping[str, Any] = NOTHING, **facts: Any
) -> Callable[[Rule], Rule]:
    """Registers a rule for OpenVINO operations in the opsets ``since`` to ``until``; ``facts`` are fields of
    ``Operator``.

    ``folds`` maps the names of further operations of the rule to their ``fold``. Raises ValueError if ``until`` is
    before ``since``.
    """
    if until < since:
        raise ValueError(
            f"{', '.join(names)}: since opset {since}, until opset {until}; state the last opset as `until`"
        )

    def register(function: Rule) -> Rule:
        for name in (*names, *folds):
            operator = Operator(name, since, function, until, fold=folds.get(name), **facts)
            _openvino.setdefault(name.lower(), []).append(operator)
        return function

    return register


def without_rule(*names: str, domain: str = "", help: str = "") -> None:
    """Registers operators that have no rule; ``help`` is the suggested replacement."""
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
    """Every rule of an OpenVINO operation; the case of ``name`` does not matter."""
    versions = _openvino.get(name.lower())
    if versions is None:
        module = _openvino_modules.get(name.lower())
        if module is None:
            return []
        import_module(f"{__name__}.{module}")
        versions = _openvino[name.lower()]
    return versions


def instead_of(name: str, domain: str = OPENVINO) -> str:
    """The replacement for an operator of ``without_rule``; "" for other operators."""
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
    """The operators of the imported modules: (ONNX by domain and name, OpenVINO by name in lower case)."""
    return _onnx, _openvino


def tables() -> tuple[Mapping[tuple[str, str], list[Operator]], Mapping[str, list[Operator]]]:
    """All operators: (ONNX by domain and name, OpenVINO by name in lower case)."""
    load_all()
    return registered()
