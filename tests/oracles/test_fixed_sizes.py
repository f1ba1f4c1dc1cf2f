"""What `check` reports of dynamic sizes against what ONNX Runtime takes: each generated model runs with every
combination of small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest

import irlint

pytestmark = pytest.mark.oracle

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

#: Sizes from 1 to here, by the number of symbols.
LARGEST = {1: 40, 2: 13, 3: 9, 4: 6}

ENTRY = "{0} = Gather <axis = 0> (s, i{1}) "
INDICES = "".join(f"i{at} = Constant <value_ints = [{at}]> () " for at in range(4))


def models() -> Iterator[tuple[str, str]]:
    """Names and texts of models of every family, with sound models that look like them."""
    yield from reshaped()
    yield from together()
    yield from broadcast()
    yield from flattened()
    yield from harmless()
    yield from operators()
    yield from branches()


def reshaped() -> Iterator[tuple[str, str]]:
    """Features that are, or are not, a multiple of what a target computed from Shape needs."""
    shape = INDICES + "s = Shape (x) " + ENTRY.format("b", 0) + ENTRY.format("t", 1)
    for features, rows in itertools.product((6, 8, 9, 12), (4, 3, 5)):
        rest = f"r = Constant <value_ints = [-1, {rows}]> () "
        for order in ("b, t, r", "t, b, r", "b, r, t", "r, t, b"):
            text = f"g (float[B,T,{features}] x) => (float[P,Q,R,S] y) "
            yield (
                f"{features} features in {order} with {rows}",
                f"{text}{{ {shape}{rest}c = Concat <axis = 0> ({order}) y = Reshape (x, c) }}",
            )
        text = f"g (float[B,T,{features}] x) => (float[P,Q,R] y) "
        nodes = f"n = Mul (b, t) {rest}c = Concat <axis = 0> (n, r) y = Reshape (x, c) "
        yield f"{features} features in b*t rows with {rows}", f"{text}{{ {shape}{nodes}}}"
        nodes = f"{rest}c = Concat <axis = 0> (b, r) y = Reshape (x, c) "
        yield f"{features} features in b rows with {rows}", f"{text}{{ {shape}{nodes}}}"
        nodes = f"k = Constant <value_ints = [{rows}]> () c = Concat <axis = 0> (b, t, k) y = Reshape (x, c) "
        yield f"{features} features as {rows}", f"{text}{{ {shape}{nodes}}}"
        text = f"g (float[{4 * features}] x, float[B,2] z) => (float[P,Q,R] y) "
        nodes = f"s = Shape (z) {ENTRY.format('b', 0)}{rest}c = Concat <axis = 0> (b, r) y = Reshape (x, c) "
        yield f"{features} numbers in rows of another input with {rows}", f"{text}{{ {INDICES}{nodes}}}"


def together() -> Iterator[tuple[str, str]]:
    """Nodes each of which works for some sizes, and that may have none in common."""
    doubled = "r = Concat <axis = 0> (x, x) u = Concat <axis = 0> (x, x, x) "
    for one, other in ((6, 12), (6, 9), (2, 12), (5, 9), (4, 3), (2, 3)):
        text = f"g (float[N] x, float[{one}] a, float[{other}] b) => (float[P] y, float[Q] z) "
        yield f"doubled {one}, tripled {other}", f"{text}{{ {doubled}y = Sub (a, r) z = Sub (b, u) }}"
    for kernel, most in ((5, 4), (5, 5), (5, 7), (3, 2), (3, 3)):
        text = f"g (float[1,1,H] x, float[1,1,{kernel}] w, float[{most},2] p) => (float[1,1,P] y, float[Q,2] z) "
        nodes = (
            "y = Conv (x, w) s = Shape <start = 2> (x) n = Squeeze (s) o = Constant <value_int = 0> () e = Constant "
            "<value_int = 1> () "
        )
        yield f"kernel {kernel}, table {most}", f"{text}{{ {nodes}q = Range (o, n, e) z = Gather (p, q) }}"
    for one, other, third in ((3, 2, 6), (3, 2, 5), (1, 1, 2), (2, 2, 3)):
        text = f"g (float[N,3] a, float[M,3] b, float[{third},2] c, float[{one},1] d, float[{other},1] e) => "
        nodes = (
            "f = Concat <axis = 0> (a, b) y = Concat <axis = 1> (f, c) u = Concat <axis = 1> (a, d) v = Concat <axis "
            "= 1> (b, e) "
        )
        yield (
            f"a sum of {third} of {one} and {other}",
            f"{text}(float[P,5] y, float[Q,4] u, float[R,4] v) {{ {nodes}}}",
        )
    for total in (2, 5, 6):
        text = f"g (float[N,3] a, float[M,3] b, float[{total},2] c) => (float[P,5] y) "
        yield (
            f"a sum of {total}",
            f"{text}{{ e = Concat <axis = 0> (a, b) y = Concat <axis = 1> (e, c) }}",
        )
    text = "g (float[N,3] a, float[M,3] b) => (float[P,3] y, float[Q,6] z) "
    for nodes, name in (
        ("c = Concat <axis = 0> (a, a) y = Concat <axis = 0> (c, b) d = Concat <axis = 0> (b, b) ", "doubled"),
        ("c = Identity (a) y = Concat <axis = 0> (c, b) d = Identity (b) ", "once"),
    ):
        yield f"equal sizes, {name}", f"{text}{{ {nodes}z = Concat <axis = 1> (c, d) }}"
        more = "k = Concat <axis = 0> (c, a) z = Concat <axis = 1> (k, d) "
        yield f"one and a half, {name}", f"{text}{{ {nodes}{more}}}"
    text = "g (float[N,3] a, float[M,3] b) => (float[P,6] y, float[Q,6] z) "
    nodes = "c = Concat <axis = 0> (a, a) d = Concat <axis = 0> (b, a) y = Concat <axis = 1> (c, d) "
    yield "two equations", f"{text}{{ {nodes}e = Concat <axis = 0> (b, b) z = Concat <axis = 1> (e, c) }}"
    yield (
        "two equations against each other",
        f"{text}{{ {nodes}e = Concat <axis = 0> (b, b, b) z = Concat <axis = 1> (e, c) }}",
    )


def broadcast() -> Iterator[tuple[str, str]]:
    """Tables, masks and targets of a fixed size under dynamic axes."""
    for size, op in itertools.product((1, 2, 7), ("Add", "Sub", "Mul", "Div", "Min", "Max")):
        for table in (f"1,{size},4", f"{size},1", f"{size},4", f"1,{size},1"):
            yield (
                f"{op} of [{table}]",
                f"g (float[B,S,4] x, float[{table}] p) => (float[B,S,4] y) {{ y = {op} (x, p) }}",
            )
        yield (
            f"{op} of rows {size}",
            f"g (float[B,S,4] x, float[{size},1,4] p) => (float[B,S,4] y) {{ y = {op} (p, x) }}",
        )
    for size in (1, 3, 8):
        scores = "float[B,2,S,S] x"
        yield f"mask {size}", f"g ({scores}, float[1,1,{size},{size}] m) => (float[B,2,S,S] y) {{ y = Add (x, m) }}"
        yield f"mask row {size}", f"g ({scores}, float[1,1,1,{size}] m) => (float[B,2,S,S] y) {{ y = Add (x, m) }}"
        where = f"bool[1,1,{size},{size}] m, float[1] v) => (float[B,2,S,S] y) "
        yield f"where mask {size}", f"g ({scores}, {where}{{ y = Where (m, x, v) }}"
        yield f"where mask {size}, swapped", f"g ({scores}, {where}{{ y = Where (m, v, x) }}"
        yield (
            f"where of two masks {size}",
            f"g ({scores}, bool[1,1,S,S] m, float[{size},1] v) => (float[B,2,S,S] y) {{ y = Where (m, x, v) }}",
        )
        for target in (f"1,1,{size}", f"{size}", f"1,{size},1", f"5,{size},1"):
            count = target.count(",") + 1
            yield (
                f"expand to [{target}]",
                f"g (float[B,S,T] x) => (float[B,S,T] y) <int64[{count}] t = {{{target}}}> {{ y = Expand (x, t) }}",
            )
        text = f"g (float[B,S,4] x) => (float[B,S,4] y) <int64[3] t = {{1, {size}, 4}}> "
        yield f"reshape to {size} rows", f"{text.replace(f'1, {size}', f'4, {size}')}{{ y = Reshape (x, t) }}"
        yield (
            f"one batch of {size} rows",
            f"{text}{{ y = Reshape (x, t) }}".replace(f"1, {size}", f"1, {min(4 * size - 3, 12)}"),
        )
        yield (
            f"rows of {size}",
            f"{text.replace('S,4] y', 'S,8] y')}{{ c = ConstantOfShape (t) y = Concat <axis = 2> (x, c) }}",
        )
        text = f"g (float[B,S,4] x) => (float[B,S,4] y) <int64[2] t = {{{size}, 2}}> "
        yield f"split into {size} and 2", f"{text}{{ u, v = Split <axis = 1> (x, t) y = Concat <axis = 1> (v, u) }}"
        yield (
            f"two tables of {size}",
            f"g (float[S,4] x, float[T,4] z, float[{size},4] p) => (float[S,4] y, float[T,4] w) "
            "{ y = Add (x, p) u = Concat <axis = 1> (x, z) w = Relu (z) }",
        )
        slices = "float[10,4] p) => (float[B,S,4] y) <int64[1] z = {0}, int64[1] o = {1}> "
        cut = "s = Shape (x) e = Gather <axis = 0> (s, o) q = Slice (p, z, e, z) y = Add (x, q) "
        yield f"a table cut to the input, {size}", f"g (float[B,S,4] x, float[{size},1,1] u, {slices}{{ {cut}}}"
        yield (
            f"twice the size, {size}",
            (
                f"g (float[S,4] x, float[{2 * size},4] p) => (float[P,4] y) {{ r = Concat <axis = 0> (x, x) y = Add "
                "(r, p) }"
            ),
        )
        yield (
            f"class token, {size}",
            (
                f"g (float[1,S,4] x, float[1,1,4] k, float[1,{size + 2},4] p) => (float[1,P,4] y) "
                "{ t = Concat <axis = 1> (k, x) y = Add (t, p) }"
            ),
        )


def flattened() -> Iterator[tuple[str, str]]:
    """Images that a layer takes at once, and such that are pooled, cut or padded before."""
    for size in (4, 6, 12, 8):
        head = f"g (float[B,2,H,W] x, float[{2 * size},3] w) => (float[B,3] y) "
        yield f"flat {size}", f"{head}{{ f = Flatten (x) y = MatMul (f, w) }}"
        yield f"flat by 0, -1 {size}", f"{head}<int64[2] t = {{0, -1}}> {{ f = Reshape (x, t) y = MatMul (f, w) }}"
        yield (
            f"flat by -1 {size}",
            f"{head}<int64[2] t = {{-1, {2 * size}}}> {{ f = Reshape (x, t) y = MatMul (f, w) }}",
        )
        yield f"flat by 1 {size}", f"{head}<int64[2] t = {{1, {2 * size}}}> {{ f = Reshape (x, t) y = MatMul (f, w) }}"
        gemm = (
            f"g (float[B,2,H,W] x, float[3,{2 * size}] w) => (float[B,3] y) {{ f = Flatten (x) y = Gemm <transB = 1> "
            "(f, w) }"
        )
        yield f"flat gemm {size}", gemm
        one = f"g (float[B,2,H,3] x, float[{6 * size},3] w) => (float[B,3] y) {{ f = Flatten (x) y = MatMul (f, w) }}"
        yield f"flat of one axis {size}", one
        square = (
            f"g (float[B,2,H,H] x, float[{2 * size},3] w) => (float[B,3] y) {{ f = Flatten (x) y = MatMul (f, w) }}"
        )
        yield f"flat square {size}", square
        pooled = (
            f"{head}{{ p = GlobalAveragePool (x) f = Flatten (p) v = Gather <axis = 0> (w, i) y = MatMul (f, v) i = "
            "Constant <value_ints = [0, 1]> () }"
        )
        yield f"pooled {size}", pooled.replace(f"float[{2 * size},3] w", f"float[{size},3] w")
        yield (
            f"flat bias {size}",
            (
                f"g (float[B,H,W] x, float[{size}] c) => (float[B,Q] y) <int64[2] t = {{0, -1}}> "
                "{ f = Reshape (x, t) y = Add (f, c) }"
            ),
        )
        yield (
            f"valid convolution {size}",
            (
                f"g (float[B,1,H,W] x, float[1,1,2,2] k, float[{size},3] w) => (float[B,3] y) "
                "{ c = Conv (x, k) f = Flatten (c) y = MatMul (f, w) }"
            ),
        )
        yield (
            f"tokens {size}",
            (
                f"g (float[B,4,H,W] x, float[1,{size},4] p) => (float[B,Q,4] y) <int64[3] t = {{0, 0, -1}}> "
                "{ r = Reshape (x, t) q = Transpose <perm = [0, 2, 1]> (r) y = Add (q, p) }"
            ),
        )


def operators() -> Iterator[tuple[str, str]]:
    """Operators whose weights, states and parts have a fixed size."""
    rows = {
        "PRelu": "(float[B,S,4] x, float[{0},1] w) => (float[P,Q,4] y) {{ y = PRelu (x, w) }}",
        "PRelu of one": "(float[B,6,4] x, float[S,1] w, float[{0},1,1] v) => (float[P,6,4] y) {{ r = PRelu (x, w) y = "
        "Add (r, v) }}",
        "LayerNormalization": "(float[B,4,S] x, float[{0}] w) => (float[P,4,Q] y) {{ y = LayerNormalization (x, w) }}",
        "InstanceNormalization": "(float[B,C,4] x, float[{0}] w) => (float[P,Q,4] y) {{ y = InstanceNormalization (x, "
        "w, w) }}",
        "BatchNormalization": "(float[B,C,4] x, float[{0}] w) => (float[P,Q,4] y) {{ y = BatchNormalization (x, w, w, "
        "w, w) }}",
        "Conv": "(float[B,C,H] x, float[2,{0},1] w) => (float[P,2,Q] y) {{ y = Conv (x, w) }}",
        "grouped Conv": "(float[B,C,8] x, float[4,{0},1] w) => (float[P,4,Q] y) {{ y = Conv <group = 2> (x, w) }}",
        "GRU": "(float[S,B,3] x, float[1,6,3] w, float[1,6,2] r, float[1,{0},2] h) => (float[P,1,Q,2] y) {{ y, z = GRU "
        "<hidden_size = 2> (x, w, r, , , h) }}",
        "Einsum": '(float[B,S] x, float[{0},4] w) => (float[P,4] y) {{ y = Einsum <equation = "bs,sk->bk"> (x, w) }}',
        "Sum": "(float[B,S] x, float[{0}] w, float[{0},1] v) => (float[P,Q] y) {{ y = Sum (x, w, v) }}",
        "Squeeze": "(float[B,S,{0}] x) => (float[P,Q] y) <int64[1] a = {{0}}> {{ y = Squeeze (x, a) }}",
        "Split": "(float[B,S] x) => (float[P,Q] y, float[R,T] z) <int64[2] t = {{{0}, 2}}> {{ y, z = Split (x, t) }}",
        "Split in halves": "(float[B,{0}] x) => (float[P,Q] y, float[R,T] z) {{ y, z = Split <axis = 0> (x) }}",
        "Tile": "(float[B,2] x, float[{0},4] w) => (float[P,4] y) <int64[2] t = {{1, 2}}> {{ r = Tile (x, t) y = Add "
        "(r, w) }}",
        "Pad": "(float[B,S] x, float[{0},1] w) => (float[P,Q] y) <int64[4] t = {{1, 0, 0, 0}}> {{ r = Pad (x, t) y = "
        "Mul (r, w) }}",
        "Slice": "(float[B,S] x, float[{0},1] w) => (float[P,Q] y) <int64[1] a = {{0}}, int64[1] b = {{1}}, int64[1] e "
        "= {{9}}> {{ r = Slice (x, b, e, a) y = Mul (r, w) }}",
        "Resize": "(float[1,1,H] x, float[1,1,{0}] w) => (float[1,1,P] y) <float[3] f = {{1, 1, 2}}> {{ r = Resize "
        '<mode = "nearest"> (x, , f) y = Sub (r, w) }}',
        "linear Resize": "(float[N,2,H,W] x) => (float[P,2,2,4] y) <int64[4] s = {{{0}, 2, 2, 4}}> {{ y = Resize <mode "
        '= "linear"> (x, , , s) }}',
        "cubic Resize": "(float[N,2,1,1] x) => (float[P,2,2,4] y) <int64[4] s = {{{0}, 2, 2, 4}}> {{ y = Resize <mode "
        '= "cubic"> (x, , , s) }}',
        "linear Resize of channels": "(float[1,{0},H,W] x) => (float[1,4,3,4] y) <int64[4] s = {{1, 4, 3, 4}}> {{ y = "
        'Resize <mode = "linear"> (x, , , s) }}',
        "linear Resize to its own batch": "(float[N,2,H,W] x) => (float[N,2,Q,R] y) {{ t = Shape <end = 2> (x) k = "
        'Constant <value_ints = [{0}, 4]> () s = Concat <axis = 0> (t, k) y = Resize <mode = "linear"> (x, , , '
        "s) }}",
        "Transpose": "(float[B,S] x, float[{0},1] w) => (float[P,Q] y) {{ r = Transpose (x) y = Mul (r, w) }}",
        "two of them": "(float[B,S] x, float[B,T] z, float[{0},1] w) => (float[P,Q] y, float[R,U] v) {{ y = Mul (x, w) "
        "v = Concat <axis = 1> (x, z) }}",
        "MatMul of stacks": "(float[B,2,3] x, float[{0},3,4] w) => (float[P,2,4] y) {{ y = MatMul (x, w) }}",
        "Gemm": "(float[B,S] x, float[4,{0}] w, float[{0},4] c) => (float[P,4] y) {{ "
        "y = Gemm <transB = 1> (x, w, c) }}",
        "DepthToSpace": "(float[1,C,2,2] x, float[{0},1,1] w) => (float[1,Q,4,4] y) {{ r = DepthToSpace <blocksize = "
        "2> (x) y = Add (r, w) }}",
        "ScatterElements": "(float[B,3] x, float[{0},3] w) => (float[P,3] y) {{ y = Add (w, x) }}",
        "ReduceSum": "(float[B,S,4] x, float[{0}] w) => (float[P,Q] y) <int64[1] a = {{2}}> {{ r = ReduceSum <keepdims "
        "= 0> (x, a) y = Sub (r, w) }}",
    }
    for (name, text), size in itertools.product(rows.items(), (1, 2, 3, 6)):
        yield f"{name}, {size}", "g " + text.format(size)


def harmless() -> Iterator[tuple[str, str]]:
    """Divisors, bounds, sums and sizes that have to be equal."""
    for number in (3, 4, 5):
        yield (
            f"divisor {number}",
            f"g (float[H,3] x) => (float[P,{3 * number}] y) <int64[2] s = {{-1, {3 * number}}}> {{ y = Reshape (x, s) "
            "}",
        )
        yield (
            f"depth {number}",
            f"g (float[1,2,H,W] x) => (float[1,P,Q,R] y) {{ y = SpaceToDepth <blocksize = {number}> (x) }}",
        )
        yield (
            f"at least {number}",
            f"g (float[1,1,H] x, float[1,1,{number}] w) => (float[1,1,P] y) {{ y = Conv (x, w) }}",
        )
        nodes = (
            "s = Shape <start = 1> (x) n = Squeeze (s) z = Constant <value_int = 0> () o = Constant <value_int = 1> "
            "() r = Range (z, n, o) y = Gather (p, r) "
        )
        yield f"at most {number}", f"g (float[2,S] x, float[{number},4] p) => (float[S,4] y) {{ {nodes}}}"
        yield (
            f"a state of {number}",
            (
                f"g (float[N,{number}] x, float[M,{number}] z) => (float[P,{number}] y) {{ y = Concat <axis = 0> (x, "
                "z) }"
            ),
        )
        yield (
            f"equal, {number}",
            f"g (float[N,{number}] x, float[M,{number}] z) => (float[N,Q] y) {{ y = Concat <axis = 1> (x, z) }}",
        )
        yield (
            f"summed, {number}",
            f"g (float[N,M] x, float[K,{number}] z) => (float[N,{number}] y) {{ y = MatMul (x, z) }}",
        )


def branches() -> Iterator[tuple[str, str]]:
    """What both branches of an If need, one of them, or none."""
    head = "g (bool c, float[N,3] x, float[4,3] a, float[5,3] b) => (float[P,Q] y) { y = If (c) "
    bodies = {
        "a": "{0} = Sub (x, a)",
        "a too": "{0} = Mul (a, x)",
        "b": "{0} = Add (x, b)",
        "joined with a": "{0} = Concat <axis = 1> (x, a)",
        "joined with b": "{0} = Concat <axis = 1> (x, b)",
        "none": "{0} = Relu (x)",
        "rows": "r = Constant <value_ints = [-1, 2]> () {0} = Reshape (x, r)",
        "impossible": "s = Shape <end = 1> (x) k = Constant <value_ints = [-1, 2]> () r = Concat <axis = 0> (s, k) {0} "
        "= Reshape (x, r)",
    }
    for (one, then), (other, otherwise) in itertools.product(bodies.items(), repeat=2):
        branch = (
            f"<then_branch = t () => (u) {{ {then.format('u')} }}, else_branch = e () => (v) {{ "
            f"{otherwise.format('v')} }}> }}"
        )
        yield f"if {one}, else {other}", head + branch


MODELS = dict(models())


@pytest.mark.parametrize("name", MODELS)
def test_check_reports_what_the_sizes_show(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + MODELS[name]).SerializeToString())
    names, working = works(path)
    # ONNX Runtime compares no axes that have one name: with other sizes for each of them such a model runs.
    found = reported(path, none="warning" if "flat square" in name else "error")
    assert found == expected(names, working, -1 if "valid convolution" in name else 0)


def works(path: Path) -> tuple[list[str], dict[tuple[int, ...], list[tuple[int, ...]]]]:
    """The symbols of the inputs, and the shapes of the outputs for each combination of sizes that runs, with one
    condition at least."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    names = list(dict.fromkeys(dim for each in inputs for dim in each.shape if isinstance(dim, str)))
    chosen = [taken for taken in (True, False) if any(each.shape == [] for each in inputs) or taken]
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for sizes in itertools.product(range(1, LARGEST[len(names)] + 1), repeat=len(names)):
        known = dict(zip(names, sizes))
        for taken in chosen:
            try:
                found[sizes] = [each.shape for each in session.run(None, _feeds(inputs, known, taken))]
            except Exception:
                continue
    return names, found


