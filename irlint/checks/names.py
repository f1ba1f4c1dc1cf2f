"""Checks ONNX graphs: unique names, sorted nodes, typed inputs, and bodies that return or redefine outer values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from operator import attrgetter

from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Constant, Graph, Node, Problem, Value
from irlint.model.order import Order, graphs
from irlint.model.tensor import Tensor
from irlint.parsers.faults import TYPE_MISSING

DUPLICATE_NAME = Rule(
    "IRL102",
    "duplicate-name",
    Severity.ERROR,
    "Two values of one graph have the same name.",
    why=(
        "A name must identify one value (single static assignment); if two values share it, a node that uses it is "
        "ambiguous. A value of a body must not have a name of the enclosing graph. ONNX Runtime accepts two cases in "
        "the main graph: several constants with the same name, type and shape, of which it uses the last, and several "
        "inputs with the name of an initializer. In these cases, irlint warns."
    ),
    fix="Rename one of the values, and update the nodes that use it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) y = Neg (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Relu (x) y = Neg (z) }""",
    uncalled=False,
    refused=(Refusal("onnxruntime"),),
)


WRONG_ORDER = Rule(
    "IRL104",
    "nodes-not-sorted",
    Severity.WARNING,
    "A node uses a result of a later node.",
    why=(
        "The ONNX specification requires nodes in topological order. ONNX Runtime sorts the nodes of the main graph "
        "itself, but refuses unsorted nodes in bodies and functions. The ONNX checker refuses the model, and tools "
        "that read the nodes in order fail or compute wrong results."
    ),
    fix="Sort the nodes: `irlint fix`, the optimizer of `onnxruntime` and `onnx-graphsurgeon` write sorted nodes.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (z) z = Neg (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Neg (x) y = Relu (z) }""",
    uncalled=False,
    fixable=True,
)


DUPLICATE_NODE = Rule(
    "IRL109",
    "duplicate-node-name",
    Severity.ERROR,
    "Two nodes of one ONNX graph have the same name.",
    why=(
        "The name of a node is optional, but two nodes of a graph must not share one: ONNX Runtime refuses the model "
        'with "two nodes with same node name". The ONNX checker does not check this.'
    ),
    fix="Rename one of the nodes, or leave its name empty.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { [same] z = Relu (x) [same] y = Neg (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { [one] z = Relu (x) [other] y = Neg (z) }""",
    fixable=True,
    refused=(Refusal("onnxruntime"),),
)


