"""Compares the caches of Hugging Face's exported decoders with ``config.json``.

Sources: optimum's ``ORTModelForCausalLM``, which creates empty caches from the configuration, and the configuration
classes of transformers, which have the defaults of omitted keys.
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
    """The keys of ``config.json`` for one type of model.

    ``heads`` is the key of the number of attention heads, and ``cached`` the key of the number of heads in the caches.
    If the file omits the key ``cached`` and ``equal`` is True, both numbers are equal; if ``equal`` is False, the
    number in the caches is unknown. ``size`` is the key of the head size; without it, the head size is the value of
    ``width`` divided by the attention heads. ``layers`` is the key of the number of layers. An empty key means that the
    type has no such key.
    """

    heads: str = "num_attention_heads"
    cached: str = ""
    equal: bool = True
    size: str = ""
    width: str = "hidden_size"
    layers: str = "num_hidden_layers"


_GROUPED = Keys(cached="num_key_value_heads", size="head_dim")
_FIXED = Keys(cached="num_key_value_heads", size="head_dim", equal=False)
_SIZED = Keys(cached="num_key_value_heads", size="head_dim", equal=False, width="")
_GPT2 = Keys("n_head", width="n_embd", layers="n_layer")
_PAIR = Keys("decoder_attention_heads", width="d_model", layers="decoder_layers")

#: The types of models whose caches are [batch, heads, past, head size] in transformers 4.57 and 5.24.
TYPES: Mapping[str, Keys] = {
    **dict.fromkeys(("llama", "phi", "phi3", "olmo", "olmo2", "granite", "cohere"), _GROUPED),
    **dict.fromkeys(("mistral", "mixtral", "qwen2", "starcoder2", "smollm3"), _FIXED),
    "stablelm": Keys(cached="num_key_value_heads", equal=False),
    **dict.fromkeys(("qwen3", "gemma", "gemma2", "gemma3_text", "helium"), _SIZED),
    **dict.fromkeys(("gpt_neox", "opt"), Keys()),
    **dict.fromkeys(("gpt2", "gptj", "codegen"), _GPT2),
    "gpt_neo": Keys("num_heads", layers="num_layers"),
    **dict.fromkeys(("bart", "mbart", "marian", "pegasus", "blenderbot", "whisper", "m2m_100"), _PAIR),
    "t5": Keys("num_heads", size="d_kv", width="", layers="num_decoder_layers"),
}

#: The names of self-attention caches, with the number of the layer; names of an encoder's caches do not match.
CACHE = re.compile(r"past_key_values\.(\d+)\.(?:decoder\.)?(?:key|value)")


def faults(document: Document, name: str, model: Interface) -> Iterator[ConfigFault]:
    """At most three findings, if the caches of a model contradict the configuration: about the heads, the head size and
    the number of layers."""
    path: Path = ()
    if document.text("model_type") not in TYPES:
        path = ("text_config",)
    keys = TYPES.get(document.text(*path, "model_type") or "")
    caches = [each for each in model.inputs if CACHE.fullmatch(each.name)]
    if keys is None or not caches:
        return
    share = _share(document, path, keys)
    # A cache may have ``other`` instead of the stated size.
    for axis, what, (key, stated), other in (
        (1, "heads", _heads(document, path, keys), None),
        (3, "elements in a head", _size(document, path, keys), share),
    ):
        wrong = [each for each in caches if _fixed(each, axis) not in (None, stated, other)]
        if stated is None or not wrong:
            continue
        size = _fixed(wrong[0], axis)
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


def _heads(document: Document, path: Path, keys: Keys) -> tuple[str, int | None]:
    """The key that determines the number of heads in the caches, and this number; None if the number is unknown."""
    stated = document.integer(*path, keys.cached) if keys.cached else None
    if stated is not None:
        return keys.cached, stated
    return keys.heads, document.integer(*path, keys.heads) if keys.equal else None


def _size(document: Document, path: Path, keys: Keys) -> tuple[str, int | None]:
    """The key that determines the head size, and this size; None if the size is unknown."""
    stated = document.integer(*path, keys.size) if keys.size else None
    if stated is not None:
        return keys.size, stated
    return keys.width, _share(document, path, keys) if keys.width else None


def _share(document: Document, path: Path, keys: Keys) -> int | None:
    """The width of the model divided by its attention heads; None if one of the two is unknown, or if the quotient is
    no integer.

    Optimum uses this quotient as the head size even if the configuration states another size.
    """
    width = document.integer(*path, keys.width or "hidden_size")
    heads = document.integer(*path, keys.heads)
    return width // heads if width and heads and not width % heads else None


def _fixed(end: Reported, axis: int) -> int | None:
    """The size of an axis of a cache; None if it is dynamic or the cache has another rank."""
    if end.sizes is None or len(end.sizes) != 4:
        return None
    size = end.sizes[axis]
    return size if size is not None and size > 0 else None
