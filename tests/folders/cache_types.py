"""Random configurations of decoders, and the shapes of the caches that the library transformers makes with them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from irlint.folders import caches
from irlint.folders.json_text import Document, parsed

Json = dict[str, Any]

Shape = tuple[int, ...]

#: What ``tests/make/processors.py`` writes: a configuration and the shape of its caches in each line.
TABLE = Path(__file__).with_name("cache_types.txt")

#: Small sizes of what no cache depends on.
SMALL: Json = {
    **dict.fromkeys(("intermediate_size", "n_inner", "ffn_dim", "d_ff", "decoder_ffn_dim", "encoder_ffn_dim"), 32),
    **dict.fromkeys(("encoder_layers", "num_layers", "bos_token_id", "decoder_start_token_id"), 1),
    **dict.fromkeys(("encoder_attention_heads", "num_experts", "num_local_experts", "eos_token_id"), 2),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx"), 64),
    "pad_token_id": 0,
    "rotary_dim": 4,
    "query_pre_attn_scalar": 8,
    "vocab_size": 40,
    "num_mel_bins": 8,
    "max_source_positions": 16,
    "max_target_positions": 32,
}

#: Why there are no shapes of a model whose caches the caller has to make.
NO_CACHE = "it makes no cache by itself"


def configuration(kind: str, rng: random.Random) -> Json:
    """A ``config.json`` of a type, without some of the keys that a file may omit."""
    keys = caches.TYPES[kind]
    width, layers = rng.choice((32, 64)), rng.choice((1, 2))
    wide = {"hidden_size": width, "word_embed_proj_dim": width} | ({"d_model": width} if kind == "t5" else {})
    found = {
        "model_type": kind,
        **SMALL,
        **wide,
        keys.width or "hidden_size": width,
        keys.layers: layers,
        keys.heads: 4,
    }
    if kind == "gpt_neo":
        found["attention_types"] = [[["global"], layers]]
    if keys.cached_heads and rng.random() < 0.7:
        found[keys.cached_heads] = rng.choice((1, 2, 4))
    if keys.head_size and rng.random() < 0.6:
        found[keys.head_size] = rng.choice((8, 16))
    if rng.random() < 0.15:
        del found[keys.heads]
    return found


def shapes(folder: Path, values: Json) -> list[Shape] | str:
    """The shapes of the keys in the caches of a random model, or why the library makes none."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq

    (folder / "config.json").write_text(json.dumps(values))
    tokens = torch.ones(1, 3, dtype=torch.long)
    try:
        config = AutoConfig.from_pretrained(folder)
        with torch.no_grad():
            if values["model_type"] == "whisper":
                model = AutoModelForSpeechSeq2Seq.from_config(config)
                made = model(input_features=torch.zeros(1, 8, 32), decoder_input_ids=tokens, use_cache=True)
            elif config.is_encoder_decoder:
                model = AutoModelForSeq2SeqLM.from_config(config)
                made = model(input_ids=tokens, decoder_input_ids=tokens, use_cache=True)
            else:
                made = AutoModelForCausalLM.from_config(config)(input_ids=tokens, use_cache=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if made.past_key_values is None:
        return NO_CACHE
    cache = getattr(made.past_key_values, "self_attention_cache", made.past_key_values)
    return [tuple(each.keys.shape) for each in cache.layers]


def disagreement(values: Json, made: list[Shape]) -> str:
    """How the caches contradict what irlint infers from a configuration, "" where they do not."""
    document, keys = parsed(json.dumps(values)), caches.TYPES[values["model_type"]]
    assert isinstance(document, Document)
    heads, size = caches._cached_heads(document, (), keys)[1], caches._head_size(document, (), keys)[1]
    for shape in made:
        if len(shape) != 4 or heads not in (None, shape[1]):
            return f"{heads} heads in {shape}"
        if size is not None and shape[3] not in (size, caches._width_per_head(document, (), keys)):
            return f"{size} elements in {shape}"
    layers = document.integer(keys.layers)
    return "" if layers == len(made) else f"{layers} layers in {len(made)}"


def read() -> dict[str, list[Shape]]:
    """The table: the shapes by the texts of the configurations."""
    found = {}
    for line in TABLE.read_text().splitlines():
        text, _, made = line.rpartition(" ->")
        found[text] = [tuple(map(int, each.split("x"))) for each in made.split()]
    return found
