"""The differences between the file formats, as data. No code above the parsers asks for the name of a format."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.records import NOTHING, record


@record
class Format:
    """A file format. A field is False, None, () or "" if it does not apply."""

    #: The name of its modules in ``parsers``, ``binding`` and ``snippets``, and in machine-readable reports.
    name: str
    #: The name in messages.
    title: str
    suffixes: tuple[str, ...]
    #: Modules of ``checks``.
    checks: tuple[str, ...]
    #: Modules of ``checks`` for models without errors.
    last_checks: tuple[str, ...] = ()

    # The types of nodes for a graph's inputs, constants and outputs; None if these are not nodes.
    input_node: str | None = None
    constant_node: str | None = None
    output_node: str | None = None
    #: The runtime creates only nodes of these types and their predecessors; () if it creates all nodes.
    keeps_alive: tuple[str, ...] = ()

    # Declarations.
    #: A declared shape must equal the inferred shape. If False, the runtime merges the two shapes.
    declared_shapes_hold: bool = False
    #: A declared element type must equal the inferred element type.
    declared_types_hold: bool = False
    #: A declaration without dims leaves the rank unknown. If False, it declares a scalar.
    no_dims_means_unknown: bool = False
    #: Nodes declare the types of their inputs and of their outputs. If False, they declare only those of outputs.
    ports_declare: bool = False
    #: The rule of an operator determines the number of outputs.
    operators_count_outputs: bool = False

    # Leniency of the runtime.
    #: The format version that the runtime reads less strictly.
    lenient_version: str | None = None
    #: At ``lenient_version``, the runtime converts inputs of these element types.
    converted_inputs: Mapping[str, str] = NOTHING
    #: At ``lenient_version``, the runtime converts outputs of these element types.
    converted_outputs: Mapping[str, str] = NOTHING
    #: The runtime reads constants that nothing uses, so these must be valid.
    unused_constants_are_read: bool = False
    #: The runtime infers types and shapes in all bodies, even if they never run.
    dead_bodies_are_inferred: bool = False
    #: A constant may have more bytes than it needs.
    constants_may_be_longer: bool = False
    #: The format's own runtime refuses to load a model with an error.
    errors_are_refused: bool = False

    #: The file is a text, so findings have a line and a column.
    has_lines: bool = False
    #: The modules in ``targets`` of the runtimes that load such files, the format's own runtime first.
    runtimes: Mapping[str, str] = NOTHING
    #: A model can be saved with another version of the format and of its opset.
    restamps: bool = False
    #: A runtime may read a model and then refuse to compile it. The check reports this.
    compiles: bool = False
    #: The suffix of the weights file beside a model; "" for any name.
    weights: str = ""

    # Modules of ``fixes``: the first writes edits, the second finds safe edits, and the third derives corrections from
    # the rest of the document.
    writer: str = ""
    safe_fixes: str = ""
    intended: str = ""

    @property
    def loaded_by(self) -> str:
        """The module in ``targets`` of the runtime that determines the severity of a finding."""
        return next(iter(self.runtimes.values()))

    def operator_name(self, domain: str, op: str) -> str:
        """The name of an operator, with its domain unless the format owns the domain."""
        return op if domain in ("", self.name) else f"{domain}.{op}"


ONNX = Format(
    "onnx",
    "ONNX",
    (".onnx",),
    checks=(
        "versions",
        "interface",
        "names",
        "types",
        "functions",
        "structure",
        "constants",
        "values",
        "initializers",
        "declared",
        "frozen",
    ),
    last_checks=("hygiene",),
    constant_node="Constant",
    declared_types_hold=True,
    dead_bodies_are_inferred=True,
    runtimes={
        "onnxruntime": "onnxruntime",
        "openvino": "openvino_frontend",
        "tensorrt": "tensorrt",
        "tensorrt-rtx": "tensorrt_rtx",
        "qnn": "qnn",
    },
    restamps=True,
    writer="onnx",
    safe_fixes="tidy",
)

OPENVINO = Format(
    "openvino",
    "IR",
    (".xml",),
    checks=("structure", "variables", "constants", "values", "declared", "frozen", "compiling"),
    last_checks=("left_over",),
    input_node="Parameter",
    constant_node="Const",
    output_node="Result",
    errors_are_refused=True,
    keeps_alive=("Result", "Assign", "Parameter"),
    declared_shapes_hold=True,
    no_dims_means_unknown=True,
    ports_declare=True,
    operators_count_outputs=True,
    lenient_version="10",
    converted_inputs={"float16": "float32"},
    converted_outputs=dict.fromkeys(("int64", "uint32", "uint64"), "int32")
    | dict.fromkeys(
        ("bool", "int4", "int8", "int16", "uint1", "uint4", "uint8", "uint16", "bfloat16", "float16", "float64"),
        "float32",
    ),
    runtimes={"openvino": "openvino_ir"},
    compiles=True,
    unused_constants_are_read=True,
    constants_may_be_longer=True,
    has_lines=True,
    weights=".bin",
    writer="openvino",
    safe_fixes="ports",
    intended="layers",
)

#: Every format, in the order of summaries.
FORMATS = (ONNX, OPENVINO)
