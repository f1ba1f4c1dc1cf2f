"""Compares the caches of Hugging Face's exported decoders with ``config.json``.

Sources: optimum's ``ORTModelForCausalLM``, which creates empty caches from the configuration; the configuration classes
of transformers, which have the defaults of omitted keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from irlint.findings.faults import Severity
from irlint.findings.wording import counted
from irlint.folders.beside import Interface, Reported, shown
from irlint.folders.json_text import Document
from irlint.folders.rules import SHAPE_MISMATCH
from irlint.folders.statements import ConfigFault
from irlint.records import record

Path = tuple[str | int, ...]


@record
class Keys:
    """The keys of ``config.json`` for one type of model. "" is a key that the type does not have."""

    #: The number of attention heads.
    heads: str = "num_attention_heads"
    #: The number of heads in the caches.
    cached_heads: str = ""
    #: Whether an omitted ``cached_heads`` equals ``heads``; if not, its default is unknown.
    cached_equals_heads: bool = True
    head_size: str = ""
    #: The width of the model. An omitted ``head_size`` is the width divided by ``heads``.
    width: str = "hidden_size"
    #: The number of layers.
    layers: str = "num_hidden_layers"


_GROUPED = Keys(cached_heads="num_key_value_heads", head_size="head_dim")
_UNKNOWN_CACHED_HEADS = Keys(cached_heads="num_key_value_heads", head_size="head_dim", cached_equals_heads=False)
_UNKNOWN_DEFAULTS = Keys(cached_heads="num_key_value_heads", head_size="head_dim", cached_equals_heads=False, width="")
_GPT2 = Keys("n_head", width="n_embd", layers="n_layer")
_PAIR = Keys("decoder_attention_heads", width="d_model", layers="decoder_layers")

#: The types of models whose caches are [batch, heads, past, head size] in transformers 4.57 and 5.24.
TYPES: Mapping[str, Keys] = {
    **dict.fromkeys(("llama", "phi", "phi3", "olmo", "olmo2", "granite", "cohere"), _GROUPED),
    **dict.fromkeys(("mistral", "mixtral", "qwen2", "starcoder2", "smollm3"), _UNKNOWN_CACHED_HEADS),
    "stablelm": Keys(cached_heads="num_key_value_heads", cached_equals_heads=False),
    **dict.fromkeys(("qwen3", "gemma", "gemma2", "gemma3_text", "helium"), _UNKNOWN_DEFAULTS),
    **dict.fromkeys(("gpt_neox", "opt"), Keys()),
    **dict.fromkeys(("gpt2", "gptj", "codegen"), _GPT2),
    "gpt_neo": Keys("num_heads", layers="num_layers"),
    **dict.fromkeys(("bart", "mbart", "marian", "pegasus", "blenderbot", "whisper", "m2m_100"), _PAIR),
    "t5": Keys("num_heads", head_size="d_kv", width="", layers="num_decoder_layers"),
}

#: The names of self-attention caches, with the number of the layer.
CACHE = re.compile(r"past_key_values\.(\d+)\.(?:decoder\.)?(?:key|value)")


def faults(document: Document, name: str, model: Interface) -> Iterator[ConfigFault]:
    """The findings about the heads, the head size and the number of layers in the caches of a model."""
    path: Path = ()
    if document.text("model_type") not in TYPES:
        path = ("text_config",)
    keys = TYPES.get(document.text(*path, "model_type") or "")
    caches = [each for each in model.inputs if CACHE.fullmatch(each.name)]
    if keys is None or not caches:
        return
    # Optimum uses the width per head as the head size even if the configuration states another size.
    width_per_head = _width_per_head(document, path, keys)
    for axis, what, (key, stated), also_valid in (
        (1, "heads", _cached_heads(document, path, keys), None),
        (3, "elements in a head", _head_size(document, path, keys), width_per_head),
    ):
        wrong = [each for each in caches if _fixed_size(each, axis) not in (None, stated, also_valid)]
        if stated is None or not wrong:
            continue
        size = _fixed_size(wrong[0], axis)
        message = f"the configuration results in {stated} {what}, and `{wrong[0].name}` of {name} has {size}"
        fault = SHAPE_MISMATCH.fault(message, help=f"correct {key}, or export the model that belongs to it")
        yield ConfigFault(fault, document.at(*path, key), wrong[0].name, shown(name, wrong[0]))
    stated = document.integer(*path, keys.layers)
    found = len({match[1] for each in caches if (match := CACHE.fullmatch(each.name)) is not None})
    if stated is not None and stated != found:
        message = f"{keys.layers} is {stated}, and {name} has caches of {counted(found, 'layer')}"
        fault = SHAPE_MISMATCH.fault(message, help=f"write `{found}`, or export the model that belongs to it")
        span = document.at(*path, keys.layers)
        yield ConfigFault(fault.lowered(Severity.WARNING), span, related=shown(name, caches[-1]))


def _cached_heads(document: Document, path: Path, keys: Keys) -> tuple[str, int | None]:
    """(key that determines the number of heads in the caches, number or None)."""
    stated = document.integer(*path, keys.cached_heads) if keys.cached_heads else None
    if stated is not None:
        return keys.cached_heads, stated
    return keys.heads, document.integer(*path, keys.heads) if keys.cached_equals_heads else None


def _head_size(document: Document, path: Path, keys: Keys) -> tuple[str, int | None]:
    """(key that determines the head size, size or None)."""
    stated = document.integer(*path, keys.head_size) if keys.head_size else None
    if stated is not None:
        return keys.head_size, stated
    return keys.width, _width_per_head(document, path, keys) if keys.width else None


def _width_per_head(document: Document, path: Path, keys: Keys) -> int | None:
    """The width of the model divided by its attention heads; None if it is unknown or no integer."""
    width = document.integer(*path, keys.width or "hidden_size")
    heads = document.integer(*path, keys.heads)
    return width // heads if width and heads and not width % heads else None


def _fixed_size(end: Reported, axis: int) -> int | None:
    """The size of an axis of a cache; None if it is dynamic or the rank is not 4."""
    if end.sizes is None or len(end.sizes) != 4:
        return None
    size = end.sizes[axis]
    return size if size is not None and size > 0 else None
