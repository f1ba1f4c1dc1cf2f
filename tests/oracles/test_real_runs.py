"""Whole models against ONNX Runtime: the type, the shape and the contents of every value, at several sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from make.fixtures import attention_block, small_detector
from onnx import helper

from irlint.dims import Expr, evaluated, symbols
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.parsers import onnx as parser

pytestmark = pytest.mark.oracle

#: Models in ONNX's text syntax, without their header.
TEXTS = {
    "convolutions": """(float[N,3,H,W] x, float[8,3,3,3] w, float[8,1,3,3] d, float[4] s) => (float[N,8,A,B] y) {
        c = Conv <strides = [2,2], pads = [1,1,1,1]> (x, w)
        same = Conv <auto_pad = "SAME_UPPER", strides = [2,2], group = 8> (c, d)
        p = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1], ceil_mode = 1> (same)
        q = AveragePool <kernel_shape = [2,2]> (c)
        g = GlobalAveragePool (q)
        y = Mul (p, g)
    }""",
    "transposed_convolution": """(float[N,8,H,W] x, float[8,2,3,3] w, float[2,4,2,2] v) => (float[N,4,A,B] y) {
        t = ConvTranspose <group = 2, strides = [2,3], dilations = [2,1], output_padding = [1,0], pads = [1,0,0,1]> (x, w)
        r = Slice (t, zero, two, one)
        y = ConvTranspose <strides = [2,2], auto_pad = "SAME_LOWER"> (r, v)
        }""",
    "recurrent": """(float[S,N,4] x, float[2,12,4] w, float[2,12,3] r, float[1,9,6] gw, float[1,9,3] gr) => (float[S,N,T] y) {
        a, ah, ac = LSTM <hidden_size = 3, direction = "bidirectional"> (x, w, r)
        b = Transpose <perm = [0,2,1,3]> (a)
        flat = Constant <value_ints = [0,0,-1]> ()
        c = Reshape (b, flat)
        g, gh = GRU <hidden_size = 3> (c, gw, gr)
        last = Squeeze (gh, zero)
        y = Add (c, one_f)
    }""",
    "top_k": """(float[N,M] x) => (float[N,K] y) {
        shape = Shape (x)
        m = Gather (shape, one)
        half = Div (m, two)
        k = Max (half, one)
        y, indices = TopK <axis = 1> (x, k)
        again = GatherElements <axis = 1> (x, indices)
        hot = OneHot (indices, five, values)
        best = ArgMax <axis = -1, keepdims = 0> (hot)
    }""",
    "resizes": """(float[N,2,H,W] x) => (float[N,2,A,B] y) {
        scales = Constant <value_floats = [1.0, 1.0, 2.0, 1.5]> ()
        up = Resize <mode = "linear"> (x, , scales)
        shape = Shape (x)
        front = Slice (shape, zero, two)
        size = Constant <value_ints = [7, 3]> ()
        sizes = Concat <axis = 0> (front, size)
        fixed = Resize <mode = "nearest"> (x, , , sizes)
        back = Slice (shape, two, four)
        twice = Mul (back, two)
        wanted = Concat <axis = 0> (front, twice)
        double = Resize <mode = "cubic"> (x, , , wanted)
        y = Relu (double)
    }""",
    "loop": """(float[N,M] x, float[N] v) => (float[A,N] y) {
        trips = Constant <value_int = 4> ()
        go = Constant <value_int = 1> ()
        cond = Cast <to = 9> (go)
        last, grown, y = Loop <body = body (int64 i, bool c, float[a] s, float[b,d] z) => (bool c2, float[a] t, float[e,d] w, float[a] u) {
            c2 = Identity (c)
            t = Mul (s, s)
            w = Concat <axis = 0> (z, x)
            u = Neg (t)
        }> (trips, cond, v, x)
    }""",
    "loop_over_an_axis": """(float[N,3] x) => (float[A,3] y) {
        shape = Shape (x)
        n = Gather (shape, zero_)
        yes = Constant <value_int = 1> ()
        sure = Cast <to = 9> (yes)
        y = Loop <body = body (int64 i, bool c) => (bool c2, float[3] u) {
            c2 = Identity (c)
            u = Gather <axis = 0> (x, i)
        }> (n, sure)
    }""",
    "loop_with_a_condition": """(float[N,M] x, int64[1] n) => (float[A,M] last) {
        yes = Constant <value_int = 1> ()
        go = Cast <to = 9> (yes)
        endless = Constant <value_int = 9223372036854775807> ()
        last, sums, steps = Loop <body = body (int64 i, bool c, float[a,b] z, int64[1] s) => (bool c2, float[d,b] w, int64[1] t, int64[1] u) {
            w = Concat <axis = 0> (z, x)
            t = Add (s, i)
            c2 = Less (i, five_)
            u = Identity (s)
        }> (endless, go, x, zero)
        y = ConstantOfShape (sums)
    }""",
    "loop_of_unknown_length": """(float[N,M] x, int64 n) => (float[A,M] last) {
        yes = Constant <value_int = 1> ()
        go = Cast <to = 9> (yes)
        last, firsts = Loop <body = body (int64 i, bool c, float[a,b] z) => (bool c2, float[d,b] w, float[b] u) {
            w = Concat <axis = 0> (z, x)
            c2 = Less (i, five_)
            u = Gather (z, zero_)
        }> (n, go, x)
        same = Loop <body = body2 (int64 i, bool c, float[a,b] z) => (bool c2, float[a,b] w) {
            w = Add (z, x)
            c2 = Identity (c)
        }> (n, go, x)
    }""",
    "branches": """(float[N,3] x, bool c) => (float[N,A] y) {
        yes = Constant <value_int = 1> ()
        sure = Cast <to = 9> (yes)
        y = If (sure) <then_branch = t () => (float[N,6] a) { a = Concat <axis = 1> (x, x) },
                       else_branch = e () => (float[N,3] b) { b = Neg (x) }>
        alike = If (c) <then_branch = t2 () => (float[N,3] a2) { a2 = Abs (x) },
                        else_branch = e2 () => (float[N,3] b2) { b2 = Neg (x) }>
    }""",
    "scan": """(float[S,N,3] x, float[N,3] s) => (float[N,3] f) {
        f, y = Scan <num_scan_inputs = 1, body = body (float[N,3] a, float[N,3] b) => (float[N,3] c, float[N,1] d) {
            c = Add (a, b)
            d = ReduceSum <keepdims = 1> (c, one)
        }> (s, x)
        z = Squeeze (y, two)
    }""",
    "scan_on_other_axes": """(float[N,S,3] x, float[N,3] s) => (float[N,3] f) {
        f, y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1], scan_input_directions = [1],
            body = body (float[N,3] a, float[N,3] b) => (float[N,3] c, float[N,3] d) {
            c = Add (a, b)
            d = Identity (c)
        }> (s, x)
    }""",
    "expand_like_pytorch": """(float[N,1,M] x) => (float[N,A,M] y) {
        wanted = Constant <value_ints = [-1, 4, -1]> ()
        rank = Shape (wanted)
        ones = ConstantOfShape <value = int64[1] {1}> (rank)
        minus = Mul (ones, minus_one)
        open = Equal (wanted, minus)
        shape = Where (open, ones, wanted)
        y = Expand (x, shape)
    }""",
    "positions": """(int64[N,S] ids, float[9,4] table) => (float[N,S,4] y) {
        shape = Shape (ids)
        s = Gather (shape, one_)
        n = Gather (shape, zero_)
        all = Range (zero_, s, one_)
        row = Unsqueeze (all, zero)
        both = Expand (row, shape)
        capped = Min (both, five_)
        y = Gather (table, capped)
        count = Mul (n, s)
        every = Range (zero_, count, one_)
        back = Reshape (every, shape)
    }""",
    "causal_mask": """(float[N,S,4] x) => (float[N,S,S] y) {
        shape = Shape (x)
        s = Gather (shape, one)
        square = Concat <axis = 0> (s, s)
        full = ConstantOfShape <value = float[1] {-1}> (square)
        mask = Trilu <upper = 1> (full, one_)
        turned = Transpose <perm = [0,2,1]> (x)
        scores = MatMul (x, turned)
        y = Add (scores, mask)
    }""",
    "cache": """(float[N,2,P,4] past, float[N,2,S,4] key, float[1,1,9,9] triangle) => (float[N,2,S,T] y) {
        present = Concat <axis = 2> (past, key)
        turned = Transpose <perm = [0,1,3,2]> (present)
        scores = MatMul (key, turned)
        total = Shape <start = 2, end = 3> (present)
        new = Shape <start = 2, end = 3> (key)
        old = Sub (total, new)
        rows = Slice (triangle, old, total, two, one)
        mask = Slice (rows, zero, total, three, one)
        seen = Cast <to = 9> (mask)
        y = Where (seen, scores, one_f)
    }""",
    "sizes_that_nobody_ties": """(float[N,A] x, float[N,B] y) => (float[N,C] z) {
        both = Add (x, y)
        again = Mul (both, x)
        less = ReduceMax <keepdims = 0> (again, zero)
        z = Sub (again, less)
    }""",
    "slices": """(float[N,M] x) => (float[A,B] y) {
        backwards = Slice (x, minus_one, far_back, one, minus_one)
        tail = Slice (x, minus_two, far, one)
        head = Slice (x, zero, minus_one, one)
        few = Slice (x, one, five, one, two)
        late = Slice (x, five, far, one)
        y = Concat <axis = 1> (backwards, tail, head, few, late)
    }""",
    "patches": """(float[N,3,H,W] x) => (float[N,P,C] y) {
        d = SpaceToDepth <blocksize = 2> (x)
        shape = Shape (d)
        n = Slice (shape, zero, one)
        c = Slice (shape, one, two)
        area = Slice (shape, two, four)
        p = ReduceProd <keepdims = 1> (area)
        flat = Concat <axis = 0> (n, c, p)
        r = Reshape (d, flat)
        y = Transpose <perm = [0,2,1]> (r)
        back = DepthToSpace <blocksize = 2, mode = "CRD"> (d)
    }""",
    "windows": """(float[N,H,W,3] x) => (float[A,2,2,3] y) {
        shape = Shape (x)
        h = Gather (shape, one)
        w = Gather (shape, two)
        n = Gather (shape, zero)
        hs = Div (h, two)
        ws = Div (w, two)
        three_ = Constant <value_ints = [3]> ()
        split = Concat <axis = 0> (n, hs, two, ws, two, three_)
        a = Reshape (x, split)
        b = Transpose <perm = [0,1,3,2,4,5]> (a)
        joined = Concat <axis = 0> (minus_one, two, two, three_)
        y = Reshape (b, joined)
    }""",
    "padding_to_a_multiple": """(float[N,M] x) => (float[N,A] y) {
        shape = Shape (x)
        m = Gather (shape, one)
        over = Mod (m, four)
        short = Sub (four, over)
        more = Mod (short, four)
        pads = Concat <axis = 0> (zero, zero, zero, more)
        padded = Pad (x, pads)
        split = Constant <value_ints = [0, -1, 4]> ()
        blocks = Reshape (padded, split)
        flat = Flatten <axis = 1> (blocks)
        y = Slice (flat, zero, m, one)
    }""",
    "scatter_into_a_shape": """(float[N,M] x) => (float[A,B,C] y) {
        base = Constant <value_ints = [1, 1, 1]> ()
        shape = Shape (x)
        places = Constant <value = int64[2,1] {1, 2}> ()
        wanted = ScatterND (base, places, shape)
        y = Expand (x, wanted)
        odd = Constant <value_ints = [3, 0, 5, 0]> ()
        found = NonZero (odd)
        spots = Squeeze (found, zero)
        kept = Gather (odd, spots)
        zeros = ConstantOfShape (kept)
    }""",
    "floats_that_become_sizes": """(float[N,M] x) => (float[N,A] y) {
        shape = Shape (x)
        m = Gather (shape, one)
        f = Cast <to = 1> (m)
        half = Constant <value_floats = [2.0]> ()
        doubled = Mul (f, half)
        floor = Floor (doubled)
        back = Cast <to = 7> (floor)
        n = Gather (shape, zero)
        wanted = Concat <axis = 0> (n, back)
        y = ConstantOfShape (wanted)
    }""",
    "splits": """(float[N,12] x) => (float[N,4] a) {
        a, b, c = Split <axis = 1> (x, quarters)
        d, e, f = Split <axis = 1, num_outputs = 3> (x)
        s = SplitToSequence <axis = 1> (x, four_)
        n = SequenceLength (s)
        first = SequenceAt (s, zero_)
        all = ConcatFromSequence <axis = 1> (s)
    }""",
    "products": """(float[N,S,4] x, float[4,6] w, float[2,S,6] k) => (float[N,S,6] y) {
        y = MatMul (x, w)
        e = Einsum <equation = "nsd,tsd->nt"> (y, k)
        f = Einsum <equation = "...ij->...ji"> (x)
        shape = Constant <value_ints = [-1, 4]> ()
        rows = Reshape (x, shape)
        g = Gemm <alpha = 0.5> (rows, w)
        h = CumSum (g, one_)
    }""",
    "normalizations": """(float[N,4,M] x, float[4] s, float[4] b) => (float[N,4,M] y) {
        i = InstanceNormalization (x, s, b)
        l, mean, inverse = LayerNormalization <axis = -2> (i, one_f)
        soft = Softmax <axis = 1> (l)
        n = LpNormalization <axis = 1> (soft)
        y = Dropout (n)
        q, scale, zero_point = DynamicQuantizeLinear (y)
        back = DequantizeLinear (q, scale, zero_point)
    }""",
    "found_in_the_data": """(float[N,M] x) => (int64[2,A] y) {
        y = NonZero (x)
        turned = Transpose (y)
        rows = GatherND (x, turned)
        u, first, inverse, count = Unique (x)
        tiled = Tile (x, pair)
    }""",
}  # fmt: skip

#: What every text may use: whole numbers in a list or (with a trailing _) alone, and a few others.
CONSTANTS = {
    **{name: np.array([value]) for value, name in enumerate(("zero", "one", "two", "three", "four", "five"))},
    **{f"{name}_": np.array(value) for value, name in ((0, "zero"), (1, "one"), (4, "four"), (5, "five"))},
    "minus_one": np.array([-1]),
    "minus_two": np.array([-2]),
    "far": np.array([2**63 - 1]),
    "far_back": np.array([-(2**63) + 1]),
    "one_f": np.array([1], np.float32),
    "values": np.array([0, 1], np.float32),
    "quarters": np.array([4, 6, 2]),
    "pair": np.array([1, 2]),
}

#: The sizes at which each model is run; a symbol that is not named is ANY of the run.
ANY = (1, 2, 6)
SIZES: Mapping[str, tuple[dict[str, int], ...]] = {
    "convolutions": ({"H": 9, "W": 3}, {"H": 16, "W": 8}, {"W": 31}),
    "small_detector": ({"H": 4, "W": 8}, {"H": 8, "W": 4}, {"H": 12, "W": 20}),
    "cache": ({"P": 0, "S": 4}, {"P": 3, "S": 1}, {"P": 3, "S": 5}),
    "sizes_that_nobody_ties": ({"A": 1, "B": 4}, {"A": 3, "B": 1}, {"A": 0, "B": 0}),
    "patches": ({"H": 2, "W": 4}, {"H": 6, "W": 2}, {"H": 8, "W": 8}),
    "windows": ({"H": 2, "W": 4}, {"H": 6, "W": 2}, {"H": 8, "W": 8}),
    "positions": ({"S": 3}, {"S": 1}, {"S": 8}),
    "normalizations": ({"M": 4}, {}, {}),
}

#: Values whose size depends on data.
DATA_DEPENDENT = {
    "found_in_the_data": {"y", "turned", "rows", "u", "first", "count"},
    "loop_of_unknown_length": {"last", "firsts"},
}


def from_text(text: str) -> onnx.ModelProto:
    """The model of a text, with those of the constants that it uses."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g {text}')
    for name, array in CONSTANTS.items():
        if re.search(rf"\b{name}\b", text):
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def models() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Every model by its name."""
    yield "attention_block", attention_block()
    yield "small_detector", small_detector()
    for name, text in TEXTS.items():
        yield name, from_text(text)


def input_shapes(model: onnx.ModelProto) -> dict[str, list[int | str]]:
    """The declared shapes of the inputs that are no initializers."""
    given = {tensor.name for tensor in model.graph.initializer}
    return {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in model.graph.input
        if value.name not in given
    }


def feeds(model: onnx.ModelProto, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """An array for each input at the given sizes."""
    rng = np.random.default_rng(0)
    result = {}
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    for name, dims in input_shapes(model).items():
        shape = [sizes[dim] if isinstance(dim, str) else dim for dim in dims]
        dtype = helper.tensor_dtype_to_np_dtype(types[name])
        result[name] = np.array(rng.integers(0 if dtype.kind == "f" else 1, 3, shape)).astype(dtype)
    return result


def session(model: onnx.ModelProto) -> Any:
    """ONNX Runtime with every value of the main graph as an output."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.graph.output[:]
    names = [name for node in whole.graph.node for name in node.output if name]
    whole.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(whole.SerializeToString(), options, ["CPUExecutionProvider"])


