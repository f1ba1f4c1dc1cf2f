"""Inputs for a model, with sizes that its contract accepts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import irlint

from .engines import Arrays

DTYPES = {"bool": np.bool_, "string": np.object_}

#: Sizes for dynamic axes, those of the first feed and those of the second.
SIZES = (
    (2, 3, 4, 1, 8, 5, 16, 7, 32, 64, 224, 128, 256, 48, 6),
    (3, 5, 8, 1, 6, 16, 32, 9, 64, 96, 12, 10, 320, 20, 128),
)

_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_WORDS = {"and", "or", "not", "in", "min", "max", "abs", "True", "False"}


def _value(text: Any, sizes: dict[str, int]) -> Any:
    if not isinstance(text, str):
        return text
    return eval(text, {"__builtins__": {}, "min": min, "max": max, "abs": abs}, dict(sizes))


def _symbols(text: Any) -> list[str]:
    return [name for name in _NAME.findall(text) if name not in _WORDS] if isinstance(text, str) else []


def sizes(contract: dict[str, Any], which: int, tries: int = 20_000) -> Iterator[dict[str, int]]:
    """Sizes of the dynamic axes with which a model runs by its contract, the likeliest first."""
    names = list(
        dict.fromkeys(name for each in contract["inputs"] for dim in each["shape"] or () for name in _symbols(dim))
    )
    conditions = [each["condition"] for each in contract["requires"] if "when" not in each]
    known = [text for text in conditions if set(_symbols(text)) <= set(names)]
    candidates = SIZES[which]
    width = len(candidates)
    while width > 2 and width ** len(names) > tries:
        width -= 1
    orders = [[candidates[(at + shift) % width] for at in range(width)] for shift in range(len(names))]
    for values in itertools.islice(itertools.product(*orders), tries):
        chosen = dict(zip(names, values))
        try:
            if all(_value(text, chosen) for text in known):
                yield chosen
        except (ArithmeticError, TypeError, NameError):
            continue


def feed(inputs: list[dict[str, Any]], chosen: dict[str, int], seed: int, ones: bool) -> Arrays | None:
    """Random values for each input, None where it is no tensor of known rank. Floating-point values are exact in
    float16."""
    random = np.random.default_rng(seed)
    result: Arrays = {}
    for each in inputs:
        if each["shape"] is None or each["dtype"] is None:
            return None
        shape = [_value(dim, chosen) for dim in each["shape"]]
        if any(size < 0 or size > 4096 for size in shape) or np.prod(shape, dtype=float) > 5e6:
            return None
        result[each["name"]] = array(each["dtype"], shape, random, ones)
    return result


def array(dtype: str, shape: list[int], random: np.random.Generator, ones: bool = False) -> Any:
    if dtype == "string":
        return random.choice(np.array(["a", "b"], dtype=object), shape)
    kind = np.dtype(DTYPES.get(dtype, dtype))
    if kind.kind == "f":
        return random.uniform(-1, 1, shape).astype(np.float16).astype(kind)
    if kind.kind == "b":
        return np.ones(shape, bool) if ones else random.integers(0, 2, shape).astype(bool)
    return np.ones(shape, kind) if ones else random.integers(0, 2, shape).astype(kind)


def feeds(model: Any, name: str, which: int) -> Iterator[Arrays]:
    """Feeds of a model to try, the ``which``-th set of sizes."""
    contract = irlint.contract(model, **({} if isinstance(model, str) else {"name": name}))
    for number, chosen in enumerate(sizes(contract, which)):
        if number == 6:
            return
        for ones in (False, True):
            made = feed(contract["inputs"], chosen, which, ones)
            if made is not None:
                yield made
