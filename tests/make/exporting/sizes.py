"""Which sizes are tried: some that a contract allows, their neighbors, and any."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

#: What a text of a contract may call.
CALLS = {"min": min, "max": max, "abs": abs, "__builtins__": {}}

USUAL = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    15,
    16,
    17,
    20,
    24,
    30,
    31,
    32,
    33,
    40,
    48,
    63,
    64,
    65,
    72,
    96,
    100,
    128,
    160,
    224,
    256,
)

#: So many numbers may an input have.
MOST = 600_000


def value_of(text: Any, sizes: Mapping[str, int]) -> Any:
    """What a text is worth; None where it has a name that no size has."""
    if not isinstance(text, str):
        return text
    try:
        return eval(text, dict(CALLS), dict(sizes))
    except (NameError, ZeroDivisionError):
        return None


def names_of(contract: Mapping[str, Any]) -> list[str]:
    """The names of the sizes of the inputs."""
    texts = [dim for each in contract["inputs"] for dim in each.get("shape") or () if isinstance(dim, str)]
    found = [name for text in texts for name in re.findall(r"[^\W\d]\w*", text)]
    return list(dict.fromkeys(name for name in found if name not in CALLS))


def shapes(contract: Mapping[str, Any], sizes: Mapping[str, int]) -> list[list[int]] | None:
    """The shapes of the inputs; None where one is too large or has a size below 1."""
    found = []
    for each in contract["inputs"]:
        shape = [value_of(dim, sizes) for dim in each.get("shape") or ()]
        count = 1
        for dim in shape:
            if not isinstance(dim, int) or dim < 1:
                return None
            count *= dim
        if count > MOST:
            return None
        found.append(shape)
    return found


def holds(contract: Mapping[str, Any], sizes: Mapping[str, int], branches: bool = False) -> bool:
    """Whether the contract allows these sizes; with ``branches`` also what only a branch demands."""
    if contract.get("satisfiable") is False:
        return False
    return not broken(contract, sizes, branches)


def broken(contract: Mapping[str, Any], sizes: Mapping[str, int], branches: bool = False) -> list[str]:
    """The conditions that these sizes break."""
    return [
        each["condition"]
        for each in contract["requires"]
        if (branches or not each.get("when")) and value_of(each["condition"], sizes) is False
    ]


def example(contract: Mapping[str, Any], shapes_of: Mapping[str, Sequence[int]]) -> dict[str, int] | None:
    """The sizes of the example that an exporter was given."""
    found: dict[str, int] = {}
    ordered = list(shapes_of.values())
    for at, each in enumerate(contract["inputs"]):
        stated = each.get("shape") or ()
        given = shapes_of.get(each["name"])
        if given is None and len(ordered) == len(contract["inputs"]):
            given = ordered[at]
        if given is None or len(given) != len(stated):
            continue
        found.update({dim: size for dim, size in zip(stated, given) if isinstance(dim, str) and dim.isidentifier()})
    return found if all(name in found for name in names_of(contract)) else None


def chosen(contract: Mapping[str, Any], start: Mapping[str, int] | None, count: int, seed: str) -> list[dict[str, int]]:
    """Sizes to try, the example first."""
    names = names_of(contract)
    if not names:
        return [{}] if shapes(contract, {}) is not None else []
    chance = random.Random(seed)
    texts = " ".join(each["condition"] for each in contract["requires"])
    special = sorted({int(text) for text in re.findall(r"\b\d+\b", texts) if 1 <= int(text) <= 4096})
    near = sorted({near for size in special for near in (size - 1, size, size + 1, 2 * size, 3 * size) if near >= 1})
    found: list[dict[str, int]] = []

    def take(sizes: Mapping[str, int], most: int) -> None:
        if len(found) < most and dict(sizes) not in found and shapes(contract, sizes) is not None:
            found.append(dict(sizes))

    def any_sizes() -> dict[str, int]:
        pool = chance.choice((USUAL, USUAL[:12], USUAL, near or USUAL))
        sizes = {name: chance.choice(pool) for name in names}
        if start and chance.random() < 0.5:
            kept = chance.sample(names, chance.randint(0, len(names) - 1)) if len(names) > 1 else []
            sizes.update({name: start[name] for name in kept})
        elif chance.random() < 0.4:
            sizes = dict.fromkeys(names, chance.choice(pool))
        return sizes

    def neighbor(sizes: Mapping[str, int]) -> dict[str, int]:
        name = chance.choice(names)
        moved = (
            sizes[name] + 1,
            sizes[name] - 1,
            2 * sizes[name],
            sizes[name] // 2,
            1,
            chance.choice(USUAL),
            chance.choice(near or USUAL),
        )
        changed = {**sizes, name: max(1, chance.choice(moved))}
        if len(names) > 1 and chance.random() < 0.3:
            changed[chance.choice(names)] = changed[name]
        return changed

    if start:
        take(start, count)
        for _ in range(40):
            take(neighbor(start), count // 3)
    for _ in range(3000):
        if len(found) >= 2 * count // 3:
            break
        sizes = any_sizes()
        if holds(contract, sizes):
            take(sizes, count)
            for _ in range(2):
                take(neighbor(sizes), count)
    for _ in range(10 * count):
        take(any_sizes(), count)
    return found