def _feeds(inputs: list[Any], sizes: dict[str, int], taken: bool) -> dict[str, Any]:
    feeds = {}
    for each in inputs:
        shape = [sizes.get(dim, dim) for dim in each.shape]
        is_bool = each.type == "tensor(bool)"
        feeds[each.name] = np.full(shape, taken) if is_bool else np.ones(shape, np.float32)
    return feeds


def expected(names: list[str], working: dict[tuple[int, ...], list[tuple[int, ...]]], shift: int = 0) -> set[str]:
    """``none`` where no sizes run; else each symbol that has one size, or one beside 1, and symbols whose product is
    fixed, each with a ``shift``."""
    if not working:
        return {"none"}
    alone: set[str] = set()
    for at, name in enumerate(names):
        sizes = {each[at] for each in working}
        if len(sizes) == 1 or (len(sizes) == 2 and min(sizes) == 1):
            alone.add(name)
    rest = [at for at, name in enumerate(names) if name not in alone]
    for count in range(2, len(rest) + 1):
        for some in itertools.combinations(rest, count):
            products = {prod(each[at] + shift for at in some) for each in working}
            if len(products) == 1 or (len(products) == 2 and min(products) == 1):
                return {*alone, "*".join(sorted(names[at] for at in some))}
    return alone


