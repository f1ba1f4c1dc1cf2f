"""Models with open sizes, and what each demands of them: conditions, with the branch behind ``if`` where only one
demands it."""

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

#: A model of x, of whose size it computes k; its last node fails where a has not k rows. Both get one more: ONNX
#: Runtime joins what has no elements to anything.
_SIZED = "g (float[H,1] x) => (y) "
_BESIDE = (
    "one = Concat <axis = 0> (o, o) row = ConstantOfShape (one) left = Concat <axis = 0> (a, row) rows = Add (k, o) "
    "s = Concat <axis = 0> (rows, o) right = ConstantOfShape (s) y = Concat <axis = 1> (left, right) }"
)

MODELS = {
    "frozen batch": (
        "g (float[batch,16,8] x) => (y) <int64[2] s = {1, 128}> { y = Reshape (x, s) }",
        ["batch == 1"],
    ),
    "one or a range": (
        "g (float[1,1,H] x, float[1,1,8] w, float[1,1,8] p) => (y) { a = Conv <strides = [8]> (x, w) y = Add (a, p) }",
        ["H in (8, 9, 10, 11, 12, 13, 14, 15) or 64 <= H <= 71"],
    ),
    "free batch": ("g (float[batch,16,8] x) => (y) <int64[2] s = {-1, 128}> { y = Reshape (x, s) }", []),
    "position table": (
        "g (float[N,S,4] x, float[1,7,4] p) => (y) { y = Add (x, p) }",
        ["S in (1, 7)"],
    ),
    "two strides": (
        "g (float[1,1,H] x, float[1,1,1] w) => (y) { a = Conv <strides = [2]> (x, w) b = Conv <strides = [2]> (a, w) "
        "c = Conv <strides = [4], kernel_shape = [1], pads = [0, 1]> (x, w) y = Concat <axis = 1> (b, c) }",
        ["H % 4 != 0"],
    ),
    "flattened": (
        "g (float[1,1,H] x, float[1,1,3] w, float[9,2] m) => (z) <int64[2] s = {1, 9}> "
        "{ y = Conv <strides = [4]> (x, w) r = Reshape (y, s) z = MatMul (r, m) }",
        ["35 <= H <= 38"],
    ),
    "window": ("g (float[1,1,H] x, float[1,1,7] w) => (y) { y = Conv (x, w) }", ["H >= 7"]),
    "halves": ("g (float[H,2] x) => (y) <int64[2] s = {2, -1}> { a = Reshape (x, s) y = Relu (a) }", []),
    "multiple": ("g (float[H,3] x) => (y) <int64[2] s = {-1, 4}> { y = Reshape (x, s) }", ["H % 4 == 0"]),
    "same": ("g (float[N,3] x, float[3,M] a, float[M,K] b) => (y) { c = MatMul (x, a) y = MatMul (c, b) }", []),
    "equal": ("g (float[N,3] x, float[M,K] b) => (y) { y = MatMul (x, b) }", ["M == 3"]),
    "concatenated": ("g (float[N,3] x, float[M,3] b) => (y) { y = Concat <axis = 1> (x, b) }", ["N == M"]),
    "broadcast": ("g (float[N,3] x, float[M,3] b) => (y) { y = Add (x, b) }", ["N == M or N == 1 or M == 1"]),
    "twice equal": (
        "g (float[N,3] x, float[M,3] b, float[5,3] c) => (y) { a = Concat <axis = 1> (x, b) d = Concat <axis = 1> (a, "
        "c) y = Relu (d) }",
        ["N == M", "N == 5"],
    ),
    "squeezed": ("g (float[N,3] x) => (y) <int64[1] a = {0}> { y = Squeeze (x, a) }", ["N == 1"]),
    "split": ("g (float[N,3] x) => (y, z) <int64[2] s = {2, 3}> { y, z = Split <axis = 0> (x, s) }", ["N == 5"]),
    "cancelled": (
        "g (float[B,S,8] x) => (y) { s = Shape (x) b = Constant <value_ints = [4, 8]> () i = Constant <value_ints = "
        "[0]> () "
        "f = Gather <axis = 0> (s, i) t = Concat <axis = 0> (f, b) y = Reshape (x, t) }",
        ["S == 4"],
    ),
    "branch": (
        "g (bool c, float[N,3] x, float[4,3] a, float[5,3] b) => (y) { y = If (c) <then_branch = t () => (float[P,3] "
        "u) { u = Sub (x, a) }, "
        "else_branch = e () => (float[P,3] v) { v = Sub (x, b) }> }",
        ["N in (1, 4) if y/then_branch", "N in (1, 5) if y/else_branch"],
    ),
    "branches alike": (
        "g (bool c, float[N,3] x, float[4,3] a) => (y) { y = If (c) <then_branch = t () => (float[P,3] u) { u = Sub "
        "(x, a) }, "
        "else_branch = e () => (float[P,3] v) { v = Mul (a, x) }> }",
        ["N in (1, 4)"],
    ),
    "branches of which one needs more": (
        "g (bool c, float[N,3] x, float[4,3] a) => (y) { y = If (c) <then_branch = t () => (float[P,3] u) { u = Sub "
        "(x, a) }, "
        "else_branch = e () => (float[P,6] v) { v = Concat <axis = 1> (x, a) }> }",
        ["N in (1, 4)", "N == 4 if y/else_branch"],
    ),
    "divisors": (
        "g (float[48] x, float[B,2] z) => (y) { s = Shape <end = 1> (z) r = Constant <value_ints = [-1, 4]> () t = "
        "Concat <axis = 0> (s, r) "
        "y = Reshape (x, t) }",
        ["B in (1, 2, 3, 4, 6, 12)"],
    ),
    "sizes less than they look": (
        "g (float[N,3] a, float[M,3] b, float[K,3] c) => (y) { d = Concat <axis = 0> (a, b) e = Concat <axis = 0> (a, "
        "c) "
        "y = Concat <axis = 1> (d, e) }",
        ["M == K"],
    ),
    "class token": (
        "g (float[N,S,4] x, float[N,1,4] cls, float[1,7,4] pos) => (y) { t = Concat <axis = 1> (cls, x) y = Add (t, "
        "pos) }",
        ["S == 6"],
    ),
    "class token expanded": (
        "g (float[N,S,4] x) => (y) <float[1,1,4] cls = {1,2,3,4}, float[1,7,4] pos = "
        "{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}, int64[3] one = {-1,-1,-1}, int64[1] z = {0}, "
        "int64[2] o = {-1,-1}> { s = Shape (x) b = Slice (s, z, e) e = Constant <value_ints = [1]> () t0 = "
        "Concat <axis = 0> (b, o) ones = Abs (t0) sh = Concat <axis = 0> (b, rest) rest = Constant <value_ints = "
        "[1, 4]> () c = Expand (cls, sh) t = Concat <axis = 1> (c, x) y = Add (t, pos) }",
        ["S == 6"],
    ),
    "mask": (
        "g (float[N,S,4] x, float[N,T] m) => (y) { a = Transpose <perm = [0, 2, 1]> (x) q = MatMul (x, a) u = "
        "Unsqueeze (m, ax) ax = Constant <value_ints = [1]> () y = Add (q, u) }",
        ["S == T or S == 1 or T == 1"],
    ),
    "fixed mask": (
        "g (float[N,S,4] x, float[1,6,6] m) => (y) { a = Transpose <perm = [0, 2, 1]> (x) q = MatMul (x, a) y = Add "
        "(q, m) }",
        ["S in (1, 6)"],
    ),
    "where": (
        "g (bool[N,S] c, float[N,T] x, float[1,4] z) => (y) { y = Where (c, x, z) }",
        ["S in (1, 4)", "T in (1, 4)"],
    ),
    "constant of shape": (
        "g (float[N,S,4] x) => (y) <int64[3] s = {1, 6, 4}> { c = ConstantOfShape (s) y = Concat <axis = 2> (x, c) }",
        ["N == 1", "S == 6"],
    ),
    "constant of its shape": (
        "g (float[N,S] x, float[N,T] b) => (y) { s = Shape (b) c = ConstantOfShape (s) y = Add (x, c) }",
        ["S == T or S == 1 or T == 1"],
    ),
    "expand": (
        "g (float[N,3] x) => (y) <int64[2] s = {4, 3}> { y = Expand (x, s) }",
        ["N in (1, 4)"],
    ),
    "expand by shape": (
        "g (float[N,3] x, float[M,3] b) => (y) { s = Shape (b) y = Expand (x, s) }",
        ["N == M or N == 1 or M == 1"],
    ),
    "split even": (
        "g (float[N,3] x) => (y, z) { y, z = Split <axis = 0> (x) }",
        ["N % 2 == 0"],
    ),
    "split last smaller": (
        "g (float[N,3] x) => (y) { a, b = Split <axis = 0> (x) y = Add (a, b) }",
        ["N % 2 == 0"],
    ),
    "squeeze none": (
        "g (float[N,3,1] x) => (y) { a = Squeeze (x) y = Relu (a) }",
        [],
    ),
    "resize twice": (
        'g (float[1,1,H,4] x, float[1,1,M,4] b) => (y) <float[4] s = {1, 1, 2, 1}> { r = Resize <mode = "nearest"> (x, '
        ", s) y = Concat <axis = 1> (r, b) }",
        ["2*H == M"],
    ),
    "resize half": (
        'g (float[1,1,H,4] x, float[1,1,M,4] b) => (y) <float[4] s = {1, 1, 0.5, 1}> { r = Resize <mode = "nearest"> '
        "(x, , s) y = Add (r, b) }",
        ["H//2 == M or H//2 == 1 or M == 1"],
    ),
    "unet": (
        "g (float[1,1,H] x, float[1,1,2] w) => (y) { d = Conv <strides = [2]> (x, w) u = ConvTranspose <strides = [2]> "
        "(d, w) y = Concat <axis = 1> (u, x) }",
        ["H % 2 == 0"],
    ),
    "unet padded": (
        "g (float[1,1,H] x, float[1,1,3] w, float[1,1,2] v) => (y) { d = Conv <strides = [2], pads = [1, 1]> (x, w) e "
        "= Conv <strides = [2], pads = [1, 1]> (d, w) u = ConvTranspose <strides = [2]> (e, v) y = Concat <axis "
        "= 1> (u, d) }",
        ["H % 4 in (0, 3)"],
    ),
    "unet pools": (
        "g (float[1,1,H,4] x) => (y) <float[4] s = {1, 1, 4, 1}> { d = MaxPool <kernel_shape = [2, 1], strides = [2, "
        '1]> (x) e = MaxPool <kernel_shape = [2, 1], strides = [2, 1]> (d) u = Resize <mode = "nearest"> (e, , '
        "s) y = Concat <axis = 1> (u, x) }",
        ["H % 4 == 0"],
    ),
    "gru state": (
        "g (float[S,B,3] x, float[1,6,3] w, float[1,6,2] r, float[1,4,2] h) => (y) { y, yh = GRU <hidden_size = 2> (x, "
        "w, r, , , h) }",
        ["B == 4"],
    ),
    "lstm states": (
        "g (float[S,B,3] x, float[1,8,3] w, float[1,8,2] r, float[1,C,2] h, float[1,D,2] c) => (y) { y, yh, yc = LSTM "
        "<hidden_size = 2> (x, w, r, , , h, c) }",
        ["B == C", "B == D"],
    ),
    "rnn seq": (
        "g (float[S,B,3] x, float[1,2,3] w, float[1,2,2] r) => (y) <int32[3] n = {1, 1, 1}> { y = RNN <hidden_size = "
        "2> (x, w, r, , n) }",
        ["B == 3"],
    ),
    "three": (
        "g (float[N,3] x, float[M,3] a, float[K,3] b) => (y) { c = Add (x, a) y = Add (c, b) }",
        ["N == M or N == 1 or M == 1", "max(M, N) == K or max(M, N) == 1 or K == 1"],
    ),
    "three in where": (
        "g (bool[N] c, float[M] x, float[K] z) => (y) { y = Where (c, x, z) }",
        ["N == M or N == 1 or M == 1", "N == K or N == 1 or K == 1", "M == K or M == 1 or K == 1"],
    ),
    "sum of three": (
        "g (float[N] a, float[M] b, float[K] c) => (y) { y = Sum (a, b, c) }",
        ["N == M or N == 1 or M == 1", "N == K or N == 1 or K == 1", "M == K or M == 1 or K == 1"],
    ),
    "pool": (
        "g (float[1,1,H] x) => (y) { y = MaxPool <kernel_shape = [5]> (x) }",
        ["H >= 4"],
    ),
    "pool stride": (
        "g (float[1,1,H] x) => (y) { y = AveragePool <kernel_shape = [5], strides = [2]> (x) }",
        ["H >= 2"],
    ),
    "pool ceil": (
        "g (float[1,1,H] x) => (y) { y = MaxPool <kernel_shape = [5], strides = [2], ceil_mode = 1> (x) }",
        ["H >= 2"],
    ),
    "pool conv": (
        "g (float[1,1,H] x, float[1,1,3] w) => (y) { p = MaxPool <kernel_shape = [3], strides = [2]> (x) y = Conv (p, "
        "w) }",
        ["H >= 7"],
    ),
    "pools": (
        "g (float[1,1,H] x) => (y) { a = MaxPool <kernel_shape = [2], strides = [2]> (x) b = AveragePool <kernel_shape "
        "= [2], strides = [2]> (a) y = LpPool <kernel_shape = [2], strides = [2]> (b) }",
        [],
    ),
    "pools wide": (
        "g (float[1,1,H] x) => (y) { a = MaxPool <kernel_shape = [3], strides = [2]> (x) b = MaxPool <kernel_shape = "
        "[3], strides = [2]> (a) y = MaxPool <kernel_shape = [3], strides = [2]> (b) }",
        ["H >= 5"],
    ),
    "pools wider": (
        "g (float[1,1,H] x) => (y) { a = MaxPool <kernel_shape = [7], strides = [3]> (x) y = AveragePool <kernel_shape "
        "= [5], strides = [2]> (a) }",
        ["H >= 10"],
    ),
    "pool of a slice": (
        "g (float[1,1,H] x) => (y) <int64[1] one = {1}, int64[1] last = {99}, int64[1] axis = {2}> { s = Slice (x, "
        "one, last, axis) y = MaxPool <kernel_shape = [2], strides = [2]> (s) }",
        ["H >= 2"],
    ),
    "convs and pools": (
        "g (float[1,1,H] x, float[1,1,3] w) => (y) { a = Conv (x, w) b = MaxPool <kernel_shape = [2], strides = [2]> "
        "(a) c = Conv (b, w) y = MaxPool <kernel_shape = [3], strides = [2]> (c) }",
        ["H >= 8"],
    ),
    "pool resized": (
        "g (float[1,1,H] x) => (y) { p = MaxPool <kernel_shape = [4], strides = [4]> (x) z = Shape (x) u = Resize "
        '<mode = "nearest"> (p, , , z) y = Concat <axis = 1> (u, x) }',
        [],
    ),
    "pool strided conv": (
        "g (float[1,1,H] x, float[1,1,3] w) => (y) { p = MaxPool <kernel_shape = [2], strides = [2]> (x) c = Conv "
        "<strides = [2], pads = [1, 1]> (p, w) y = Add (c, p) }",
        ["H <= 5"],
    ),
    "pool flat by shape": (
        "g (float[1,1,H,W] x, float[16,3] m) => (y) <int64[1] h = {2}, int64[1] w = {3}, int64[1] two = {2}> { s = "
        "Shape (x) a = Gather (s, h) b = Gather (s, w) c = Div (a, two) d = Div (b, two) n = Mul (c, d) p = "
        "MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) f = Reshape (p, n) y = MatMul (f, m) }",
        ["(H//2)*(W//2) == 16"],
    ),
    "pool flat": (
        "g (float[N,2,H] x, float[8,5] w) => (y) { p = MaxPool <kernel_shape = [2], strides = [2]> (x) f = Flatten (p) "
        "y = MatMul (f, w) }",
        ["H in (8, 9)"],
    ),
    "conv transpose shape": (
        "g (float[1,1,H] x, float[1,1,3] w) => (y) { y = ConvTranspose <strides = [2], output_shape = [9]> (x, w) }",
        ["H >= 4"],
    ),
    "pad reflect": (
        'g (float[1,1,H] x) => (y) <int64[6] p = {0, 0, 3, 0, 0, 2}> { y = Pad <mode = "reflect"> (x, p) }',
        ["H >= 4"],
    ),
    "negative pad": (
        "g (float[1,1,H] x) => (y) <int64[6] p = {0, 0, -3, 0, 0, -2}> { y = Pad (x, p) }",
        ["H >= 5"],
    ),
    "depth": (
        "g (float[1,4,H,W] x) => (y) { y = SpaceToDepth <blocksize = 2> (x) }",
        ["H % 2 == 0", "W % 2 == 0"],
    ),
    "heads": (
        "g (float[B,S,C] x) => (y) <int64[4] s = {0, 0, 3, 4}> { y = Reshape (x, s) }",
        ["C == 12"],
    ),
    "windows": (
        "g (float[1,H,W,2] x) => (y) <int64[6] s = {1, -1, 4, 2, 2, 2}> { y = Reshape (x, s) }",
        ["(H*W) % 16 == 0"],
    ),
    "groups": (
        "g (float[N,C,4] x, float[6] s, float[6] b) => (y) { y = InstanceNormalization (x, s, b) }",
        ["C == 6"],
    ),
    "gemm": (
        "g (float[N,C] x, float[6,C] w, float[M,6] b) => (y) { y = Gemm <transB = 1> (x, w, b) }",
        ["M == N or M == 1"],
    ),
    "matmul batch": (
        "g (float[A,3,4] a, float[B,4,5] b) => (y) { y = MatMul (a, b) }",
        ["A == B or A == 1 or B == 1"],
    ),
    "einsum": (
        'g (float[N,M] a, float[K,P] b) => (y) { y = Einsum <equation = "ij,jk->ik"> (a, b) }',
        ["M == K or M == 1 or K == 1"],
    ),
    "topk": (
        "g (float[N] x) => (y) <int64[1] k = {5}> { y, i = TopK (x, k) }",
        ["N >= 5"],
    ),
    "flatten": (
        "g (float[N,H,3] x, float[12,2] w) => (y) { f = Flatten (x) y = MatMul (f, w) }",
        ["H == 4"],
    ),
    "unsqueeze add": (
        "g (float[N] x, float[M] b) => (y) <int64[1] a = {0}, int64[1] c = {1}> { u = Unsqueeze (x, a) v = Unsqueeze "
        "(b, c) w = Add (u, v) y = Add (w, x) }",
        [],
    ),
    "two equations": (
        "g (float[N,3] a, float[M,3] b, float[K,3] c, float[6,3] d) => (y, z) { e = Concat <axis = 0> (a, b) y = "
        "Concat <axis = 1> (e, c) z = Concat <axis = 1> (e, d) }",
        ["M + N == K", "M + N == 6"],
    ),
    "sum of sizes": (
        "g (float[N,3] a, float[M,3] b, float[6,2] c) => (y) { e = Concat <axis = 0> (a, b) y = Concat <axis = 1> (e, "
        "c) }",
        ["M + N == 6"],
    ),
    "product": (
        "g (float[N,M] a) => (y) <int64[2] s = {3, 4}> { y = Reshape (a, s) }",
        ["M*N == 12"],
    ),
    "grouped conv": (
        "g (float[1,C,H] x, float[4,2,3] w) => (y) { y = Conv <group = 2> (x, w) }",
        ["C == 4", "H >= 3"],
    ),
    "shuffle": (
        "g (float[N,C,H] x) => (y) <int64[4] s = {0, 2, -1, 4}> { y = Reshape (x, s) }",
        ["(C*H) % 8 == 0"],
    ),
    "if const": (
        "g (float[N,3] x, float[5,3] b) => (y) { c = Constant <value = bool {1}> () y = If (c) <then_branch = l () => "
        "(float[P,3] u) { u = Concat <axis = 1> (x, b) }, else_branch = m () => (float[P,3] v) { v = Identity "
        "(x) }> }",
        ["N == 5"],
    ),
    "residual frozen": (
        "g (float[N,1,H] x, float[1,1,3] w) => (y) <int64[3] s = {2, 1, 10}> { a = Conv (x, w) r = Reshape (a, s) y = "
        "Relu (r) }",
        ["H >= 3", "H*N - 2*N == 20"],
    ),
    "strided size": (
        _SIZED + "<int64[1] z = {0}, int64[1] o = {1}, int64[1] e = {9223372036854775807}, int64[1] t = {2}> "
        "{ n = Shape <end = 1> (x) m = Sub (n, o) h = Div (m, t) k = Add (h, o) a = Slice (x, z, e, z, t) " + _BESIDE,
        [],
    ),
    "strided size by negation": (
        _SIZED + "<int64[1] z = {0}, int64[1] o = {1}, int64[1] e = {9223372036854775807}, int64[1] t = {2}> "
        "{ n = Shape <end = 1> (x) m = Neg (n) h = Div (m, t) k = Neg (h) a = Slice (x, z, e, z, t) " + _BESIDE,
        ["H % 2 == 0"],
    ),
    "truncated below 0": (
        "g (float[H,1] x, float[6,1] a) => (y) <int64[1] o = {1}, int64[1] f = {5}, int64[1] t = {3}, int64[1] p = "
        "{6}> "
        "{ n = Shape <end = 1> (x) m = Sub (n, f) h = Div (m, t) k = Add (h, p) " + _BESIDE,
        ["3 <= H <= 7"],
    ),
    "a negative divisor": (
        "g (float[H,1] x, float[27,1] a) => (y) <int64[1] o = {1}, int64[1] t = {-2}, int64[1] p = {29}> "
        "{ n = Shape <end = 1> (x) h = Div (n, t) k = Add (h, p) " + _BESIDE,
        ["H in (4, 5)"],
    ),
    "rounded up as floats": (
        _SIZED
        + "<int64[1] o = {1}, float[1] f = {4.0}> { n = Shape <end = 1> (x) c = Cast <to = 1> (n) b = Div (c, f) d = "
        "Ceil (b) "
        "g1 = Mul (d, f) k = Cast <to = 7> (g1) a = Identity (x) " + _BESIDE,
        ["H % 4 == 0"],
    ),
    "rounded down as floats": (
        _SIZED
        + "<int64[1] o = {1}, double[1] f = {0.25}, double[1] t = {4.0}> { n = Shape <end = 1> (x) c = Cast <to = 11> "
        "(n) "
        "b = Mul (f, c) d = Floor (b) g1 = Mul (d, t) k = Cast <to = 7> (g1) a = Identity (x) " + _BESIDE,
        ["H % 4 == 0"],
    ),
    "cut off as floats": (
        _SIZED + "<int64[1] o = {1}, float[1] f = {1.5}, int64[1] t = {3}, int64[1] u = {2}> { n = Shape <end = 1> (x) "
        "c = Cast <to = 1> (n) b = Div (c, f) d = Cast <to = 7> (b) g1 = Mul (d, t) k = Div (g1, u) a = Identity (x) "
        + _BESIDE,
        ["H % 3 == 0"],
    ),
    "padded as in TensorFlow": (
        "g (float[1,1,H] x, float[1,1,3] w) => (z) <float t = {2.0}, float l = {0.0}, int64[1] a = {0}> "
        "{ n = Shape <start = 2> (x) m = Squeeze (n) f = Cast <to = 1> (m) q = Div (f, t) c = Ceil (q) "
        "o = Constant <value_float = 1.0> () b = Sub (c, o) d = Mul (b, t) k = Constant <value_float = 3.0> () e = Add "
        "(d, k) g1 = Sub (e, f) "
        "h = Clip (g1, l) p = Cast <to = 7> (h) u = Unsqueeze (p, a) r = Constant <value_ints = [0, 0, 0, 0, 0]> () s "
        "= Concat <axis = 0> (r, u) "
        "v = Pad (x, s) y = Conv <strides = [2]> (v, w) z = Concat <axis = 1> (y, y) }",
        [],
    ),
}
