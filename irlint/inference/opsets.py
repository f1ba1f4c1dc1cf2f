"""Finds nodes that were written for another opset than the imported opset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from irlint.binding import Binder
from irlint.binding.calls import (
    ATTRIBUTE_KIND,
    INPUT_COUNT,
    MISSING_ATTRIBUTE,
    OPSET_LACKS_OPERATOR,
    OUTPUT_COUNT,
    UNKNOWN_ATTRIBUTE,
)
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.wording import counted, first_few, shortened
from irlint.inference.known import Known
from irlint.inference.questions import outputs_for
from irlint.model import Function, Graph, Model, Node, Problem
from irlint.ops.shared.broadcast import SHAPES_DIFFER
from irlint.records import replaced
from irlint.schemas import OFFICIAL_DOMAINS, late_kernels, latest_opset, official, official_versions

ANOTHER_OPSET = Rule(
    "IRL809",
    "nodes-of-another-opset",
    Severity.ERROR,
    "The nodes were written for another opset than the imported one.",
    why=(
        "The opset version determines the inputs and attributes of each operator. Several nodes are invalid at the "
        "imported opset, but all nodes are valid at another one. So the import is wrong, not the nodes."
    ),
    fix="Import the opset in the message.",
    bad="""<ir_version: 8, opset_import: ["" : 11]>
g (float[2,3] x) => (float[1,2,3] y) <int64[1] axes = {0}> { z = Unsqueeze (x, axes) w = Squeeze (z, axes) y = \
Unsqueeze (w, axes) }""",
    good="""<ir_version: 8, opset_import: ["" : 13]>
g (float[2,3] x) => (float[1,2,3] y) <int64[1] axes = {0}> { z = Unsqueeze (x, axes) w = Squeeze (z, axes) y = \
Unsqueeze (w, axes) }""",
    role="opset",
    refused=(Refusal("onnxruntime"),),
)

#: The rules that a node of another opset breaks.
_RULES = (
    ATTRIBUTE_KIND,
    INPUT_COUNT,
    MISSING_ATTRIBUTE,
    OPSET_LACKS_OPERATOR,
    OUTPUT_COUNT,
    UNKNOWN_ATTRIBUTE,
)

#: At least this many nodes must be wrong.
_LEAST_WRONG = 2

#: Another opset must fix at least this share of the wrong nodes.
_LEAST_SHARE = 0.9

#: A message lists at most this many groups of nodes.
_MOST_LISTED = 4


def of_another_opset(known: Known) -> list[Problem]:
    """A problem for each domain with nodes that are wrong at the imported opset and valid at another opset.

    Each function is examined separately.
    """
    wrong: dict[tuple[str, str], dict[Node, Problem]] = {}
    absent: dict[tuple[str, str], dict[Node, Problem]] = {}
    for problem in known.problems:
        node = problem.node
        if node is None or not is_of_an_opset(problem) or node.domain not in OFFICIAL_DOMAINS:
            continue
        path = problem.graph.partition("/")[0] if problem.graph.startswith("function:") else ""
        if problem.is_error:
            wrong.setdefault((path, node.domain), {}).setdefault(node, problem)
        elif problem.fault.rule is OPSET_LACKS_OPERATOR:
            absent.setdefault((path, node.domain), {}).setdefault(node, problem)
    found = (
        _of_domain(key[1], {**absent.get(key, {}), **nodes}, known, key[0])
        for key, nodes in wrong.items()
        if len(nodes) >= _LEAST_WRONG
    )
    return [problem for problem in found if problem is not None]


def with_nodes_to_rewrite(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems. If a help advises a later opset, the help also names the nodes that are invalid at that opset."""
    validity, further = _Validity(known), dict[tuple[str, int], str]()
    found = []
    for problem in problems:
        node, key = problem.node, _later_opset(problem)
        if node is not None and key is not None and not problem.graph.startswith("function:"):
            if key not in further:
                further[key] = _nodes_to_rewrite(*key, known, validity)
            help = f"{problem.fault.help}{further[key]}"
            problem = replaced(problem, fault=problem.fault.changed(help=help)) if further[key] else problem
        found.append(problem)
    return found


