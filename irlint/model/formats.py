"""What differs between the file formats, as data: above the parsers nobody asks which format a model has."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.records import NOTHING, record


@record
class Format:
    """A file format.

    ``name`` is that of its modules in ``parsers``, ``binding`` and ``snippets``, and what the machine-readable reports
    call it; ``title`` is what people call it, and ``suffixes`` end the names of its files. ``checks`` are the modules
    of ``checks`` that hold for it, and ``last_checks`` those that are asked where nothing is an error.

    ``input_node``, ``constant_node`` and ``output_node`` are the types of the nodes that stand for a graph's inputs,
    constants and outputs; None where these are no nodes. ``keeps_alive`` are the types of nodes that other nodes exist
    for: a runtime creates no other node than those that lead to one of them; () where it creates every node.

    ``declared_shapes_hold`` states that declared shapes are the truth, else that runtimes recompute stale ones, and
    ``declared_types_hold`` the same of element types. ``no_dims_means_unknown``: a declaration without dims is that of
    a scalar or of any rank. ``ports_declare``: nodes declare the types of what comes to their inputs, too.
    ``operators_count_outputs``: an operator's rule says how many outputs a node has, where no schema does.
    ``lax_version`` is the version of the format whose writers were less exact. ``unused_constants_are_read``: a
    constant that nothing uses has to be sound all the same. ``lax_inputs`` and ``lax_outputs`` are the element types
    that the runtime gives to the inputs and outputs of a model of that version, by those that the model has.
    ``dead_bodies_are_inferred``: the runtime works out types and shapes in bodies that never run, too.
    ``bytes_may_be_spare``: a constant may have more bytes than it needs. ``has_lines``: the file is a text, in which
    findings have a line and a column. ``runtimes`` are those that load such files, its own first, each with the module
    of ``targets`` that judges them; ``restamps``: a model can be saved with another version of the format and of its
    opset. ``weights`` ends the names of the files beside models that hold their constants, "" where any name may.
    ``compiles``: a file that a release reads may still be refused when it is compiled, which the check reports.
    ``writer`` is the module of ``fixes`` that writes edits into a file, and ``safe_fixes`` the one that knows what
    changes nothing but what is stated, and ``intended`` the one that knows what its documents were intended to state;
    "" where none does.
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
        """The runtime whose refusals decide how bad a finding is, by its module in ``targets``."""
        return next(iter(self.runtimes.values()))

    def operator_name(self, domain: str, op: str) -> str:
        """What an operator is called: with its domain, unless that is the format's own."""
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
