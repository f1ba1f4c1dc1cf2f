"""The forms of operators that releases of ONNX Runtime refuse though they have a kernel, and attributes newer than a
release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from irlint.model import Node
from irlint.schemas import MICROSOFT, OFFICIAL_DOMAINS, official
from irlint.targets import tables
from irlint.targets.objections import OPERATOR_NOT_IN_RELEASE, RESTRICTED_IN_RELEASE, TARGET_NOT_KNOWN, Objection
from irlint.targets.uses import Use

NAME = "onnxruntime"


def _number(node: Node, name: str) -> object:
    attribute = node.attributes.get(name)
    return attribute.value if attribute is not None and attribute.reference is None else 0


def _is_batchwise(node: Node) -> bool:
    return _number(node, "layout") == 1


def _is_onesided_inverse(node: Node) -> bool:
    return _number(node, "inverse") == 1 and _number(node, "onesided") == 1


#: By operator: the fact of the releases that take the form, what has the form, what it is, and the help.
FORMS: Mapping[str, tuple[str, Callable[[Node], bool], str, str]] = {
    **dict.fromkeys(
        ("RNN", "GRU", "LSTM"),
        ("form layout-1", _is_batchwise, "its kernels take layout=0 only", "transpose the inputs, and write layout=0"),
    ),
    "DFT": (
        "form onesided-inverse",
        _is_onesided_inverse,
        "the release refuses onesided=1 together with inverse=1",
        "use a release that takes both, or write the inverse of the whole spectrum",
    ),
}

#: An operator whose kernel needs what the machine may not have.
LOCALE = "StringNormalizer"


def apart(node: Node) -> object:
    """What distinguishes nodes of one operator here."""
    if node.domain == MICROSOFT:
        return tuple(node.attributes)
    if node.op in FORMS:
        return FORMS[node.op][1](node)
    return None


def objections(use: Use, version: int, releases: int) -> Iterator[tuple[int, Objection]]:
    """What the releases in which the operator has this version have against the form of a node."""
    node = use.node
    if node.domain == MICROSOFT:
        yield from _newer_attributes(use, releases)
    elif node.domain in OFFICIAL_DOMAINS:
        yield from _newer_form(use, version, releases)
    if node.domain == "" and node.op in FORMS:
        fact, has, text, help = FORMS[node.op]
        refusing = releases & ~tables.holds(NAME, fact)
        if refusing and has(node):
            yield refusing, Objection(RESTRICTED_IN_RELEASE, text, help)
    if node.domain == "" and node.op == LOCALE:
        text = (
            "its kernel needs the locale of the node, by default en_US.UTF-8, on the machine where the model is loaded"
        )
        yield releases, Objection(TARGET_NOT_KNOWN, text, "install the locale there")


def _newer_attributes(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    """Attributes and inputs that an operator of ONNX Runtime's own got with a later release."""
    name = f"{use.node.domain}:{use.node.op}"
    for attribute in use.node.attributes:
        lacking = releases & ~tables.holds(NAME, f"attribute {name} {attribute}")
        if lacking:
            text = f"the operator has no attribute `{attribute}` in the release"
            yield lacking, Objection(OPERATOR_NOT_IN_RELEASE, text, "leave the attribute out, or use a later release")
            releases &= ~lacking
    for text, having in tables.facts(NAME, f"counts {name} "):
        least_in, most_in, least_out, most_out = map(int, text.split())
        mine = releases & having
        if mine and not (least_in <= len(use.inputs) <= most_in and least_out <= len(use.outputs) <= most_out):
            message = f"{len(use.inputs)} inputs and {len(use.outputs)} outputs; in the release the operator takes "
            message += f"{least_in} to {most_in} and has {least_out} to {most_out}"
            yield mine, Objection(OPERATOR_NOT_IN_RELEASE, message, "use a release that has them")


def _newer_form(use: Use, version: int, releases: int) -> Iterator[tuple[int, Objection]]:
    """What a node has of a later version than the release knows of its operator."""
    node = use.node
    if not isinstance(use.version, int):
        return
    meant, known = official(node.op, use.version, node.domain), official(node.op, version, node.domain)
    if meant is None or known is None or meant.since == known.since:
        return
    more = next((name for name in node.attributes if name not in known.attributes), None)
    if more is not None:
        text = f"the attribute `{more}` came with version {meant.since}; the release has version {known.since}"
    elif len(use.inputs) > known.max_input or len(use.outputs) > known.max_output:
        text = f"its inputs and outputs are those of version {meant.since}; the release has version {known.since}"
    else:
        return
    yield releases, Objection(OPERATOR_NOT_IN_RELEASE, text, f"write the node as version {known.since} has it")
