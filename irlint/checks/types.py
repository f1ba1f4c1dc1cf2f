"""Finds declared types that have no element type, contradict each other, or do not exist in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Container, Iterator

from irlint.checks.declared import TYPE_CONTRADICTED
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Declaration, Graph, Problem, Value
from irlint.model.order import graphs, producers
from irlint.model.tensor import BITS, Map, Optional, Sequence, SparseTensor, Tensor, Type, disagree
from irlint.ops.shared.type_variables import kind_text, types_text
from irlint.parsers.faults import TYPE_MISSING

COMPLEX_TYPE = Rule(
    "IRL404",
    "complex-numbers",
    Severity.WARNING,
    "A value holds complex numbers.",
    why=(
        "By their ONNX specification, operators that only move elements accept complex numbers. ONNX Runtime has no "
        "complex types, and refuses a model in which a node uses one."
    ),
    fix="Store the real and the imaginary parts along an extra axis, as DFT and STFT do.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (complex64[2,3] x) => (complex64[3,2] y) { y = Transpose (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,2] x) => (float[3,2,2] y) { y = Transpose <perm = [1, 0, 2]> (x) }""",
    uncalled=True,
)

SIX_BIT_TYPE = Rule(
    "IRL405",
    "six-bit-floats",
    Severity.WARNING,
    "A value has a six-bit floating-point type.",
    why=(
        "Opset 28 added float6e2m3 and float6e3m2. By the ONNX specification, Cast, QuantizeLinear and "
        "DequantizeLinear accept these types. ONNX Runtime does not have them, and refuses a model in which a value "
        "has one."
    ),
    fix="Use an eight-bit or four-bit type, such as float8e4m3fn or float4e2m1.",
    bad="""<ir_version: 14, opset_import: ["" : 28]>
g (float[2,3] x) => (float[2,3] y) { a = Cast <to = 27> (x) y = Cast <to = 1> (a) }""",
    good="""<ir_version: 14, opset_import: ["" : 28]>
g (float[2,3] x) => (float[2,3] y) { a = Cast <to = 17> (x) y = Cast <to = 1> (a) }""",
    uncalled=True,
)

INPUT_TYPE_LACKING = Rule(
    "IRL406",
    "input-type-not-in-onnxruntime",
    Severity.WARNING,
    "The type of a graph input is a sequence, optional, map or opaque type that ONNX Runtime does not have.",
    why=(
        "In onnx.proto, these types can contain any other type. ONNX Runtime has only these: sequences and optionals "
        "of tensors, maps from int64 or string to float, double, int64 or string, and sequences of maps to float. It "
        "refuses a model with an input of any other such type, even if the input is unused."
    ),
    fix="Pass the elements as tensors.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (seq(complex64[2]) x) => (seq(complex64[2]) y) { y = Identity (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (seq(float[2]) x) => (seq(float[2]) y) { y = Identity (x) }""",
)

#: The types of the keys and of the values of maps in ONNX Runtime.
_KEYS = ("int64", "string")
_MAPPED = ("float32", "float64", "int64", "string")

#: Element types that ONNX Runtime does not have.
_LACKING = {
    "complex64": (COMPLEX_TYPE, "no complex numbers"),
    "complex128": (COMPLEX_TYPE, "no complex numbers"),
    "float6_e2m3": (SIX_BIT_TYPE, "no numbers of six bits"),
    "float6_e3m2": (SIX_BIT_TYPE, "no numbers of six bits"),
}


def problems(known: Known) -> list[Problem]:
    """The problems of flawed declarations, of inputs returned with another type, of types that ONNX Runtime lacks, and
    of converted labels."""
    found = [
        problem for graph in graphs(known.model) for problem in (*_flawed_declarations(graph), *_returned_inputs(graph))
    ]
    found += _lacking_inputs(known)
    dtypes = {each.dtype for each in known.kinds() if isinstance(each, Tensor)}
    if "string" in dtypes:
        from irlint.checks import labels

        found += labels.problems(known)
    if not _LACKING.keys().isdisjoint(dtypes):
        found += [problem for graph in graphs(known.model) for problem in _first_lacking_type(graph, known)]
    return found


def is_used_by_onnxruntime(declaration: Declaration, value: Value, graph: Graph, given: Container[Value] = ()) -> bool:
    """Whether ONNX Runtime uses a declaration of a value. ``given`` are the inputs and initializers of the graph.

    For an input, it uses the declaration as input. For another value, it uses the declaration as output, or else the
    last ``value_info``. It ignores all declarations of initializers that are not inputs, and all in a function's graph.
    """
    if _is_function_graph(graph):
        return False
    if value in given:
        return declaration.by == "input"
    # Declarations as output come before those of value_info.
    first, last = value.declared[0], value.declared[-1]
    return declaration is (last if declaration.by == "value_info" and first.by == "value_info" else first)