OUTER_VALUE_RETURNED = Rule(
    "IRL112",
    "outer-value-returned",
    Severity.ERROR,
    "A body returns a value of the enclosing graph.",
    why="The outputs of a body must be computed inside it. ONNX Runtime refuses a body that returns an outer value "
    "directly.",
    fix="Add an Identity to the body, and return its output.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, bool c) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] x) { }, else_branch = e () => (float[2,3] b) { b = Neg (x) }>
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, bool c) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] a) { a = Identity (x) }, else_branch = e () => (float[2,3] b) { b = \
Neg (x) }>
}""",
)


#: A graph with at least this many duplicate names is searched for repeated rows of nodes.
LEAST_FOR_ROWS = 3

#: The maximum number of users of a name in a help.
MOST_USERS = 4

_NUMBER = "[0-9]+"

#: For two origins of values, the list of the graph that contains these values.
_LIST_NAMES = {"a graph input": "the inputs", "an initializer": "the initializers"}


def problems(known: Known) -> list[Problem]:
    """The problems of untyped inputs, shared names, unsorted nodes, and bodies that return or redefine outer values."""
    model = known.model
    assert model.graph is not None
    found: list[Problem] = list(_untyped_inputs(model.graph))
    for graph in (model.graph, *(function.graph for function in model.functions.values())):
        found += _body_problems(graph, set())
    for graph in graphs(model):
        duplicates = [*_duplicates(graph, known), *_duplicate_nodes(graph)]
        if len(duplicates) >= LEAST_FOR_ROWS:
            from irlint.checks.repeated_rows import grouped

            duplicates = grouped(duplicates, graph)
        found += duplicates
        found += _used_too_early(known.order(graph), graph)
    return found


def _duplicates(graph: Graph, known: Known) -> Iterator[Problem]:
    """A problem for each value with the name of an earlier value."""
    every = list(filter(None, chain.from_iterable([node.outputs for node in graph.nodes])))
    every += {*graph.inputs, *graph.constants}
    if len(set(map(attrgetter("name"), every))) == len(every):
        return
    values = _Values(graph)
    first: dict[str, Value] = {}
    for value in (*graph.inputs, *(v for v in graph.constants if v not in values.inputs), *values.makers):
        other = first.setdefault(value.name, value)
        if other is value or not value.name:
            continue
        node = values.maker(value)
        origin, other_origin = values.origin(value), values.origin(other)
        fault = DUPLICATE_NAME.fault(
            f"{value.name!r} is listed twice among {_LIST_NAMES[origin]}"
            if origin in _LIST_NAMES and origin == other_origin
            else f"{value.name!r} is {origin} and also {other_origin}",
            help=_help_for_duplicates(value, other, values),
            severity=Severity.WARNING if _is_accepted_by_onnxruntime(values, known, value, other) else None,
            loses=1,
        )
        place = node.place if node is not None else None
        yield Problem(fault, graph.path, node, value.name, place, disputes=(value, other))


class _Values:
    """The values of a graph, with the nodes that compute and use them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.inputs = frozenset(graph.inputs)
        #: (index of the node, index of the output) that computes each value.
        self.makers: dict[Value, tuple[int, int]] = {}
        for at, node in enumerate(graph.nodes):
            for port, value in enumerate(node.outputs):
                if value is not None and self.makers.get(value, (-1,))[0] != at:
                    self.makers[value] = at, port
        self.constant_names = frozenset(each.name for each in graph.constants)
        self.all_names = {each.name for each in (*graph.inputs, *graph.constants, *self.makers)}
        #: The indices of the nodes that use each value.
        self.users: dict[Value, list[int]] = {}
        for at, node in enumerate(graph.nodes):
            for value in dict.fromkeys(node.inputs):
                if value is not None:
                    self.users.setdefault(value, []).append(at)

    def maker(self, value: Value) -> Node | None:
        """The node that computes a value; None for inputs and initializers."""
        return self.graph.nodes[self.makers[value][0]] if value in self.makers else None

    def origin(self, value: Value) -> str:
        """The origin of a value in words, such as ``output 0 of node 3 (Add)`` or ``a graph input``."""
        node = self.maker(value)
        if node is not None:
            named = f" {node.name!r}" if node.name else ""
            return f"output {self.makers[value][1]} of node {node.index} ({node.op}{named})"
        return "a graph input" if value in self.inputs else "an initializer"

    def first_use(self, *values: Value) -> int:
        """The index of the first node that uses one of the values; -1 if there is none."""
        return min((self.users[each][0] for each in values if each in self.users), default=-1)


def _renamed_after_node(value: Value, other: Value, values: _Values) -> tuple[Value, str] | None:
    """(the value to rename, its new name) of two values with the same name. The new name follows from the name of the
    node, as the shared name does for the other value: ``Add_95`` computes ``95``, and ``cache_3`` computes
    ``present_3``. None unless exactly one of the two values fits."""
    found = []
    for intended, renamed in ((other, value), (value, other)):
        makers = values.maker(intended), values.maker(renamed)
        name = _name_like(intended.name, *(each.name for each in makers if each is not None))
        if name and name not in values.all_names:
            found.append((renamed, name))
    return found[0] if len(found) == 1 else None


