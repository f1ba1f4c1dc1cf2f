"""What is asked of the parser of a release of TensorRT for RTX, and what its answers say.

A row of the table says that an operator is refused, or is with one trait: an element type, an output, an attribute. A
row stands only where every variant of the node that has the trait was refused, and where a variant without the trait,
alike in everything else, was accepted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from functools import cache
from typing import Any

import onnx
import onnx.defs
import onnx.helper

from irlint.inference.walk import inferred
from irlint.model.tensor import NUMBERED_TYPES, Tensor
from irlint.parsers.onnx import read

from . import onnxruntime_questions, openvino_nodes
from .stating import condition

#: So many variants of a node have to be refused, and so many of them be alike to one that is accepted.
ASKED = 4
ALIKE = 2

#: How the parser says that it has no importer of an operator, or no element type.
ABSENT = re.compile(r"^false$|^creator && |[Pp]lugin (was )?not found|plugin creator|plugin was not found")
NO_TYPE = re.compile(r"Failed to convert ONNX da|Unsupported ONNX data type")

#: Operators whose bodies decide.
BODIES = (":If", ":Loop", ":Scan", ":SequenceMap")

#: The letters of the traits that belong together: nodes that differ in an element type differ in each of them.
_LETTERS = {"t": "type", "k": "type", "d": "type", "y": "output", "n": "", "c": "", "m": "", "o": "", "r": "", "u": ""}
_LETTERS |= {"z": "", "v": ""}

Answer = tuple[Set[str], str]


def models() -> list[tuple[str, Any]]:
    """Models by what they ask."""
    asked = [(key, model) for key, model in onnxruntime_questions.models() if key.startswith("input ")]
    return asked + [(f"node {at}", model) for at, (_, model, _) in enumerate(_nodes())]


@cache
def _nodes() -> list[tuple[str, bytes, Set[str]]]:
    """Sound models of one node whose outputs have a type, with the name of the operator and the traits of the node."""
    found = []
    for (name, data, _), (_, traits) in zip(openvino_nodes.nodes(), openvino_nodes.traits_of_nodes()):
        if name in BODIES or any(each.startswith("e:") for each in traits):
            continue
        typed = _typed(data)
        if typed is not None:
            found.append((name, typed, traits))
    return found


def _typed(data: bytes) -> bytes | None:
    """A model that states the element types of its outputs, which the parser needs; None where they are not known."""
    model = onnx.ModelProto.FromString(data)
    known = inferred(read("m.onnx", data))
    types = {value.name: each for value, each in known.types.items()}
    for output in model.graph.output:
        type = types.get(output.name)
        if not isinstance(type, Tensor) or type.dtype not in NUMBERED_TYPES:
            return None
        output.type.tensor_type.elem_type = NUMBERED_TYPES.index(type.dtype) + 1
    return bytes(model.SerializeToString(deterministic=True))


def facts(found: dict[str, Any]) -> Iterator[str]:
    """The facts that hold for a release: the types of inputs that it takes, the operators of which it takes
    a node, and what it refuses."""
    answers = found["answers"]
    yield from (key for key, error in answers.items() if not error and not key.startswith("node "))
    yield from (f"op {name} *" for name in BODIES[:3])
    groups: dict[str, list[Answer]] = defaultdict(list)
    for at, (name, _, traits) in enumerate(_nodes()):
        error = answers[f"node {at}"]
        if error != "the engine died":
            groups[name].append((traits, error))
    for name, asked in groups.items():
        yield from _of_operator(name, asked)


def _of_operator(name: str, asked: list[Answer]) -> Iterator[str]:
    accepted = [traits for traits, error in asked if not error]
    if not accepted:
        if len(asked) >= ASKED and _is_absent(asked):
            print(f"  {name}: absent, asked with {len(asked)} variants")
            yield f"lacks {name}"
        return
    yield f"op {name} *"
    taken: Set[str] = frozenset[str]().union(*accepted)
    refused = [traits for traits, error in asked if error]
    for trait in sorted(frozenset[str]().union(*refused) - taken):
        mine = [traits for traits in refused if trait in traits]
        kind = family(trait)
        if kind == "type" and not trait.endswith("=float32"):
            yield f"doubts {name} {condition(trait)}"
        if not kind or len(mine) < ASKED or _is_default(name, trait) or _depends(trait, mine):
            continue
        alike = sum(any(_differ_in(kind, traits, other) for other in accepted) for traits in mine)
        if alike >= ALIKE:
            print(f"  {name} {trait}: refused with {len(mine)} variants, {alike} like one that is accepted")
            yield f"refuses {name} {condition(trait)}"


def _is_default(name: str, trait: str) -> bool:
    """Whether a trait writes out what an attribute is without being written."""
    domain, _, op = name.partition(":")
    attribute, _, value = trait.partition("=")
    for version in onnx.defs.get_all_schemas_with_history():
        if (version.domain, version.name) == (domain, op) and attribute in version.attributes:
            default = onnx.helper.get_attribute_value(version.attributes[attribute].default_value)
            text = default.decode() if isinstance(default, bytes) else str(default)
            if version.attributes[attribute].default_value.type and text == value:
                return True
    return False


def _depends(trait: str, refused: list[Set[str]]) -> bool:
    """Whether the nodes around decide about an element type: it is that of quantized values, or was not tried both in a
    constant and in what is computed."""
    if family(trait) != "type":
        return False
    at = trait[1 : trait.index("=")]
    forms = frozenset[str]().union(*refused)
    return trait.endswith("=uint8") or not {f"c{at}", f"o{at}"} <= forms


def _is_absent(asked: list[Answer]) -> bool:
    errors = [error for _, error in asked]
    return any(map(ABSENT.search, errors)) and all(ABSENT.search(each) or NO_TYPE.search(each) for each in errors)


def family(trait: str) -> str:
    """The kind of a trait that a row of the table may name: ``type``, ``output``, or the value of an attribute by its
    name; "" for others."""
    if trait == "any" or trait[0] in "<>" or trait.startswith("e:"):
        return ""
    if trait[0] in _LETTERS and trait[1:2].isdigit():
        return _LETTERS[trait[0]] if trait[0] in "ty" else ""
    name, _, value = trait.partition("=")
    return f"attribute {name}" if value and value != "float" else ""


def changes_with(trait: str, kind: str) -> bool:
    """Whether a trait changes with those of such a kind."""
    if trait[0] in _LETTERS and trait[1:2].isdigit():
        return _LETTERS[trait[0]] == kind
    return trait != "any" and kind == f"attribute {trait.partition('=')[0]}"


def _differ_in(kind: str, one: Set[str], other: Set[str]) -> bool:
    """Whether two nodes differ in traits of one kind alone."""
    return all(changes_with(each, kind) for each in one ^ other)
