"""Faults that a finished ``Graph`` no longer shows: missing names, sizes below 0 and repeated metadata keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import first_few
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Problem

if TYPE_CHECKING:
    from irlint.parsers.onnx.graph_records import GraphRecord

NAMELESS_GRAPH = Rule(
    "IRL114",
    "graph-without-name",
    Severity.ERROR,
    "A graph or a body has no name.",
    why=(
        "Every graph needs a name. ONNX Runtime checks bodies with the ONNX checker, which refuses a body without a "
        "name. ONNX Runtime loads a main graph without a name, and irlint warns."
    ),
    fix="Give the graph a name.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
"" (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    fixable=True,
)


NAMELESS_VALUE = Rule(
    "IRL115",
    "value-without-name",
    Severity.ERROR,
    "An input or an output of a graph has no name.",
    why=(
        'An empty name means "no value", so an output with an empty name returns nothing. ONNX Runtime refuses the '
        "model in three cases: an output without a name, an input of a body without a name, and an input of the main "
        "graph that lacks the name field. It ignores an input of the main graph whose name is an empty string; in "
        "that case, irlint warns."
    ),
    fix="Add a name, or remove the input or output.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y, float[2,3] "") { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)


NEGATIVE_SIZE = Rule(
    "IRL119",
    "negative-size-declared",
    Severity.WARNING,
    "A declared type has a size below 0.",
    why=(
        "A size is an integer of at least 0, or a name. Runtimes treat a negative size as dynamic, but strict shape "
        "inference refuses it."
    ),
    fix="To make the size dynamic, leave it empty or set `dim_param` to a name.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[-1,3] x) => (float[N,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3] x) => (float[N,3] y) { y = Relu (x) }""",
)


DUPLICATE_METADATA = Rule(
    "IRL120",
    "duplicate-metadata-key",
    Severity.WARNING,
    "The metadata of the model contains a key more than once.",
    why="The ONNX checker refuses such a model. ONNX Runtime keeps one of the entries.",
    fix="Keep one entry for the key.",
    bad="""<ir_version: 8, opset_import: ["" : 17], metadata_props: ["author" : "a", "author" : "b"]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17], metadata_props: ["author" : "a"]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    fixable=True,
)


def problems(record: GraphRecord, path: str, negative: Mapping[bytes, str]) -> Iterator[Problem]:
    """The problems of a main graph or a body. ``negative`` maps a TypeProto to the text of its sizes below 0."""
    if path.startswith("function:") and "/" not in path:
        return
    if not record.name:
        yield Problem(_nameless_graph(path), path)
    for what, entries in (("input", record.inputs), ("output", record.outputs)):
        places = [place for place, (name, _) in enumerate(entries) if not name]
        if places:
            yield Problem(_nameless(what, places, refused=bool(path) or what == "output" or record.lacks_name), path)
    parts = [
        f"{by} {name!r} ({negative[raw]})"
        for by, entries in (("input", record.inputs), ("output", record.outputs), ("value_info of", record.value_info))
        for name, raw in entries
        if raw in negative
    ]
    if parts:
        yield Problem(_negative(parts), path)


def duplicate_keys(keys: Sequence[str]) -> Problem:
    """The problem of repeated keys in the metadata of a model."""
    counts: dict[str, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    twice = ", ".join(f"`{key}`" for key, count in counts.items() if count > 1)
    fault = DUPLICATE_METADATA.fault(f"metadata_props has more than one entry for {twice}", help="keep one of each key")
    return Problem(fault)


def _nameless_graph(path: str) -> Fault:
    if path:
        text = "the body has no name; ONNX Runtime checks bodies with the ONNX checker, which refuses it"
        return NAMELESS_GRAPH.fault(text, help="give the body a name")
    text = "the graph has no name; the ONNX checker refuses it"
    return NAMELESS_GRAPH.fault(text, help="give the graph a name", severity=Severity.WARNING)


def _nameless(what: str, places: list[int], *, refused: bool) -> Fault:
    numbers = first_few(places, 8)
    text = f"{what} {numbers} has no name" if len(places) == 1 else f"{what}s {numbers} have no name"
    return NAMELESS_VALUE.fault(
        f"{text}; the empty name means that a value is absent",
        help="name it, or remove it" if len(places) == 1 else "name them, or remove them",
        severity=None if refused else Severity.WARNING,
    )


def _negative(parts: list[str]) -> Fault:
    return NEGATIVE_SIZE.fault(
        f"{first_few(parts, 3)}: a size is an integer of at least 0, or a name; runtimes treat it as dynamic",
        help="leave the size empty, or set dim_param to a name",
    )