def _later_opset(problem: Problem) -> tuple[str, int] | None:
    """(domain, first opset with the operator), if that opset is later than the imported opset; else None."""
    node = problem.node
    if node is None or problem.fault.rule is not OPSET_LACKS_OPERATOR or not isinstance(node.version, int):
        return None
    first = min(official_versions(node.op, node.domain), default=0)
    return (node.domain, first) if first > node.version else None


def _nodes_to_rewrite(domain: str, opset: int, known: Known, validity: _Validity) -> str:
    """The end of a help, about the nodes that a later opset makes invalid; or ""."""
    imported = known.model.opsets.get(domain)
    if imported is None:
        return ""
    faults = [(node, validity.fault(node, opset)) for node in _nodes(known.model, domain, None)]
    wrong = [(node, fault) for node, fault in faults if fault is not None and validity.is_valid(node, imported)]
    if not wrong:
        return ""
    node, fault = wrong[0]
    more = f" and {counted(len(wrong) - 1, 'more node')}" if len(wrong) > 1 else ""
    return f", and write {node.op} {shortened(node.label)!r}{more} for it: {fault.message}"


def is_of_an_opset(problem: Problem) -> bool:
    """Whether another opset may fix the problem."""
    return problem.fault.rule is SHAPES_DIFFER or (problem.fault.rule in _RULES and not problem.by_rule)


def _of_domain(domain: str, wrong: dict[Node, Problem], known: Known, path: str) -> Problem | None:
    """The problem of a domain, if another opset fixes most of its ``wrong`` nodes and breaks no node."""
    function = next((function for function in known.model.functions.values() if function.graph.path == path), None)
    imported = known.model.opsets.get(domain, function.opsets.get(domain) if function is not None else None)
    if imported is None or not 0 < imported <= latest_opset(domain):
        return None
    validity = _Validity(known)
    opset, fixed = _most_fixed(_other_opsets(wrong, domain, imported), wrong, validity)
    if len(fixed) < max(_LEAST_WRONG, _LEAST_SHARE * len(wrong)):
        return None
    others = (node for node in _nodes(known.model, domain, function) if node not in wrong)
    if any(validity.breaks(node, imported, opset) for node in others):
        return None
    types = {node: problem for node, problem in _of_types(known, domain) if validity.is_fixed(node, problem, opset)}
    runnable = _runnable_opset(opset, list(_nodes(known.model, domain, function)), domain, validity)
    return _problem((domain, imported, opset, runnable), {**types, **fixed}, fixed, function=function)


def _runnable_opset(opset: int, nodes: Sequence[Node], domain: str, validity: _Validity) -> int:
    """The first opset from ``opset`` on at which ONNX Runtime runs all nodes; ``opset`` if a node is invalid there."""
    late = late_kernels() if not domain else {}
    first = max((late.get(node.op, 0) for node in nodes), default=0)
    return first if first > opset and all(validity.is_valid(node, first) for node in nodes) else opset


def _other_opsets(nodes: Iterable[Node], domain: str, imported: int) -> list[int]:
    """The opsets at which the operators change: later opsets ascending, then earlier descending."""
    changes = sorted({since for node in nodes for since in official_versions(node.op, domain)})
    earlier = [since - 1 for since in reversed(changes) if 1 < since <= imported]
    return [since for since in changes if since > imported] + earlier


def _most_fixed(
    opsets: Iterable[int], wrong: Mapping[Node, Problem], validity: _Validity
) -> tuple[int, Mapping[Node, Problem]]:
    """(the first opset that fixes the most nodes, the problems of these nodes)."""
    best: tuple[int, Mapping[Node, Problem]] = (0, {})
    for opset in opsets:
        fixed = {node: problem for node, problem in wrong.items() if validity.is_fixed(node, problem, opset)}
        if len(fixed) > len(best[1]):
            best = opset, fixed
    return best


def _of_types(known: Known, domain: str) -> Iterator[tuple[Node, Problem]]:
    """The nodes of a domain that refuse an element type, with their problems."""
    for problem in known.problems:
        if problem.node is not None and problem.node.domain == domain and problem.fault.rule.family == "element-types":
            yield problem.node, problem


