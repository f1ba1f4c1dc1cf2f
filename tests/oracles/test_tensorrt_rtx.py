"""Profiles of `irlint contract --as trtexec`, and contracts, held against the builder of TensorRT for RTX, which judges
sizes on a CPU.

It is asked where the package ``tensorrt_rtx`` is installed, which no extra brings: `pip install tensorrt-rtx-cu12`, 200
MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import onnx.helper
import onnx.parser
import pytest
from contracts.models import HEAD, MODELS
from oracles.tensorrt_rtx_worker import Question, answers

import irlint
from irlint.contracts.profiles import Profile
from irlint.dims import Expr, evaluated
from irlint.run.contract import profile_for

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_spec("tensorrt_rtx") is None, reason="tensorrt_rtx is not installed"),
]

#: Models that the parser does not take.
UNPARSED = {"conv transpose shape": "padding below 0"}

#: Sizes that fit and are refused, and why.
STRICTER = {
    "squeeze none": "without axes only what the file declares as 1 is removed",
    "pool stride": "a window that is larger than its input is refused, where ONNX Runtime gives a size of 1",
}

#: Models of which sizes are taken that do not fit, and why.
LAXER = {
    "window": "a tensor may be empty",
    "pool conv": "a tensor may be empty",
    "split": "pieces may lie past the end",
    "split even": "pieces may lie past the end",
    "split last smaller": "pieces may lie past the end",
    "expand": "sizes are taken that do not go together",
    "expand by shape": "sizes are taken that do not go together",
    "gru state": "a batch of 1 is broadcast to that of the state",
    "pad reflect": "what is reflected may be larger than the input",
    "gemm": "the product is broadcast to the summand",
}

#: So many sizes of a model are tried that fit, and as many that do not.
TRIED = 8

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 19, 32, 35)


def saved(name: str, folder: Path) -> str:
    """A model whose outputs have element types, which the parser wants."""
    path = folder / "m.onnx"
    model = onnx.parser.parse_model(HEAD + MODELS[name][0])
    path.write_bytes(model.SerializeToString())
    types = {each["name"]: each["dtype"] for each in irlint.contract(path)["outputs"]}
    for output in model.graph.output:
        output.type.tensor_type.elem_type = onnx.TensorProto.DataType.Value(
            types[output.name].upper().replace("32", "")
        )
    path.write_bytes(model.SerializeToString())
    return str(path)


def shapes(profile: Profile, *points: Mapping[str, int]) -> dict[str, list[list[int]]]:
    return {
        name: [[evaluated(dim, point) for dim in shape if dim is not None] for point in points]
        for name, shape in profile.inputs
        if shape is not None and any(isinstance(dim, Expr) for dim in shape)
    }


def profiled(name: str, folder: Path) -> tuple[Profile, Question]:
    path = saved(name, folder)
    profile = profile_for(path, "trtexec")
    points = [
        {symbol: getattr(free, point) for symbol, free in profile.symbols.items()}
        for point in ("least", "usual", "greatest")
    ]
    return profile, (Path(path).read_bytes(), shapes(profile, *points))


def test_each_profile_is_built(tmp_path: Path) -> None:
    names = [name for name in MODELS if name not in UNPARSED]
    found = answers([profiled(name, tmp_path)[1] for name in names])
    assert {name: text for name, text in zip(names, found) if text != "built"} == {}


def tried(name: str, folder: Path) -> Iterator[tuple[bool, dict[str, int], Question]]:
    """Sizes, and whether they fit."""
    profile, (model, _) = profiled(name, folder)
    contract = irlint.contract(folder / "m.onnx")
    symbols = list(profile.symbols)
    points = [dict(zip(symbols, sizes)) for sizes in product(SIZES, repeat=len(symbols))]
    Random(name).shuffle(points)
    points.insert(0, dict.fromkeys(symbols, 1))
    count = {True: 0, False: 0}
    for point in points:
        fits = all(eval(each["condition"], dict(point)) for each in contract["requires"])
        count[fits] += 1
        if count[fits] <= TRIED:
            yield fits, point, (model, shapes(profile, point, point, point))


def test_sizes_are_built_where_they_fit(tmp_path: Path) -> None:
    asked = [(name, *each) for name in MODELS if name not in UNPARSED for each in tried(name, tmp_path)]
    found = answers([question for *_, question in asked])
    wrong: list[tuple[Any, ...]] = []
    differ: set[str] = set()
    for (name, fits, point, _), text in zip(asked, found):
        if (text == "built") != fits:
            known = STRICTER if fits else LAXER
            differ.add(name)
            if name not in known:
                wrong.append((name, fits, point, text))
    assert wrong == []
    assert len(asked) > 300
    assert differ == STRICTER.keys() | LAXER.keys()
