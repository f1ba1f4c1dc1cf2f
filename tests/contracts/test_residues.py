"""Sizes of outputs, simplified by what the conditions leave of the sizes of inputs."""

from __future__ import annotations

from pathlib import Path

import onnx.parser
import pytest
from contracts.models import HEAD, MODELS
from hypothesis import given
from hypothesis import strategies as st

import irlint
from irlint.contracts.residues import reduced
from irlint.contracts.sizes import Sizes, joined, met, solved
from irlint.dims import Dim, evaluated, floordiv, symbol
from irlint.findings.statements import Relation

H, W = symbol("H", 1), symbol("W", 1)


def of(condition: str) -> Sizes:
    """The sizes n for which a condition such as ``n % 4 in (0, 3)`` holds, by the classes of 12."""
    found = None
    for residue in range(12):
        if eval(condition, {"n": residue + 12}):
            one = solved([Relation("%", symbol("n", 1) - residue + 12, 12)])
            assert one is not None
            found = one if found is None else joined(found, one)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("dim", "condition", "text"),
    [
        (4 * ((H + 3) // 4), "n % 4 == 0", "H"),
        (2 * ((H + 3) // 4), "n % 4 == 0", "H//2"),
        ((H + 3) // 4, "n % 4 == 0", "H//4"),
        (4 * (H // 4), "n % 4 == 1", "H - 1"),
        (4 * ((H + 3) // 4), "n % 4 == 1", "H + 3"),
        (2 * ((H + 1) // 2) + 1, "n % 2 == 1", "H + 2"),
        (2 * ((H + 3) // 4), "n % 4 in (0, 3)", "(H + 1)//2"),
        (4 * ((H + 3) // 4), "n % 4 in (0, 3)", "2*((H + 1)//2)"),
        (4 * ((H + 3) // 4), "n % 4 in (0, 2)", "4*((H + 2)//4)"),
        (((H + 3) // 4) * 4 * ((W + 3) // 4), "n % 4 == 0", "H*((W + 3)//4)"),
        (16 * (((H + 1) // 2 + 1) // 2) - H, "n % 12 == 0", "3*H"),
        (H // 2 + H // 2 - H // 4, "n % 4 == 0", "H - H//4"),
        (3 * ((H * W) // 6), "n % 6 == 0", "H*W//2"),
        ((H * W + 5) // 6, "n % 2 == 0", "(H*W + 5)//6"),
        ((H + 2) // 3, "n % 2 == 0", "(H + 2)//3"),
        (floordiv(W, H), "n % 2 == 0", "W//H"),
    ],
)
def test_reduced(dim: Dim, condition: str, text: str) -> None:
    sizes = of(condition)
    found = reduced(dim, {"H": sizes})
    for h in sizes.elements(80):
        for w in range(1, 30):
            assert evaluated(found, {"H": h, "W": w}) == evaluated(dim, {"H": h, "W": w})
    assert str(found) == text


def test_several_symbols_are_reduced_together() -> None:
    dim = 16 * ((H + 3) // 4) * ((W + 3) // 4)
    assert str(reduced(dim, {"H": of("n % 4 == 0"), "W": of("n % 12 == 0")})) == "H*W"
    assert str(reduced(4 * ((H + W) // 4), {"H": of("n % 4 == 1"), "W": of("n % 4 == 3")})) == "H + W"


numbers = st.integers(-9, 9)
residue_sets = st.tuples(st.integers(1, 12), st.lists(st.integers(0, 11), min_size=1, max_size=3), st.integers(1, 9))


def _sizes(drawn: tuple[int, list[int], int]) -> Sizes:
    modulus, residues, least = drawn
    parts = [solved([Relation("%", symbol("n", 1) + (12 * modulus - each), modulus)]) for each in residues]
    found = parts[0]
    for part in parts[1:]:
        assert found is not None and part is not None
        found = joined(found, part)
    at_least = solved([Relation(">=", symbol("n", 1), least)])
    assert found is not None and at_least is not None
    together = met(found, at_least)
    assert together is not None
    return together


@given(
    residue_sets,
    residue_sets,
    st.lists(st.tuples(numbers, numbers, numbers, st.integers(1, 8)), min_size=1, max_size=3),
)
def test_what_is_reduced_is_equal(
    one: tuple[int, list[int], int], other: tuple[int, list[int], int], terms: list[tuple[int, int, int, int]]
) -> None:
    sizes = {"H": _sizes(one), "W": _sizes(other)}
    dim: Dim = 0
    for a, b, c, divisor in terms:
        dim = dim * (b + 1) + divisor * floordiv(a * H + b * W + c + floordiv(H + c, divisor), divisor)
    found = reduced(dim, sizes)
    for h in sizes["H"].elements(60):
        for w in list(sizes["W"].elements(40))[:8]:
            point = {"H": h, "W": w}
            assert evaluated(found, point) == evaluated(dim, point)


def returned(name: str, folder: Path) -> list[object]:
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + MODELS[name][0]).SerializeToString())
    return [each["shape"] for each in irlint.contract(path)["outputs"]]


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("unet", [[1, 2, "H"]]),
        ("unet pools", [[1, 2, "H", 4]]),
        ("unet padded", [[1, 2, "(H + 1)//2"]]),
        ("multiple", [["3*H//4", 4]]),
        ("depth", [[1, 16, "H//2", "W//2"]]),
    ],
)
def test_returned(name: str, shapes: list[object], tmp_path: Path) -> None:
    assert returned(name, tmp_path) == shapes
