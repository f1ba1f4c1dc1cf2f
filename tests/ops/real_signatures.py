"""Custom operators that libraries define, with signatures."""

from __future__ import annotations

from collections.abc import Mapping

#: Custom operators of libraries: the signature, a graph that uses it, and the shape of y. Their shape functions are in
#: ``plugin/`` of TensorRT 11 (names with _TRT, Pillar, ScatterElements, CropAndResize), in ``backend_ops/`` of mmdeploy
#: 1.3 (names with MMCV, NMS, TRTBatched, grid_sampler, GatherTopk, GridPriors); the others are run by
#: ``tests/oracles/test_signed.py``.
REAL: Mapping[str, tuple[str, str, str]] = {
    "EfficientNMS_TRT": (
        "T[N, boxes, 4], T[N, boxes, C] -> int32[N, 1], T[N, max_output_boxes, 4], T[N, max_output_boxes], "
        "int32[N, max_output_boxes]",
        "(float[n,100,4] b, float[n,100,80] s) => (int32[n,1] c, float[n,20,4] y, float[n,20] q, int32[n,20] k) "
        "{ c, y, q, k = x.OP <max_output_boxes = 20> (b, s) }",
        "[n, 20, 4]",
    ),
    "ROIAlign_TRT": (
        "T[N, C, H, W], T[rois, 4], int32[rois] -> T[rois, C, output_height, output_width]",
        "(float[1,256,h,w] f, float[r,4] b, int32[r] i) => (float[r,256,7,7] y) "
        "{ y = x.OP <output_height = 7, output_width = 7> (f, b, i) }",
        "[r, 256, 7, 7]",
    ),
    "DisentangledAttention_TRT": (
        "T[N, S, S], T[N, S, K], T[N, S, K] -> T[N, S, S]",
        "(float[8,s,s] a, float[8,s,64] b, float[8,s,64] c) => (float[8,s,s] y) { y = x.OP (a, b, c) }",
        "[8, s, s]",
    ),
    "MMCVModulatedDeformConv2d": (
        "T[N, C, H, W], T[N, offsets, oh, ow], T[N, masks, oh, ow], T[K, ?, kh, kw], T[K]? -> T[N, K, "
        "(H + 2*padding[0] - dilation[0]*(kh - 1) - 1)//stride[0] + 1, "
        "(W + 2*padding[1] - dilation[1]*(kw - 1) - 1)//stride[1] + 1]",
        "(float[1,64,h,w] a, float[1,18,h,w] o, float[1,9,h,w] m, float[128,64,3,3] k) => (float[1,128,h,w] y) "
        "{ y = x.OP <padding = [1,1], dilation = [1,1], stride = [1,1]> (a, o, m, k) }",
        "[1, 128, h, w]",
    ),
    "MMCVRoiAlign": (
        "T[N, C, H, W], T[rois, 5] -> T[rois, C, output_height, output_width]",
        "(float[1,256,h,w] f, float[r,5] b) => (float[r,256,7,7] y) "
        "{ y = x.OP <output_height = 7, output_width = 7> (f, b) }",
        "[r, 256, 7, 7]",
    ),
    "grid_sampler": (
        "T[N, C, H, W], T[N, oh, ow, 2] -> T[N, C, oh, ow]",
        "(float[n,16,h,w] a, float[n,p,q,2] g) => (float[n,16,p,q] y) { y = x.OP (a, g) }",
        "[n, 16, p, q]",
    ),
    "TRTBatchedNMS": (
        "T[N, boxes, C, 4], T[N, boxes, C] -> T[N, keep_topk, 5], int32[N, keep_topk]",
        "(float[n,100,1,4] b, float[n,100,1] s) => (float[n,9,5] y, int32[n,9] k) "
        "{ y, k = x.OP <keep_topk = 9> (b, s) }",
        "[n, 9, 5]",
    ),
    "GPT2Tokenizer": (
        "string[N] -> int64[N, padding_length], int64[N, padding_length]",
        "(string[n] t) => (int64[n,12] y, int64[n,12] m) { y, m = x.OP <padding_length = 12> (t) }",
        "[n, 12]",
    ),
    "StringSplit": (
        "string[N], string[1], bool[1] -> int64[?, 2], string[?], int64[2]",
        "(string[n] t, string[1] s, bool[1] e) => (int64[p,2] i, string[q] v, int64[2] y) { i, v, y = x.OP (t, s, e) }",
        "[2]",
    ),
    "SegmentSum": (
        "T[N, ...], int64[N] -> T[?, ...]",
        "(float[n,8] d, int64[n] s) => (float[m,8] y) { y = x.OP (d, s) }",
        "[m, 8]",
    ),
    "MMCVRoIAlignRotated": (
        "T[N, C, H, W], T[rois, 6] -> T[rois, C, output_height, output_width]",
        "(float[1,256,h,w] f, float[r,6] b) => (float[r,256,7,9] y) "
        "{ y = x.OP <output_height = 7, output_width = 9> (f, b) }",
        "[r, 256, 7, 9]",
    ),
    "InstanceNormalization_TRT": (
        "T[...] -> T[...]",
        "(float[n,8,h,w] a) => (float[n,8,h,w] y) { y = x.OP <scales = [1.0], bias = [0.0]> (a) }",
        "[n, 8, h, w]",
    ),
    "MultiscaleDeformableAttnPlugin_TRT": (
        "T[N, keys, M, D], int32[L, 2], int32[L], T[N, Q, M, L, P, 2], T[N, Q, M, L, P] -> T[N, Q, M, D]",
        "(float[n,k,8,32] v, int32[4,2] s, int32[4] i, float[n,300,8,4,4,2] l, float[n,300,8,4,4] w) => "
        "(float[n,300,8,32] y) { y = x.OP (v, s, i, l, w) }",
        "[n, 300, 8, 32]",
    ),
    "PillarScatterPlugin": (
        "T[N, pillars, C], int32[N, pillars, ?], int32[N] -> T[N, C, dense_shape[0], dense_shape[1]]",
        "(float[n,p,64] f, int32[n,p,4] c, int32[n] k) => (float[n,64,496,432] y) "
        "{ y = x.OP <dense_shape = [496, 432]> (f, c, k) }",
        "[n, 64, 496, 432]",
    ),
    "ScatterElements": (
        "T[A, B], int64[a, b], T[a, b] -> T[A, B]",
        "(float[n,8] d, int64[m,3] i, float[m,3] u) => (float[n,8] y) { y = x.OP (d, i, u) }",
        "[n, 8]",
    ),
    "CropAndResizeDynamic": (
        "T[N, C, H, W], T[N, R, 4, 1] -> T[N, R, C, crop_height, crop_width]",
        "(float[n,16,h,w] f, float[n,20,4,1] b) => (float[n,20,16,7,9] y) "
        "{ y = x.OP <crop_height = 7, crop_width = 9> (f, b) }",
        "[n, 20, 16, 7, 9]",
    ),
    "NMSRotated": (
        "T[N, boxes, 5], T[N, classes, boxes] -> int64[?, 3]",
        "(float[n,b,5] b, float[n,4,b] s) => (int64[k,3] y) { y = x.OP (b, s) }",
        "[k, 3]",
    ),
    "MMCVDeformConv2d": (
        "T[N, C, H, W], T[N, offsets, oh, ow], T[K, ?, kh, kw] -> T[N, K, oh, ow]",
        "(float[1,64,h,w] a, float[1,18,p,q] o, float[128,64,3,3] k) => (float[1,128,p,q] y) "
        "{ y = x.OP <padding = [0,0], dilation = [1,1], stride = [1,1]> (a, o, k) }",
        "[1, 128, p, q]",
    ),
    "MMCVMultiScaleDeformableAttention": (
        "T[N, keys, M, D], U[L, 2], U[L], T[N, Q, M, L, P, 2], T[N, Q, M, L, P] -> T[N, Q, M*D]",
        "(float[n,k,8,32] v, int64[4,2] s, int64[4] i, float[n,300,8,4,4,2] l, float[n,300,8,4,4] w) => "
        "(float[n,300,256] y) { y = x.OP (v, s, i, l, w) }",
        "[n, 300, 256]",
    ),
    "GatherTopk": (
        "T[N, boxes, C], int32[N, K] -> T[N, K, C]",
        "(float[n,b,4] d, int32[n,100] i) => (float[n,100,4] y) { y = x.OP (d, i) }",
        "[n, 100, 4]",
    ),
    "GridPriorsTRT": (
        "T[A, 4], U[H], U[W] -> T[A*H*W, 4]",
        "(float[9,4] a, float[h] r, float[w] c) => (float[k,4] y) { y = x.OP <stride_h = 8, stride_w = 8> (a, r, c) }",
        "[9*h*w, 4]",
    ),
    "StringJoin": (
        "string[N, ?], string[1], int64[1] -> string[N]",
        "(string[n,4] t, string[1] s, int64[1] a) => (string[n] y) { y = x.OP (t, s, a) }",
        "[n]",
    ),
    "StringConcat": (
        "string[...], string[...] -> string[...]",
        "(string[n] t, string[n] s) => (string[n] y) { y = x.OP (t, s) }",
        "[n]",
    ),
    "RaggedTensorToSparse": (
        "int64[N] -> int64[?, 2], int64[2]",
        "(int64[n] t) => (int64[k,2] i, int64[2] y) { i, y = x.OP (t) }",
        "[2]",
    ),
    "MaskedFill": (
        "string[N], bool[N] -> string[?]",
        "(string[n] t, bool[n] m) => (string[k] y) { y = x.OP (t, m) }",
        "[k]",
    ),
    "CDist": (
        "T[M, K], T[N, K] -> T[M, N]",
        '(float[m,5] a, float[n,5] b) => (float[m,n] y) { y = x.OP <metric = "euclidean"> (a, b) }',
        "[m, n]",
    ),
    "BiasGelu": (
        "T[..., C], T[C] -> T[..., C]",
        "(float[b,s,8] a, float[8] c) => (float[b,s,8] y) { y = x.OP (a, c) }",
        "[b, s, 8]",
    ),
    "CropAndResize": (
        "T[?, C, H, W], T[rois, 4], int32[rois], int32[2] -> T[rois, C, ?, ?]",
        "(float[n,5,h,w] a, float[r,4] b, int32[r] i, int32[2] s) => (float[r,5,p,q] y) { y = x.OP (a, b, i, s) }",
        "[r, 5, p, q]",
    ),
    "MatMulNBits": (
        "T[..., K], uint8[N, blocks, ?], T[?] -> T[..., N]",
        "(float[b,s,32] a, uint8[10,2,8] w, float[20] c) => (float[b,s,10] y) "
        "{ y = x.OP <K = 32, N = 10, bits = 4, block_size = 16> (a, w, c) }",
        "[b, s, 10]",
    ),
    "StringLength": ("string[...] -> int64[...]", "(string[n,4] t) => (int64[n,4] y) { y = x.OP (t) }", "[n, 4]"),
    "BertTokenizer": (
        "string[?] -> int64[K], int64[K], int64[K]",
        "(string[1] t) => (int64[k] y, int64[k] p, int64[k] m) { y, p, m = x.OP (t) }",
        "[k]",
    ),
    "Inverse": ("T[..., N, N] -> T[..., N, N]", "(float[b,4,4] a) => (float[b,4,4] y) { y = x.OP (a) }", "[b, 4, 4]"),
}
