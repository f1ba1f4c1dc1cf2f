"""What irlint finds in Hugging Face's folders of exported models; ONNX Runtime is asked about the sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from command.process import run
from folders.genai_cases import decoder
from make.fixtures import example

import irlint

MODELS = {
    "classifier": "g (int64[batch,seq] input_ids) => (float[batch,3] logits) <float[9,3] table = {ONES27}> "
    "{ rows = Gather (table, input_ids) logits = ReduceMean <axes = [1], keepdims = 0> (rows) }",
    "renamed": "g (int64[batch,seq] ids) => (float[batch,3] logits) <float[9,3] table = {ONES27}> "
    "{ rows = Gather (table, ids) logits = ReduceMean <axes = [1], keepdims = 0> (rows) }",
    "single": "g (int64[1,seq] input_ids) => (float[1,3] logits) <float[9,3] table = {ONES27}> "
    "{ rows = Gather (table, input_ids) logits = ReduceMean <axes = [1], keepdims = 0> (rows) }",
    "segments": "g (float[n,7,h,w] pixel_values) => (float[n,7,h,w] logits) { logits = Relu (pixel_values) }",
    "sound": "g (float[n,80,3000] input_features) => (float[n,80,3000] y) { y = Relu (input_features) }",
    "last": "g (float[n,224,224,3] pixel_values) => (float[n,224,224,3] y) { y = Relu (pixel_values) }",
    "half": "g (int64[batch,seq] input_ids) => (float16[batch,3] logits) <float[9,3] table = {ONES27}> "
    "{ rows = Gather (table, input_ids) m = ReduceMean <axes = [1], keepdims = 0> (rows) "
    "logits = Cast <to = 10> (m) }",
    "image": "g (float[batch,3,224,224] pixel_values) => (float[batch,3,224,224] y) { y = Relu (pixel_values) }",
    "patches": "g (float[batch,3,height,width] pixel_values) => (float[batch,p,3,16,w] y) "
    "<int64[5] target = {0, -1, 3, 16, 224}> { y = Reshape (pixel_values, target) }",
    "cache": "g (float[batch,2,past,4] past_key_values.0.key, float[batch,2,past,4] past_key_values.0.value) => "
    "(float[batch,2,past,4] y) { y = Add (past_key_values.0.key, past_key_values.0.value) }",
}

Json = dict[str, object]

LABELS = {str(at): f"class {at}" for at in range(3)}
TEXT: Json = {"model_type": "bert", "architectures": ["BertForSequenceClassification"], "id2label": LABELS}
IMAGE: Json = {
    "image_processor_type": "ViTImageProcessor",
    "do_resize": True,
    "size": {"height": 224, "width": 224},
    "do_normalize": True,
    "image_mean": [0.5, 0.5, 0.5],
}
CLIP: Json = {**IMAGE, "image_processor_type": "CLIPImageProcessor", "do_center_crop": True}
EDGE: Json = {"size": {"shortest_edge": 256}}
SMALL: Json = {"size": {"height": 9, "width": 9}}
CACHE: Json = {
    "model_type": "llama",
    "hidden_size": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
}

#: The name of a configuration, what it has, the models by their files, and what is found.
CASES: Mapping[str, tuple[str, Json, dict[str, str], str]] = {
    "classes": ("config.json", TEXT, {"model.onnx": "classifier"}, ""),
    "in the folder onnx": ("config.json", TEXT, {"onnx/model.onnx": "classifier"}, ""),
    "a class too few": (
        "config.json",
        {**TEXT, "id2label": {"0": "a", "1": "b"}},
        {"model.onnx": "classifier"},
        "error IRL626 id2label has 2 classes, and the last axis of `logits` in model.onnx is 3",
    ),
    "a class too many": (
        "config.json",
        {**TEXT, "id2label": {**LABELS, "3": "d"}},
        {"model.onnx": "classifier"},
        "warning IRL626 id2label has 4 classes",
    ),
    "number of labels": (
        "config.json",
        {**TEXT, "id2label": None, "num_labels": 2},
        {"model.onnx": "classifier"},
        "error IRL626 num_labels has 2 classes",
    ),
    "no classifier": (
        "config.json",
        {**TEXT, "architectures": ["BertModel"], "num_labels": 9},
        {"model.onnx": "classifier"},
        "",
    ),
    "no labels": ("config.json", {**TEXT, "id2label": None}, {"model.onnx": "classifier"}, ""),
    "variants": ("config.json", TEXT, {"model.onnx": "classifier", "model_quantized.onnx": "classifier"}, ""),
    "variant of another export": (
        "config.json",
        TEXT,
        {"model.onnx": "classifier", "model_quantized.onnx": "renamed"},
        "warning IRL623 model_quantized.onnx against model.onnx: input `input_ids` (int64[batch, seq]) is gone",
    ),
    "variant of another type": (
        "config.json",
        TEXT,
        {"model.onnx": "classifier", "model_fp16.onnx": "half"},
        "warning IRL625 model_fp16.onnx against model.onnx: output `logits` is float16, where it was float32",
    ),
    "caches": ("config.json", CACHE, {"model.onnx": "cache"}, ""),
    "heads": (
        "config.json",
        {**CACHE, "num_key_value_heads": 4},
        {"model.onnx": "cache"},
        "error IRL626 the configuration results in 4 heads, and `past_key_values.0.key` of model.onnx has 2",
    ),
    "head size": (
        "config.json",
        {**CACHE, "hidden_size": 32},
        {"model.onnx": "cache"},
        "error IRL626 the configuration results in 8 elements in a head",
    ),
    "stated head size": ("config.json", {**CACHE, "hidden_size": 32, "head_dim": 4}, {"model.onnx": "cache"}, ""),
    "layers": (
        "config.json",
        {**CACHE, "num_hidden_layers": 2},
        {"model.onnx": "cache"},
        "warning IRL626 num_hidden_layers is 2, and model.onnx has caches of 1 layer",
    ),
    "caches of another kind": (
        "config.json",
        {**CACHE, "model_type": "bloom", "hidden_size": 32},
        {"model.onnx": "cache"},
        "",
    ),
    "heads that the file omits": (
        "config.json",
        {"model_type": "mistral", "num_attention_heads": 4, "hidden_size": 16},
        {"model.onnx": "cache"},
        "",
    ),
    "size of heads that the file omits": (
        "config.json",
        {"model_type": "gemma", "num_key_value_heads": 2, "num_attention_heads": 4, "hidden_size": 32},
        {"model.onnx": "cache"},
        "",
    ),
    "heads of a nested configuration": (
        "config.json",
        {"model_type": "llava", "text_config": {**CACHE, "num_key_value_heads": 4}},
        {"model.onnx": "cache"},
        "error IRL626 the configuration results in 4 heads",
    ),
    "heads of GPT-2": (
        "config.json",
        {"model_type": "gpt2", "n_head": 4, "n_embd": 16, "n_layer": 1},
        {"model.onnx": "cache"},
        "error IRL626 the configuration results in 4 heads",
    ),
    "variant with a fixed batch": (
        "config.json",
        TEXT,
        {"model.onnx": "classifier", "model_quantized.onnx": "single"},
        "warning IRL626 model_quantized.onnx against model.onnx: axis 0 of `input_ids`: only 1",
    ),
    "an encoder alone": (
        "config.json",
        {**TEXT, "is_encoder_decoder": True},
        {"encoder_model.onnx": "classifier"},
        "warning IRL622 encoder_model.onnx has neither decoder_model_merged.onnx",
    ),
    "a decoder alone": (
        "config.json",
        {**TEXT, "is_encoder_decoder": True},
        {"onnx/decoder_model_merged_q4.onnx": "classifier"},
        "warning IRL622 decoder_model_merged.onnx has no encoder_model.onnx",
    ),
    "encoder and decoder": (
        "config.json",
        {**TEXT, "is_encoder_decoder": True},
        {"onnx/encoder_model_q4.onnx": "classifier", "onnx/decoder_model_merged_q4.onnx": "classifier"},
        "",
    ),
    "data of a model": (
        "config.json",
        {**TEXT, "transformers.js_config": {"use_external_data_format": {"model.onnx": 1}}},
        {"onnx/model.onnx": "classifier"},
        "warning IRL622 transformers.js reads onnx/model.onnx_data with model.onnx, and it does not exist",
    ),
    "data of another model": (
        "config.json",
        {**TEXT, "transformers.js_config": {"use_external_data_format": {"model.onnx": 1}}},
        {"onnx/model_q4.onnx": "classifier"},
        "",
    ),
    "classes of a segmentation": (
        "config.json",
        {**TEXT, "architectures": ["SegformerForSemanticSegmentation"]},
        {"model.onnx": "segments"},
        "error IRL626 id2label has 3 classes, and axis 1 of `logits` in model.onnx is 7",
    ),
    "sounds": (
        "preprocessor_config.json",
        {"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 80, "nb_max_frames": 3000},
        {"encoder_model.onnx": "sound"},
        "",
    ),
    "sounds of other bands": (
        "preprocessor_config.json",
        {"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 128, "nb_max_frames": 3000},
        {"encoder_model.onnx": "sound"},
        "error IRL626 feature_size is 128, and axis 1 of `input_features` of encoder_model.onnx is 80",
    ),
    "resized after the crop": (
        "preprocessor_config.json",
        {**IMAGE, "image_processor_type": "PerceiverImageProcessor", "do_center_crop": True, "crop_size": 256},
        {"model.onnx": "image"},
        "",
    ),
    "padded by default": (
        "preprocessor_config.json",
        {**IMAGE, "image_processor_type": "SamImageProcessor", "size": {"height": 384, "width": 384}},
        {"model.onnx": "image"},
        "",
    ),
    "cropped by default": (
        "preprocessor_config.json",
        {
            **IMAGE,
            "image_processor_type": None,
            "feature_extractor_type": "CLIPFeatureExtractor",
            "size": {"height": 256, "width": 256},
        },
        {"model.onnx": "image"},
        "",
    ),
    "a processor beside the model": (
        "preprocessor_config.json",
        {**IMAGE, "auto_map": {"AutoImageProcessor": "own.Processor"}, "size": {"height": 384, "width": 384}},
        {"model.onnx": "image"},
        "",
    ),
    "fast processor": (
        "preprocessor_config.json",
        {**IMAGE, "image_processor_type": "ViTImageProcessorFast", "size": {"height": 256, "width": 256}},
        {"model.onnx": "image"},
        "error IRL626 the processor returns images of 256 rows",
    ),
    "a size that keeps the ratio": (
        "preprocessor_config.json",
        {**IMAGE, "size": {"height": 384, "width": 384}, "keep_aspect_ratio": True},
        {"model.onnx": "image"},
        "",
    ),
    "channels last": (
        "preprocessor_config.json",
        IMAGE,
        {"model.onnx": "last"},
        "error IRL626 the processor returns [batch, channels, height, width], and `pixel_values` of model.onnx has its",
    ),
    "image": ("preprocessor_config.json", IMAGE, {"model.onnx": "image"}, ""),
    "image of another size": (
        "preprocessor_config.json",
        {**IMAGE, "size": {"height": 256, "width": 256}},
        {"model.onnx": "image"},
        "error IRL626 the processor returns images of 256 rows, and `pixel_values` of model.onnx has 224",
    ),
    "crop": (
        "preprocessor_config.json",
        {**CLIP, "size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}},
        {"model.onnx": "image"},
        "",
    ),
    "crop of another size": (
        "preprocessor_config.json",
        {**CLIP, "size": {"shortest_edge": 224}, "crop_size": 192},
        {"model.onnx": "image"},
        "error IRL626 the processor returns images of 192 rows",
    ),
    "shortest edge": (
        "preprocessor_config.json",
        {**IMAGE, "size": {"shortest_edge": 256}},
        {"model.onnx": "image"},
        "",
    ),
    "padded": (
        "preprocessor_config.json",
        {**IMAGE, "do_pad": True, "size": {"height": 9, "width": 9}},
        {"model.onnx": "image"},
        "",
    ),
    "channels": (
        "preprocessor_config.json",
        {**IMAGE, "image_mean": [0.5, 0.5, 0.5, 0.5]},
        {"model.onnx": "image"},
        "error IRL626 the processor returns images of 4 channels, and `pixel_values` of model.onnx has 3",
    ),
    "a mean for all channels": (
        "preprocessor_config.json",
        {**IMAGE, "image_mean": [0.5]},
        {"model.onnx": "image"},
        "warning IRL626 image_mean has 1 number, and `pixel_values` of model.onnx accepts no images of 1 channel",
    ),
    "channels that are not normalized": (
        "preprocessor_config.json",
        {**IMAGE, "image_mean": [0.5, 0.5, 0.5, 0.5], "do_normalize": None},
        {"model.onnx": "image"},
        "",
    ),
    "a crop that the processor ignores": (
        "preprocessor_config.json",
        {**IMAGE, "do_center_crop": True, "crop_size": 192},
        {"model.onnx": "image"},
        "",
    ),
    "a processor without a name": (
        "preprocessor_config.json",
        {**IMAGE, "image_processor_type": None, "size": {"height": 256, "width": 256}},
        {"model.onnx": "image"},
        "",
    ),
    "a shortest edge of ConvNext": (
        "preprocessor_config.json",
        {**IMAGE, "image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 256}},
        {"model.onnx": "image"},
        "error IRL626 the processor returns images of 256 rows, and `pixel_values` of model.onnx has 224",
    ),
    "a crop of PoolFormer": (
        "preprocessor_config.json",
        {**CLIP, "image_processor_type": "PoolFormerImageProcessor", "crop_size": 256},
        {"model.onnx": "image"},
        "error IRL626 the processor returns images of 256 rows, and `pixel_values` of model.onnx has 224",
    ),
    "a size of PoolFormer": (
        "preprocessor_config.json",
        {
            **CLIP,
            "image_processor_type": "PoolFormerImageProcessor",
            "do_center_crop": False,
            "size": {"height": 256, "width": 256},
        },
        {"model.onnx": "image"},
        "",
    ),
    "size that the model takes": ("preprocessor_config.json", IMAGE, {"model.onnx": "patches"}, ""),
    "size that the model does not take": (
        "preprocessor_config.json",
        {**IMAGE, "size": {"height": 225, "width": 225}},
        {"model.onnx": "patches"},
        "error IRL626 model.onnx does not run with the images that the processor returns, 225 x 225",
    ),
}


def written(folder: Path, case: tuple[str, Json, dict[str, str], str]) -> Path:
    name, values, models, _ = case
    for file, model in models.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        if model == "cache":
            onnx.save(decoder(layers=1), folder / file)
            continue
        text = MODELS[model].replace("ONES27", ",".join(["1.0"] * 27))
        (folder / file).write_bytes(example(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')[1])
    path = folder / name
    path.write_text(json.dumps(values, indent=2))
    return path


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    found = irlint.check(written(tmp_path, CASES[name])).findings
    texts = [f"{each.severity.value} {each.rule.code} {each.message}" for each in found]
    expected = CASES[name][3]
    assert bool(texts) == bool(expected), texts
    assert all(text.startswith(expected) or expected == "" for text in texts[:1]), texts


@pytest.mark.oracle
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][0].startswith("preprocessor")])
def test_onnx_runtime_runs_the_images_without_a_finding(name: str, tmp_path: Path) -> None:
    import onnxruntime

    _, values, models, expected = CASES[name]
    size = values.get("crop_size" if values.get("do_center_crop") else "size")
    edge = size if isinstance(size, int) else size.get("height") if isinstance(size, dict) else None
    own = {"image_processor_type", "feature_extractor_type", "auto_map", "keep_aspect_ratio", "do_pad"}
    if edge is None or own & values.keys():
        pytest.skip("the size of the images depends on them")
    written(tmp_path, CASES[name])
    mean = values["image_mean"]
    assert isinstance(mean, list)
    session = onnxruntime.InferenceSession(tmp_path / next(iter(models)), providers=["CPUExecutionProvider"])
    image = np.zeros((1, len(mean), edge, edge), np.float32)
    if expected:
        with pytest.raises(Exception, match=r"invalid dimensions|reshape|Reshape"):
            session.run(None, {"pixel_values": image})
    else:
        session.run(None, {"pixel_values": image})


def test_a_configuration_of_something_else_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"compilerOptions": {}}')
    report = irlint.check(tmp_path / "config.json")
    assert (report.files[0].status, report.files[0].reason) == (
        "skipped",
        "there is no ONNX model beside it or in the folder onnx",
    )


def test_a_search_finds_a_configuration_only_beside_models(tmp_path: Path) -> None:
    written(tmp_path / "model", CASES["classes"])
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "config.json").write_text("{}")
    listed = run("check", "--show-files", tmp_path).stdout
    assert "model/config.json" in listed
    assert "web/config.json" not in listed
