"""Folders of ONNX Runtime GenAI: a tiny decoder with a configuration, and what irlint finds once one thing changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: The vocabulary, and the size of a head.
VOCABULARY = 16
SIZE = 4

Json = dict[str, Any]


def decoder(
    layers: int = 2,
    heads: int = 2,
    *,
    named_sizes: bool = False,
    extra: str = "",
    extra_type: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    """A decoder of random weights with caches; with ``named_sizes`` these do not state the sizes of heads, and an
    ``extra`` input is added to the logits."""
    width, rng = heads * SIZE, np.random.default_rng(0)
    arrays = {
        "table": rng.random((VOCABULARY, width), np.float32),
        "head": rng.random((width, VOCABULARY), np.float32),
        "split": np.array([0, 0, heads, SIZE], np.int64),
        "joined": np.array([0, 0, width], np.int64),
        "axes": np.array([1, 2], np.int64),
    }
    inputs = [
        helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "seq"]),
        helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "total"]),
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "seq", VOCABULARY])]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["x0"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "axes"], ["mask4"]),
    ]
    cache = ["batch", "heads" if named_sizes else heads, "past", "size" if named_sizes else SIZE]
    for at in range(layers):
        for kind in ("key", "value"):
            inputs.append(helper.make_tensor_value_info(f"past_key_values.{at}.{kind}", TensorProto.FLOAT, cache))
            present = [*cache[:2], "total", cache[3]]
            outputs.append(helper.make_tensor_value_info(f"present.{at}.{kind}", TensorProto.FLOAT, present))
        nodes += _layer(at)
    last = f"x{layers}"
    if extra:
        inputs.append(helper.make_tensor_value_info(extra, extra_type, [1]))
        nodes.append(helper.make_node("Cast", [extra], ["shift"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Add", [last, "shift"], ["shifted"]))
        last = "shifted"
    nodes.append(helper.make_node("MatMul", [last, "head"], ["logits"]))
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def masked(dtype: int) -> onnx.ModelProto:
    """The decoder with a mask of another element type."""
    model = decoder()
    model.graph.input[1].type.tensor_type.elem_type = dtype
    return model


def with_positions(dtype: int) -> onnx.ModelProto:
    """The decoder with positions, which are cast and added to the mask of the last layer."""
    model = decoder()
    model.graph.input.append(helper.make_tensor_value_info("position_ids", dtype, ["batch", "seq"]))
    cast = helper.make_node("Cast", ["position_ids"], ["places"], to=TensorProto.FLOAT)
    mean = helper.make_node("ReduceMean", ["places"], ["place"], keepdims=0)
    shifted = helper.make_node("Add", ["x2", "place"], ["placed"])
    model.graph.node[-1].input[0] = "placed"
    for node in (cast, mean, shifted):
        model.graph.node.insert(len(model.graph.node) - 1, node)
    return model


def _layer(at: int) -> list[onnx.NodeProto]:
    made = [
        helper.make_node("Reshape", [f"x{at}", "split"], [f"split{at}"]),
        helper.make_node("Transpose", [f"split{at}"], [f"new{at}"], perm=[0, 2, 1, 3]),
    ]
    for kind in ("key", "value"):
        names = [f"past_key_values.{at}.{kind}", f"new{at}"]
        made.append(helper.make_node("Concat", names, [f"present.{at}.{kind}"], axis=2))
    return [
        *made,
        helper.make_node("Transpose", [f"present.{at}.key"], [f"keys{at}"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", [f"new{at}", f"keys{at}"], [f"scores{at}"]),
        helper.make_node("Mul", [f"scores{at}", "mask4"], [f"masked{at}"]),
        helper.make_node("Softmax", [f"masked{at}"], [f"weights{at}"], axis=-1),
        helper.make_node("MatMul", [f"weights{at}", f"present.{at}.value"], [f"mixed{at}"]),
        helper.make_node("Transpose", [f"mixed{at}"], [f"back{at}"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", [f"back{at}", "joined"], [f"x{at + 1}"]),
    ]


def configuration() -> Json:
    names = {f"past_{kind}_names": f"past_key_values.%d.{kind}" for kind in ("key", "value")}
    presents = {f"present_{kind}_names": f"present.%d.{kind}" for kind in ("key", "value")}
    return {
        "model": {
            "type": "llama",
            "bos_token_id": 1,
            "eos_token_id": 2,
            "pad_token_id": 0,
            "context_length": 64,
            "vocab_size": VOCABULARY,
            "decoder": {
                "session_options": {"provider_options": []},
                "filename": "model.onnx",
                "head_size": SIZE,
                "hidden_size": 2 * SIZE,
                "num_attention_heads": 2,
                "num_hidden_layers": 2,
                "num_key_value_heads": 2,
                "inputs": {"input_ids": "input_ids", "attention_mask": "attention_mask", **names},
                "outputs": {"logits": "logits", **presents},
            },
        },
        "search": {"max_length": 64},
    }


@dataclass(frozen=True)
class Case:
    """What is changed in the configuration or in the model, what irlint finds, and whether the library fails."""

    codes: str = ""
    fails: bool = False
    change: Callable[[Json], object] = lambda _: None
    model: Callable[[], onnx.ModelProto | None] = decoder


def inner(*keys: str) -> Callable[[Json], Json]:
    """Takes a configuration to one of its objects."""

    def found(config: Json) -> Json:
        for key in keys:
            config = config[key]
        return config

    return found


MODEL = inner("model")
DECODER = inner("model", "decoder")
INPUTS = inner("model", "decoder", "inputs")
OUTPUTS = inner("model", "decoder", "outputs")
SEARCH = inner("search")


def pipeline(**changes: Any) -> Callable[[Json], None]:
    """The decoder is the only stage of a pipeline, with these changes."""
    caches = [f"{at}.{kind}" for at in range(2) for kind in ("key", "value")]
    stage = {
        "filename": "model.onnx",
        "inputs": ["input_ids", "attention_mask", *(f"past_key_values.{each}" for each in caches)],
        "outputs": ["logits", *(f"present.{each}" for each in caches)],
    }

    def change(config: Json) -> None:
        MODEL(config).update(type="decoder-pipeline")
        DECODER(config).pop("filename")
        lists = {key: [*stage[key], *value] if isinstance(value, list) else value for key, value in changes.items()}
        DECODER(config).update(pipeline=[{"only": {**stage, **lists}}])

    return change


def unlisted(key: str, name: str) -> Callable[[Json], None]:
    """The stage of the pipeline does not list a name."""

    def change(config: Json) -> None:
        pipeline()(config)
        DECODER(config)["pipeline"][0]["only"][key].remove(name)

    return change


CASES: Mapping[str, Case] = {
    "sound": Case(),
    "pipeline": Case(change=pipeline()),
    "pipeline with an output too many": Case("IRL623", True, pipeline(outputs=["hidden"])),
    "pipeline with an input that nothing makes": Case("IRL623", False, pipeline(inputs=["hidden"])),
    "pipeline without an input": Case("IRL624", True, unlisted("inputs", "attention_mask")),
    "pipeline without a cache": Case("IRL624", True, unlisted("inputs", "past_key_values.1.key")),
    "pipeline with positions that the model lacks": Case(
        "IRL623", False, lambda c: (pipeline(inputs=["position_ids"])(c), INPUTS(c).update(position_ids="position_ids"))
    ),
    "pipeline without its file": Case("IRL622", True, pipeline(filename="part.onnx")),
    "caches without sizes": Case(model=lambda: decoder(named_sizes=True)),
    "names by default": Case(change=lambda c: (DECODER(c).pop("inputs"), DECODER(c).pop("outputs"))),
    "several ends": Case(change=lambda c: MODEL(c).update(eos_token_id=[2, 3])),
    "other hidden size": Case(change=lambda c: DECODER(c).update(hidden_size=99)),
    "positions that the model does not take": Case(change=lambda c: INPUTS(c).update(position_ids="position_ids")),
    "file missing": Case("IRL622", True, model=lambda: None),
    "no file named": Case("IRL621", True, lambda c: DECODER(c).pop("filename")),
    "vocabulary too large": Case("IRL626", True, lambda c: MODEL(c).update(vocab_size=17)),
    "vocabulary too small": Case("IRL626", True, lambda c: MODEL(c).update(vocab_size=12)),
    "vocabulary of 0": Case("IRL621", True, lambda c: MODEL(c).update(vocab_size=0)),
    "vocabulary missing": Case("IRL621", True, lambda c: MODEL(c).pop("vocab_size")),
    "context of 0": Case("IRL621", True, lambda c: MODEL(c).update(context_length=0)),
    "context missing": Case("IRL621", True, lambda c: MODEL(c).pop("context_length")),
    "end outside of the vocabulary": Case("IRL621", True, lambda c: MODEL(c).update(eos_token_id=99)),
    "longer than the context": Case("IRL621", True, lambda c: SEARCH(c).update(max_length=65)),
    "misspelt key": Case("IRL621", True, lambda c: DECODER(c).update(num_hidden_layer=2)),
    "layers stated wrong": Case("IRL626", change=lambda c: DECODER(c).update(num_hidden_layers=3)),
    "more layers in the model": Case("IRL626", model=lambda: decoder(3)),
    "heads stated wrong": Case("IRL626", change=lambda c: DECODER(c).update(num_key_value_heads=4)),
    "heads that do not fit": Case(
        "IRL626",
        True,
        lambda c: DECODER(c).update(num_key_value_heads=4),
        lambda: decoder(named_sizes=True),
    ),
    "head size that does not fit": Case(
        "IRL626", True, lambda c: DECODER(c).update(head_size=8), lambda: decoder(named_sizes=True)
    ),
    "name of the tokens": Case("IRL623", True, lambda c: INPUTS(c).update(input_ids="ids")),
    "name of the mask": Case("IRL624", True, lambda c: INPUTS(c).update(attention_mask="mask")),
    "name of the keys": Case("IRL624", True, lambda c: INPUTS(c).update(past_key_names="past.%d.key")),
    "name of the values": Case("IRL623", True, lambda c: INPUTS(c).update(past_value_names="past.%d.value")),
    "name of the new keys": Case("IRL623", True, lambda c: OUTPUTS(c).update(present_key_names="new.%d.key")),
    "name of the logits": Case("IRL623", True, lambda c: OUTPUTS(c).update(logits="scores")),
    "type misspelt": Case("IRL621", True, lambda c: MODEL(c).update(type="lama")),
    "type of other files": Case("IRL622", True, lambda c: MODEL(c).update(type="whisper"), lambda: None),
    "filename misspelt": Case("IRL622", True, lambda c: DECODER(c).update(filename="modle.onnx")),
    "name of the new values": Case("IRL623", True, lambda c: OUTPUTS(c).update(present_value_names="new.%d.value")),
    "one end outside of the vocabulary": Case("IRL621", True, lambda c: MODEL(c).update(eos_token_id=[2, 16])),
    "mask of floats": Case("IRL625", True, model=lambda: masked(TensorProto.FLOAT)),
    "mask of int32": Case(model=lambda: masked(TensorProto.INT32)),
    "logits to keep": Case(model=lambda: decoder(extra="num_logits_to_keep", extra_type=TensorProto.INT64)),
    "positions of another type": Case("IRL625", True, model=lambda: with_positions(TensorProto.INT32)),
    "positions": Case(model=lambda: with_positions(TensorProto.INT64)),
    "positions of another name": Case(
        "IRL624",
        True,
        lambda c: INPUTS(c).update(position_ids="positions"),
        lambda: with_positions(TensorProto.INT64),
    ),
    "input that nothing feeds": Case("IRL624", True, model=lambda: decoder(extra="bias")),
}


def written(folder: Path, case: Case) -> Path:
    """Writes the folder of a case, and returns the path of its configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    config, model = configuration(), case.model()
    case.change(config)
    if model is not None:
        onnx.save(model, folder / "model.onnx")
    path = folder / "genai_config.json"
    path.write_text(json.dumps(config, indent=2))
    return path


