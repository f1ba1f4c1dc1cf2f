"""Folders that optimum exported: one change each, what irlint finds, and whether optimum or transformers fail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

TINY = Path(__file__).parent / "tiny" / "transformers"

Change = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """The folder, the codes that irlint finds in its configurations, whether the library fails, and the change."""

    folder: str
    codes: str
    fails: bool
    change: Change = lambda _: None


def config(file: str = "config.json", **values: Any) -> Change:
    """Keys of a configuration have other values, or are removed where these are None."""

    def change(folder: Path) -> None:
        found = json.loads((folder / file).read_text())
        found.update(values)
        found = {key: value for key, value in found.items() if value is not None}
        (folder / file).write_text(json.dumps(found, indent=2))

    return change


def images(**values: Any) -> Change:
    return config("preprocessor_config.json", **values)


def removed(*files: str) -> Change:
    return lambda folder: [(folder / file).unlink() for file in files]


def fixed(name: str, file: str, sizes: list[int]) -> Change:
    """An input of a model has fixed sizes."""

    def change(folder: Path) -> None:
        model = onnx.load(folder / file)
        (value,) = (each for each in model.graph.input if each.name == name)
        for dim, size in zip(value.type.tensor_type.shape.dim, sizes, strict=True):
            dim.dim_value = size
        onnx.save(model, folder / file)

    return change


def labels(count: int) -> dict[str, str]:
    return {str(at): f"class {at}" for at in range(count)}


def size(edge: int) -> dict[str, int]:
    return {"height": edge, "width": edge}


CASES: Mapping[str, Case] = {
    "decoder": Case("decoder", "", False),
    "heads of the caches": Case("decoder", "IRL626", True, config(num_key_value_heads=4)),
    "heads of the caches omitted": Case("decoder", "IRL626", True, config(num_key_value_heads=None)),
    "size of a head": Case("decoder", "", False, config(head_dim=16)),
    "size of a head and the width": Case("decoder", "IRL626", True, config(head_dim=16, hidden_size=64)),
    "size of a head by the width": Case("decoder", "IRL626", True, config(head_dim=None, hidden_size=64)),
    "more layers": Case("decoder", "IRL626", False, config(num_hidden_layers=3)),
    "fewer layers": Case("decoder", "IRL626", False, config(num_hidden_layers=1)),
    "another model": Case("decoder", "", False, config(vocab_size=65)),
    "decoder with broken JSON": Case(
        "decoder", "IRL620", True, lambda folder: (folder / "config.json").write_text("{")
    ),
    "classifier": Case("classifier", "", False),
    "a class too few": Case("classifier", "IRL626", True, config(id2label=labels(2))),
    "one class": Case("classifier", "IRL626", True, config(id2label=labels(1))),
    "a class too many": Case("classifier", "IRL626", False, config(id2label=labels(4))),
    "two labels": Case("classifier", "IRL626", True, config(id2label=None, label2id=None, num_labels=2)),
    "three labels": Case("classifier", "", False, config(id2label=None, label2id=None, num_labels=3)),
    "image": Case("image", "", False),
    "fewer classes of images": Case("image", "IRL626", True, config(id2label=labels(3))),
    "larger images": Case("image", "IRL626", True, images(size=size(40))),
    "smaller images": Case("image", "IRL626", True, images(size=size(16))),
    "images of 33": Case("image", "", False, images(size=size(33))),
    "wide images": Case("image", "IRL626", True, images(size={"height": 32, "width": 64})),
    "images of any size": Case("image", "", True, images(do_resize=False)),
    "gray images": Case("image", "IRL626", True, images(image_mean=[0.5], image_std=[0.5])),
    "cropped images": Case(
        "image",
        "IRL626",
        True,
        images(
            image_processor_type="CLIPImageProcessor",
            size={"shortest_edge": 40},
            do_center_crop=True,
            crop_size=size(24),
        ),
    ),
    "well cropped images": Case(
        "image",
        "",
        False,
        images(
            image_processor_type="CLIPImageProcessor",
            size={"shortest_edge": 40},
            do_center_crop=True,
            crop_size=32,
        ),
    ),
    "a fixed size": Case("image", "", False, fixed("pixel_values", "model.onnx", [1, 3, 32, 32])),
    "another fixed size": Case("image", "IRL626", True, fixed("pixel_values", "model.onnx", [1, 3, 48, 48])),
    "pair": Case("pair", "", False),
    "no encoder": Case("pair", "IRL622", True, removed("encoder_model.onnx")),
    "no decoder": Case(
        "pair",
        "IRL622",
        True,
        removed("decoder_model.onnx", "decoder_with_past_model.onnx", "decoder_model_merged.onnx"),
    ),
    "merged decoder": Case("pair", "", False, removed("decoder_model.onnx", "decoder_with_past_model.onnx")),
    "two decoders": Case("pair", "", False, removed("decoder_model_merged.onnx")),
    "no decoder for later tokens": Case(
        "pair", "IRL622", True, removed("decoder_with_past_model.onnx", "decoder_model_merged.onnx")
    ),
    "no decoder for the first token": Case(
        "pair", "IRL622", True, removed("decoder_model.onnx", "decoder_model_merged.onnx")
    ),
    "heads of the pair": Case("pair", "IRL626 IRL626", True, config(num_heads=4)),
    "size of a head of the pair": Case("pair", "IRL626 IRL626", True, config(d_kv=16)),
}


def written(folder: Path, case: Case) -> Path:
    """Writes the folder of a case."""
    shutil.copytree(TINY / case.folder, folder, dirs_exist_ok=True)
    case.change(folder)
    return folder


#: How the libraries are asked about each folder, which is the first argument.
ASKED = {
    "decoder": """
from optimum.onnxruntime import ORTModelForCausalLM
model = ORTModelForCausalLM.from_pretrained(folder, use_io_binding=False)
model.generate(input_ids=torch.tensor([[3, 4, 5]]), max_new_tokens=3)
""",
    "classifier": """
from optimum.onnxruntime import ORTModelForSequenceClassification
from transformers import AutoTokenizer, pipeline
model = ORTModelForSequenceClassification.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
pipeline("text-classification", model=model, tokenizer=tokenizer)("the quick brown fox", top_k=None)
""",
    "image": """
from PIL import Image
from optimum.onnxruntime import ORTModelForImageClassification
from transformers import AutoImageProcessor, pipeline
model = ORTModelForImageClassification.from_pretrained(folder)
processor = AutoImageProcessor.from_pretrained(folder, use_fast=False)
pipeline("image-classification", model=model, image_processor=processor)(Image.new("RGB", (50, 44)), top_k=99)
""",
    "pair": """
from optimum.onnxruntime import ORTModelForSeq2SeqLM
model = ORTModelForSeq2SeqLM.from_pretrained(folder, use_io_binding=False)
model.generate(input_ids=torch.tensor([[3, 4, 5]]), max_new_tokens=3)
""",
}
