"""What several networks are made of."""

from __future__ import annotations

import math

from torch import nn


class Body(nn.Module):
    """A module whose ``forward`` is a function of its layers and its inputs."""

    def __init__(self, forward, **layers):
        super().__init__()
        self.layers = nn.ModuleDict({name: each for name, each in layers.items() if isinstance(each, nn.Module)})
        for name, each in layers.items():
            if not isinstance(each, nn.Module):
                self.register_buffer(name, each)
        self.body = forward

    def __getattr__(self, name):
        layers = self.__dict__.get("_modules", {}).get("layers")
        return layers[name] if layers is not None and name in layers else super().__getattr__(name)

    def forward(self, *inputs):
        return self.body(self, *inputs)


def conv(a, b, k=3, s=1, **others):
    return nn.Sequential(nn.Conv2d(a, b, k, s, k // 2, **others), nn.BatchNorm2d(b), nn.ReLU())


class Attention(nn.Module):
    def __init__(self, width=16, heads=4):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x, mask=None):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        if mask is not None:
            scores = scores + mask
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))
