"""What the vendor's page ``docs/operators.md`` of onnx-tensorrt says of a release: it was not measured."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from irlint.schemas import latest_opset, official

_OPSETS = re.compile(r"inclusive range of opset (\d+) to opset (\d+)")
_UP_TO = re.compile(r"up to Opset (\d+)")

_TYPE = re.compile(r"[A-Z]+\d*")
_MISSPELLED = {"INF64": "INT64"}

#: The first opset where the page names only the last one.
FIRST_OPSET = 7


#: Element types by the names of the pages; these say that float64 is taken as float32.
TYPES = {
    "FP32": ("float32", "float64"),
    "FP16": ("float16",),
    "BF16": ("bfloat16",),
    "FP8": ("float8_e4m3fn",),
    "FP4": ("float4_e2m1",),
    "INT4": ("int4",),
    "INT8": ("int8",),
    "UINT8": ("uint8",),
    "INT32": ("int32",),
    "INT64": ("int64",),
    "BOOL": ("bool",),
}

#: Conditions of the pages: what a sentence matches, and under which conditions it is broken; ``{}`` are the names that
#: the group matches. What matches none is a remark that no node can break.
SENTENCES = (
    (r"2D or 3D (?:[Pp]ooling|convolutions|deconvolutions) only", ("rank-not 0 4,5",)),
    (r"Antialiasing is not supported", ("attribute-not antialias 0",)),
    (r"Dynamic input shapes are unsupported|`input` must have static dimensions", ("not-static 0",)),
    (r"Ellipsis and diagonal operations are not supported", ("ellipsis",)),
    (r"Float.* inputs are only supported if `start`, `limit`, and `delta` inputs are initializers",
     tuple(f"type 0 float32,float16,float64,bfloat16 & not-constant {each}" for each in range(3))),
    (r"For bidirectional .*, activation functions must be the same",
     ("attribute-is direction bidirectional & halves-differ activations",)),
    (r"Input must be 4D input", ("rank-not 0 4",)),
    (r"Input must be real-valued", ("complex 0",)),
    (r"Input rank must be >=3 & <=5", ("rank-not 0 3,4,5",)),
    (r"Only positive indices \(>=0\) are supported", ("negative 1",)),
    (r"Only the first output `Y` is supported", ("output 1", "output 2")),
    (r"Output tensors of the two conditional branches", ("branches-differ",)),
    (r"Supported aspect ratio policy: `stretch`", ("attribute-not keep_aspect_ratio_policy stretch",)),
    (r"Supported nearest modes: (.*)", ("attribute-not nearest_mode {}",)),
    (r"Supported resize modes: (.*)", ("attribute-not mode {}",)),
    (r"Supported resize transformation modes: (.*)", ("attribute-not coordinate_transformation_mode {}",)),
    (r"When `scales` is a tensor input, `axes` must be an iota vector", ("input 2 & not-iota axes",)),
    (r"`Indices` output tensor unsupported", ("output 1",)),
    (r"`K` input must be less than 3840", ("above 1 3839",)),
    (r"`Q`, `K`, `V` and `attn_mask` must be 4D", tuple(f"rank-not {each} 4" for each in range(4))),
    (r"`past_cache` and `update` must be 4D", ("rank-not 0 4", "rank-not 1 4")),
    (r"`input` must have 1D or 2D spatial dimensions", ("rank-not 0 3,4",)),
    (r"`axis` dimension of input must be a build-time constant", ("dynamic-axis 0",)),
    (r"`axis` must be -2", ("attribute-not axis -2",)),
    (r"`dilations` must be empty or all ones", ("attribute-not dilations 1",)),
    (r"`(input_forget|layout)` attribute must be 0", ("attribute-not {} 0",)),
    (r"`sorted` must be 1", ("attribute-not sorted 1",)),
    (r"`is_trai?ning` must be an initializer and evaluate to False", ("not-constant 2", "nonzero 2")),
    (r"`pads` for the beginning and end along each spatial axis must be the same", ("halves-differ pads",)),
    (r"`past_key`, `past_value` and `nonpad_kv_seqlen` inputs", ("input 4", "input 5", "input 6")),
    (r"`present_key`, `present_value` and `qk_matmul_output` outputs", ("output 1", "output 2", "output 3")),
    (r"`position_ids` must be INT64", ("type 3 int32",)),
    (r"`reduction` (?:other than `none` )?is not supported", ("attribute-not reduction none",)),
    (r"`[xy]_zero_point` must be (?:zero|0)", ("nonzero 2",)),
)  # fmt: skip

#: The inputs that a sentence wants to be constant, and the attributes that it does not allow, by their names.
_CONSTANT = re.compile(
    r"must be (an init\w+|a constant tensor|resolvable to a constant|a build-time constant|initializers)$"
)
_ATTRIBUTES = re.compile(r"attributes are unsupported$")
_QUOTED = re.compile(r"`(\w+)`")


def conditions(op: str, sentence: str) -> Iterator[str]:
    """The conditions under which an operator breaks a sentence of its row."""
    for pattern, rows in SENTENCES:
        found = re.match(pattern, sentence)
        if found is not None:
            values = ",".join(_QUOTED.findall(found[1]) or [found[1]]) if found.lastindex else ""
            yield from (row.format(values) for row in rows)
            return
    if _ATTRIBUTES.search(sentence):
        yield from (f"attribute {name}" for name in _QUOTED.findall(sentence))
    elif _CONSTANT.search(sentence):
        schema = official(op, latest_opset(""), "")
        formals = [formal.name.lower() for formal in schema.inputs] if schema is not None else []
        named = [each.lower() for each in _QUOTED.findall(sentence)]
        yield from (f"not-constant {formals.index(name)}" for name in named if name in formals)


def facts(text: str) -> Iterator[str]:
    """The facts that hold for the release of a page."""
    between, up_to = _OPSETS.search(text), _UP_TO.search(text)
    first, last = (int(between[1]), int(between[2])) if between else (FIRST_OPSET, int(up_to[1]) if up_to else 0)
    yield from (f"opset  {version}" for version in range(first, last + 1))
    casts = "cast down INT64 to INT32" in text
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().removesuffix("|").removeprefix("|").split("|")]
        if len(cells) >= 2 and cells[1].startswith("Y"):
            yield from _operator(cells[0], casts, *cells[2:4])


def _operator(name: str, casts: bool, types: str = "", restrictions: str = "") -> Iterator[str]:
    """The facts of a row; pages of early releases have no types."""
    listed = [_MISSPELLED.get(each, each) for each in re.split(r"[,\s]+", types) if each]
    if not all(map(_TYPE.fullmatch, listed)):
        listed, restrictions = [], types
    yield operator(name, {*listed, *(["INT64"] if casts and "INT32" in listed else [])})
    yield from (f"refuses :{name} {row}" for each in sentences(restrictions) for row in conditions(name, each))


def operator(name: str, listed: Collection[str]) -> str:
    """The row of an operator with the types of its first input, or of its output where it has no input."""
    types = sorted({name for each in listed for name in TYPES[each]})
    return f"op :{name} * 0={';'.join(types)}" if types else f"op :{name} *"


def sentences(text: str) -> Iterator[str]:
    """The sentences of a cell, without their stops."""
    for each in re.split(r"\.\s+(?=[`\"A-Z])|<br ?/>", text.replace("\\", "")):
        sentence = each.strip().rstrip(".").strip()
        if sentence:
            yield re.sub(r"\s+", " ", sentence)
