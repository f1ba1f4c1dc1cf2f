"""Small networks for texts, sounds, graphs and tables, as people write them themselves."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from .layers import Attention


class MaskedAttention(nn.Module):
    """A causal mask that is a table, sliced or not."""

    def __init__(self, length, sliced):
        super().__init__()
        self.attention, self.sliced = Attention(), sliced
        self.register_buffer("mask", torch.full((length, length), -1e9).triu(1))

    def forward(self, x):
        t = x.shape[1]
        return self.attention(x, self.mask[:t, :t] if self.sliced else self.mask)


class Decoder(nn.Module):
    """One layer with a cache."""

    def __init__(self, width=16, heads=4):
        super().__init__()
        self.embed, self.head = nn.Embedding(32, width), nn.Linear(width, 32)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.heads = heads

    def forward(self, ids, mask, past_key, past_value):
        x = self.embed(ids)
        b, t, c = x.shape
        q, k, v = (each(x).view(b, t, self.heads, -1).transpose(1, 2) for each in (self.q, self.k, self.v))
        k, v = torch.cat([past_key, k], 2), torch.cat([past_value, v], 2)
        scores = q @ k.transpose(-1, -2) + (1.0 - mask[:, None, None, :].to(q.dtype)) * -1e9
        return self.head((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c)), k, v


class StaticCache(nn.Module):
    def __init__(self, slots=32, width=16):
        super().__init__()
        self.k = nn.Linear(width, width)
        self.slots = slots

    def forward(self, x, cache, position):
        cache = cache.index_copy(1, position, self.k(x))
        scores = x @ cache.transpose(1, 2)
        seen = torch.arange(self.slots)[None, :] <= position[:, None]
        return scores.masked_fill(~seen, -1e9).softmax(-1) @ cache, cache


class Rope(nn.Module):
    def forward(self, x):
        _, t, _, c = x.shape
        angles = torch.arange(t).float()[:, None] / 10000 ** (torch.arange(0, c, 2).float() / c)
        cos, sin = angles.cos()[None, :, None], angles.sin()[None, :, None]
        one, other = x[..., 0::2], x[..., 1::2]
        return torch.stack([one * cos - other * sin, one * sin + other * cos], -1).flatten(-2)


class Graph(nn.Module):
    """Message passing over edges."""

    def __init__(self, how="scatter"):
        super().__init__()
        self.a, self.b, self.how = nn.Linear(8, 16), nn.Linear(16, 4), how

    def forward(self, nodes, edges):
        x = self.a(nodes)
        sent, taken = edges[0], edges[1]
        if self.how == "scatter":
            gathered = torch.zeros_like(x).scatter_add(0, taken[:, None].expand(-1, 16), x[sent])
        else:
            gathered = torch.zeros_like(x).index_add(0, taken, x.index_select(0, sent))
        return self.b(F.relu(gathered + x)).log_softmax(-1)


class Recurrent(nn.Module):
    def __init__(self, kind=nn.LSTM, both=False, layers=1, state=False):
        super().__init__()
        self.embed, self.state = nn.Embedding(16, 8), state
        self.cell = kind(8, 12, num_layers=layers, bidirectional=both, batch_first=True)
        self.head = nn.Linear(24 if both else 12, 5)

    def forward(self, ids, *state):
        x, after = self.cell(self.embed(ids), state[0] if len(state) == 1 else (state or None))
        return (self.head(x), after) if self.state else self.head(x[:, -1])


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.w = nn.Linear(16, 4), nn.Parameter(torch.randn(4, 16, 16))

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).topk(2, -1)
        return torch.einsum("btk,btkc->btc", weight, torch.einsum("btc,btkcd->btkd", x, self.w[chosen]))


class Points(nn.Module):
    """Nearest neighbors of points, as DGCNN has them."""

    def __init__(self, k=4):
        super().__init__()
        self.k, self.mlp = k, nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, points):
        b, n, _ = points.shape
        near = (-torch.cdist(points, points)).topk(self.k, -1).indices
        picked = points.gather(1, near.reshape(b, -1, 1).expand(-1, -1, 3)).view(b, n, self.k, 3)
        x = torch.cat([picked - points[:, :, None], points[:, :, None].expand(-1, -1, self.k, -1)], -1)
        return self.mlp(x).amax(2).amax(1)


class Separation(nn.Module):
    """A mask over learned frames of a waveform, padded to the input's length."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Conv1d(1, 16, 16, 8), nn.ConvTranspose1d(16, 1, 16, 8)
        self.net = nn.Sequential(nn.Conv1d(16, 16, 3, padding=2, dilation=2), nn.PReLU(), nn.Conv1d(16, 32, 1))

    def forward(self, wave):
        x = self.encode(wave[:, None])
        masks = self.net(x).view(x.shape[0], 2, 16, -1).sigmoid()
        out = self.decode((masks * x[:, None]).flatten(0, 1)).view(x.shape[0], 2, -1)
        return F.pad(out, (0, wave.shape[-1] - out.shape[-1]))


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(8, 16, 2, dilation=2**n) for n in range(4)])
        self.first = nn.Conv1d(1, 8, 1)

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            a, b = layer(F.pad(x, (layer.dilation[0], 0))).chunk(2, 1)
            x = x + a.tanh() * b.sigmoid()
        return x


