"""Checks ONNX initializers: their names, storage, graph inputs and declarations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set

from irlint.checks.declared import SHAPE_CONTRADICTED, TYPE_CONTRADICTED
from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted, first_few
from irlint.inference.known import Known
from irlint.model import LAST_WITH_INPUTS, Constant, Graph, Model, Problem, Value
from irlint.model.order import graphs, used_values
from irlint.model.tensor import FLOATS, Tensor, Type, disagree, shape_text
from irlint.ops.shared.type_variables import types_text

INITIALIZER_NOT_INPUT = Rule(
    "IRL113",
    "initializer-not-an-input",
    Severity.ERROR,
    "A model of IR version 3 or older has an initializer that is not a graph input.",
    why=(
        "Up to IR version 3, every initializer is the default value of a graph input. The ONNX checker refuses a "
        "model that breaks this rule. ONNX Runtime refuses it if the initializer is in a body, or if no node and no "
        "output uses the initializer; in other cases ONNX Runtime loads the model, and irlint warns."
    ),
    fix="Set the model's `ir_version` to 4 or later, or list the initializer among the graph's inputs.",
    bad="""<ir_version: 3, opset_import: ["" : 8]>
g (float[2] x) => (float[2] y) <float[2] b = {1, 2}> { y = Relu (x) }""",
    good="""<ir_version: 4, opset_import: ["" : 8]>
