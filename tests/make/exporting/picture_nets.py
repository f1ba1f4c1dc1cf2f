"""Small networks for pictures, as people write them themselves."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from .layers import Attention, conv


class UNet(nn.Module):
    """``joined`` is how the skip gets the size of what was upsampled: as it is, resized or padded."""

    def __init__(self, joined="cat", up="transposed"):
        super().__init__()
        self.a, self.b, self.c = conv(3, 8), conv(8, 16), conv(16, 32)
        self.up = nn.ModuleList(
            [nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)]
            if up == "transposed"
            else [nn.Sequential(nn.Upsample(scale_factor=2, mode=up), nn.Conv2d(n, n // 2, 1)) for n in (32, 16)]
        )
        self.d, self.e, self.head = conv(32, 16), conv(16, 8), nn.Conv2d(8, 2, 1)
        self.joined = joined

    def join(self, x, skip):
        if self.joined == "resize":
            x = F.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
        if self.joined == "pad":
            h, w = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
            x = F.pad(x, [w // 2, w - w // 2, h // 2, h - h // 2])
        return torch.cat([skip, x], 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        return self.head(self.e(self.join(self.up[1](self.d(self.join(self.up[0](c), b))), a)))


class Windows(nn.Module):
    """Windowed attention with a cyclic shift and relative positions, as Swin has it."""

    def __init__(self, side=4, padded=False):
        super().__init__()
        self.attention, self.side, self.padded = Attention(), side, padded
        self.bias = nn.Parameter(torch.randn(1, 4, side * side, side * side))

    def forward(self, x):
        b, h, w, c = x.shape
        s = self.side
        if self.padded:
            x = F.pad(x, (0, 0, 0, (s - w % s) % s, 0, (s - h % s) % s))
        _, hp, wp, _ = x.shape
        x = torch.roll(x, (-s // 2, -s // 2), (1, 2))
        x = x.view(b, hp // s, s, wp // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        x = self.attention(x, self.bias)
        x = x.view(b, hp // s, wp // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(b, hp, wp, c)
        return torch.roll(x, (s // 2, s // 2), (1, 2))[:, :h, :w]


class Merging(nn.Module):
    def __init__(self):
        super().__init__()
        self.reduce = nn.Linear(64, 32)

    def forward(self, x):
        return self.reduce(torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1))


class PatchPositions(nn.Module):
    """A vision transformer; ``positions`` are added as they are, or resized to the picture."""

    def __init__(self, resized):
        super().__init__()
        self.patch, self.attention, self.resized = nn.Conv2d(3, 16, 8, 8), Attention(), resized
        self.table, self.token = nn.Parameter(torch.randn(1, 16, 8, 8)), nn.Parameter(torch.randn(1, 1, 16))

    def forward(self, x):
        x = self.patch(x)
        table = self.table
        if self.resized:
            table = F.interpolate(table, size=x.shape[2:], mode="bicubic", align_corners=False)
        x = (x + table).flatten(2).transpose(1, 2)
        return self.attention(torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1))[:, 0]


class Padded(nn.Module):
    """A convolution with TensorFlow's SAME padding."""

    def __init__(self, stride=2, kernel=3, floats=False):
        super().__init__()
        self.conv, self.stride, self.kernel, self.floats = nn.Conv2d(3, 8, kernel, stride), stride, kernel, floats

    def needed(self, size):
        steps = math.ceil(size / self.stride) if self.floats else -(size // -self.stride)
        return max((steps - 1) * self.stride + self.kernel - size, 0)

    def forward(self, x):
        h, w = (self.needed(size) for size in x.shape[2:])
        return self.conv(F.pad(x, [w // 2, w - w // 2, h // 2, h - h // 2]))


class Diffusion(nn.Module):
    """A U-Net with time steps, as diffusion models have."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first, self.down, self.middle = (
            nn.Conv2d(4, 16, 3, 1, 1),
            nn.Conv2d(16, 32, 3, 2, 1),
            nn.Conv2d(32, 32, 3, 1, 1),
        )
        self.norm, self.cross, self.up = (
            nn.GroupNorm(8, 32),
            nn.MultiheadAttention(32, 4, batch_first=True),
            nn.Conv2d(32, 16, 3, 1, 1),
        )
        self.last = nn.Conv2d(32, 4, 3, 1, 1)

    def forward(self, sample, timestep, states):
        angles = timestep[:, None].float() * torch.exp(-torch.arange(8) * 0.5)
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))[:, :, None, None]
        a = self.first(sample)
        x = F.silu(self.norm(self.middle(self.down(a)) + time))
        b, c, h, w = x.shape
        rows = x.flatten(2).transpose(1, 2)
        x = (rows + self.cross(rows, states, states, need_weights=False)[0]).transpose(1, 2).reshape(b, c, h, w)
        return self.last(torch.cat([self.up(F.interpolate(x, scale_factor=2.0)), a], 1))


class Yolo(nn.Module):
    """Three scales, a neck and decoded boxes."""

    def __init__(self, fixed=False):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 8, 3, 2), conv(8, 16, 3, 2), conv(16, 16, 3, 2))
        self.p4, self.p5, self.head, self.fixed = conv(16, 16, 3, 2), conv(16, 16, 3, 2), nn.Conv2d(32, 3 * 7, 1), fixed
        self.side = nn.Conv2d(16, 32, 1)
        self.register_buffer("grid", self.cells(8, 8))

    @staticmethod
    def cells(h, w):
        y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        return torch.stack([x, y], -1).reshape(1, 1, h, w, 2).float()

    def forward(self, image):
        c3 = self.stem(image)
        c4 = self.p4(c3)
        c5 = self.p5(c4)
        p4 = c4 + F.interpolate(c5, scale_factor=2, mode="nearest")
        p3 = torch.cat([c3, F.interpolate(p4, scale_factor=2, mode="nearest")], 1)
        x = self.head(p3)
        b, _, h, w = x.shape
        x = x.view(b, 3, 7, h, w).permute(0, 1, 3, 4, 2)
        grid = self.grid if self.fixed else self.cells(h, w)
        xy = (x[..., :2].sigmoid() * 2 - 0.5 + grid) * 8
        boxes = torch.cat([xy, (x[..., 2:4].sigmoid() * 2) ** 2, x[..., 4:].sigmoid()], -1).reshape(b, -1, 7)
        return boxes, self.side(c5).flatten(2)


class Suppressed(nn.Module):
    def forward(self, boxes, scores):
        import torchvision  # noqa: F401

        kept = torch.ops.torchvision.nms(boxes, scores, 0.5)
        return boxes[kept], scores[kept]


class Crnn(nn.Module):
    def __init__(self, height=32):
        super().__init__()
        self.stem = nn.Sequential(
            conv(1, 8), nn.MaxPool2d(2), conv(8, 16), nn.MaxPool2d(2), nn.Conv2d(16, 16, (height // 4, 2))
        )
        self.cell, self.head = nn.LSTM(16, 12, bidirectional=True), nn.Linear(24, 11)

    def forward(self, x):
        return self.head(self.cell(self.stem(x).squeeze(2).permute(2, 0, 1))[0])


class Quantizer(nn.Module):
    """Codes of a codebook."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Conv2d(3, 8, 4, 4), nn.ConvTranspose2d(8, 3, 4, 4)
        self.codes = nn.Parameter(torch.randn(16, 8))

    def forward(self, x):
        z = self.encode(x).permute(0, 2, 3, 1)
        b, h, w, c = z.shape
        at = torch.cdist(z.reshape(1, -1, c), self.codes[None])[0].argmin(-1)
        return self.decode(self.codes[at].view(b, h, w, c).permute(0, 3, 1, 2)), at.view(b, h, w)


class Correlation(nn.Module):
    def forward(self, a, b):
        b_, c, h, w = a.shape
        volume = torch.einsum("bchw,bcuv->bhwuv", a, b) / c**0.5
        return F.avg_pool2d(volume.reshape(b_ * h * w, 1, *b.shape[2:]), 2).view(b_, h, w, -1)


class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.flow = nn.Conv2d(6, 2, 3, padding=1)

    def forward(self, a, b):
        h, w = a.shape[2:]
        y, x = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        flow = self.flow(torch.cat([a, b], 1)).permute(0, 2, 3, 1)
        return F.grid_sample(b, torch.stack([x, y], -1)[None] + flow, align_corners=True)


class Space(nn.Module):
    """Blocks of pixels to channels, by views."""

    def __init__(self, n=2):
        super().__init__()
        self.n = n

    def forward(self, x):
        b, c, h, w = x.shape
        return (
            x.view(b, c, h // self.n, self.n, w // self.n, self.n)
            .permute(0, 1, 3, 5, 2, 4)
            .reshape(b, -1, h // self.n, w // self.n)
        )


class Pyramid(nn.Module):
    """Pooled at several scales and resized back."""

    def __init__(self, sizes=(1, 2)):
        super().__init__()
        self.sizes, self.stem = sizes, conv(3, 8, 3, 2)

    def forward(self, x):
        y = self.stem(x)
        pooled = [F.interpolate(F.adaptive_avg_pool2d(y, n), y.shape[2:], mode="bilinear") for n in self.sizes]
        return F.interpolate(torch.cat([y, *pooled], 1), x.shape[2:], mode="bilinear")


class Strided(nn.Module):
    """Keys and values of a smaller picture, as SegFormer has them."""

    def __init__(self, ratio=4):
        super().__init__()
        self.reduce, self.q, self.kv = nn.Conv2d(16, 16, ratio, ratio), nn.Linear(16, 16), nn.Linear(16, 32)

    def forward(self, x):
        b, c, h, w = x.shape
        q = self.q(x.flatten(2).transpose(1, 2))
        k, v = self.kv(self.reduce(x).flatten(2).transpose(1, 2)).chunk(2, -1)
        return ((q @ k.transpose(1, 2)).softmax(-1) @ v).transpose(1, 2).view(b, c, h, w)


class Folded(nn.Module):
    """Patches of 2 by 2 as in MobileViT, with the picture resized where they do not fit."""

    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        b, c, h, w = x.shape
        nh, nw = math.ceil(h / 2) * 2, math.ceil(w / 2) * 2
        y = F.interpolate(x, size=(nh, nw), mode="bilinear", align_corners=False)
        y = y.reshape(b * c * nh // 2, 2, nw // 2, 2).transpose(1, 2).reshape(b, c, nh * nw // 4, 4).transpose(1, 3)
        y = self.attention(y.reshape(b * 4, nh * nw // 4, c)).reshape(b, 4, nh * nw // 4, c).transpose(1, 3)
        y = y.reshape(b * c * nh // 2, nw // 2, 2, 2).transpose(1, 2).reshape(b, c, nh, nw)
        return F.interpolate(y, size=(h, w), mode="bilinear", align_corners=False)


class Ranked(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, scores, boxes):
        best, at = scores.flatten(1).topk(self.k)
        return best, boxes.gather(1, (at // scores.shape[2])[..., None].expand(-1, -1, 4))