def _name_like(name: str, node: str = "", other: str = "") -> str:
    """The name for the result of node ``other``, built as ``name`` is built from ``node``; "" if there is none.

    If the nodes' names differ in one number that ``name`` contains, the number is replaced. If the name of ``node``
    ends with ``name``, the new name is the end of ``other``: ``conv_1`` of ``node_conv_1``, as ``conv`` of
    ``node_conv``.
    """
    if node.rpartition("_")[2] == name:
        unused, prefix = other.rpartition("_")[2], node.removesuffix(name)
        if not name.isdigit() and other.startswith(node):
            unused = other.removeprefix(prefix)
        return unused if unused.rpartition("_")[2].isdigit() else ""
    import re

    numbers, others = re.findall(_NUMBER, node), re.findall(_NUMBER, other)
    differing = [pair for pair in zip(numbers, others) if pair[0] != pair[1]]
    parts, own = re.split(_NUMBER, name), re.findall(_NUMBER, name)
    if (
        re.sub(_NUMBER, "", node) != re.sub(_NUMBER, "", other)
        or len(differing) != 1
        or own.count(differing[0][0]) != 1
    ):
        return ""
    at = own.index(differing[0][0])
    return "".join(part + number for part, number in zip(parts, [*own[:at], differing[0][1], *own[at + 1 :], ""]))


def _help_for_duplicates(value: Value, other: Value, values: _Values) -> str:
    """The help: remove one of two equal constants, or rename a value and update its users."""
    graph = values.graph
    if _are_known_equal(graph.constants.get(value), graph.constants.get(other)):
        return "remove one of them: both are equal"
    renamed = _renamed_after_node(value, other, values)
    help_by_undefined_name = "" if renamed else _help_by_undefined_name(value, other, values)
    if help_by_undefined_name:
        return help_by_undefined_name
    first = values.makers[renamed[0]] if renamed is not None else (-1, 0)
    users = [at for each in (value, other) for at in values.users.get(each, ())[: MOST_USERS + 1] if at > first[0]]
    help = "rename one of them, and update the nodes that use it"
    if renamed is not None:
        help = (
            f"rename output {first[1]} of node {graph.nodes[first[0]].name!r} to {renamed[1]!r}, after which the node "
            f"is named, and update the {'nodes that use it' if users else 'outputs of the graph'}"
        )
    if not 0 < len(users) <= MOST_USERS:
        return help
    nodes = [graph.nodes[at] for at in users]
    labels = [repr(node.name) if node.name else f"node {node.index} ({node.op})" for node in nodes]
    of = "one of " if renamed is not None and len(labels) > 1 else ""
    return f"{help}: {of}{', '.join(labels)}"


def _help_by_undefined_name(value: Value, other: Value, values: _Values) -> str:
    """The help to rename one of two values to the only undefined name of the graph; "" unless exactly one value fits.

    A value fits if its node comes before the users of the undefined name. The other node must come before the users of
    the shared name.
    """
    graph = values.graph
    if len(graph.undefined) != 1 or value not in values.makers or other not in values.makers:
        return ""
    missing = graph.undefined[0]
    first_use_of_missing, first_use_of_shared = values.first_use(missing), values.first_use(value, other)
    if min(first_use_of_missing, first_use_of_shared) < 0:
        return ""
    fitting = [
        one
        for one, rest in ((value, other), (other, value))
        if values.makers[one][0] < first_use_of_missing and values.makers[rest][0] < first_use_of_shared
    ]
    if len(fitting) != 1:
        return ""
    node, user = graph.nodes[values.makers[fitting[0]][0]], graph.nodes[first_use_of_missing]
    return (
        f"rename the output of node {node.index} ({node.op}) to {missing.name!r}, which node {user.index} "
        f"({user.op}) uses but nothing computes"
    )


def _are_known_equal(one: Constant | None, other: Constant | None) -> bool:
    return one is not None and other is not None and one.tensor.value is not None and one.tensor == other.tensor


def _duplicate_nodes(graph: Graph) -> Iterator[Problem]:
    """A problem for each node with the name of an earlier node, except for Constants."""
    names = [node.name for node in graph.nodes if node.name and node.op != "Constant"]
    if len(set(names)) == len(names):
        return
    first: dict[str, Node] = {}
    for node in graph.nodes:
        other = first.setdefault(node.name, node) if node.name and node.op != "Constant" else node
        if other is not node:
            fault = DUPLICATE_NODE.fault(
                f"nodes {other.index} ({other.op}) and {node.index} ({node.op}) are both named {node.name!r}",
                help="rename one of them, or leave its name empty",
            )
            yield Problem(fault, graph.path, node, place=node.place)


