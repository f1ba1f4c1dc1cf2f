"""Edits that connect a missing input of a node, or an input in a cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from irlint.checks.intended import unused_values
from irlint.checks.structure import backward_inputs
from irlint.findings.edits import Edit
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import downstream, graph_at, varying
from irlint.model.tensor import FLOATS, INTEGERS, Scalar, Tensor
from irlint.records import replaced

Edits = tuple[Edit, ...]

#: At most this many unused values are tried.
UNUSED = 8

#: The last part of the name of an added constant.
BIAS = "bias"

#: Two numbers that show whether an operator commutes.
PAIR = (2, 3)


def with_missing_input(problem: Problem, known: Known) -> Iterator[Edits]:
    """Connects an unused value as the missing input of a node: as the empty input, or before or after other inputs."""
    node = problem.node
    graph = graph_at(known.model, problem.graph)
    if node is None or graph is None or known.format.ports_declare:
        return
    makers = Makers(known)
    formals = _formal_names(node, known)
    if not problem.graph:
        yield from _connected_as_twins(node, graph, known)[-1:]
        yield from _connected_by_name(node, formals, graph, makers)
    made = {each for other in graph.nodes for each in other.outputs}
    similar = [each for each in graph.nodes if each.op == node.op and each is not node]
    dtypes = {_dtype(value, known) for each in similar for value in each.inputs}
    unused = [each for each in unused_values(graph) if each in made or each in (*graph.constants, *graph.inputs)]
    measured = list(only_measured(graph, known)) if not unused and not problem.graph else []
    unused = unused or measured
    unused = [each for each in unused if _dtype(each, known) in dtypes] or unused
    patterns = {_maker_operators(each.inputs, makers) for each in similar}
    constants = {_are_constants(each.inputs, makers) for each in similar}
    count = len(node.inputs)
    ports = range(count, count - 1 if commutes(node, known) and count == 1 else -1, -1)
    is_empty = None in node.inputs and {len(each.inputs) for each in similar} != {count + 1}
    if is_empty:
        ports = range(node.inputs.index(None), node.inputs.index(None) + 1)
    if not problem.graph:
        yield from _connected_as_similar(node, ports, graph, known)
        yield from _connected_as_partner(node, ports, graph, known)
    tried = [
        (*node.inputs[:port], value, *node.inputs[port + is_empty :])
        for value in unused[:UNUSED]
        for port in ports
        if value not in node.outputs
    ]
    tried = [each for each in tried if all(_may_be_input(at, value, formals) for at, value in enumerate(each))]
    empty = {_are_empty(each.inputs) for each in similar}
    tried = [each for each in tried if is_empty or None not in each or _are_empty(each) in empty]
    tried = [each for each in tried if _maker_operators(each, makers) in patterns] or tried
    if len(constants) == 1 < len(similar):
        lengths = set(map(len, constants))
        tried = [each for each in tried if {len(each)} != lengths or _are_constants(each, makers) in constants]
    for after in tried or [(*node.inputs[: ports[0]], value) for value in _constants_at(ports[0], similar, known)]:
        edits, alone = _with_inputs(node, after, graph), measured[0] if len(measured) == 1 else None
        yield edits if alone is None else _called(edits, alone, "of which only the shape is used")


def _formal_names(node: Node, known: Known) -> list[str]:
    """The names of the inputs of a function of the model; [] for other nodes."""
    functions = (each for each in known.model.functions.values() if (each.domain, each.name) == (node.domain, node.op))
    return [value.name.casefold() for function in functions for value in function.graph.inputs]


def _connected_by_name(node: Node, formals: Sequence[str], graph: Graph, makers: Makers) -> Iterator[Edits]:
    """Connects the constants that are named after a call as its last inputs, if they are as many as the call lacks.

    A constant whose name ends with that of an input becomes this input. ``bias`` is the last of the others.
    """
    from irlint.fixes.rewired import is_named_after

    ports = range(len(node.inputs), len(formals))
    if not ports or None in node.inputs:
        return
    values = (*graph.constants, *(each for other in graph.nodes for each in other.outputs if each is not None))
    named = [each for each in values if is_named_after(each, node) and makers.is_stored(each)]
    stated = {port: each for port in ports for each in named if _last_part(each) == formals[port]}
    others = sorted((each for each in named if each not in stated.values()), key=lambda each: _last_part(each) == BIAS)
    rest = iter(others)
    if len(named) == len(stated) + len(others) == len(ports):
        yield _with_inputs(node, (*node.inputs, *(stated.get(port) or next(rest) for port in ports)), graph)


def _last_part(value: Value) -> str:
    return value.name.rpartition(".")[2].casefold()


def _may_be_input(port: int, value: Value | None, formals: Sequence[str]) -> bool:
    """Whether the last part of the name of a value is not the name of another input: ``norm.bias``."""
    name = _last_part(value) if value is not None else ""
    return name not in formals or formals.index(name) == port


def _with_inputs(node: Node, after: Sequence[Value | None], graph: Graph) -> Edits:
    """The edits that give a node the inputs ``after``."""
    ports = (at for at, each in enumerate(after) if at >= len(node.inputs) or each is not node.inputs[at])
    names = {at: each.name for at in ports if (each := after[at]) is not None}
    return tuple(
        Edit("input", "node", graph.path, node.label, node.index, "", name, input=at, op=node.op)
        for at, name in names.items()
    )


def _called(edits: Edits, value: Value, reason: str) -> Edits:
    """The edits with the reason why they connect a value."""
    return tuple(
        replaced(each, called=f"`{value.name}`, {reason},") if each.value == value.name else each for each in edits
    )


def _connected_as_similar(node: Node, ports: Iterable[int], graph: Graph, known: Known) -> Iterator[Edits]:
    """Connects the value that corresponds to an input of nodes with the same surroundings, or of twins: as an empty
    input, or as a new one before or after others."""
    from irlint.fixes.blocks import blocks_of
    from irlint.fixes.surroundings import Surroundings

    blocks = blocks_of(known, graph)
    surroundings = Surroundings(blocks.editor)
    found = [(after, port, "at similar nodes") for after, port in surroundings.with_lost_input(node, ports)]
    for port in ports:
        value = blocks.used_in_block(node, port)
        others = node.inputs[port + 1 :] if None in node.inputs else node.inputs[port:]
        if value is not None and value not in node.inputs:
            found.append(((*node.inputs[:port], value, *others), port, "in other blocks"))
    for after, port, where in found:
        value = after[port]
        called = f"{blocks.editor.called(value)}, as {where}," if value is not None else ""
        edits = _with_inputs(node, after, graph)
        yield tuple(replaced(each, called=called if each.input == port else "") for each in edits)


def _connected_as_partner(node: Node, ports: Iterable[int], graph: Graph, known: Known) -> Iterator[Edits]:
    """Connects the value that a partner has as this input: a node of the same operator. Another node joins the data of
    both, and the value depends on the result of that node, such as the shape to which both are expanded."""
    for port in ports:
        value = partner_value(node, port, graph, known)
        if value is not None and None not in node.inputs:
            edits = _with_inputs(node, (*node.inputs[:port], value, *node.inputs[port:]), graph)
            yield _called(edits, value, "as the node of the other operand does")


def partner_value(node: Node, port: int, graph: Graph, known: Known) -> Value | None:
    """The one value that partners of a node (see ``_connected_as_partner``) have as an input; None if they differ."""
    data = node.inputs[0] if node.inputs and port else None
    joining = [each for each in graph.nodes if each.op != node.op and data is not None and data in each.inputs]
    partners = [each for each in graph.nodes if each.op == node.op and each is not node and port < len(each.inputs)]
    found: set[Value | None] = set()
    for join in joining:
        after = {value for each in (join, *downstream(join, graph)) for value in each.outputs}
        found.update(
            each.inputs[port]
            for each in partners
            if each.inputs[0] in join.inputs and each.inputs[0] is not data and each.inputs[port] in after
        )
    return found.pop() if len(found) == 1 else None


def only_measured(graph: Graph, known: Known) -> Iterator[Value]:
    """The inputs of floats of which nodes use only the shape, so that their data may have lost a user."""
    captured = {value for body in graph.bodies for value in body.captured}
    for value in graph.inputs:
        users = [known.calls.get(node) for node in graph.nodes if value in node.inputs]
        is_data = value not in graph.constants and value not in captured and _dtype(value, known) in FLOATS
        if is_data and all(call is not None and call.operator is not None and call.operator.of_shape for call in users):
            yield value


def _constants_at(port: int, nodes: Sequence[Node], known: Known) -> list[Value]:
    """The different constants that the nodes have as the input ``port``."""
    makers, found = Makers(known), dict[object, Value]()
    for value in (each.inputs[port] for each in nodes if port < len(each.inputs)):
        if value is not None and makers.is_constant(value):
            found.setdefault(known.types.get(value), value)
    return list(found.values())[:UNUSED]


def out_of_cycle(problem: Problem, known: Known) -> Iterator[Edits]:
    """Breaks a cycle: connects an input of a node in it as in a similar block, or else to an unused value."""
    graph = graph_at(known.model, problem.graph)
    if graph is None or known.format.ports_declare:
        return
    cyclic = known.order(graph).cyclic
    made = {value for node in cyclic for value in node.outputs if value is not None}
    connected = (
        [edits for node in cyclic for edits in _connected_as_twins(node, graph, known)] if not problem.graph else []
    )
    inside = {(node.index, port) for node in cyclic for port, value in enumerate(node.inputs) if value in made}
    connected = [each for each in connected if inside.issuperset((edit.index, edit.input) for edit in each)]
    if not connected and not problem.graph:
        connected = list(_out_of_cycle_as_similar(cyclic, made, graph, known))
    backward = backward_inputs(cyclic)
    if not connected and not problem.graph and len(backward) == 1:
        value = partner_value(*backward[0], graph, known)
        connected += [(_connected(value, *backward[0], graph),)] if value is not None and value not in made else []
    if connected:
        yield from connected
        return
    unused = [each for each in unused_values(graph) if each not in made and each not in graph.outputs]
    changing = varying(graph, known.order(graph).nodes)
    lost = [each for each in unused if each in changing and each not in graph.inputs]
    unused = (lost or sorted(unused, key=lambda each: each not in changing))[:UNUSED]
    edges = [(node, port) for node in cyclic[:UNUSED] for port, value in enumerate(node.inputs) if value in made]
    if len(backward) == 1 and not unused and not problem.graph:
        yield from _connected_as_siblings(*backward[0], made, graph, known)
        yield from _connected_to_constants(*backward[0], graph, known)
    for node, port in backward if len(backward) == 1 else edges:
        others = {value for at, value in enumerate(node.inputs) if at != port}
        for each in unused if others & (changing | made) else [each for each in unused if each in changing]:
            yield (Edit("input", "node", graph.path, node.label, node.index, "", each.name, input=port, op=node.op),)


def _out_of_cycle_as_similar(cyclic: Sequence[Node], made: Set[Value], graph: Graph, known: Known) -> Iterator[Edits]:
    """Connects inputs in a cycle as at nodes with the same surroundings, which have no cycle there."""
    from irlint.fixes.blocks import blocks_of
    from irlint.fixes.surroundings import Surroundings

    surroundings = Surroundings(blocks_of(known, graph).editor)
    for node in cyclic:
        for port, value in enumerate(node.inputs):
            expected = surroundings.expected(node, port) if value in made else None
            if expected is not None and expected not in made:
                called = f"{surroundings.editor.called(expected)}, as at similar nodes,"
                yield (surroundings.editor.connected(expected, node, port, called),)


def _connected_as_siblings(node: Node, port: int, made: Set[Value], graph: Graph, known: Known) -> Iterator[Edits]:
    """Connects the one value that several siblings have as an input, if the operators around them are those around the
    node: those that compute their other inputs, and those that use their results."""
    makers = Makers(known)

    def around(each: Node) -> tuple[object, ...]:
        others = [value for at, value in enumerate(each.inputs) if at != port]
        users = {user.op for user in graph.nodes if not set(each.outputs).isdisjoint({*user.inputs} - {None})}
        return each.op, _maker_operators(others, makers), frozenset(users)

    own = around(node)
    similar = [each for each in graph.nodes if each.op == node.op and each is not node and around(each) == own]
    values = {each.inputs[port] for each in similar if port < len(each.inputs)}
    for value in values - made if len(values) == 1 and len(similar) > 1 else ():
        if value is not None:
            yield (Edit("input", "node", graph.path, node.label, node.index, "", value.name, input=port, op=node.op),)


def _connected_to_constants(node: Node, port: int, graph: Graph, known: Known) -> Iterator[Edits]:
    """Connects the constants of different values that are lists of integers, as another input of the node is."""
    given = [known.types.get(each) for at, each in enumerate(node.inputs) if each is not None and at != port]
    lists = {(each.dtype, each.shape) for each in given if isinstance(each, Tensor) and each.dtype in INTEGERS}
    found: dict[object, Value] = {}
    for value in graph.constants:
        tensor = known.types.get(value)
        if isinstance(tensor, Tensor) and tensor.ints is not None and {(tensor.dtype, tensor.shape)} == lists:
            found.setdefault(tensor.ints, value)
    for value in found.values():
        yield _called((_connected(value, node, port, graph),), value, "which fits the sizes that follow")


def _connected(value: Value, node: Node, port: int, graph: Graph) -> Edit:
    return Edit("input", "node", graph.path, node.label, node.index, "", value.name, input=port, op=node.op)


def _connected_as_twins(node: Node, graph: Graph, known: Known) -> list[Edits]:
    from irlint.fixes.blocks import blocks_of

    return [candidate.edits for candidate in blocks_of(known, graph).connected_as_twins(node)]


def _maker_operators(values: Sequence[Value | None], makers: Makers) -> tuple[str, ...]:
    """The operators that compute the inputs of a node; "" for constants and inputs of the graph."""
    found = (makers.of(value) if value is not None else None for value in values)
    return tuple(each.node.op if each is not None and each.node is not None else "" for each in found)


def _dtype(value: Value | None, known: Known) -> str | None:
    given = known.types.get(value) if value is not None else None
    return given.dtype if isinstance(given, Tensor) else None


def commutes(node: Node, known: Known) -> bool:
    """Whether the order of two inputs of a node does not matter."""
    found = result_of(node, PAIR, known)
    return found is not None and found == result_of(node, PAIR[::-1], known)


def result_of(node: Node, numbers: tuple[int, int], known: Known) -> Scalar:
    """What an elementwise node of two inputs computes from two numbers; None for other nodes."""
    call = known.calls.get(node)
    if call is None or call.operator is None or call.signature is None or len(call.signature.inputs) != len(numbers):
        return None
    fold = call.operator.fold
    return fold(*numbers) if callable(fold) else None


def _are_empty(values: Sequence[Value | None]) -> tuple[bool, ...]:
    return tuple(value is None for value in values)


def _are_constants(values: Sequence[Value | None], makers: Makers) -> tuple[bool, ...]:
    return tuple(value is not None and makers.is_constant(value) for value in values)
