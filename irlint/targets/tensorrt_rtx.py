"""What the parser of TensorRT for RTX, asked itself, has against the operators of a model."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.inference.known import Known
from irlint.model import Node
from irlint.model.tensor import Tensor
from irlint.schemas import OFFICIAL_DOMAINS
from irlint.targets import tables
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    RESTRICTED_IN_RELEASE,
    TARGET_NOT_KNOWN,
    Objection,
)
from irlint.targets.openvino_traits import INPUTS, formatted, traits
from irlint.targets.tensorrt_conditions import CONDITIONS
from irlint.targets.tensorrt_conditions import apart as apart_for_conditions
from irlint.targets.uses import Use, plain_value, uses
from irlint.targets.verdicts import Reason

NAME = "tensorrt-rtx"

#: Whether the releases were asked themselves.
MEASURED = True

#: The furthest stage that was measured.
STAGE = "read"

#: Domains of which the parser was asked about every operator; of others only plugins have some.
DOMAINS = (*OFFICIAL_DOMAINS, "com.microsoft")

#: Operators whose bodies decide.
BODIES = (":If", ":Loop", ":Scan", ":SequenceMap")

#: The letters of the traits that belong together: nodes that differ in an element type differ in each of them.
_LETTERS = {"t": "type", "k": "type", "d": "type", "y": "output", "n": "", "c": "", "m": "", "o": "", "r": "", "u": ""}
_LETTERS |= {"z": "", "v": ""}


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


def reasons(known: Known, releases: int, opset: int | None = None) -> list[Reason]:
    """What releases, given as bits, have against an ONNX model; ``opset`` stands for that of its nodes."""
    found = [Reason(having, objection) for having, objection in _inputs(known, releases)]
    for use in uses(known, _apart, opset):
        if use.certain:
            found += [Reason(having, objection, use) for having, objection in _objections(use, releases)]
    return found


def _apart(node: Node) -> object:
    return tuple((name, str(plain_value(each))) for name, each in node.attributes.items()), apart_for_conditions(node)


def _inputs(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    graph = known.model.graph
    assert graph is not None
    types = (known.types.get(value) for value in graph.inputs if value not in graph.constants)
    for name in dict.fromkeys(each.dtype for each in types if isinstance(each, Tensor) and each.dtype is not None):
        refusing = releases & ~tables.holds(NAME, f"input {name}")
        if refusing:
            text = f"an input of the model is {name}, which the release does not have"
            yield refusing, Objection(ELEMENT_TYPE_NOT_IN_RELEASE, text, "give the input another element type")


def _objections(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    """What was measured of an operator; what its vendor's list for TensorRT says is not known to hold here."""
    node = use.node
    if node.domain not in DOMAINS:
        text = "a custom operator, which a release takes where a plugin is registered"
        yield releases, Objection(TARGET_NOT_KNOWN, text, "register the plugin, and build the engine once")
        return
    name = f"{node.domain}:{node.op}"
    lacking = releases & tables.holds(NAME, f"lacks {name}")
    if lacking:
        text = "the parser has no importer of it"
        yield lacking, Objection(OPERATOR_NOT_IN_RELEASE, text, "write it with other operators, or register a plugin")
    left = releases & ~lacking
    for trait in sorted(traits(use, ())):
        refusing = left & tables.holds(NAME, f"refuses {name} {trait}") if family(trait) else 0
        if refusing:
            rule = ELEMENT_TYPE_NOT_IN_RELEASE if family(trait) == "type" else RESTRICTED_IN_RELEASE
            yield refusing, Objection(rule, f"the parser refuses it with {formatted([trait])}", "write it otherwise")
            left &= ~refusing
    yield from _unknown(use, name, left)


def _unknown(use: Use, name: str, left: int) -> Iterator[tuple[int, Objection]]:
    advice = "parse the model once with the release itself"
    never = left & ~tables.holds(NAME, f"takes {name}")
    if never and f":{use.node.op}" not in BODIES:
        yield never, Objection(TARGET_NOT_KNOWN, "no node of it that was tried is accepted", advice)
        left &= ~never
    typed = [f"t{at}={each}" for at, each in enumerate(use.inputs) if each and at < INPUTS]
    for trait in typed:
        doubted = left & tables.holds(NAME, f"doubts {name} {trait}")
        if doubted:
            text = f"no node of it with {formatted([trait])} that was tried is accepted"
            yield doubted, Objection(TARGET_NOT_KNOWN, text, advice)
            left &= ~doubted
    for sentence in _listed(use):
        if left:
            text = f"the vendor's list for TensorRT says, which was not measured: {sentence}"
            yield left, Objection(TARGET_NOT_KNOWN, text, advice)


def _listed(use: Use) -> Iterator[str]:
    """The conditions of the newest vendor's list that a node may break."""
    newest = 1 << len(tables.releases("tensorrt")) - 1
    for sentence, having in tables.facts("tensorrt", f"restriction {use.node.op} "):
        breaks = CONDITIONS.get(sentence)
        if having & newest and not use.node.domain and breaks is not None and breaks(use) is not False:
            yield sentence
