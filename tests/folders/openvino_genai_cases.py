"""Folders of OpenVINO GenAI: an exported decoder with its tokenizers, and what irlint finds once one thing changes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

TINY = Path(__file__).parent / "tiny" / "openvino_genai"

MODEL, TOKENIZER, DETOKENIZER = "openvino_model.xml", "openvino_tokenizer.xml", "openvino_detokenizer.xml"

Change = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """What irlint finds in the folder, whether the pipeline fails with paged attention, its default on CPU, and without
    it, and what is changed."""

    codes: str
    fails: tuple[bool, bool]
    change: Change


def replaced(file: str, old: str, new: str) -> Change:
    """One text of a file is another."""

    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text, old
        (folder / file).write_text(text.replace(old, new))

    return change


def retyped(file: str, name: str, old: str, new: str) -> Change:
    """A parameter of a model has another element type."""

    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        start = text.index(f'name="{name}" type="Parameter"')
        end = text.index("</layer>", start)
        layer = text[start:end].replace(f'"{old}"', f'"{new}"').replace(f'"{old.upper()}"', f'"{new.upper()}"')
        (folder / file).write_text(text[:start] + layer + text[end:])

    return change


def removed(*files: str) -> Change:
    return lambda folder: [(folder / file).unlink() for file in files]


def copied(file: str, to: str) -> Change:
    def change(folder: Path) -> None:
        for suffix in (".xml", ".bin"):
            shutil.copy((folder / file).with_suffix(suffix), (folder / to).with_suffix(suffix))

    return change


def written(folder: Path, case: Case) -> Path:
    """Writes the folder of a case, and returns the path of its configuration."""
    shutil.copytree(TINY, folder, dirs_exist_ok=True)
    case.change(folder)
    return folder / "config.json"


def named(file: str, name: str, other: str) -> Change:
    """An input or output of a model has another name."""
    return lambda folder: replaced(file, f'names="{name}"', f'names="{other}"')(folder)


def never_written(folder: Path) -> None:
    """A state of the model that is read, and never written."""
    text = (folder / MODEL).read_text()
    layer = re.search(r'\t\t<layer id="(\d+)" [^>]*type="Assign".*?</layer>\n', text, re.S)
    assert layer is not None
    text = text.replace(layer[0], "")
    text = re.sub(rf'\t\t<edge [^>]*to-layer="{layer[1]}"[^>]*/>\n', "", text)
    (folder / MODEL).write_text(text)


NEVER, ALWAYS, WITHOUT = (False, False), (True, True), (False, True)

CASES: Mapping[str, Case] = {
    "sound": Case("", NEVER, lambda _: None),
    "tokens of another name": Case("IRL623", ALWAYS, named(MODEL, "input_ids", "tokens")),
    "mask of another name": Case("IRL623", WITHOUT, named(MODEL, "attention_mask", "mask")),
    "beams of another name": Case("IRL623", WITHOUT, named(MODEL, "beam_idx", "beams")),
    "positions of another name": Case("IRL624", ALWAYS, named(MODEL, "position_ids", "positions")),
    "logits of another name": Case("IRL623", ALWAYS, named(MODEL, "logits", "scores")),
    "tokens of int32": Case("IRL625", ALWAYS, retyped(MODEL, "input_ids", "i64", "i32")),
    "mask of int32": Case("IRL625", WITHOUT, retyped(MODEL, "attention_mask", "i64", "i32")),
    "beams of int64": Case("IRL625", WITHOUT, retyped(MODEL, "beam_idx", "i32", "i64")),
    "positions of int32": Case("IRL625 IRL602", ALWAYS, retyped(MODEL, "position_ids", "i64", "i32")),
    "no tokenizer": Case("IRL622", ALWAYS, removed(TOKENIZER)),
    "no detokenizer": Case("IRL622", ALWAYS, removed(DETOKENIZER)),
    "neither of both": Case("IRL622 IRL622", ALWAYS, removed(TOKENIZER, DETOKENIZER)),
    "no weights": Case("IRL701", ALWAYS, removed("openvino_model.bin")),
    "no weights of the tokenizer": Case("IRL701", ALWAYS, removed("openvino_tokenizer.bin")),
    "tokenizer for both": Case("IRL625", ALWAYS, copied(TOKENIZER, DETOKENIZER)),
    "detokenizer for both": Case("IRL625", ALWAYS, copied(DETOKENIZER, TOKENIZER)),
    "decoder as the tokenizer": Case("IRL625", ALWAYS, copied(MODEL, TOKENIZER)),
    "tokens of the tokenizer of another name": Case("IRL623", ALWAYS, named(TOKENIZER, "input_ids", "ids")),
    "mask of the tokenizer of another name": Case("IRL623", ALWAYS, named(TOKENIZER, "attention_mask", "mask")),
    "texts of the detokenizer of another name": Case("", NEVER, replaced(DETOKENIZER, "string_output", "texts")),
    "a state that is never written": Case("IRL125", WITHOUT, never_written),
    "configuration that is no JSON": Case("IRL620", ALWAYS, lambda folder: (folder / "config.json").write_text("{")),
    "end of another kind": Case("IRL621", ALWAYS, replaced("config.json", '"eos_token_id": 2', '"eos_token_id": "2"')),
    "several ends": Case("", NEVER, replaced("config.json", '"eos_token_id": 2', '"eos_token_id": [2, 1]')),
    "no end": Case("", NEVER, replaced("config.json", '"eos_token_id": 2,', "")),
    "empty configuration": Case("", NEVER, lambda folder: (folder / "config.json").write_text("{}")),
}
