"""Which nodes of ONNX models releases of OpenVINO do not read though they have a converter, by what was asked of each
release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cache

from irlint.findings.faults import Rule
from irlint.inference.known import Known
from irlint.inference.opsets import ANOTHER_OPSET
from irlint.model import Attribute, Node, Problem
from irlint.ops.shared.element_types import ELEMENT_TYPE_REFUSED, ELEMENT_TYPES_DIFFER
from irlint.schemas import official_versions
from irlint.targets import tables
from irlint.targets.objections import ELEMENT_TYPE_NOT_IN_RELEASE, RESTRICTED_IN_RELEASE, Objection
from irlint.targets.openvino_traits import contents as contents_of
from irlint.targets.openvino_traits import formatted, traits
from irlint.targets.uses import Use

NAME = "openvino"

#: Traits together by which nodes are refused, each with the releases that do so.
Matches = tuple[tuple[tuple[str, ...], int], ...]

#: Beside the family about operators, the rules that judge the types of a node: what a release does with a breach of
#: these was asked of every operator.
_ASKED = (ELEMENT_TYPE_REFUSED, ELEMENT_TYPES_DIFFER)


def errors(known: Known) -> Mapping[Node, Set[str]]:
    """The codes of the errors at each node."""
    found: dict[Node, set[str]] = {}
    for problem in known.problems:
        if problem.node is not None and problem.is_error:
            found.setdefault(problem.node, set()).add(problem.fault.rule.code)
    return found


def refusing(use: Use, releases: int) -> int:
    """Those of the releases that refuse a model for a node that they do not read: in bodies some pass over it."""
    if not use.graph or use.graph.startswith("function:"):
        return releases
    bodies = set(use.graph.split("/")[1:])
    reading = tables.holds(NAME, "onnx-form If.refused") if bodies & {"then_branch", "else_branch"} else 0
    if "body" in bodies:
        reading |= tables.holds(NAME, "onnx-form Loop.refused") | tables.holds(NAME, "onnx-form Scan.refused")
    return releases & ~reading


class Questions:
    """What releases have against the nodes of a model; nodes that are alike are looked up once."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.wrong = errors(known)
        graph, constant = known.model.graph, known.format.constant_node
        self.constants = set(graph.constants) if graph is not None else set()
        for node in graph.nodes if graph is not None else ():
            if node.op == constant:
                self.constants.update(value for value in node.outputs if value is not None)
        self.found: dict[object, Matches] = {}

    def apart(self, node: Node, *, of_form: bool = False) -> object:
        """What distinguishes nodes of one operator here, besides the element types; ``of_form``: what distinguishes
        their forms."""
        if node in self.wrong or node.bodies:
            return id(node)
        deciding = range(len(node.inputs)) if of_form else _deciding_inputs(f"{node.domain}:{node.op}")
        taken = [node.inputs[at] for at in deciding if at < len(node.inputs)]
        types, constants = self.known.types, self.constants
        contents = tuple((id(types.get(each)), each in constants) if each is not None else None for each in taken)
        return contents, tuple((name, each.reference or str(each.value)) for name, each in node.attributes.items())

    def objections(self, use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
        """What they have against a node."""
        name = f"{use.node.domain}:{use.node.op}"
        rules = _rules(name)
        if not rules or not releases:
            return
        key = self._key(use, name)
        if key not in self.found:
            self.found[key] = self._matches(use, rules)
        left = releases
        for rule, having in self.found[key]:
            refusing = having & left
            if refusing:
                left &= ~refusing
                text = f"the release does not read it with {formatted(rule)}"
                yield refusing, Objection(_broken(rule), text, "write it without that, or use a release that reads it")

    def _key(self, use: Use, name: str) -> object:
        node = use.node
        given = tuple((each, _plain(value, use)) for each, value in node.attributes.items())
        wrong = self.wrong.get(node)
        contents = tuple(contents_of(use, _deciding_inputs(name)))
        return name, use.version, use.inputs, use.outputs, given, wrong and tuple(wrong), contents

    def _matches(self, use: Use, rules: Matches) -> Matches:
        versions = official_versions(use.node.op, "")[1:] if not use.node.domain else ()
        has = traits(use, versions, self.wrong.get(use.node, ()))
        return tuple(
            each for each in rules if all((one[1:] not in has) if one[0] == "!" else one in has for one in each[0])
        )


def _plain(given: Attribute, use: Use) -> object:
    attribute = use.scope.get(given.reference) if given.reference is not None else given
    value = attribute.value if attribute is not None else None
    return value if isinstance(value, (int, bytes, str)) else given.kind


def _broken(rule: tuple[str, ...]) -> Rule:
    typed = any(each[0] in "tdk" and each[1:2].isdigit() for each in rule)
    return ELEMENT_TYPE_NOT_IN_RELEASE if typed else RESTRICTED_IN_RELEASE


@cache
def _deciding_inputs(name: str) -> tuple[int, ...]:
    """The inputs of an operator of which more counts than their element types."""
    traits_of_rules = (each for rule, _ in _rules(name) for each in rule)
    return tuple(sorted({int(each[1]) for each in traits_of_rules if each[0] in "cmoruv" and each[1:2].isdigit()}))


@cache
def _rules(name: str) -> Matches:
    """The traits together by which nodes of an operator are refused, and the releases that do so."""
    found = tables.facts(NAME, f"onnx-refuses {name} ")
    return tuple((tuple(rule.split("&")), having) for rule, having in found)


def passes(known: Known, problem: Problem) -> int:
    """The releases that read models with such an error, as bits."""
    rule, node = problem.fault.rule, problem.node
    if rule is ANOTHER_OPSET:
        found = (1 << len(tables.releases(NAME))) - 1
        for each in known.calls:
            found &= tables.holds(NAME, f"onnx-reads {each.domain}:{each.op} node")
        return found
    if node is None or rule.family == "declarations":
        return tables.holds(NAME, f"onnx-reads {rule.code}")
    asked = "node" if rule in _ASKED or rule.family == "operators" else rule.code
    return tables.holds(NAME, f"onnx-reads {node.domain}:{node.op} {asked}")
