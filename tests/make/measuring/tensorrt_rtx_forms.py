"""Forms of nodes that the parser of TensorRT for RTX is asked about one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx
import onnx.parser

from irlint.schemas import NCHWC, official_names

#: The numbers of element types that Cast gives.
GIVEN = {"float": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "double": 11}

_LOOP = """(float[1,2] a) => (float[1,2] f, float[3,1,2] v) <int64[1] t = {3}> { f, v = Loop (t, "", a)
<body = b (int64 i, bool c, float[1,2] p) => (bool d, float[1,2] q, float[1,2] o)
{ q = Add (p, p) d = Identity (c) o = Identity (q) }> }"""
_CONSTANT = "(float[4] i) => (float[4] y) <float s = {{0.1}}, {kind} z = {{0}}, {kind}[4] x = {{1, 2, 3, 4}}>"
_SEQUENCE = """(float[2,3] x) => (float[2,3] y)
{ s = SequenceEmpty () t = SequenceInsert (s, x) y = ConcatFromSequence <axis = 0> (t) }"""
_QUANTIZED = "(float[4] x) => ({given}[4] y) <float s = {{0.1}}, {kind} z = {{0}}>"
_INPUT = "({kind}[4] x) => (float[4] y) <float s = {{0.1}}, {kind} z = {{0}}>"


def _dequantized(kind: str, domain: str) -> Sequence[tuple[int, str]]:
    """Models that dequantize a constant, with a zero point and without."""
    return [
        (13, f"{_CONSTANT.format(kind=kind)} {{ d = {domain}DequantizeLinear (x, s{zero}) y = Add (d, i) }}")
        for zero in (("", ", z") if not domain else (", z",))
    ]


def _read(kind: str, domain: str) -> Sequence[tuple[int, str]]:
    return [(13, f"{_INPUT.format(kind=kind)} {{ y = {domain}DequantizeLinear (x, s, z) }}")]


def _shifted(domain: str, *, back: bool) -> Sequence[tuple[int, str]]:
    """Models that quantize with a zero point, and back."""
    found = []
    for kind, zero in (("uint8", 1), ("uint8", 128), ("int8", 1), ("int8", -3)):
        head = f"<float s = {{0.1}}, {kind} z = {{{zero}}}>"
        first = f"{domain}QuantizeLinear (x, s, z)"
        if back:
            last = f"y = {domain}DequantizeLinear (q, s, z)"
            found.append((13, f"(float[4] x) => (float[4] y) {head} {{ q = {first} {last} }}"))
        else:
            found.append((13, f"(float[4] x) => ({kind}[4] y) {head} {{ y = {first} }}"))
    return found


def _unranked(op: str, attributes: str = "") -> Sequence[tuple[int, str]]:
    return [(opset, f"(float[] x) => (float[] y) {{ y = {op} {attributes} (x) }}") for opset in (11, 13)]


def _blocks(kind: str, size: int) -> str:
    """A product with weights of 4 bits in blocks of a size."""
    blocks = 4 * 256 // size
    weights = f"uint8[4,{256 // size},{size // 2}] w = {{{', '.join('0' * (4 * 128))}}}"
    scales = f"{kind}[{blocks}] s = {{{', '.join('1' * blocks)}}}"
    node = f"y = com.microsoft.MatMulNBits <K = 256, N = 4, bits = 4, block_size = {size}> (x, w, s)"
    return f"({kind}[2,256] x) => ({kind}[2,4] y) <{weights}, {scales}> {{ {node} }}"


#: From so many positions on a window of one or two axes is refused.
LARGEST_WINDOW = 100000

#: The other domains that the models import.
OTHERS = ', "ai.onnx.ml" : 3, "ai.onnx.preview.training" : 1, "com.microsoft.nchwc" : 1'

#: Facts that hold where every one of some models is refused, each with its opset.
REFUSED: Mapping[str, Sequence[tuple[int, str]]] = {
    **{
        f"refuses {domain.rstrip('.')}:DequantizeLinear type 0 {kind} & constant 0": _dequantized(kind, domain)
        for domain in ("", "com.microsoft.")
        for kind in ("uint8", "int32")
    },
    **{
        f"refuses {domain.rstrip('.')}:DequantizeLinear type 0 {kind} & graph-input": _read(kind, domain)
        for domain in ("", "com.microsoft.")
        for kind in ("uint8", "int32")
    },
    **{
        f"refuses {domain.rstrip('.')}:{op} nonzero 2": _shifted(domain, back=op[0] == "D")
        for domain in ("", "com.microsoft.")
        for op in ("QuantizeLinear", "DequantizeLinear")
    },
    **{
        f"lacks {domain}:{op}": [(17, f"(float[2,3] x) => (float[2,3] y) {{ y = {domain}.{op} (x) }}")]
        for domain in ("ai.onnx.ml", "ai.onnx.preview.training")
        for op in official_names(domain)
    },
    **{
        f"lacks {NCHWC}:{op}": [(17, f"(float[2,8,4,4] x) => (float[2,8,4,4] y) {{ y = {NCHWC}.{op} (x) }}")]
        for op in ("ReorderInput", "ReorderOutput")
    },
    **{f"lacks :{op}": [(17, _SEQUENCE)] for op in ("SequenceEmpty", "SequenceInsert", "ConcatFromSequence")},
    "refuses :Loop no-input 1 & body-takes 1": [(13, _LOOP), (13, _LOOP.replace("int64[1] t", "int64 t"))],
    "refuses :Dropout nonzero 2": [
        (13, "(float[2] x) => (float[2] y) <float r = {0.5}, bool t = {1}> { y = Dropout (x, r, t) }")
    ],
    "refuses :Dropout not-constant 2": [
        (13, "(float[2] x, bool t) => (float[2] y) <float r = {0.5}> { y = Dropout (x, r, t) }")
    ],
    **{
        f"refuses :{op} type 0 bool": [
            (20, f"(bool[2,3] x) => (bool[1,1] y) {{ y = {op} (x) }}"),
            (20, f"(bool[4] x) => (bool[1] y) {{ y = {op} (x) }}"),
            (20, f"(float[1] z) => (bool[1] y) <bool[2] x = {{1, 0}}> {{ y = {op} (x) }}"),
        ]
        for op in ("ReduceMin", "ReduceMax")
    },
    **{
        f"refuses :{op} unranked 0 & graph-input": _unranked(op, attributes)
        for op, attributes in {
            "GlobalAveragePool": "", "GlobalMaxPool": "", "MaxPool": "<kernel_shape = [2, 2]>",
            "AveragePool": "<kernel_shape = [2, 2]>", "EyeLike": "",
        }.items()
    },
    **{
        f"refuses :{op} unranked 0 & graph-input & !attribute-is axis 0": [
            each for axis in ("", "<axis = 3>", "<axis = -3>") for each in _unranked(op, axis)
        ]
        for op in ("Flatten", "Softmax", "LogSoftmax")
    },
    **{
        f"refuses :{op} window-above {LARGEST_WINDOW - 1}": [
            (17, f"(float[1,2,{shape}] x) => (float[] y) {{ y = {op} <kernel_shape = [{shape}]> (x) }}")
            for shape in (LARGEST_WINDOW, f"1,{LARGEST_WINDOW}", "317,317", "1280,1280")
        ]
        for op in ("AveragePool", "MaxPool", "LpPool")
    },
    "refuses com.microsoft:MatMulNBits type 0 float32": [(17, _blocks("float", size)) for size in (16, 32, 64, 128)],
    "refuses com.microsoft:MatMulNBits attribute-not block_size 32,64,128": [
        (17, _blocks(kind, size)) for kind in ("float", "float16") for size in (16, 256)
    ],
    "refuses :Squeeze no-input 1 & no-attribute axes & not-static 0": [
        (opset, "(float[1,N,1] x) => (float[N] y) { y = Squeeze (x) }") for opset in (11, 13)
    ],
}  # fmt: skip

#: Facts that hold where one of some models is refused; the last node of each is asked about as one node is.
DOUBTED: Mapping[str, Sequence[tuple[int, str]]] = {
    "doubts :Cast type 0 bool": [
        (13, f"{head} {{ y = Cast <to = {to}> (x) }}")
        for kind, to in GIVEN.items()
        for head in (f"(bool[2] x) => ({kind}[2] y)", f"(float[2] z) => ({kind}[2] y) <bool[2] x = {{1, 0}}>")
    ],
    "doubts :Expand type 0 bool": [
        (13, "(bool[1,2] x) => (bool[3,2] y) <int64[2] s = {3, 2}> { y = Expand (x, s) }"),
        (13, "(bool[1,2] x, int64[2] s) => (bool[N,M] y) { y = Expand (x, s) }"),
        (13, "(float[1] z) => (bool[3,2] y) <int64[2] s = {3, 2}, bool[1,2] x = {1, 0}> { y = Expand (x, s) }"),
    ],
    "doubts :GatherND type 0 bool": [(17, "(bool[3,3] x, int64[1,2] i) => (bool[1] y) { y = GatherND (x, i) }")],
    "doubts :Pad type 0 bool": [(17, "(bool[3] x) => (bool[5] y) <int64[2] p = {1, 1}> { y = Pad (x, p) }")],
    "doubts :Trilu type 0 bool": [(17, "(bool[3,3] x) => (bool[3,3] y) { y = Trilu (x) }")],
    "doubts :Dropout type 2 bool": [
        (13, "(float[2] x) => (float[2] y) <float r = {0.5}, bool t = {0}> { y = Dropout (x, r, t) }")
    ],
    **{
        f"doubts {domain.rstrip('.')}:DequantizeLinear type 0 uint8": [
            (13, f"{_QUANTIZED.format(given='float', kind='uint8')} {{ q = {domain}QuantizeLinear (x, s, z) "
                 f"y = {domain}DequantizeLinear (q, s, z) }}")
        ]
        for domain in ("", "com.microsoft.")
    },
    **{
        f"doubts {domain.rstrip('.')}:QuantizeLinear type 2 uint8": [
            (13, f"{_QUANTIZED.format(given='uint8', kind='uint8')} {{ y = {domain}QuantizeLinear (x, s, z) }}")
        ]
        for domain in ("", "com.microsoft.")
    },
}  # fmt: skip

#: Every fact that these models ask about.
FACTS = (*REFUSED, *DOUBTED)


def model(opset: int, graph: str) -> bytes:
    """A model of a graph in ONNX's text syntax."""
    text = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1{OTHERS}]> g {graph}'
    return bytes(onnx.parser.parse_model(text).SerializeToString())


def models() -> Iterator[tuple[str, bytes]]:
    """Models by the fact that they ask about, and a number."""
    for fact, asked in (*REFUSED.items(), *DOUBTED.items()):
        yield from ((f"form {at} {fact}", model(*each)) for at, each in enumerate(asked))


def facts(answers: Mapping[str, str]) -> Iterator[str]:
    """The facts that hold for a release."""
    for fact, asked in REFUSED.items():
        if all(answers[f"form {at} {fact}"] for at in range(len(asked))):
            yield fact
    for fact, asked in DOUBTED.items():
        if any(answers[f"form {at} {fact}"] for at in range(len(asked))):
            yield fact
