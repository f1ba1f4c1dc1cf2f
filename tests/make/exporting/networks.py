"""Recipes: networks as people write them, one a line: a name, its forms, the module, its examples and their dynamic
axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import picture_nets as pictures
from . import sequence_nets as sequences
from .forms import all_forms
from .layers import Attention, Body, conv
from .subjects import BATCH, NCHW, TEXT, Subject, image, ones, real, whole

HW = {2: "height", 3: "width"}
TIME = {0: "batch", 2: "time"}
ROWS = {0: "rows"}


def _net(name: str, forms: str, make: Callable[[], Any], **inputs: Any) -> Subject:
    """Inputs are pairs of a function that makes an example, and the dynamic axes."""

    def both() -> tuple[Any, dict[str, Any]]:
        torch.manual_seed(0)
        return make().eval(), {name: each[0]() for name, each in inputs.items()}

    return Subject(name, both, tuple(forms.split()), {name: each[1] for name, each in inputs.items()})


def _f(forward: Callable[..., Any], **layers: Any) -> Callable[[], Any]:
    """A module without classes; layers are made when the recipe runs."""
    return lambda: Body(forward, **{name: make() for name, make in layers.items()})


def x(*shape: int) -> Any:
    return partial(real, *shape)


def ids(*shape: int, below: int = 8) -> Any:
    return partial(whole, *shape, below=below)


SUBJECTS = [
    _net("mlp", "ts11 ts17 dyn18 ov ts17>q8 ts17>fp16 "
        "ts17>q4 "
            "dyn18>op21 "
                "ts13>"
                    "qop", lambda: nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16)), x=(x(3, 32), BATCH)),
    _net("lenet", "ts13 ts17s dyn18 ov ts13>qdq ts13>qop "
        "ts13>all "
            "ts17>fp16 "
                "ts17"
                    ">o"
                        "v", lambda: nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10)), x=(x(2, 1, 28, 28), NCHW)),
    _net("adaptive", "ts13 dyn18 ov "
        "dyn21 "
            "dyn18>"
                "al"
                    "l", lambda: nn.Sequential(conv(3, 8, 3, 2), conv(8, 16, 3, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)), x=(image, NCHW)),
    _net("vgg", "ts11 "
        "dyn18"
            " "
                "o"
                    "v", lambda: nn.Sequential(conv(3, 8), nn.MaxPool2d(2), conv(8, 16), nn.MaxPool2d(2), conv(16, 16), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 64, 10)), x=(image, NCHW)),
    _net("unet", "ts11 ts17 dyn18 dyn23 ov ts17>all ts13>qdq ts17>fp16 "
        "dyn18>slim ts17>ov ov>ovfp16", pictures.UNet, x=(image, NCHW)),
    _net("unet-nearest", "ts13 dyn18 dyn18s ov dyn18>sim", partial(pictures.UNet, up="nearest"), x=(image, NCHW)),
    _net("unet-bilinear", "ts17 dyn18 ov ts17>extended", partial(pictures.UNet, up="bilinear"), x=(image, NCHW)),
    _net("unet-resize", "ts17 dyn18 ov dyn18>ov", partial(pictures.UNet, "resize"), x=(image, NCHW)),
    _net("unet-pad", "ts17 dyn18 ov dyn18>ov ts17>ov", partial(pictures.UNet, "pad"), x=(image, NCHW)),
    _net("autoencoder", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", lambda: nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.ConvTranspose2d(8, 8, 4, 2, 1), nn.ConvTranspose2d(8, 3, 4, 2, 1)), x=(image, NCHW)),
    _net("residual-autoencoder", "ts17 dyn18 ov "
        "dyn18"
            ">o"
                "v", _f(lambda m, x: x + m.net(x), net=lambda: nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1))), x=(image, NCHW)),
    _net("conv3d", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", lambda: nn.Sequential(nn.Conv3d(1, 4, 3, 2), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(4, 4, 2)), x=(x(1, 1, 16, 16, 16), {0: "b"
                        "a"
                    "t"
                "ch", 2: "depth", 3: "heig"
                "ht", 4: "width"})),
    _net("superresolution", "ts17 dyn18 ov "
        "ts17"
            ">q"
                "8", lambda: nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.Conv2d(16, 9, 3, padding=1), nn.PixelShuffle(3)), x=(x(1, 1, 20, 24), NCHW)),
    _net("unshuffle", "ts17 "
        "dyn18 ov", lambda: nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(12, 8, 1)), x=(image, NCHW)),
    _net("space", "ts17 dyn18 ov", pictures.Space, x=(image, NCHW)),
    _net("space3", "ts17 dyn18", partial(pictures.Space, 3), x=(lambda: real(1, 3, 12, 15), NCHW)),
    _net("windows", "ts17 dyn18 ov "
        "dyn18>ov", pictures.Windows, x=(x(2, 8, 12, 16), {0: "batch", 1: "height", 2: "width"})),
    _net("windows-p"
        "added", "ts17 "
            "dyn18"
                " ov", partial(pictures.Windows, padded=True), x=(x(2, 8, 12, 16), {0: "batch", 1: "heig"
                    "ht", 2: "width"})),
    _net("merging", "ts17 dyn18 ov "
        "dyn18>all", pictures.Merging, x=(x(2, 8, 12, 16), {0: "batch", 1: "height", 2: "width"})),
    _net("vit-fixed", "ts17 dyn18 ov dyn18>fp16", partial(pictures.PatchPositions, False), x=(image, NCHW)),
    _net("vit-resized", "ts17 dyn18 ov", partial(pictures.PatchPositions, True), x=(image, NCHW)),
    _net("same2", "ts17 dyn18 ov", partial(pictures.Padded, 2), x=(image, NCHW)),
    _net("same3", "ts17 dyn18", partial(pictures.Padded, 3, 5), x=(image, NCHW)),
    _net("same2-floats", "ts17 dyn18", partial(pictures.Padded, 2, 5, True), x=(image, NCHW)),
    _net("diffusion", "ts17 dyn18 dyn21 ov dyn18>fp16 "
        "dyn18>ov "
            "dyn18>"
                "al"
                    "l", pictures.Diffusion, sample=(x(2, 4, 16, 16), NCHW), timestep=(ids(2), BATCH), states=(x(2, 7, 32), {0: "b"
                        "a"
                        "t"
                    "ch", 1: "seque"
                    "nce"})),
    _net("yolo", "ts11 ts17 dyn18 ov ts17>qdq ts17>ov dyn18>slim", pictures.Yolo, images=(image, NCHW)),
    _net("yolo-fixed", "ts17 dyn18 ov", partial(pictures.Yolo, True), images=(image, NCHW)),
    _net("nms", "dyn18 "
        "dyn18"
            ">ov", pictures.Suppressed, boxes=(lambda: torch.cat([real(9, 2), real(9, 2) + 3], 1), {0: "box"
                "es"}), scores=(x(9), {0: "boxes"})),
    _net("graph-scatter", "ts17 dyn18 ov "
        "ts17>ov", sequences.Graph, nodes=(x(7, 8), {0: "nodes"}), edges=(ids(2, 12, below=2), {1: "edges"})),
    _net("graph-index", "ts17 "
        "dyn18"
            " ov", partial(sequences.Graph, "ind"
                "ex"), nodes=(x(7, 8), {0: "nodes"}), edges=(ids(2, 12, below=2), {1: "edges"})),
    _net("lstm", "ts11 ts17 dyn18 ov ts17>ov ts17>q8 ts17>symbolic", sequences.Recurrent, ids=(ids(3, 9), TEXT)),
    _net("gru", "ts17 dyn18 ov ts17>ov", partial(sequences.Recurrent, nn.GRU, True, 2), ids=(ids(3, 9), TEXT)),
    _net("rnn", "ts17 dyn18 ov", partial(sequences.Recurrent, nn.RNN), ids=(ids(3, 9), TEXT)),
    _net("lstm-state", "ts17 dyn18 ov "
        "ts17>ov "
            "ts1"
                "7u", partial(sequences.Recurrent, nn.LSTM, state=True), ids=(ids(3, 9), TEXT), h=(x(1, 3, 12), {1: "ba"
                    "t"
                    "ch"}), c=(x(1, 3, 12), {1: "batch"})),
    _net("gru-state", "ts17 "
        "dyn18"
            " ov", partial(sequences.Recurrent, nn.GRU, state=True), ids=(ids(3, 9), TEXT), h=(x(1, 3, 12), {1: "bat"
                "ch"})),
    _net("crnn", "ts17 dyn18 ov ts17>ov", pictures.Crnn, x=(x(2, 1, 32, 40), NCHW)),
    _net("decoder-cache", "ts17 ts17u dyn18 ov ts17>ov dyn18>ov "
        "ts17>fp16 "
            "ts17>"
                "int8", sequences.Decoder, ids=(ids(2, 3), TEXT), mask=(partial(ones, 2, 8), {0: "bat"
                    "ch", 1: "tot"
                        "al"}), past_key=(x(2, 4, 5, 4), {0: "bat"
                            "ch", 2: "past"}), past_value=(x(2, 4, 5, 4), {0: "batch", 2: "past"})),
    _net("static-cache", "dyn18 "
        "ts17"
            " ov", sequences.StaticCache, x=(x(2, 3, 16), {0: "bat"
                "ch", 1: "new"}), cache=(x(2, 32, 16), BATCH), position=(lambda: torch.arange(3), {0: "new"})),
    _net("mask-fixed", "ts17 dyn18 ov dyn18>ov", lambda: sequences.MaskedAttention(12, False), x=(x(2, 12, 16), TEXT)),
    _net("mask-sliced", "ts17 dyn18 ov", lambda: sequences.MaskedAttention(64, True), x=(x(2, 12, 16), TEXT)),
    _net("table-fixed", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x: m.net(x + m.table), net=Attention, table=lambda: real(1, 12, 16)), x=(x(2, 12, 16), TEXT)),
    _net("table-sliced", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x: m.net(x + m.table[:, : x.shape[1]]), net=Attention, table=lambda: real(1, 40, 16)), x=(x(2, 12, 16), TEXT)),
    _net("table-embe"
        "dding", "ts17 "
            "dyn18"
                " "
                    "o"
                        "v", _f(lambda m, x: m.embed(x) + m.places(torch.arange(x.shape[1])), embed=lambda: nn.Embedding(16, 8), places=lambda: nn.Embedding(20, 8)), x=(ids(2, 9), TEXT)),
    _net("rope", "ts17 dyn18 ov", sequences.Rope, x=(x(2, 6, 4, 8), TEXT)),
    _net("transformer-encoder", "ts17 dyn18 dyn23 ov dyn18>ov "
        "ts17>q8 "
            "ts17"
                ">q"
                    "4", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2, enable_nested_tensor=False), x=(x(2, 9, 16), TEXT)),
    _net("transformer", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", lambda: nn.Transformer(16, 4, 1, 1, 32, batch_first=True), source=(x(2, 9, 16), TEXT), target=(x(2, 5, 16), {0: "b"
                        "a"
                    "t"
                "ch", 1: "targ"
                "et"})),
    _net("heads", "ts17 dyn18 "
        "dyn18u"
            " "
                "o"
                    "v", _f(lambda m, q, k: m.net(q, k, k)[0], net=lambda: nn.MultiheadAttention(16, 4, batch_first=True)), q=(x(2, 5, 16), {0: "b"
                        "a"
                    "t"
                "ch", 1: "quer"
                "ies"}), k=(x(2, 7, 16), {0: "batch", 1: "keys"})),
    _net("sdpa", "ts17 dyn18 "
        "dyn23"
            " ov", _f(lambda m, q, k, v: F.scaled_dot_product_attention(q, k, v)), q=(x(2, 4, 5, 8), {0: "bat"
                "ch", 2: "quer"
                "ies"}), k=(x(2, 4, 7, 8), {0: "batch", 2: "keys"}), v=(x(2, 4, 7, 8), {0: "batch", 2: "keys"})),
    _net("sdpa-causal", "ts17 "
        "dyn18 "
            "dyn"
                "2"
                    "3", _f(lambda m, q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True)), q=(x(2, 4, 5, 8), {0: "b"
                        "a"
                    "t"
                    "ch", 2: "quer"
                "ies"}), k=(x(2, 4, 5, 8), {0: "batch", 2: "queries"})),
    _net("experts", "ts17 dyn18 ov", sequences.Experts, x=(x(2, 5, 16), TEXT)),
    _net("points", "ts17 dyn18 ov dyn18>ov", sequences.Points, points=(x(2, 10, 3), {0: "batch", 1: "points"})),
    _net("separation", "ts17 dyn18 ov dyn18>ov", sequences.Separation, wave=(x(2, 164), {0: "batch", 1: "samples"})),
    _net("wavenet", "ts17 dyn18 ov", sequences.WaveNet, x=(x(2, 1, 40), TIME)),
    _net("transducer", "ts17 "
        "dyn18"
            " ov", sequences.Transducer, a=(x(2, 5, 8), {0: "batch", 1: "fram"
                "es"}), b=(x(2, 3, 8), {0: "batch", 1: "labels"})),
    _net("regulator", "ts17 "
        "dyn18"
            " ov", sequences.Regulator, ids=(ids(2, 5), TEXT), alignment=(x(2, 9, 5), {0: "batch", 1: "fram"
                "es", 2: "seque"
                "nce"})),
    _net("flow", "ts17 dyn18 ov", sequences.Flow, x=(x(2, 8, 12), TIME)),
    _net("quantizer", "ts17 dyn18 ov", pictures.Quantizer, x=(image, NCHW)),
    _net("loss", "ts17 dyn18", sequences.Loss, logits=(x(2, 5, 7), TEXT), labels=(ids(2, 5, below=7), TEXT)),
    _net("ranked", "ts17 dyn18 ov "
        "ts17"
            ">ov", lambda: pictures.Ranked(10), scores=(x(2, 20, 3), {0: "bat"
                "ch", 1: "boxes"}), boxes=(x(2, 20, 4), {0: "batch", 1: "boxes"})),
    _net("correlation", "ts17 "
        "dyn18"
            " ov", pictures.Correlation, a=(x(1, 8, 6, 8), {0: "batch", 2: "heig"
                "ht", 3: "width"}), b=(x(1, 8, 6, 8), {0: "batch", 2: "height", 3: "width"})),
    _net("warp", "ts17 dyn18 ov", pictures.Warp, a=(image, NCHW), b=(image, NCHW)),
    _net("features", "ts17 dyn18 ov", sequences.Features, x=(x(2, 3, 64), TEXT)),
    _net("chunked", "ts17 dyn18 ov dyn18>ov", sequences.Chunked, x=(x(2, 16, 16), TEXT)),
    _net("relative", "ts17 dyn18 ov", sequences.Relative, x=(x(2, 9, 16), TEXT)),
    _net("pyramid", "ts17 dyn18 ov", pictures.Pyramid, x=(image, NCHW)),
    _net("pyramid6", "ts17 dyn18 ov", partial(pictures.Pyramid, (1, 2, 3, 6)), x=(lambda: image(1, 3, 36), NCHW)),
    _net("strided", "ts17 dyn18 ov dyn18>ov", pictures.Strided, x=(x(2, 16, 16, 16), NCHW)),
    _net("strided-"
        "chain", "dyn18 "
            "ts"
                "1"
                    "7", lambda: nn.Sequential(conv(3, 16, 7, 4), pictures.Strided(), conv(16, 16, 3, 2), pictures.Strided(2)), x=(image, NCHW)),
    _net("folded", "ts17 dyn18 ov", pictures.Folded, x=(x(1, 16, 8, 10), NCHW)),
    _net("ctc", "ts17 dyn18 ov", sequences.Ctc, features=(x(2, 8, 60), TIME)),
    _net("branched", "ts17 dyn18", lambda: torch.jit.script(sequences.Branched()), x=(x(3, 8), BATCH)),
    _net("looped", "ts17 ts17>ov ts13", lambda: torch.jit.script(sequences.Looped()), x=(x(2, 6, 4), TEXT)),
    _net("greedy", "ts17 ts17>ov", lambda: torch.jit.script(sequences.Greedy()), ids=(ids(2, 3), TEXT)),
    _net("cond", "dyn18 dyn21", sequences.Cond, x=(x(3, 8), BATCH)),
    _net("add", "ts17 ts17u dyn18u ov", _f(lambda m, a, b: a + b), a=(x(3, 8), ROWS), b=(x(3, 8), ROWS)),
    _net("outer", "ts17 dyn18 ov", _f(lambda m, a, b: a[:, None] * b[None]), a=(x(3), {0: "a"}), b=(x(5), {0: "b"})),
    _net("join", "ts17u "
        "dyn18"
            " ov", _f(lambda m, a, b: torch.cat([a, b], 1).softmax(1)), a=(x(3, 4), {0: "ro"
                "ws", 1: "left"}), b=(x(3, 5), {0: "rows", 1: "rig"
                "ht"})),
    _net("bilinear", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, a, b: m.net(a, b), net=lambda: nn.Bilinear(4, 5, 6)), a=(x(3, 4), BATCH), b=(x(3, 5), BATCH)),
    _net("recommender", "ts17 dyn18 ov "
        "ts17"
            ">q"
                "8", _f(lambda m, user, item, dense: m.head(torch.cat([m.users(user), m.items(item).mean(1), dense], -1)), users=lambda: nn.Embedding(20, 8), items=lambda: nn.Embedding(20, 8), head=lambda: nn.Linear(20, 1)), user=(ids(3), BATCH), item=(ids(3, 4), {0: "b"
                    "a"
                    "t"
                "ch", 1: "hist"
                "ory"}), dense=(x(3, 4), BATCH)),
    _net("norms", "ts17 dyn18 "
        "dyn23"
            " "
                "o"
                    "v", lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8, affine=True), nn.GroupNorm(2, 8), nn.LocalResponseNorm(3), nn.Hardswish(), nn.Mish()), x=(image, NCHW)),
    _net("padding", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", lambda: nn.Sequential(nn.ReflectionPad2d(3), nn.ReplicationPad2d((1, 2, 0, 1)), nn.Conv2d(3, 4, 3, padding=1, padding_mode="c"
                        "i"
                    "r"
                "cu"
                "lar")), x=(image, NCHW)),
    _net("pools", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", lambda: nn.Sequential(nn.MaxPool2d(3, 2, ceil_mode=True), nn.AvgPool2d(3, 2, ceil_mode=True, count_include_pad=False), nn.LPPool2d(2, 2)), x=(image, NCHW)),
    _net("pool-indices", "ts17 dyn18", _f(lambda m, x: F.max_pool2d(x, 2, return_indices=True)), x=(image, NCHW)),
    _net("dilated", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", lambda: nn.Sequential(nn.Conv2d(3, 8, 3, dilation=4), nn.Conv2d(8, 8, 3, stride=2, dilation=2, groups=8), nn.Conv2d(8, 4, 1)), x=(image, NCHW)),
    _net("unfold", "ts17 dyn18 ov", _f(lambda m, x: F.unfold(x, 3, padding=1, stride=2)), x=(image, NCHW)),
    _net("fold", "ts18 "
        "dyn18", _f(lambda m, x: F.fold(F.unfold(x, 2, stride=2), x.shape[2:], 2, stride=2)), x=(image, NCHW)),
    _net("nonzero", "ts17 dyn18 ov", _f(lambda m, x: x.nonzero()), x=(x(4, 5), {0: "a", 1: "b"})),
    _net("masked", "ts17 dyn18", _f(lambda m, x: x[x > 0]), x=(x(4, 5), {0: "a", 1: "b"})),
    _net("where", "ts17 dyn18 "
        "dyn18u"
            " ov", _f(lambda m, c, a, b: torch.where(c > 0, a, b)), c=(x(4, 5), {0: "rows", 1: "colu"
                "mns"}), a=(x(4, 5), {0: "rows", 1: "columns"}), b=(x(4, 5), {0: "rows", 1: "columns"})),
    _net("cumulated", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x: (x.cumsum(1), x.sort(1).values, x.argmax(-1), x.flip(0))), x=(x(4, 5), {0: "a", 1: "b"})),
    _net("repeated", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x: (x.repeat(1, 2, 3), x.repeat_interleave(2, 1), x.expand(4, -1, -1) if x.shape[0] == 1 else x)), x=(x(2, 5, 3), TEXT)),
    _net("shifted", "ts17 "
        "dyn18 ov", _f(lambda m, x: torch.cat([x[:, 1:], x[:, :1]], 1) + x.roll(2, 1)), x=(x(2, 5, 3), TEXT)),
    _net("differences", "ts17 "
        "dyn18 ov", _f(lambda m, x: (x[:, 1:] - x[:, :-1], x[:, ::2], x[:, 3:])), x=(x(2, 8, 3), TEXT)),
    _net("halves", "ts17 "
        "dyn18 ov", _f(lambda m, x: x[:, : x.shape[1] // 2] * x[:, x.shape[1] // 2 :]), x=(x(2, 8, 3), TEXT)),
    _net("chunks", "ts17 dyn18 ov", _f(lambda m, x: [each.mean(1) for each in x.split(4, 1)]), x=(x(2, 8, 3), TEXT)),
    _net("triangle", "ts17 "
        "dyn18 ov", _f(lambda m, x: x.tril() @ x.triu(1)), x=(x(2, 6, 6), {0: "batch", 1: "side", 2: "side"})),
    _net("triang"
        "le-u", "ts17 dyn18", _f(lambda m, x: x.tril() @ x), x=(x(2, 6, 6), {0: "batch", 1: "rows", 2: "columns"})),
    _net("flatten2", "ts17 "
        "dyn18"
            " ov", _f(lambda m, x: m.net(x.flatten(1)), net=lambda: nn.Linear(60, 4)), x=(x(2, 6, 10), {0: "bat"
                "ch", 1: "a", 2: "b"})),
    _net("reshape2", "ts17 "
        "dyn18 ov", _f(lambda m, x: x.reshape(-1, 12).mean(0)), x=(x(2, 6, 10), {0: "batch", 1: "a", 2: "b"})),
    _net("pairs", "ts17 "
        "dyn18"
            " ov", _f(lambda m, x: x.view(x.shape[0], -1, 2, x.shape[2]).sum(2)), x=(x(2, 6, 10), {0: "bat"
                "ch", 1: "a", 2: "b"})),
    _net("spectrum", "dyn18 "
        "ts"
            "1"
                "7", _f(lambda m, x: torch.stft(x, 16, 8, window=m.window, return_complex=False, center=True), window=lambda: torch.hann_window(16)), x=(x(2, 80), {0: "b"
                    "a"
                "t"
            "ch", 1: "samp"
            "les"})),
    _net("mel", "dyn18 "
        "ov "
            "ts17", _f(lambda m, x: (F.conv1d(F.pad(x[:, None], (8, 8), mode="refl"
                "ec"
                    "t"), m.kernels, stride=8).abs() + 1e-3).log(), kernels=lambda: real(12, 1, 16)), x=(x(2, 80), {0: "b"
                        "a"
                        "t"
                    "ch", 1: "samp"
                    "les"})),
    _net("siamese", "ts17 dyn18 "
        "ov "
            "dyn1"
                "8"
                    "u", _f(lambda m, a, b: F.cosine_similarity(m.net(a), m.net(b)), net=lambda: nn.Sequential(conv(3, 8, 3, 2), nn.AdaptiveAvgPool2d(2), nn.Flatten())), a=(image, NCHW), b=(image, NCHW)),
    _net("pointers", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x, at: x[torch.arange(x.shape[0]), at]), x=(x(3, 5, 8), TEXT), at=(ids(3, below=4), BATCH)),
    _net("last", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x, mask: x[torch.arange(x.shape[0]), mask.sum(1) - 1], ), x=(x(3, 5, 8), TEXT), mask=(partial(ones, 3, 5), TEXT)),
    _net("mean-pool", "ts17 dyn18 "
        "dyn18u"
            " "
                "o"
                    "v", _f(lambda m, x, mask: (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)), x=(x(3, 5, 8), TEXT), mask=(partial(ones, 3, 5), TEXT)),
    _net("distances", "ts17 "
        "dyn18 ov", _f(lambda m, a, b: torch.cdist(a, b)), a=(x(3, 8), {0: "a"}), b=(x(5, 8), {0: "b"})),
    _net("linspace", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x: x + torch.linspace(0, 1, 12) + torch.ones(x.shape[0], 1)), x=(x(3, 12), {0: "a", 1: "b"})),
    _net("deform", "ts19 dyn19", _f(lambda m, x: __import__("torchvi"
        "si"
            "o"
                "n").ops.deform_conv2d(x, m.offsets(x), m.weight, padding=1), offsets=lambda: nn.Conv2d(3, 18, 3, padding=1), weight=lambda: real(4, 3, 3, 3)), x=(image, NCHW)),
    _net("regions", "ts16 dyn18", _f(lambda m, x, boxes: __import__("torchvi"
        "si"
            "o"
                "n").ops.roi_align(x, boxes, 4, 0.5)), x=(image, NCHW), boxes=(lambda: torch.tensor([[0, 1, 1, 20, 20], [1, 4, 4, 30, 30.0]]), {0: "b"
                    "o"
                "x"
            "es"})),
    _net("squeezed", "ts17 dyn18 ov", _f(lambda m, x: x.mean((2, 3), keepdim=True).squeeze()), x=(image, NCHW)),
    _net("gates", "ts17 "
        "dyn18"
            " "
                "o"
                    "v", _f(lambda m, x: F.glu(m.net(x), 1) * F.silu(x.amax(1, keepdim=True)), net=lambda: nn.Conv1d(6, 8, 3, padding=1)), x=(x(2, 6, 12), TIME)),
]  # fmt: skip


def recipes() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """The names and the functions that make the files."""
    return all_forms("net", SUBJECTS)
