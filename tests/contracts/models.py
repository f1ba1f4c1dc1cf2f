"""Models with open sizes, and what each demands of them: conditions, with the branch behind ``if`` where only one demands it."""

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

MODELS = {
    "frozen batch": (
        "g (float[batch,16,8] x) => (y) <int64[2] s = {1, 128}> { y = Reshape (x, s) }",
        ["batch == 1"],
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
        "g (float[N,3] x, float[M,3] b, float[5,3] c) => (y) { a = Concat <axis = 1> (x, b) d = Concat <axis = 1> (a, c) y = Relu (d) }",
        ["N == M", "N == 5"],
    ),
    "squeezed": ("g (float[N,3] x) => (y) <int64[1] a = {0}> { y = Squeeze (x, a) }", ["N == 1"]),
    "split": ("g (float[N,3] x) => (y, z) <int64[2] s = {2, 3}> { y, z = Split <axis = 0> (x, s) }", ["N == 5"]),
    "cancelled": (
        "g (float[B,S,8] x) => (y) { s = Shape (x) b = Constant <value_ints = [4, 8]> () i = Constant <value_ints = [0]> () "
        "f = Gather <axis = 0> (s, i) t = Concat <axis = 0> (f, b) y = Reshape (x, t) }",
        ["S == 4"],
    ),
    "branch": (
        "g (bool c, float[N,3] x, float[4,3] a, float[5,3] b) => (y) { y = If (c) <then_branch = t () => (float[P,3] u) { u = Sub (x, a) }, "
        "else_branch = e () => (float[P,3] v) { v = Sub (x, b) }> }",
        ["N in (1, 4) if y/then_branch", "N in (1, 5) if y/else_branch"],
    ),
}
