"""Models whose indices follow from their sizes, and what each demands of them."""

HEAD = '<ir_version: 10, opset_import: ["" : 17, "com.microsoft" : 1]>\n'

#: r is 0, 1, … S - 1 for x of [N, S]; n is S, s is [S].
_RANGE = (
    "s = Shape <start = 1, end = 2> (x) n = Squeeze (s) z = Constant <value_int = 0> () o = Constant <value_int = 1> "
    "() "
    "r = Range (z, n, o) "
)

#: The same, of an input of which nothing but the size is read.
_OF = "g (int64[2,S] x, float[7,2] p) => (y) "

_ROTATED = "g (float[2,S,16] x, float[6,4] c) => (y) "

POSITIONS = {
    "a table": (_OF + "{ " + _RANGE + "y = Gather (p, r) }", ["S <= 7"]),
    "a table of one axis": ("g (int64[2,S] x, float[T,2] p) => (y) { " + _RANGE + "y = Gather (p, r) }", ["T >= S"]),
    "the sum with the words": (
        "g (int64[2,S] x, float[7,2] p, float[20,2] w) => (y) <int64[1] a = {0}> { " + _RANGE + "q = Unsqueeze (r, a) "
        "e = Shape (x) b = Expand (q, e) d = Gather (p, b) f = Gather (w, x) y = Add (d, f) }",
        ["S <= 7"],
    ),
    "two rows of padding": (_OF + "<int64 t = {2}> { " + _RANGE + "q = Add (r, t) y = Gather (p, q) }", ["S <= 5"]),
    "one row back": (_OF + "<int64 t = {3}> { " + _RANGE + "q = Sub (r, t) y = Gather (p, q) }", ["S <= 10"]),
    "backwards": (_OF + "{ " + _RANGE + "q = Sub (n, r) y = Gather (p, q) }", ["S <= 6"]),
    "from the end": (_OF + "{ " + _RANGE + "q = Neg (r) y = Gather (p, q) }", ["S <= 8"]),
    "every third": (_OF + "<int64 t = {3}> { " + _RANGE + "q = Mul (r, t) y = Gather (p, q) }", ["S <= 3"]),
    "every second turns back": (
        _OF + "<int64 t = {-2}> { " + _RANGE + "q = Mul (r, t) y = Gather (p, q) }",
        ["S <= 4"],
    ),
    "halves": (_OF + "<int64 t = {2}> { " + _RANGE + "q = Div (r, t) y = Gather (p, q) }", ["S <= 14"]),
    "cut off": (_OF + "<int64 t = {6}> { " + _RANGE + "q = Min (r, t) y = Gather (p, q) }", []),
    "cut off too late": (_OF + "<int64 t = {9}> { " + _RANGE + "q = Min (r, t) y = Gather (p, q) }", ["S <= 7"]),
    "clipped": (_OF + "<int64 l = {2}, int64 h = {6}> { " + _RANGE + "q = Clip (r, l, h) y = Gather (p, q) }", []),
    "clipped too high": (_OF + "<int64 l = {7}> { " + _RANGE + "q = Clip (r, l) y = Gather (p, q) }", []),
    "a square": (_OF + "<int64 t = {2}> { " + _RANGE + "q = Pow (r, t) y = Gather (p, q) }", ["S <= 3"]),
    "floats": (
        _OF
        + "{ s = Shape <start = 1, end = 2> (x) m = Squeeze (s) n = Cast <to = 1> (m) z = Constant <value_float = 0.0> "
        "() "
        "o = Constant <value_float = 1.0> () r = Range (z, n, o) q = Cast <to = 7> (r) y = Gather (p, q) }",
        ["S <= 7"],
    ),
    "int32": (_OF + "{ " + _RANGE + "q = Cast <to = 6> (r) y = Gather (p, q) }", ["S <= 7"]),
    "from the fourth": (
        _OF
        + "<int64[1] a = {0}, int64[1] b = {3}, int64[1] e = {9223372036854775807}> { "
        + _RANGE
        + "q = Slice (r, b, e, a) "
        "y = Gather (p, q) }",
        ["S <= 7"],
    ),
    "up to the fourth": (
        _OF
        + "<int64[1] a = {0}, int64[1] b = {0}, int64[1] e = {4}> { "
        + _RANGE
        + "q = Slice (r, b, e, a) y = Gather (p, q) }",
        [],
    ),
    "every third of them": (
        _OF
        + "<int64[1] a = {0}, int64[1] b = {1}, int64[1] e = {9223372036854775807}, int64[1] t = {3}> { "
        + _RANGE
        + "q = Slice (r, b, e, a, t) y = Gather (p, q) }",
        ["S <= 7"],
    ),
    "from behind": (
        _OF
        + "<int64[1] a = {0}, int64[1] b = {-1}, int64[1] e = {-9223372036854775807}, int64[1] t = {-1}> { "
        + _RANGE
        + "q = Slice (r, b, e, a, t) y = Gather (p, q) }",
        ["S <= 7"],
    ),
    "turned": (
        _OF + "<int64[2] t = {1, -1}> { " + _RANGE + "q = Reshape (r, t) u = Transpose (q) y = Gather (p, u) }",
        ["S <= 7"],
    ),
    "repeated": (_OF + "<int64[1] t = {3}> { " + _RANGE + "q = Tile (r, t) y = Gather (p, q) }", ["S <= 7"]),
    "joined with the first": (
        _OF
        + "<int64[1] t = {0}> { "
        + _RANGE
        + "u = Add (n, o) v = Range (o, u, o) q = Concat <axis = 0> (t, v) y = Gather (p, q) }",
        ["S <= 6"],
    ),
    "taken of them": (_OF + "<int64[2] t = {1, 3}> { " + _RANGE + "q = Gather (r, t) y = Gather (p, q) }", ["S >= 4"]),
    "the last of them": (_OF + "<int64[1] t = {-1}> { " + _RANGE + "q = Gather (r, t) y = Gather (p, q) }", ["S <= 7"]),
    "halves of them": (
        "g (int64[2,S] x, float[7,2] p) => (y) { " + _RANGE + "t = Add (n, n) u = Range (z, t, o) "
        "a, b = Split <axis = 0> (u) y = Gather (p, b) }",
        ["S <= 3"],
    ),
    "sums of ones": (
        _OF
        + "<int64 t = {1}> { e = Shape (x) c = ConstantOfShape <value = int64[1] {1}> (e) q = CumSum (c, t) y = Gather "
        "(p, q) }",
        ["S <= 6"],
    ),
    "sums of ones before": (
        _OF + "<int64 t = {1}> { e = Shape (x) c = ConstantOfShape <value = int64[1] {1}> (e) "
        "q = CumSum <exclusive = 1, reverse = 1> (c, t) y = Gather (p, q) }",
        ["S <= 7"],
    ),
    "the places of ones": (
        _OF + "{ s = Shape <start = 1, end = 2> (x) c = ConstantOfShape <value = int64[1] {1}> (s) k = NonZero (c) "
        "q = Transpose (k) y = Gather (p, q) }",
        ["S <= 7"],
    ),
    "one number": (
        _OF + "{ e = Shape (x) c = ConstantOfShape <value = int64[1] {6}> (e) y = Gather (p, c) }",
        [],
    ),
    "behind what was": (
        "g (int64[2,S] x, float[2,P,2] k, float[7,2] p) => (y) { s = Shape <start = 1, end = 2> (x) q = Shape <start = "
        "1, end = 2> (k) "
        "n = Squeeze (s) m = Squeeze (q) t = Add (n, m) o = Constant <value_int = 1> () r = Range (m, t, o) y = Gather "
        "(p, r) }",
        ["P + S <= 7"],
    ),
    "flat places": (
        "g (float[H,W,3] x) => (y) <int64[2] t = {-1, 3}, int64[1] i = {0}, int64[1] j = {1}> { h = Shape <start = 0, "
        "end = 1> (x) "
        "w = Shape <start = 1, end = 2> (x) a = Squeeze (h) b = Squeeze (w) z = Constant <value_int = 0> () o = "
        "Constant <value_int = 1> () "
        "c = Range (z, a, o) d = Range (z, b, o) e = Unsqueeze (c, j) u = Mul (e, w) v = Unsqueeze (d, i) k = Add (u, "
        "v) "
        "f = Reshape (x, t) y = Gather (f, k) }",
        [],
    ),
    "offsets of a window": (
        "g (float[H,W,3] x, float[6,2] p) => (y) <int64[1] i = {0}, int64[1] j = {1}> { h = Shape <start = 0, end = 1> "
        "(x) "
        "w = Shape <start = 1, end = 2> (x) a = Squeeze (h) b = Squeeze (w) z = Constant <value_int = 0> () o = "
        "Constant <value_int = 1> () "
        "c = Range (z, a, o) d = Range (z, b, o) e = Unsqueeze (c, j) v = Unsqueeze (d, i) k = Sub (e, v) y = Gather "
        "(p, k) }",
        ["H <= 6", "W <= 7"],
    ),
    "a buffer": (
        "g (int64[2,S] x, float[7,2] p, int64[1,7] ids, float[2,S,2] w) => (y) <int64[1] a = {1}, int64[1] z = {0}> { "
        "s = Shape <start = 1, end = 2> (x) i = Slice (ids, z, s, a) q = Gather (p, i) y = Add (w, q) }",
        ["S <= 7"],
    ),
    "which does not matter": (
        _OF + "<bool c = {1}> { " + _RANGE + "q = Where (c, r, x) y = Gather (p, q) }",
        ["S <= 7"],
    ),
    "what the data decide": (
        _OF + "{ " + _RANGE + "c = Equal (x, r) q = Where (c, z, r) w = Mul (q, z) y = Gather (p, w) }",
        [],
    ),
    "elements": (
        "g (int64[2,S] x, float[7] p) => (y) { " + _RANGE + "y = GatherElements (p, r) }",
        ["S <= 7"],
    ),
    "tuples": (
        "g (int64[2,S] x, float[7,2] p) => (y) <int64[1] a = {1}> { "
        + _RANGE
        + "q = Unsqueeze (r, a) y = GatherND (p, q) }",
        ["S <= 7"],
    ),
    "written elements": (
        "g (int64[2,S] x, float[7] p) => (y) { " + _RANGE + "u = Cast <to = 1> (r) y = ScatterElements (p, r, u) }",
        ["S <= 7"],
    ),
    "written tuples": (
        "g (int64[2,S] x, float[7] p) => (y) <int64[1] a = {1}> { "
        + _RANGE
        + "q = Unsqueeze (r, a) u = Cast <to = 1> (r) "
        "y = ScatterND (p, q, u) }",
        ["S <= 7"],
    ),
    "an index of the size": (_OF + "{ s = Shape <start = 1, end = 2> (x) y = Gather (p, s) }", ["S <= 6"]),
    "the first k": (
        "g (float[2,S] x) => (y, i) <int64[1] k = {5}> { y, i = TopK (x, k) }",
        ["S >= 5"],
    ),
    "as many as there are": (
        "g (float[2,S] x, float[7] p) => (y, i) { s = Shape <start = 1, end = 2> (x) y, i = TopK (p, s) }",
        ["S <= 7"],
    ),
    "depths": (_OF + "<int64 d = {5}, float[2] v = {0, 1}> { " + _RANGE + "y = OneHot (r, d, v) }", []),
    "turned sequences": (
        "g (float[2,S] x) => (y) <int64[2] k = {5, 1}> { y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, k) }",
        ["S >= 5"],
    ),
    "embedded": (
        "g (int32[2,S] x, float[9,2] w, float[7,2] p, float[2] g) => (y, m) "
        '{ y, m = com.microsoft.EmbedLayerNormalization (x, "", w, p, "", g, g) }',
        ["S <= 7"],
    ),
    "rotated": (
        _ROTATED + "<int64[1] i = {0}> { y = com.microsoft.RotaryEmbedding <num_heads = 2> (x, i, c, c) }",
        ["S <= 6"],
    ),
    "rotated from the third": (
        _ROTATED + "<int64[1] i = {2}> { y = com.microsoft.RotaryEmbedding <num_heads = 2> (x, i, c, c) }",
        ["S <= 4"],
    ),
    "rotated by positions": (
        _ROTATED
        + "<int64[1] a = {0}, int64 t = {1}> { "
        + _RANGE
        + "u = Add (r, t) q = Unsqueeze (u, a) f = Shape <start = 0, end = 2> (x) "
        "e = Expand (q, f) y = com.microsoft.RotaryEmbedding <num_heads = 2> (x, e, c, c) }",
        ["S <= 5"],
    ),
    "a mask of batch and position": (
        "g (float[B,T] m, float[N,S] x) => (y) <int64[1] i = {0}, int64[1] j = {1}, int64[1] k = {-1}> { z = Constant "
        "<value_int = 0> () "
        "o = Constant <value_int = 1> () e = Shape (x) a = Gather (e, z) b = Gather (e, o) c = Range (z, a, o) d = "
        "Range (z, b, o) "
        "f = Unsqueeze (c, j) h = Unsqueeze (d, i) p = Expand (f, e) q = Expand (h, e) u = Unsqueeze (p, k) v = "
        "Unsqueeze (q, k) "
        "t = Concat <axis = -1> (u, v) y = GatherND (m, t) }",
        ["B >= N", "T >= S"],
    ),
    "a position beside what the data decide": (
        "g (float[9,T] m, int64[N,S] x) => (y) <int64[1] i = {0}, int64[1] k = {-1}> { z = Constant <value_int = 0> () "
        "o = Constant <value_int = 1> () e = Shape (x) b = Gather (e, o) d = Range (z, b, o) h = Unsqueeze (d, i) q = "
        "Expand (h, e) "
        "u = Unsqueeze (x, k) v = Unsqueeze (q, k) t = Concat <axis = -1> (u, v) y = GatherND (m, t) }",
        ["T >= S"],
    ),
}
