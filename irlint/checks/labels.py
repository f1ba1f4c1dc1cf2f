"""Finds class labels that a node converts to numbers, although their texts are no numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite

from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import first_few
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem
from irlint.model.order import graphs, producers
from irlint.model.tensor import FLOATS, INTEGERS, SIGNED, Tensor

LABEL_NOT_A_NUMBER = Rule(
    "IRL718",
    "label-not-a-number",
    Severity.ERROR,
    "Class labels are converted to numbers, and their texts are no numbers.",
    why=(
        "ONNX Runtime reads the number at the beginning of each text. If there is none, or if the number is too large "
        "for 64 bits, it fails when it runs the node. If some of the labels are numbers, or the default of the mapping "
        "is one, it fails only for the other labels, and this is a warning."
    ),
    fix="Remove the Cast and declare what follows as strings, or give the classifier labels that are numbers.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
g (int64[3] x) => (int64[3] y) {
  a = ai.onnx.ml.CategoryMapper <cats_int64s = [1, 2], cats_strings = ["cat", "dog"], default_string = "?"> (x)
  y = Cast <to = 7> (a) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
g (int64[3] x) => (int64[3] y) {
  a = ai.onnx.ml.CategoryMapper <cats_int64s = [1, 2], cats_strings = ["10", "20"], default_string = "0"> (x)
  y = Cast <to = 7> (a) }""",
    uncalled=False,
    role="value",
)

#: The attributes with the texts that a node may give, and the attribute with the text for all other inputs.
LABELS, DEFAULT = ("classlabels_strings", "values_strings", "cats_strings"), "default_string"

#: The attribute with the element type after a conversion.
TO = "to"

#: What ONNX Runtime reads at the beginning of a text as an integer, and as a float.
INTEGER = re.compile(r"[ \t-\r]*([+-]?)0*([0-9]+)")
FLOAT = re.compile(r"[ \t-\r]*[+-]?(?:0x|inf|nan|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))", re.IGNORECASE)

#: Integers with more digits than this have more than 64 bits.
DIGITS = 20

#: The maximum number of labels in a message.
SHOWN = 3


def problems(known: Known) -> list[Problem]:
    """The problems of converted labels in every graph."""
    return [problem for graph in graphs(known.model) for problem in _of_graph(graph, known)]


def _of_graph(graph: Graph, known: Known) -> Iterator[Problem]:
    makers = producers(graph)
    for node in graph.nodes:
        value = node.inputs[0] if node.inputs and TO in node.attributes else None
        types = [known.types.get(each) for each in (value, *node.outputs[:1]) if each is not None]
        dtypes = [each.dtype for each in types if isinstance(each, Tensor)]
        if value is None or value not in makers or len(dtypes) < len(("string", "number")) or dtypes[0] != "string":
            continue
        labels = _labels(makers[value], known)
        wrong = [each for each in labels if not _is_read(each, dtypes[1] or "")]
        if not wrong:
            continue
        default = makers[value].attributes.get(DEFAULT)
        has_number = default is not None and _is_read(_text(default.value), dtypes[1] or "")
        shown, kind = first_few([repr(each) for each in wrong], SHOWN), "number" if dtypes[1] in FLOATS else "integer"
        fault = LABEL_NOT_A_NUMBER.fault(
            f"input 0 is a label of {makers[value].op}, and no 64-bit {kind} is at the beginning of {shown} "
            f"({len(wrong)} of {len(labels)} labels)",
            help="keep the labels as strings and declare what follows as strings, or use labels that are numbers",
            input=0,
            severity=None if len(wrong) == len(labels) and not has_number else Severity.WARNING,
        )
        yield Problem(fault, graph.path, node, place=node.place)


def _labels(node: Node, known: Known) -> list[str]:
    """The texts that a node may give, without its default; [] if they are unknown."""
    call = known.calls.get(node)
    given = (call.attributes or {}) if call is not None else {}
    found = next((given[name] for name in LABELS if given.get(name)), ())
    return [_text(each) for each in found]


def _text(label: object) -> str:
    return label.decode("utf-8", "replace") if isinstance(label, bytes) else str(label)


def _is_read(text: str, dtype: str) -> bool:
    """Whether ONNX Runtime reads a number of the element type at the beginning of a text. True for other types."""
    if dtype in FLOATS:
        found = FLOAT.match(text)
        return found is not None and (found[1] is None or isfinite(float(found[1])))
    if dtype not in INTEGERS and dtype != "bool":
        return True
    found = INTEGER.match(text)
    if found is None or len(found[2]) > DIGITS:
        return False
    number = int(found[2])
    return number < 1 << 63 or (number == 1 << 63 and found[1] == "-") if dtype in SIGNED else number < 1 << 64
