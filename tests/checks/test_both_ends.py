"""Helps name each place that may be wrong: the model works after the change at any of them."""

from __future__ import annotations

import numpy
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'
SPLIT = "(float[2,4] x, float[4,~] w) => (float[2,a] p, float[2,b] q{}) {{ h = MatMul (x, w) p, q{} = Split{} (h{}) }}"
LOOP = """(int64 n, float[3] h{}) => (float[3] y{}) {{ y{} = Loop <body = b (int64 i, bool c, float[3] s{}) =>
 (bool d, float[3] t{}) {{ d = Identity (c) t = Neg (s) {} }}> (n, , h{}) }}"""
EXP = "v = Exp (u)"
IF = """(bool c, float[3] x) => (float[3] y{}) {{ y{} = If <then_branch = t () => (float[3] p{}) {{ p = Neg (x) {} }},
 else_branch = e () => (float[3] r{}) {{ r = Abs (x) {} }}> (c) }}"""
RESHAPE = """(float[1,3,4,4] x, float[~,3,1,1] w) => (float[1,3,a,4,4] p, float[1,3,b,4,4] q)
 <int64[5] t = {{1, 3, {}, 4, 4}}, int64[2] s = {{4, {}}}> {{
 h = Conv (x, w) r = Reshape (h, t) p, q = Split <axis = 2> (r, s) }}"""
CONV = "(float[1,4,6,6] x, float[~,1,3,3] w) => (float[1,a,4,4] y) {{ y = Conv <group = {}> (x, w) }}"
TOPK = """(float[2,4] x, float[4,~] w) => (float[2,a] y, int64[2,a] i) <int64[1] k = {{{}}}> {{
 h = MatMul (x, w) y, i = TopK (h, k) }}"""
FIRST = "i = Constant <value = int64[1] {0}> () g = Gather <axis = 1> (h, i)"
SQUEEZE = """(float[2,4] x, float[4,~] w) => (float[{}] y) <int64[1] a = {{1}}> {{ h = MatMul (x, w) {} }}"""
BLOCKS = """(float[2,32] x, uint8[32,2,8] b, float[32,2] s) => (float[2,32] y) {{
 y = com.microsoft.MatMulNBits <K = 32, N = 32, bits = 4, block_size = {}> (x, b, s) }}"""

SPACE = "(float[1,2,{0},{0}] x) => (float[1,a,b,c] y) {{ y = SpaceToDepth <blocksize = {1}> (x) }}"

#: A broken graph and the size of its weights, the help, and the graphs with one alternative each.
BOTH_ENDS = [
    (
        (RESHAPE.format(9, 5), 21),
        "pass 432 elements as input 0, or write 7 for the 9 in entry 2 of the target and correct what then fails",
        [(RESHAPE.format(9, 5), 27), (RESHAPE.format(7, 3), 21)],
    ),
    (
        (SPLIT.format(", float[2,c] r", ", r", " <axis = 1>", ""), 8),
        "split axis 1 into a number of parts that divides 8 (2, 4 or 8), write the sizes, or make axis 1 of input 0 a "
        "multiple of 3",
        [
            (SPLIT.format("", "", " <axis = 1>", ""), 8),
            (SPLIT.format(", float[2,c] r", ", r", " <axis = 1>", ", s"), 8),
            (SPLIT.format(", float[2,c] r", ", r", " <axis = 1>", ""), 9),
        ],
    ),
    (
        (LOOP.format("", "", "", ", float[3] u", ", float[3] v", EXP, ""), 0),
        "pass an initial value of `u` ([3]) as input 3 of the Loop and add its final value as output 1, or remove it "
        "from the body",
        [
            (
                LOOP.format(", float[3] g", ", float[3] z", ", z", ", float[3] u", ", float[3] v", EXP, ", g"),
                0,
            ),
            (LOOP.format("", "", "", "", "", "", ""), 0),
        ],
    ),
    (
        (IF.format(", float[3] z", ", z", ", float[3] q", "q = Exp (x)", "", ""), 0),
        "give `else_branch` 2 outputs, or the node and `then_branch` 1",
        [
            (IF.format(", float[3] z", ", z", ", float[3] q", "q = Exp (x)", ", float[3] s", "s = Exp (x)"), 0),
            (IF.format("", "", "", "", "", ""), 0),
        ],
    ),
    (
        (IF.format(", float[3] z", ", z", "", "", "", ""), 0),
        "give `then_branch` 2 outputs, or the node 1",
        [(IF.format("", "", "", "", "", ""), 0)],
    ),
    (
        (CONV.format(4), 6),
        "use a `group` that divides 6 (1, 2, 3 or 6), or make axis 0 of input 1 a multiple of 4",
        [(CONV.format(4), 8)],
    ),
    (
        (SPACE.format(10, 3), 0),
        "use a block size that divides 10 (2, 5 or 10), or make axis 2 a multiple of 3",
        [
            (SPACE.format(10, 2), 0),
            (SPACE.format(10, 5), 0),
            (SPACE.format(10, 10), 0),
            (SPACE.format(12, 3), 0),
        ],
    ),
    (
        (TOPK.format(6), 5),
        "use a k of at most 5, or make axis 1 of input 0 at least 6",
        [(TOPK.format(5), 5), (TOPK.format(6), 6)],
    ),
    (
        (SQUEEZE.format(2, "y = Squeeze (h, a)"), 3),
        "remove axis 1 from the axes, select one of its elements first, or give axis 1 of input 0 the size 1",
        [
            (SQUEEZE.format("2,3", "y = Identity (h)"), 3),
            (
                SQUEEZE.format(2, f"{FIRST} y = Squeeze (g, a)"),
                3,
            ),
            (SQUEEZE.format(2, "y = Squeeze (h, a)"), 1),
        ],
    ),
    (
        (BLOCKS.format(32), 0),
        "set `block_size = 16`, or give input 1 the shape [32, 1, 16]",
        [(BLOCKS.format(16), 0), (BLOCKS.format(32).replace("32,2,8", "32,1,16").replace("32,2]", "32,1]"), 0)],
    ),
]


def built(text: str, size: int) -> onnx.ModelProto:
    """A model whose last input, if one of its sizes is ~, is an initializer with this size."""
    model = onnx.parser.parse_model(f"{HEAD}g {text.replace('~', str(size))}")
    if "~" in text:
        value = model.graph.input.pop()
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones(shape, "float32"), value.name))
    if "(h, s)" in text:
        sizes = numpy.array([3, 3, 2], "int64")
        model.graph.initializer.append(onnx.numpy_helper.from_array(sizes, "s"))
    return model


@pytest.mark.oracle
@pytest.mark.parametrize(("broken", "help", "fixed"), BOTH_ENDS)
def test_every_alternative_works(broken: tuple[str, int], help: str, fixed: list[tuple[str, int]]) -> None:
    import onnxruntime

    def run(model: onnx.ModelProto) -> None:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        feeds = {each.name: numpy.ones(each.shape, _dtype(each.type)) for each in session.get_inputs()}
        session.run(None, feeds)

    model = built(*broken)
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert found.help == help
    with pytest.raises(Exception, match=r"ONNXRuntimeError"):
        run(model)
    for text, size in fixed:
        correct = built(text, size)
        assert not [each for each in irlint.check(correct).findings if each.severity.value == "error"]
        run(correct)


def _dtype(name: str) -> str:
    return {"tensor(float)": "float32"}.get(name, name.removeprefix("tensor(").removesuffix(")"))