TINY = Path(__file__).parent / "tiny" / "genai"

#: What is changed in the folder that the model builder wrote, what irlint finds in it, and whether the library fails.
EXPORTED: Mapping[str, tuple[str, bool, Callable[[Json], object]]] = {
    "sound": ("", False, lambda _: None),
    "vocabulary": ("IRL626", True, lambda c: MODEL(c).update(vocab_size=280)),
    "head size": ("IRL626", True, lambda c: DECODER(c).update(head_size=32)),
    "heads that the caches state": ("IRL626", False, lambda c: DECODER(c).update(num_key_value_heads=4)),
    "layers": ("IRL626", False, lambda c: DECODER(c).update(num_hidden_layers=4)),
    "context beyond the rotary tables": ("IRL626", False, lambda c: MODEL(c).update(context_length=4096)),
    "length beyond the context": ("IRL621", True, lambda c: SEARCH(c).update(max_length=65)),
    "tokens": ("IRL623", True, lambda c: INPUTS(c).update(input_ids="tokens")),
    "mask": ("IRL624", True, lambda c: INPUTS(c).update(attention_mask="mask")),
    "keys": ("IRL624", True, lambda c: INPUTS(c).update(past_key_names="past_key_values.%d.keys")),
    "logits": ("IRL623", True, lambda c: OUTPUTS(c).update(logits="scores")),
    "file": ("IRL622", True, lambda c: DECODER(c).update(filename="decoder.onnx")),
    "decoder misspelt": ("IRL621 IRL621", True, lambda c: MODEL(c).update(decodr=MODEL(c).pop("decoder"))),
}


def exported(folder: Path, name: str) -> Path:
    """Writes the changed folder of the model builder, and returns the path of its configuration."""
    shutil.copytree(TINY, folder, dirs_exist_ok=True)
    path = folder / "genai_config.json"
    config = json.loads(path.read_text())
    EXPORTED[name][2](config)
    path.write_text(json.dumps(config, indent=2))
    return path
