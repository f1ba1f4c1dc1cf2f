"""Writes ``tests/folders/tiny/``: folders of tiny language models, classifiers and image models with random weights.

Each folder is what a public exporter writes of a model of a few thousand parameters. The exporters need versions of
``transformers`` that exclude each other, so each kind is a run of its own:

* ``python tests/make/tiny_models.py genai`` needs onnxruntime-genai 0.18 with torch, onnx_ir and transformers 5;
* ``python tests/make/tiny_models.py openvino_genai`` needs optimum-intel 2.2 and openvino-tokenizers;
* ``python tests/make/tiny_models.py transformers`` needs optimum-onnx 0.1, transformers 4.57 and pillow.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1] / "folders" / "tiny"

#: The sizes of every decoder and encoder.
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}

#: What is left out of the folders: it states nothing about the models.
UNUSED = ("generation_config.json", "special_tokens_map.json", "chat_template.jinja")


def tokenizer() -> Any:
    """A tokenizer of bytes with a few merges."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>"]
    letters = pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(
        ["the quick brown fox jumps over the lazy dog"] * 4,
        trainers.BpeTrainer(vocab_size=288, special_tokens=special, initial_alphabet=letters),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>", clean_up_tokenization_spaces=False
    )


def checkpoint(folder: Path) -> None:
    """A Llama of random weights with a tokenizer, as transformers saves it; ONNX Runtime wants heads of 16 elements."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    found = tokenizer()
    size = len(found) + -len(found) % 8
    sizes = {**SIZES, **ENDS, "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": size}
    LlamaForCausalLM(LlamaConfig(**sizes)).save_pretrained(folder)
    found.save_pretrained(folder)


def genai(folder: Path) -> None:
    """What the model builder of onnxruntime-genai writes of the Llama."""
    with tempfile.TemporaryDirectory() as scratch:
        checkpoint(Path(scratch, "llama"))
        builder = [sys.executable, "-m", "onnxruntime_genai.models.builder"]
        options = ["-i", f"{scratch}/llama", "-o", str(folder), "-p", "fp32", "-e", "cpu", "-c", f"{scratch}/cache"]
        subprocess.run([*builder, *options], check=True)


def openvino_genai(folder: Path) -> None:
    """What optimum-intel writes of the Llama, with its tokenizer and detokenizer."""
    with tempfile.TemporaryDirectory() as scratch:
        checkpoint(Path(scratch, "llama"))
        command = [str(Path(sys.executable).with_name("optimum-cli")), "export", "openvino"]
        options = ["-m", f"{scratch}/llama", "--task", "text-generation-with-past", "--weight-format", "fp32"]
        subprocess.run([*command, *options, str(folder)], check=True)


def transformers(folder: Path) -> None:
    """What optimum writes of a Llama, a classifier of texts, one of images, and a pair of encoder and decoder."""
    import torch
    import transformers as library
    from optimum.exporters.onnx import onnx_export_from_model

    torch.manual_seed(0)
    image = {key: value for key, value in SIZES.items() if key != "max_position_embeddings"}
    pair = {
        "vocab_size": 40,
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 16,
        "num_layers": 1,
        "num_heads": 2,
        "decoder_start_token_id": 0,
    }
    models = {
        "decoder": library.LlamaForCausalLM(
            library.LlamaConfig(**SIZES, **ENDS, vocab_size=64, num_key_value_heads=2, head_dim=8)
        ),
        "classifier": library.BertForSequenceClassification(library.BertConfig(**SIZES, vocab_size=288, num_labels=3)),
        "image": library.ViTForImageClassification(
            library.ViTConfig(**image, image_size=32, patch_size=8, num_labels=4)
        ),
        "pair": library.T5ForConditionalGeneration(library.T5Config(**pair)),
    }
    tasks = {
        "decoder": "text-generation-with-past",
        "classifier": "text-classification",
        "image": "image-classification",
        "pair": "text2text-generation-with-past",
    }
    for name, model in models.items():
        model.config.architectures = [type(model).__name__]
        (folder / name).mkdir(parents=True)
        onnx_export_from_model(model.eval(), folder / name, task=tasks[name], opset=17, do_validation=False)
        model.config.save_pretrained(folder / name)
    library.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder / "image")
    tokenizer().save_pretrained(folder / "classifier")


def main() -> None:
    writers = {each.__name__: each for each in (genai, openvino_genai, transformers)}
    for name in sys.argv[1:] or writers:
        folder = ROOT / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        writers[name](folder)
        for path in folder.rglob("*"):
            if path.name in UNUSED:
                path.unlink()


if __name__ == "__main__":
    main()
