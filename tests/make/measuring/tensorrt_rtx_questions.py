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
from irlint.model.tensor import NUMBERED_TYPES
from irlint.parsers.onnx import read
from irlint.targets.uses import uses

from . import onnxruntime_questions, openvino_nodes, tensorrt_rtx_forms
from .stating import condition
from .tensorrt_rtx_forms import DOUBTED

#: So many variants of a node have to be refused, and so many of them be alike to one that is accepted.
ASKED = 4
ALIKE = 2

#: How the parser says that it has no importer of an operator, that an output states no element type, or that it does
#: not know one.
ABSENT = re.compile(
    r"^false$|^creator && |: creator && |[Pp]lugin (was )?not found|plugin creator|plugin was not found"
    r"|^Op type \w+ is not supported|^No importer registered"
)
NO_PLUGIN = re.compile(r"^creator && .Plugin not found|^Op type \w+ is not supported|^No importer registered")
UNTYPED = re.compile(r"convertDtype\(output")
NO_TYPE = re.compile(r"Failed to convert ONNX da|Unsupported ONNX data type")

#: Errors about element types of which the parser casts some.
CAST = ("IRL402",)

#: So many nodes and graphs with an error have to be refused where it is refused of any operator.
MANY = 8

#: The largest share of other errors among the refusals of an operator that is absent.
FEW = 0.15

#: Operators that are refused in every form: Attention is imported as that of ai.onnx, whose inputs have one rank.
NEVER = ("com.microsoft:Attention",)

#: Operators whose bodies decide.
BODIES = (":If", ":Loop", ":Scan", ":SequenceMap")

#: The letters of the traits that belong together: nodes that differ in an element type differ in each of them.
_LETTERS = {"t": "type", "k": "type", "d": "type", "y": "output", "n": "", "c": "", "m": "", "o": "", "r": "", "u": ""}
_LETTERS |= {"z": "", "v": ""}

Answer = tuple[Set[str], str]


def models() -> list[tuple[str, Any]]:
    """Models by what they ask."""
    asked = [(key, model) for key, model in onnxruntime_questions.models() if key.startswith("input ")]
    asked += tensorrt_rtx_forms.models()
    asked += [(f"node {at}", model) for at, (_, model, _) in enumerate(_nodes())]
    asked += [(f"faulty {at}", model) for at, (_, model, _) in enumerate(faulty())]
    return asked + [(f"graph {at}", model) for at, model in enumerate(openvino_nodes.graphs())]


@cache
def _nodes() -> list[tuple[str, bytes, Set[str]]]:
    """Sound models of one node whose outputs have a type, with the name of the operator and the traits of the node."""
    found = [each for each in _typed_nodes() if not _errors(each[2])]
    for data in (tensorrt_rtx_forms.model(*each) for forms in DOUBTED.values() for each in forms):
        node = onnx.ModelProto.FromString(data).graph.node[-1]
        found.append((f"{node.domain}:{node.op_type}", data, openvino_nodes.traits_of(data)))
    return found


@cache
def faulty() -> list[tuple[str, bytes, Set[str]]]:
    """The same of models with one error."""
    return [each for each in _typed_nodes() if len(_errors(each[2])) == 1]


def _errors(traits: Set[str]) -> list[str]:
    return [each[2:] for each in traits if each.startswith("e:")]


@cache
def _typed_nodes() -> list[tuple[str, bytes, Set[str]]]:
    nodes = zip(openvino_nodes.nodes(), openvino_nodes.traits_of_nodes())
    typed = ((name, _typed(data), traits) for (name, data, _), (_, traits) in nodes if name not in BODIES)
    return [(name, data, traits) for name, data, traits in typed if data is not None]


def _typed(data: bytes) -> bytes | None:
    """A model that states the element types of its outputs, which the parser needs; None where they are not known."""
    model = onnx.ModelProto.FromString(data)
    known = inferred(read("m.onnx", data))
    types = {value.name: text for use in uses(known) for value, text in zip(use.node.outputs, use.outputs) if value}
    for output in model.graph.output:
        if types.get(output.name) not in NUMBERED_TYPES:
            return None
        output.type.tensor_type.elem_type = NUMBERED_TYPES.index(types[output.name]) + 1
    return bytes(model.SerializeToString(deterministic=True))


def facts(found: dict[str, Any]) -> Iterator[str]:
    """The facts that hold for a release: the types of inputs that it takes, the operators of which it takes
    a node, and what it refuses."""
    answers = found["answers"]
    yield from (key for key, error in answers.items() if not error and key.startswith("input "))
    yield from tensorrt_rtx_forms.facts(answers)
    yield from of_errors(answers)
    yield from (f"op {name} *" for name in BODIES[:3])
    groups: dict[str, list[Answer]] = defaultdict(list)
    for at, (name, _, traits) in enumerate(_nodes()):
        error = answers[f"node {at}"]
        if error != "the engine died":
            groups[name].append((traits, error))
    for name, asked in groups.items():
        yield from _of_operator(name, asked)


def of_errors(answers: dict[str, str]) -> Iterator[str]:
    """The errors of the check with which every node of an operator is accepted, and those with which each is refused:
    of any operator, where no other node or graph is accepted."""
    taken = {name for at, (name, *_) in enumerate(_nodes()) if not answers[f"node {at}"]}
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for at, (name, _, traits) in enumerate(faulty()):
        (code,) = _errors(traits)
        if name in taken and not ABSENT.search(answers[f"faulty {at}"]):
            groups[code][name].append(answers[f"faulty {at}"])
    for at, codes in enumerate(openvino_nodes.errors_of_graphs()):
        if len(codes) == 1 and not UNTYPED.search(answers[f"graph {at}"]):
            groups[codes[0]][""].append(answers[f"graph {at}"])
    for code, of_code in groups.items():
        if all(map(all, of_code.values())) and sum(map(len, of_code.values())) >= MANY:
            yield f"rejects {code}"
            continue
        for name, errors in sorted(of_code.items())[of_code.keys() >= {""} :]:
            if len(errors) >= ASKED and (all(errors) or not any(errors)) and code not in CAST:
                yield f"{'rejects' if all(errors) else 'reads'} {name} {code}"


def _of_operator(name: str, asked: list[Answer]) -> Iterator[str]:
    accepted = [traits for traits, error in asked if not error]
    if not accepted:
        if name in NEVER:
            yield f"op {name} *"
            yield f"refuses {name} any"
        elif (len(asked) >= ASKED and _is_absent(asked)) or all(NO_PLUGIN.search(error) for _, error in asked):
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
    others = [each for each in errors if not ABSENT.search(each) and not NO_TYPE.search(each)]
    return any(map(ABSENT.search, errors)) and len(others) <= FEW * len(errors)


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
