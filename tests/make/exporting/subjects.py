"""What is exported: a network with an example of each of its inputs, and the axes that may have other sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Subject:
    """A network: ``make`` returns the module and its examples by argument name.

    ``axes`` has the dynamic axes of each input with the names of their sizes; ``least`` values that an integer input
    must stay below.
    """

    name: str
    make: Callable[[], tuple[Any, dict[str, Any]]]
    forms: tuple[str, ...]
    axes: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    below: Mapping[str, int] = field(default_factory=dict)


def image(batch: int = 2, channels: int = 3, height: int = 64, width: int | None = None) -> Any:
    """A picture."""
    import torch

    return torch.randn(batch, channels, height, width or height)


def whole(*shape: int, below: int = 8) -> Any:
    """Indices."""
    import torch

    return torch.randint(0, below, shape)


def real(*shape: int) -> Any:
    """Numbers."""
    import torch

    return torch.randn(*shape)


def ones(*shape: int) -> Any:
    """An attention mask that hides nothing."""
    import torch

    return torch.ones(*shape, dtype=torch.int64)


NCHW = {0: "batch", 2: "height", 3: "width"}
BATCH = {0: "batch"}
TEXT = {0: "batch", 1: "sequence"}