g (float[2] x) => (float[2] y) <float[2] b = {1, 2}> { y = Add (x, b) }""",
)


INITIALIZER_WITHOUT_NAME = Rule(
    "IRL714",
    "initializer-without-name",
    Severity.WARNING,
    "An initializer has no name.",
    why=(
        "No node can use it. The ONNX checker refuses the model. ONNX Runtime ignores such an initializer in the "
        "main graph, but refuses the model if the initializer is in a body or is sparse, or if a node omits an "
        "optional input."
    ),
    fix="Remove the initializer, or give it the name that its users refer to.",
    fixable=True,
)


SPARSE_INITIALIZER = Rule(
    "IRL715",
    "sparse-initializer",
    Severity.WARNING,
    "An initializer that nodes use is stored as a sparse tensor.",
    why=(
        "No ONNX operator accepts a sparse tensor, so strict shape inference and the full check of the ONNX checker "
        "refuse the model. ONNX Runtime makes the tensor dense when it loads the model, but does not know its values "
        "before that."
    ),
    fix="Store the initializer as a dense tensor.",
)


def problems(known: Known) -> list[Problem]:
    """The problems of the names, the storage, the graph inputs and the declarations of initializers.

    Declarations are not compared if the user passed shapes (``known.overridden``).
    """
    found = [*_not_inputs(known), *_unnamed_initializers(known), *_sparse_initializers(known)]
    if external_constants := _external_constants(known):
        from irlint.checks import external

        found += external.problems(known, external_constants)
    if not known.overridden:
        found += [problem for graph in graphs(known.model) for problem in _contradicted_declarations(graph, known)]
    return found


def _not_inputs(known: Known) -> Iterator[Problem]:
    """One problem for each graph with an initializer that is not a graph input; none for models above IR version 3."""
    version = known.model.format_version
    if known.model.inputs_have_defaults:
        return
    for graph in graphs(known.model):
        inputs = {value.name for value in graph.inputs}
        hidden = [value for value in graph.constants if value.name not in inputs]
        used_names = {value.name for node in graph.nodes for value in node.inputs if value is not None}
        used_names |= {value.name for value in graph.outputs}
        refused = hidden if graph.path else [value for value in hidden if value.name not in used_names]
        if not hidden:
            continue
        first = (refused or hidden)[0]
        more = f", nor {'is 1 more' if len(hidden) == 2 else f'are {len(hidden) - 1} more'}" if len(hidden) > 1 else ""
        fault = INITIALIZER_NOT_INPUT.fault(
            f"the initializer {first.name!r} is not an input of its graph{more}; the model has IR version {version}, "
            "which requires every initializer among the inputs",
            help=f"set ir_version to {LAST_WITH_INPUTS + 1} or later, or list {first.name!r} among the inputs",
            severity=None if refused else Severity.WARNING,
        )
        yield Problem(fault, graph.path, value=first.name)


def replaceable(graph: Graph, model: Model) -> Set[Value]:
    """The graph inputs, if callers may replace their initializers; else an empty set."""
    return frozenset(graph.inputs) if model.inputs_have_defaults else frozenset()


def _external_constants(known: Known) -> dict[Value, Constant]:
    """The constants in external data, except for initializers that callers may replace."""
    found: dict[Value, Constant] = {}
    for graph in graphs(known.model):
        not_constant = replaceable(graph, known.model)
        for value, constant in graph.constants.items():
            if constant.stored is not None and constant.stored.file is not None and value not in not_constant:
                found[value] = constant
        for node in [each for each in graph.nodes if each.op == "Constant"]:
            attribute = node.attributes.get("value")
            held = attribute.value if attribute is not None else None
            if isinstance(held, Constant) and held.stored is not None and held.stored.file is not None:
                found |= {value: held for value in node.outputs if value is not None}
    return found


def _unnamed_initializers(known: Known) -> Iterator[Problem]:
    """One problem for each graph with unnamed initializers; an error if ONNX Runtime refuses the model."""
    for graph in graphs(known.model):
        unnamed = [constant for value, constant in graph.constants.items() if not value.name]
        if unnamed:
            omits_inputs = any(None in node.inputs for node in graph.nodes)
            any_is_sparse = any(constant.stored is None for constant in unnamed)
            refused = graph.path or omits_inputs or any_is_sparse
            fault = INITIALIZER_WITHOUT_NAME.fault(
                f"{counted(len(unnamed), 'initializer')} of the graph {'has' if len(unnamed) == 1 else 'have'} no name",
                help="remove it, or name it" if len(unnamed) == 1 else "remove them, or name them",
                severity=Severity.ERROR if refused else None,
            )
            yield Problem(fault, graph.path)


def _sparse_initializers(known: Known) -> Iterator[Problem]:
    """One problem for each graph with sparse initializers that a node or output uses."""
    for graph in graphs(known.model):
        sparse = [
            value
            for value, each in graph.constants.items()
            if each.stored is None and not each.faults and min(each.tensor.shape or (0,)) >= 0  # type: ignore[type-var, operator]
        ]
        used = used_values(graph) if sparse else ()
        names = [value.name for value in sparse if value in used and value.name]
        if names:
            fault = SPARSE_INITIALIZER.fault(
                f"{counted(len(names), 'initializer is a sparse tensor', 'initializers are sparse tensors')}: "
                f"{first_few([repr(name) for name in names], 3)}; no ONNX operator accepts one, and the full check "
                "of the ONNX checker refuses it",
                help="store it as a dense tensor" if len(names) == 1 else "store them as dense tensors",
            )
            yield Problem(fault, graph.path, value=names[0])


def _contradicted_declarations(graph: Graph, known: Known) -> Iterator[Problem]:
    """A problem for each initializer whose type or shape differs from its declaration.

    ONNX Runtime compares initializers with graph inputs. Up to IR version 3, in the main graph, it also compares them
    with other declarations. It accepts shapes that differ only because one name stands for two sizes.
    """
    refuses = not known.model.inputs_have_defaults and not graph.path
    inputs = frozenset(graph.inputs)
    type_counts = Counter([constant.tensor.dtype for constant in graph.constants.values()])
    for value, constant in graph.constants.items():
        declared, stored = value.type, constant.tensor
        severity = None if value in inputs or refuses else Severity.WARNING
        if disagree(declared, stored):
            stated, given = types_text(declared, stored)
            fault = TYPE_CONTRADICTED.fault(
                f"{value.name!r} is declared as {stated}; its initializer is {given}",
                help=_help_to_convert(declared, stored.dtype, type_counts) or f"declare {given}",
                severity=severity,
            )
            yield Problem(fault, graph.path, value=value.name)
            continue
        if not isinstance(declared, Tensor) or stored.shape == declared.shape:
            continue
        from irlint.inference.agreement import clashes
        from irlint.inference.contradictions import differ

        text = "; ".join(clashes(stored.shape, declared.shape))
        if text:
            fault = SHAPE_CONTRADICTED.fault(
                f"{value.name!r} is declared as {shape_text(declared.shape)}; its initializer is "
                f"{shape_text(stored.shape)}: {text}",
                help=f"declare {shape_text(stored.shape)}, or store {shape_text(declared.shape)}",
                severity=severity if differ(stored, declared) else Severity.WARNING,
            )
            yield Problem(fault, graph.path, value=value.name)


def _help_to_convert(declared: Type | None, stored: str | None, type_counts: Mapping[str | None, int]) -> str:
    """The help to convert an initializer to its declared floating-point type, if more initializers have that type."""
    stated = declared.dtype if isinstance(declared, Tensor) else None
    count = type_counts.get(stated, 0)
    if stated is None or stored not in FLOATS or stated not in FLOATS or count <= type_counts.get(stored, 0):
        return ""
    return f"convert the initializer to {stated}, the type of {count} others, or declare {stored}"