class Transducer(nn.Module):
    def forward(self, a, b):
        return (a[:, :, None] + b[:, None]).tanh().log_softmax(-1)


class Regulator(nn.Module):
    """Frames by a matrix product with alignments, as text to speech without loops has it."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 8)

    def forward(self, ids, alignment):
        return alignment.softmax(-1) @ self.embed(ids)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv1d(4, 8, 3, padding=1)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        shift, scale = self.net(a).chunk(2, 1)
        return torch.cat([a, (b - shift) * (-scale).exp()], 1).flip(1)


class Loss(nn.Module):
    def forward(self, logits, labels):
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)


class Features(nn.Module):
    """64 features divided as the sizes of the input say: no size works."""

    def forward(self, x):
        b, t, _ = x.shape
        return x.reshape(b, t, -1, 16).mean(2)


class Chunked(nn.Module):
    """Attention in blocks of a fixed length."""

    def __init__(self, block=8):
        super().__init__()
        self.attention, self.block = Attention(), block

    def forward(self, x):
        b, t, c = x.shape
        return self.attention(x.reshape(b * (t // self.block), self.block, c)).reshape(b, t, c)


class Relative(nn.Module):
    """Relative positions by the trick that pads and reshapes."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(65, 16))

    def forward(self, x):
        b, t, _ = x.shape
        scores = x @ self.table[32 - t + 1 : 32 + t].T
        scores = F.pad(scores, (1, 0)).reshape(b, 2 * t, t)[:, 1:].reshape(b, t, 2 * t - 1)[:, :, :t]
        return (scores + x @ x.transpose(1, 2)).softmax(-1) @ x


class Ctc(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv1d(8, 16, 3, 2, 1), nn.GELU(), nn.Conv1d(16, 16, 3, 2, 1))
        self.register_buffer("table", torch.randn(100, 16))
        self.attention = Attention()

    def forward(self, features):
        x = self.stem(features).transpose(1, 2)
        return self.attention(x + self.table[: x.shape[1]]).log_softmax(-1)


class Looped(nn.Module):
    """A loop over time, to be scripted."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(12, 8)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 8)
        found = []
        for t in range(x.shape[1]):
            h = torch.tanh(self.cell(torch.cat([x[:, t], h], 1)))
            found.append(h)
        return torch.stack(found, 1)


class Branched(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x):
        if x.shape[0] > 2:
            y = self.a(x)
        else:
            y = self.b(x) * 2
        return y


class Greedy(nn.Module):
    """A loop that stops by itself, to be scripted."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(16, 8), nn.Linear(8, 16)

    def forward(self, ids):
        for _ in range(4):
            ids = torch.cat([ids, self.head(self.embed(ids).mean(1)).argmax(-1, keepdim=True)], 1)
        return ids


class Cond(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.a(x), lambda x: self.b(x) * 2, (x,))
