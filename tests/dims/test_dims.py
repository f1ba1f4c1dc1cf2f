"""What irlint.dims promises: texts, canonical forms, and proofs that are never wrong."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from irlint import dims
from irlint.dims import (
    Expr,
    TooComplex,
    at_least,
    bounds,
    broadcast_size,
    divisible,
    evaluated,
    floordiv,
    guarded,
    largest,
    product,
    quotient,
    same,
    smallest,
    symbol,
    symbols,
    total,
)

NAMES = {name: symbol(name) for name in ("H", "W", "N", "M", "S", "batch", "seq")}
NAMES |= {"P": symbol("P", 1), "T": symbol("T", 2), "U": symbol("U", 0, 3)}
FUNCTIONS = {name: getattr(dims, name) for name in dir(dims) if not name.startswith("_")}
ENVIRONMENT: dict[str, Any] = {**FUNCTIONS, "min": smallest, "max": largest, **NAMES}


def built(text: str) -> Any:
    return eval(text, dict(ENVIRONMENT))


TEXTS = [
    ("H", "H"),
    ("-H", "-H"),
    ("(H - 1)//2 + 1", "(H + 1)//2"),
    ("(H + 1)//2", "(H + 1)//2"),
    ("ceildiv(H, 2)", "(H + 1)//2"),
    ("-(-H//2)", "(H + 1)//2"),
    ("-(-H//4)", "(H + 3)//4"),
    ("max(min(8 - H, max(min(8 - H, 1), 0)), 0)", "max(min(-H + 8, 1), 0)"),
    ("max(min(W, max(H - 9, 0)), 0)", "max(min(H - 9, W), 0)"),
    ("min(max(H, min(W, 9)), 5)", "min(max(H, W), 5)"),
    ("max((H - 31)//2, 0)//16 + 1", "max((H + 1)//32, 1)"),
    ("max(max((H - 12)//4, 0), 1)", "max((H - 12)//4, 1)"),
    ("max(H//2, W)//3", "max(H//6, W//3)"),
    ("max(H - 1, 0)//2", "max(H - 1, 0)//2"),
    ("(H - 7)//2 + 1", "(H - 5)//2"),
    ("((H + 1)//2 + 1)//2", "(H + 3)//4"),
    ("((H - 1)//2 + 1 - 1)//2 + 1", "(H + 3)//4"),
    ("((H - 1)//2 + 2)//2", "(H + 3)//4"),
    ("(4*H + 6)//4", "H + 1"),
    ("(2*H + 3)//4", "(H + 1)//2"),
    ("(2*H)//4*2", "2*(H//2)"),
    ("3*H//4", "3*H//4"),
    ("5*H//4", "H + H//4"),
    ("(H - W)//4", "(H - W)//4"),
    ("(W - H)//4", "(W - H)//4"),
    ("H//2//3//5", "H//30"),
    ("(H//2)//N", "H//(2*N)"),
    ("H % 2", "H % 2"),
    ("(H + 8) % 16", "(H + 8) % 16"),
    ("N + H % 2", "H + N - 2*(H//2)"),
    ("N*(H//2)", "N*(H//2)"),
    ("2*(H//2)*N", "2*N*(H//2)"),
    ("-(H//2)", "-(H//2)"),
    ("N - H//2", "N - H//2"),
    ("H//2 - 4", "(H - 8)//2"),
    ("N + H//2 + 1", "N + H//2 + 1"),
    ("H*W//1024 + H*W//64 + H*W//256", "H*W//64 + H*W//256 + H*W//1024"),
    ("seq*batch", "batch*seq"),
    ("N*2 + 1", "2*N + 1"),
    ("1 + M + 2*N", "M + 2*N + 1"),
    ("N + H*W + 1", "H*W + N + 1"),
    ("N - M", "N - M"),
    ("1 - N", "-N + 1"),
    ("max(N, M)", "max(M, N)"),
    ("max(N, M, N, max(S, 3))", "max(M, N, S, 3)"),
    ("max(N - 1, 0)", "max(N - 1, 0)"),
    ("max(N, N + 1)", "N + 1"),
    ("max(N, M, smallest(N, 3))", "max(M, N)"),
    ("2*min(N, 8)", "2*min(N, 8)"),
    ("3//N", "3//N"),
    ("(N*H + 3)//N", "H + 3//N"),
    ("N*S//(S + 1)", "N*S//(S + 1)"),
    ("H//(W//2)", "H//(W//2)"),
    ("N*H//(N*W)", "H//W"),
]


@pytest.mark.parametrize(("source", "text"), TEXTS)
def test_text(source: str, text: str) -> None:
    assert str(built(source)) == repr(built(source)) == text
    assert built(text) == built(source)
    assert hash(built(text)) == hash(built(source))


CONSTANTS = [
    ("N - N", 0),
    ("0*N", 0),
    ("N*0 + 3", 3),
    ("N//N", 1),
    ("2*N//N", 2),
    ("0//N", 0),
    ("N % N", 0),
    ("(4*N + 3) % 4", 3),
    ("H//(H + 1)", 0),
    ("U//4", 0),
    ("max(N, -1) - N", 0),
    ("min(N, 0)", 0),
    ("min(3, 4)", 3),
    ("symbol('A', 4, 4)", 4),
    ("quotient(0, N)", 0),
    ("quotient(3*N, N)", 3),
    ("substituted(H//2, {'H': 9})", 4),
    ("product([])", 1),
    ("total([])", 0),
    ("product([N, None, 0])", 0),
    ("product([2, 3])", 6),
    ("floordiv(-7, 2)", -4),
    ("ceildiv(7, 2)", 4),
]


@pytest.mark.parametrize(("source", "value"), CONSTANTS)
def test_constant(source: str, value: int) -> None:
    assert type(built(source)) is int
    assert built(source) == value


NOTHING = [
    "product([2, None])",
    "total([2, None])",
    "smallest(1, None)",
    "largest(None, N)",
    "quotient(N, 2)",
    "quotient(3, N)",
    "quotient(N + 1, N)",
    "quotient(N, 0)",
    "quotient(7, 2)",
    "same(None, None)",
    "same(1, None)",
    "same(None, N)",
    "at_least(None, 1)",
    "at_least(1, None)",
]


@pytest.mark.parametrize("source", NOTHING)
def test_nothing(source: str) -> None:
    assert built(source) is None


SAME = [
    ("3", "3", True),
    ("3", "4", False),
    ("N", "N", True),
    ("N", "N + 1", False),
    ("2*N + 2", "1", False),
    ("T", "1", False),
    ("P", "0", False),
    ("U", "4", False),
    ("2*N", "1", False),
    ("6*N", "4*M + 1", False),
    ("N", "0", None),
    ("N", "M", None),
    ("6*N", "5*N", None),
    ("6*P", "5*P", False),
    ("P*T", "P", False),
    ("H//2 + (H + 1)//2", "H", True),
    ("H//4 + (H + 1)//4 + (H + 2)//4 + (H + 3)//4", "H", True),
    ("2*(H//2) + 1", "2*((H + 1)//2)", False),
    ("H//2", "(H + 1)//2", None),
    ("H//2", "(H + 2)//2", False),
    ("H % 4", "4", False),
    ("H % 4", "3", None),
    ("(H//3) % 5 + 5*(H//15)", "H//3", True),
    ("3*H//4 - H", "-H//4", True),
    ("-(-H//32)", "ceildiv(H, 32)", True),
    ("N*(H//2)//3", "(N*(H//2) + 3)//3 - 1", True),
    ("(H*W)//2 + (H*W + 1)//2", "H*W", True),
    ("max(N, M) + min(N, M)", "N + M", None),
    ("max(N, 1)", "0", False),
    ("max(2*N, 4*M)", "1", False),
]


@pytest.mark.parametrize(("left", "right", "verdict"), SAME)
def test_same(left: str, right: str, verdict: bool | None) -> None:
    assert same(built(left), built(right)) is verdict
    assert same(built(right), built(left)) is verdict


POSITIVE = [
    ("6*N", "5*N", False),
    ("N", "0", False),
    ("N", "M", None),
    ("N*M + N", "N", False),
    ("N", "N", True),
]


@pytest.mark.parametrize(("left", "right", "verdict"), POSITIVE)
def test_same_positive(left: str, right: str, verdict: bool | None) -> None:
    assert same(built(left), built(right), positive=True) is verdict


BOUNDS = [
    ("5", (5, 5)),
    ("N", (0, None)),
    ("-N", (None, 0)),
    ("2*T + 1", (5, None)),
    ("U", (0, 3)),
    ("U*U - U", (-3, 9)),
    ("(H - 5)//2", (-3, None)),
    ("H % 2", (0, 1)),
    ("H - H//2", (0, None)),
    ("H*P - H", (0, None)),
    ("N*(H//2) - N*H", (None, 0)),
    ("min(N, 8)", (0, 8)),
    ("max(N, 8)", (8, None)),
    ("max(N, M) - N", (0, None)),
    ("3//P", (0, 3)),
    ("N - M", (None, None)),
]


@pytest.mark.parametrize(("source", "expected"), BOUNDS)
def test_bounds(source: str, expected: object) -> None:
    assert bounds(built(source)) == expected


AT_LEAST = [
    ("N", "0", True),
    ("N", "1", None),
    ("T", "1", True),
    ("U", "4", False),
    ("H", "H//2", True),
    ("max(N, M)", "N", True),
    ("N", "min(N, M)", True),
    ("4", "3", True),
]


@pytest.mark.parametrize(("left", "right", "verdict"), AT_LEAST)
def test_at_least(left: str, right: str, verdict: bool | None) -> None:
    assert at_least(built(left), built(right)) is verdict


DIVISIBLE = [
    ("6", 3, True),
    ("7", 3, False),
    ("6*N + 3", 3, True),
    ("6*N + 1", 3, False),
    ("6*N + 1", 4, False),
    ("H", 2, None),
    ("H*(H + 1)", 2, True),
    ("H*H + H + 1", 2, False),
    ("4*(H//2)", 8, None),
    ("H//2*2 + 2*N", 2, True),
    ("6*N", -3, True),
]


@pytest.mark.parametrize(("source", "divisor", "verdict"), DIVISIBLE)
def test_divisible(source: str, divisor: int, verdict: bool | None) -> None:
    assert divisible(built(source), divisor) is verdict


QUOTIENTS = [
    ("6*N*S", "3*S", "2*N"),
    ("N*H + 2*H", "N + 2", "H"),
    ("6*N + 4", "2", "3*N + 2"),
    ("N*(H//2)", "H//2", "N"),
    ("N*N - M*M", "N - M", "N + M"),
    ("-N*H", "N", "-H"),
]


@pytest.mark.parametrize(("left", "right", "exact"), QUOTIENTS)
def test_quotient(left: str, right: str, exact: str) -> None:
    assert quotient(built(left), built(right)) == built(exact)
    assert floordiv(built(left), built(right)) == built(exact)


RAISES = [
    ("floordiv(N, 0)", ZeroDivisionError),
    ("N//0", ZeroDivisionError),
    ("N % 0", ZeroDivisionError),
    ("floordiv(3, 0)", ZeroDivisionError),
    ("divisible(N, 0)", ZeroDivisionError),
    ("bool(N)", TypeError),
    ("not N", TypeError),
    ("N < 1", TypeError),
    ("N >= M", TypeError),
    ("N + 0.5", TypeError),
    ("'a'*N", TypeError),
]


@pytest.mark.parametrize(("source", "error"), RAISES)
def test_raises(source: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        built(source)


def test_symbols_through_atoms() -> None:
    assert symbols(built("max(N, H//2)*W + S//M")) == {"N", "H", "W", "S", "M"}
    assert symbols(3) == frozenset()


def test_coefficients_past_reason() -> None:
    assert guarded(lambda: symbol("n") * 2**1024) is not None
    with pytest.raises(TooComplex):
        symbol("n") * 2**1025


def test_too_many_terms() -> None:
    wide = sum(symbol(f"s{index}") for index in range(64))
    assert isinstance(wide, Expr)
    with pytest.raises(TooComplex):
        wide + symbol("s64")
    with pytest.raises(TooComplex):
        wide * wide
    assert guarded(floordiv, wide, 2) is not None
    assert product([wide, wide]) is None
    assert total([wide, symbol("s64")]) is None
    assert same(wide, symbol("s64")) is None
    assert at_least(wide, symbol("s64")) is None
    assert guarded(lambda: wide * wide) is None


def repeated(step: Any) -> None:
    expr = NAMES["N"]
    for _ in range(100):
        expr = step(expr)


@pytest.mark.parametrize("source", ["lambda x: x*x", "lambda x: x*M//(x + H)"])
def test_too_deep(source: str) -> None:
    with pytest.raises(TooComplex):
        repeated(built(source))


@pytest.mark.parametrize(
    ("dims_text", "expected"),
    [
        ("(H, H)", "H"),
        ("(H, 1)", "H"),
        ("(1, 1)", "1"),
        ("(3, 1, 3)", "3"),
        ("(P, T)", "max(P, T)"),
        ("(H, W)", "max(H, W)*min(H, W, 1)"),
        ("(H, min(H, 8))", "H"),
        ("(max(H, W)*min(H, W, 1), W)", "max(H, W)*min(H, W, 1)"),
        ("(max(H, W)*min(H, W, 1), N)", "max(H, N, W)*min(H, N, W, 1)"),
        ("(H*min(max(min(8 - W, H), 0), 1), H)", "H*min(max(min(-W + 8, H), 0), 1)"),
        ("(H, None)", "None"),
    ],
)
def test_broadcast_size(dims_text: str, expected: str) -> None:
    assert str(broadcast_size(*built(dims_text))) == expected


@given(st.lists(st.integers(0, 4), min_size=2, max_size=3))
def test_broadcast_size_is_the_one_that_is_not_1(sizes: list[int]) -> None:
    assume(len({size for size in sizes if size != 1}) <= 1)
    wanted = next((size for size in sizes if size != 1), 1)
    names = dict(zip("HWN", sizes))
    pair = broadcast_size(broadcast_size(*(NAMES[name] for name in list(names)[:2])), NAMES[list(names)[-1]])
    for found in (broadcast_size(*(NAMES[name] for name in names)), pair):
        assert found is not None
        assert evaluated(found, names) == wanted


def test_too_many_sizes_to_broadcast() -> None:
    assert broadcast_size(*(symbol(f"s{index}") for index in range(17))) is None


def test_too_deep_extremes() -> None:
    expr: Any = NAMES["N"]
    while expr is not None:
        expr = guarded(lambda x: smallest(total([largest(x, NAMES["M"]), NAMES["H"]]), x * NAMES["W"]), expr)


@pytest.mark.parametrize("source", [source for source, _ in TEXTS])
def test_copies(source: str) -> None:
    expr = built(source)
    assert copy.deepcopy(expr) == pickle.loads(pickle.dumps(expr)) == expr


def test_import_is_light() -> None:
    code = (
        "import sys, types; sys.modules['irlint'] = types.ModuleType('irlint'); sys.modules['irlint'].__path__ = "
        "['.']\n"
    )
    command = [sys.executable, "-S", "-c", code + "import irlint.dims; print(*sys.modules)"]
    folder = Path(dims.__file__).parents[1]
    loaded = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split()
    assert not {"re", "typing", "dataclasses", "fractions", "numpy", "irlint.dims.proofs"} & set(loaded)