def _is_function_graph(graph: Graph) -> bool:
    """Whether a graph is the graph of a function, and not the body of a node in a function."""
    return graph.path.startswith("function:") and "/" not in graph.path


def _first_lacking_type(graph: Graph, known: Known) -> Iterator[Problem]:
    """The problem of the first input or output of a node whose element type ONNX Runtime does not have."""
    for node in graph.nodes:
        for value in (*node.inputs, *node.outputs):
            dtype = getattr(known.types.get(value), "dtype", None) if value is not None else None
            if value is not None and dtype in _LACKING:
                rule, lacks = _LACKING[dtype]
                text = f"{value.name!r} is {dtype}; ONNX Runtime has {lacks}, and refuses the model"
                yield Problem(rule.fault(text, help=rule.advice), graph.path, node, value.name)
                return


def _lacking_inputs(known: Known) -> Iterator[Problem]:
    """The problems of inputs whose types ONNX Runtime does not have. Tensors that nodes use are reported elsewhere."""
    graph = known.model.graph
    inputs = graph.inputs if graph is not None else ()
    lacking = [value for value in inputs if value.type is not None and not _is_accepted(value.type)]
    used = {value for node in graph.nodes for value in node.inputs} if graph and lacking else set()
    for value in lacking:
        dtype = value.type.dtype if isinstance(value.type, Tensor) else None
        if dtype is not None and value in used:
            continue
        rule, lacks = _LACKING.get(dtype or "", (INPUT_TYPE_LACKING, "no such type"))
        text = f"the input {value.name!r} is {kind_text(value.type)}; ONNX Runtime has {lacks}, and refuses the model"
        yield Problem(rule.fault(text, help=rule.advice), value=value.name)


def _is_accepted(type: Type) -> bool:
    """Whether ONNX Runtime accepts an input of a type. True if this depends on unknown parts of the type."""
    match type:
        case Tensor(dtype):
            return dtype not in _LACKING
        case SparseTensor(dtype):
            return dtype not in _LACKING and (dtype is None or BITS.get(dtype, 8) >= 8)
        case Map(key, Tensor(dtype)):
            return (key is None or key in _KEYS) and (dtype is None or dtype in _MAPPED)
        case Sequence(Map(key, Tensor(dtype))):
            return (key is None or key in _KEYS) and dtype in (None, "float32")
        case Sequence(Tensor(dtype)) | Optional(Tensor(dtype)) | Optional(Sequence(Tensor(dtype))):
            return dtype not in _LACKING and dtype != "float4_e2m1"
        case Sequence(None) | Sequence(Map(_, None)) | Optional(None) | Optional(Sequence(None)) | Map(_, None):
            return True
    return False


def _flawed_declarations(graph: Graph) -> Iterator[Problem]:
    """A problem for each value with a flawed declaration; a warning for Constants and for ignored declarations."""
    computed = [value for node in graph.nodes for value in node.outputs if value is not None and value.declared]
    every = dict.fromkeys((*graph.inputs, *[value for value in graph.constants if value.declared], *computed))
    flaws = {value: [each for each in value.declared if each.flaw] for value in every}
    if not any(flaws.values()):
        return
    makers = producers(graph)
    given = {*graph.inputs, *graph.constants}
    for value, flawed in flaws.items():
        if not flawed:
            continue
        declaration = next((each for each in flawed if is_used_by_onnxruntime(each, value, graph, given)), flawed[0])
        stored = value in makers and makers[value].op == "Constant"
        fault = TYPE_MISSING.fault(
            f"{value.name!r} is declared, by {declaration.by}, {declaration.flaw}",
            help="declare its element type",
            severity=None
            if is_used_by_onnxruntime(declaration, value, graph, given) and not stored
            else Severity.WARNING,
        )
        yield Problem(fault, graph.path, value=value.name)


def _returned_inputs(graph: Graph) -> Iterator[Problem]:
    """A warning for each input that is declared as an output of another type."""
    inputs = frozenset(graph.inputs)
    for value in dict.fromkeys(graph.outputs):
        if value not in inputs or value in graph.constants:
            continue
        declared, returned = value.type, next((each.type for each in value.declared if each.by == "output"), None)
        if disagree(declared, returned):
            one, other = types_text(declared, returned)
            fault = TYPE_CONTRADICTED.fault(
                f"{value.name!r} is a graph input, declared as {one}, and a graph output, declared as {other}",
                help=f"declare the output as {one}",
                severity=Severity.WARNING,
            )
            yield Problem(fault, graph.path, value=value.name)
