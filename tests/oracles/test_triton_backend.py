"""Configurations of small models, changed at random, against what the backend of ONNX Runtime does with them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from folders.triton_cases import BACKEND, CORE, MODELS, model, written
from google.protobuf import text_format
from oracles.triton_backend import RefusedError, loaded, tensors

import irlint
from irlint.folders.triton.schema import enum_values, model_config

pytestmark = pytest.mark.oracle

#: How often the configuration of each model is changed.
CHANGES = 15

#: Cases about what is no part of the comparison: sequences, requests that fail, and files.
OTHER = ("IRL620", "IRL621", "IRL622", "IRL628")


def complete(data: bytes, random: Random) -> Any:
    """A configuration with all that a model has."""
    inputs, outputs = tensors(data)
    config = model_config()()
    batched = all(dims[:1] == [-1] for _, dims in (*inputs.values(), *outputs.values())) and random.random() < 0.6
    config.backend, config.max_batch_size = "onnxruntime", 8 if batched else 0
    for listed, found in ((config.input, inputs), (config.output, outputs)):
        for name, (dtype, dims) in found.items():
            own = dims[1:] if batched else dims
            tensor = listed.add(name=name, data_type=enum_values("DataType").index(dtype), dims=own or [1])
            if batched and not own:
                tensor.reshape.SetInParent()
    return config


def change(config: Any, random: Random) -> None:
    tensor, kind = random.choice([*config.input, *config.output]), random.randrange(10)
    if kind == 0:
        tensor.name += "_"
    elif kind == 1:
        tensor.data_type = random.choice((1, 9, 10, 11))
    elif kind == 2:
        tensor.dims[random.randrange(len(tensor.dims))] = random.choice((-1, 1, 3, 7))
    elif kind == 3:
        tensor.dims.append(random.choice((-1, 1)))
    elif kind == 4:
        del tensor.dims[1:]
    elif kind == 5:
        config.max_batch_size = random.choice((0, 1, 8))
    elif kind == 6:
        config.ClearField(random.choice(("input", "output")))
    elif kind == 7:
        del config.input[0]
    elif kind == 8:
        del config.output[-1]
    elif kind == 9:
        config.input[0].optional = True


def refused(config: Any, data: bytes) -> str:
    try:
        loaded(config, data)
    except RefusedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [name for name in MODELS if name != "sequence"])
def test_changed_configurations(name: str, tmp_path: Path) -> None:
    random, data = Random(name), model(name)
    verdicts = []
    for at in range(CHANGES):
        config = complete(data, random)
        for _ in range(at % 3):
            if config.input and config.output:
                change(config, random)
        text = text_format.MessageToString(config)
        path = written(tmp_path / f"model{at}", (name, text, ""))
        report = irlint.check(path)
        reason = refused(config, data)
        messages = [each.message for each in report.findings]
        assert (report.as_dict()["summary"]["errors"] > 0) == bool(reason), (text, reason, messages)
        verdicts.append(bool(reason))
    assert any(verdicts) and not all(verdicts)


@pytest.mark.parametrize("name", [*CORE, *BACKEND])
def test_cases(name: str) -> None:
    kind, text, codes = {**CORE, **BACKEND}[name]
    if "sequence" in text or "model_warmup" in text or "label" in text or any(each in codes for each in OTHER):
        pytest.skip("the backend does not judge it")
    config = model_config()()
    text_format.Parse(text.replace("NAME", "model"), config)
    assert bool(refused(config, model(kind))) == bool(codes), text