def difference(known: Any, real: Any, sizes: Mapping[str, int]) -> str | None:
    """What irlint says wrongly, or does not know, of one value: ``None`` where all is right."""
    if isinstance(real, list):
        return None if type(known).__name__ == "Sequence" else f"wrong: {known} for a sequence"
    if not isinstance(known, Tensor) or known.shape is None or known.dtype is None:
        return f"unknown: {known} for {real.dtype}{real.shape}"
    if (known.dtype, len(known.shape)) != (str(real.dtype), real.ndim):
        return f"wrong: {known} for {real.dtype}{real.shape}"
    open_names = {name for dim in known.shape if isinstance(dim, Expr) for name in symbols(dim)} - set(sizes)
    shape = [None if dim is None or symbols(dim) - set(sizes) else evaluated(dim, sizes) for dim in known.shape]
    if any(ours not in (None, theirs) for ours, theirs in zip(shape, real.shape)):
        return f"wrong: {known.shape} for {real.shape} at {sizes}"
    if open_names:
        return f"unknown: {known.shape} for {real.shape}"
    return contents_difference(known, real, sizes)


def contents_difference(known: Tensor, real: np.ndarray, sizes: Mapping[str, int]) -> str | None:
    """What irlint says wrongly of the contents of a value."""
    if known.value is None:
        return None
    for ours, theirs in zip(known.value, real.ravel().tolist()):
        if isinstance(ours, Expr) and symbols(ours) <= set(sizes):
            ours = evaluated(ours, sizes)
        if not isinstance(ours, Expr) and ours is not None and ours != pytest.approx(theirs):
            return f"wrong: contents {known.value} for {real.ravel().tolist()} at {sizes}"
    return None


@pytest.mark.parametrize(("name", "model"), [pytest.param(*each, id=each[0]) for each in models()])
def test_every_value_is_what_onnx_runtime_computes(name: str, model: onnx.ModelProto) -> None:
    parsed = parser.read(f"{name}.onnx", model.SerializeToString())
    known = inferred(parsed)
    assert parsed.graph is not None
    assert [problem.fault for problem in known.problems if problem.is_error] == []
    engine = session(model)
    types = {value.name: known.types.get(value) for node in parsed.graph.nodes for value in node.outputs if value}
    letters = {dim for dims in input_shapes(model).values() for dim in dims if isinstance(dim, str)}
    for size, chosen in zip(ANY, SIZES.get(name, ({}, {}, {}))):
        sizes = {**dict.fromkeys(letters, size), **chosen}
        values = engine.run(None, feeds(model, sizes))
        names = [output.name for output in engine.get_outputs()]
        found = {each: difference(types[each], value, sizes) for each, value in zip(names, values)}
        wrong = {each: text for each, text in found.items() if text is not None}
        unknown = {each for each, text in wrong.items() if text.startswith("unknown")}
        assert unknown == set(wrong), wrong
        assert unknown == DATA_DEPENDENT.get(name, set()), wrong