class _Validity:
    """The validity of a model's nodes at other opsets."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.binder = Binder(known.model)

    def is_valid(self, node: Node, opset: int) -> bool:
        """Whether the operator, inputs and attributes of a node are valid at an opset."""
        return self.fault(node, opset) is None

    def fault(self, node: Node, opset: int) -> Fault | None:
        """The first error about the operator, inputs and attributes of a node at an opset."""
        _, faults = self.binder.bound(replaced(node, version=opset), {}, within_function=False)
        ignored = (MISSING_ATTRIBUTE,) if _refers(node) else ()
        errors = (fault for fault in faults if fault.severity is Severity.ERROR and fault.rule not in ignored)
        return next(errors, None)

    def breaks(self, node: Node, imported: int, opset: int) -> bool:
        """Whether a node is valid at the imported opset and invalid at ``opset``."""
        return not self.is_valid(node, opset) and self.is_valid(node, imported)

    def is_fixed(self, node: Node, problem: Problem, opset: int) -> bool:
        """Whether a node with a problem is valid at an opset.

        If the operator's rule found the problem, the rule must also accept the node's inputs at this opset.
        """
        if not problem.is_error and opset < min(official_versions(node.op, node.domain), default=0):
            return False
        if not problem.by_rule:
            return self.is_valid(node, opset)
        call, faults = self.binder.bound(replaced(node, version=opset), {}, within_function=False)
        if any(fault.severity is Severity.ERROR for fault in faults):
            return False
        types = self.known.types_of(node.inputs)
        return outputs_for(self.known, node, types, call) is not None


def _refers(node: Node) -> bool:
    return any(attribute.reference is not None for attribute in node.attributes.values())


def _nodes(model: Model, domain: str, function: Function | None) -> Iterator[Node]:
    """The nodes of a domain in a function or in the main graph, without function calls."""
    main = model.graph if function is None else function.graph
    waiting: list[Graph] = [] if main is None else [main]
    while waiting:
        for node in waiting.pop().nodes:
            waiting += [body for _, body in node.bodies]
            if node.domain == domain and (node.domain, node.op, node.overload) not in model.functions:
                yield node


def _problem(
    versions: tuple[str, int, int, int],
    nodes: Iterable[Node],
    wrong: Mapping[Node, Problem],
    *,
    function: Function | None,
) -> Problem:
    """The problem of a wrong import. ``versions`` are (domain, imported opset, correct opset, runnable opset)."""
    domain, imported, opset, runnable = versions
    counts: dict[str, list[int]] = {}
    for node, problem in wrong.items():
        text = f"{node.op}{_evidence(node, problem.fault, official(node.op, opset, domain))}"
        entry = counts.setdefault(text, [_version(node, opset), 0])
        entry[1] += 1
    parts = [f"{text} ({version}{f'; {count} nodes' * (count > 1)})" for text, (version, count) in counts.items()]
    name = domain or "ai.onnx"
    both = function is not None and function.opsets.get(domain) == imported
    whose = "its nodes" if function is None else "the nodes of the function"
    fault = ANOTHER_OPSET.fault(
        f"the model {'and the function import' if both else 'imports'} opset {imported} of {name}, and {whose} are "
        f"written for opset {opset} or {'later' if opset > imported else 'earlier'}: {first_few(parts, _MOST_LISTED)}",
        help=f"import opset {runnable} of {name}" + (" in the model and in the function" if both else ""),
        intended="" if function is not None else str(runnable),
    )
    values = tuple(value for node in nodes for value in node.outputs if value is not None)
    return Problem(fault, function.graph.path if function is not None else "", domain=domain, disputes=values)


def _version(node: Node, opset: int) -> int:
    """The version of the operator at an opset."""
    versions = [since for since in official_versions(node.op, node.domain) if since <= opset]
    return versions[-1] if versions else opset


def _evidence(node: Node, fault: Fault, schema: object) -> str:
    """The feature by which a node shows another opset, such as `` with axes as an input``."""
    if fault.rule is INPUT_COUNT:
        names: Sequence[str] = [formal.name for formal in getattr(schema, "inputs", ())]
        index = fault.input
        if index is not None and index < len(node.inputs) and index < len(names):
            return f" with {names[index]} as an input"
        return f" with {counted(len(node.inputs), 'input')}"
    if fault.rule is OUTPUT_COUNT:
        return f" with {counted(len(node.outputs), 'output')}"
    if fault.attribute is None:
        return "" if fault.rule is not SHAPES_DIFFER else " with inputs of different shapes"
    return f" {'without' if fault.rule is MISSING_ATTRIBUTE else 'with'} the attribute `{fault.attribute}`"
