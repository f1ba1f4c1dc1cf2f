"""The differences between the file formats, as data: no code above the parsers asks for the name of a format."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.records import NOTHING, record


@record
class Format:
    """A file format. A field is False, None, () or "" if it does not apply.

    ``name`` is the name of its modules in ``parsers``, ``binding`` and ``snippets``, and its name in machine-readable
    reports. ``title`` is its name for people, and ``suffixes`` are the suffixes of its files. ``checks`` are its
    modules in ``checks``; ``last_checks`` run only if there is no error.

    ``input_node``, ``constant_node`` and ``output_node`` are the types of nodes for a graph's inputs, constants and
    outputs, or None if these are not nodes. ``keeps_alive`` are types of nodes: a runtime creates only these nodes and
    the nodes on which they depend. () means that it creates every node.

    Declarations: ``declared_shapes_hold``: the declared shapes of a correct file are the inferred ones, so a difference
    is an error, and the runtime reports the shapes that it infers. If False, declared shapes may be stale, and the
    runtime merges them with the inferred ones. ``declared_types_hold``: the runtime refuses a declared element type
    that is not the inferred one. ``no_dims_means_unknown``: a declaration without dims is a scalar or has any rank.
    ``ports_declare``: nodes also declare the types of their inputs. ``operators_count_outputs``: the rule of an
    operator determines the number of outputs of a node without a schema.

    Tolerance: ``lax_version`` is the format version whose writers were less exact. ``lax_inputs`` and ``lax_outputs``
    map the declared element types of inputs and outputs of such a model to those that the runtime uses.
    ``unused_constants_are_read``: an unused constant must be valid, too. ``dead_bodies_are_inferred``: the runtime
    infers types and shapes also in bodies that never run. ``bytes_may_be_spare``: a constant may have more bytes than
    it needs. ``errors_are_refused``: the format's own runtime refuses a model with an error when it loads the model.

    Files: ``has_lines``: the file is a text, so findings have a line and a column. ``weights`` is the suffix of the
    files with constants beside a model, or "" for any name. ``restamps``: a model can be saved with another version of
    the format and of its opset.

    Runtimes: ``runtimes`` maps the runtimes that load such files, the format's own first, to their modules in
    ``targets``. ``compiles``: a runtime may read a file and still refuse to compile it, which the check reports.

    Fixes: ``writer``, ``safe_fixes`` and ``intended`` are modules of ``fixes``. They write edits into a file, find
    edits that do not change the results, and derive corrections from the rest of a document.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    checks: tuple[str, ...]
    last_checks: tuple[str, ...] = ()
    input_node: str | None = None
    constant_node: str | None = None
    output_node: str | None = None
    keeps_alive: tuple[str, ...] = ()
    declared_shapes_hold: bool = False
    declared_types_hold: bool = False
    no_dims_means_unknown: bool = False
    ports_declare: bool = False
    operators_count_outputs: bool = False
    lax_version: str | None = None
    lax_inputs: Mapping[str, str] = NOTHING
    lax_outputs: Mapping[str, str] = NOTHING
    unused_constants_are_read: bool = False
    dead_bodies_are_inferred: bool = False
    bytes_may_be_spare: bool = False
    errors_are_refused: bool = False
    has_lines: bool = False
    runtimes: Mapping[str, str] = NOTHING
    restamps: bool = False
    compiles: bool = False
    weights: str = ""
    writer: str = ""
    safe_fixes: str = ""
    intended: str = ""

    @property
    def loaded_by(self) -> str:
        """The module in ``targets`` of the runtime whose refusals determine the severity of a finding."""
        return next(iter(self.runtimes.values()))

    def operator_name(self, domain: str, op: str) -> str:
        """The name of an operator, with its domain unless that is the format's own."""
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
    lax_version="10",
    lax_inputs={"float16": "float32"},
    lax_outputs=dict.fromkeys(("int64", "uint32", "uint64"), "int32")
    | dict.fromkeys(
        ("bool", "int4", "int8", "int16", "uint1", "uint4", "uint8", "uint16", "bfloat16", "float16", "float64"),
        "float32",
    ),
    runtimes={"openvino": "openvino_ir"},
    compiles=True,
    unused_constants_are_read=True,
    bytes_may_be_spare=True,
    has_lines=True,
    weights=".bin",
    writer="openvino",
    safe_fixes="ports",
    intended="layers",
)

#: Every format, in the order in which a summary counts their models.
FORMATS = (ONNX, OPENVINO)