def reported(path: Path, *, none: str = "error") -> set[str]:
    """The same by what `check` reports, with the severities that it must have, ``none`` where no sizes run."""
    found = set()
    for each in irlint.check(path).findings:
        if each.rule.code == "IRL609":
            assert each.severity.value == none
            found.add("none")
        elif each.rule.code == "IRL608":
            assert each.severity.value == "warning"
            dynamic = each.message.partition(" dynamic, ")[0]
            found.add(
                "*".join(sorted(dynamic.split("`")[1:-1:2][: dynamic.count("` and `") + 1 + dynamic.count("`, `")]))
            )
        elif each.severity.value == "error":
            found.add("none")
    return {"none"} if "none" in found else found


@pytest.mark.parametrize("name", MODELS)
def test_an_output_that_never_has_the_size_of_an_input(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    model = onnx.parser.parse_model(HEAD + MODELS[name])
    path.write_bytes(model.SerializeToString())
    names, working = works(path)
    findings = irlint.check(path).findings
    fixed = {
        dim
        for each in findings
        if each.rule.code == "IRL608"
        for dim in each.message.partition(" of `")[0].split("`")[1::2]
    }
    for at, output in enumerate(model.graph.output if working else ()):
        dims = [dim.dim_param for dim in output.type.tensor_type.shape.dim]
        wrong = {
            dim for axis, dim in enumerate(dims) if dim in names and _is_constant(working, names.index(dim), at, axis)
        }
        reports = [each for each in findings if each.rule.code == "IRL601" and each.value == output.name]
        assert bool(reports) >= bool(wrong)
        assert all(each.because for each in reports if wrong & fixed)
        if reports and not wrong:
            # The one size that works is the one that the output has.
            assert all(len({each[names.index(dim)] for each in working}) == 1 for dim in dims if dim in fixed)
            assert fixed & set(dims)


def _is_constant(working: dict[tuple[int, ...], list[tuple[int, ...]]], symbol: int, output: int, axis: int) -> bool:
    """Whether an axis of an output has one size, whatever a symbol is."""
    sizes = {shapes[output][axis] for shapes in working.values()}
    return len(sizes) == 1 and len({each[symbol] for each in working}) > 1