def _is_accepted_by_onnxruntime(values: _Values, known: Known, value: Value, other: Value) -> bool:
    """Whether ONNX Runtime accepts two values of one name.

    It accepts inputs of the main graph if an initializer has their name. Outside of bodies, it accepts constants of the
    same type and shape, unless both are sparse.
    """
    graph = values.graph
    if not graph.path and value in values.inputs and other in values.inputs:
        return value.name in values.constant_names
    if _is_body(graph) or not all(_is_constant(each, values) for each in (value, other)):
        return False
    one, two = known.types.get(value), known.types.get(other)
    if not isinstance(one, Tensor) or not isinstance(two, Tensor):
        return True
    is_same_type = one.dtype in (None, two.dtype) and (None in (one.shape, two.shape) or one.shape == two.shape)
    constants = [graph.constants.get(each) for each in (value, other)]
    return is_same_type and any(each is None or each.stored is not None for each in constants)


def _is_constant(value: Value, values: _Values) -> bool:
    node = values.maker(value)
    return node.op == "Constant" if node is not None else value in values.graph.constants


def _used_too_early(order: Order, graph: Graph) -> Iterator[Problem]:
    """One problem for all nodes of a graph that use a value of a later node. It is at the first of these nodes."""
    cyclic = set(order.cyclic)
    early = [(node, value) for node, value in order.early if node not in cyclic]
    if not early:
        return
    node, value = early[0]
    more = (
        f", and {counted(len(early) - 1, 'more use')} in this graph {'comes' if len(early) == 2 else 'come'} too early"
        if len(early) > 1
        else ""
    )
    fault = WRONG_ORDER.fault(
        f"it uses {value.name!r}, which a later node computes{more}",
        help="sort the nodes so that each node comes after those that it depends on",
        input=node.inputs.index(value) if value in node.inputs else None,
        severity=Severity.ERROR if graph.path else None,
    )
    yield Problem(fault, graph.path, node, value.name, node.place)


def _is_body(graph: Graph) -> bool:
    """Whether a graph is the body of a node, in the main graph or in a function."""
    return bool(graph.path) and not (graph.path.startswith("function:") and "/" not in graph.path)


def _untyped_inputs(graph: Graph) -> Iterator[Problem]:
    for value in graph.inputs:
        stored = value in graph.constants
        if value.type is None:
            fault = TYPE_MISSING.fault(
                f"the graph input {value.name!r} has no type" + (", only its initializer has" if stored else ""),
                help="declare its type",
                severity=Severity.WARNING if stored else None,
            )
            yield Problem(fault, graph.path, value=value.name)


def _body_problems(graph: Graph, visible: set[str]) -> Iterator[Problem]:
    """The problems of bodies that return or redefine outer values. ``visible`` has the names of the outer values."""
    if not graph.bodies:
        return
    own = {value.name for value in (*graph.inputs, *graph.constants)} - visible
    visible |= own
    for node in graph.nodes:
        for _, body in node.bodies:
            yield from _returned_outer_values(body)
            yield from _redefined_outer_values(body, visible)
            yield from _body_problems(body, visible)
        computed = {value.name for value in node.outputs if value is not None} - visible
        own |= computed
        visible |= computed
    visible -= own


def _returned_outer_values(body: Graph) -> Iterator[Problem]:
    captured = set(body.captured)
    for position, value in enumerate(body.outputs):
        if value in captured:
            fault = OUTER_VALUE_RETURNED.fault(
                f"output {position} of the body is {value.name!r}, a value of an enclosing graph",
                help=f"return Identity({value.name}) instead",
            )
            yield Problem(fault, body.path, value=value.name)


def _redefined_outer_values(body: Graph, visible: set[str]) -> Iterator[Problem]:
    for node in body.nodes:
        for port, value in enumerate(node.outputs):
            if value is not None and value.name in visible:
                fault = DUPLICATE_NAME.fault(
                    f"{value.name!r} is output {port} of node {node.index} ({node.op}), and also a value of an "
                    "enclosing graph",
                    help="rename the value in the body",
                )
                yield Problem(fault, body.path, node, value.name)
