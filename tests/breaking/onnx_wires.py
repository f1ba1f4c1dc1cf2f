"""Ways in which people break ONNX models: wrong inputs, names and nodes."""

from __future__ import annotations

from collections.abc import Callable

from onnx import NodeProto, helper

from .onnx_graph import Change, Graph, misspelt, name_of, permutations, shown, way


@way("swapped inputs")
def swapped_inputs(graph: Graph) -> Change | None:
    node = graph.any(
        each
        for each in graph.nodes
        if len(each.input) > 1 and each.op_type not in ("Add", "Mul", "Max", "Min", "Equal", "Sum", "And", "Or")
    )
    if not node:
        return None
    one, other = sorted(graph.random.sample(range(len(node.input)), 2)) if graph.random.random() < 0.3 else (0, 1)
    was = list(node.input)
    if was[one] == was[other] or not was[one] or not was[other]:
        return None
    node.input[one], node.input[other] = was[other], was[one]
    return Change(name_of(node), "inputs", str(was), str(list(node.input)))


def _rewired(graph: Graph, names: Callable[[NodeProto, int, list[str]], list[str]]) -> Change | None:
    at = graph.random.randrange(len(graph.nodes))
    node = graph.nodes[at]
    stored = set(graph.constants()) | {each.name for each in graph.model.graph.initializer}
    places = [place for place, name in enumerate(node.input) if name and name not in stored]
    place = graph.any(places)
    if place is None:
        return None
    before = [each.name for each in graph.inputs()] + [
        name for each in graph.nodes[:at] if each.op_type != "Constant" for name in each.output if name
    ]
    was = node.input[place]
    new = graph.any(name for name in names(node, place, before) if name != was)
    if new is None:
        return None
    node.input[place] = new
    return Change(name_of(node), f"input {place}", was, new)


@way("input from another value of the same rank")
def wrong_input(graph: Graph) -> Change | None:
    def similar(node: NodeProto, place: int, before: list[str]) -> list[str]:
        wanted = graph.ranks.get(node.input[place])
        return [name for name in before[-60:] if wanted and graph.ranks.get(name) == wanted]

    return _rewired(graph, similar)


@way("input from another value nearby")
def nearby_input(graph: Graph) -> Change | None:
    return _rewired(graph, lambda node, place, before: before[-6:])


@way("input from the same operator elsewhere")
def input_of_other_layer(graph: Graph) -> Change | None:
    def alike(node: NodeProto, place: int, before: list[str]) -> list[str]:
        made = {name: each.op_type for each in graph.nodes for name in each.output}
        wanted = made.get(node.input[place])
        return [name for name in before if wanted and made.get(name) == wanted]

    return _rewired(graph, alike)


@way("weights of another node")
def weights_of_other_node(graph: Graph) -> Change | None:
    found = graph.weights()
    chosen = graph.any(found)
    if not chosen:
        return None
    node, tensor = chosen
    other = graph.any(each.name for user, each in found if each.name != tensor.name and user.op_type == node.op_type)
    if other is None:
        return None
    at = list(node.input).index(tensor.name)
    node.input[at] = other
    return Change(name_of(node), f"input {at}", tensor.name, other)


def _dropped(graph: Graph, *operators: str) -> Change | None:
    node = graph.any(graph.of(*operators))
    if not node:
        return None
    change = Change(
        name_of(node),
        f"dropped {node.op_type}",
        f"{node.op_type}({', '.join(node.input)}) {[shown(each) for each in node.attribute]}",
        "not there",
    )
    graph.bypass(node)
    return change


@way("dropped Cast")
def dropped_cast(graph: Graph) -> Change | None:
    return _dropped(graph, "Cast")


@way("dropped Transpose")
def dropped_transpose(graph: Graph) -> Change | None:
    return _dropped(graph, "Transpose")


@way("dropped Unsqueeze or Squeeze")
def dropped_unsqueeze(graph: Graph) -> Change | None:
    return _dropped(graph, "Unsqueeze", "Squeeze")


@way("dropped Reshape or Flatten")
def dropped_reshape(graph: Graph) -> Change | None:
    return _dropped(graph, "Reshape", "Flatten")


@way("missing node")
def missing_node(graph: Graph) -> Change | None:
    node = graph.any(
        each for each in graph.nodes if not set(each.output) & graph.outputs() and each.op_type != "Constant"
    )
    if not node:
        return None
    graph.model.graph.node.remove(node)
    return Change(name_of(node), "removed", f"{node.op_type}({', '.join(node.input)})", "not there", lost=True)


def _renamed(name: str, graph: Graph) -> str:
    stems = [
        name + "_1",
        name + ":0",
        name + ".1",
        "model." + name,
        name + "_",
        "/" + name,
        name.replace("/", "_"),
        name.replace(".", "_"),
        misspelt(name, graph.random),
    ]
    return str(graph.any(each for each in stems if each != name))


@way("renamed value")
def renamed_value(graph: Graph) -> Change | None:
    node = graph.any(each for each in graph.nodes if each.output and not set(each.output) & graph.outputs())
    if not node:
        return None
    at = graph.random.randrange(len(node.output))
    was = node.output[at]
    if not was or not graph.users(was):
        return None
    node.output[at] = _renamed(was, graph)
    return Change(name_of(node), f"name of output {at}", was, node.output[at])


@way("renamed use of a value")
def renamed_use(graph: Graph) -> Change | None:
    node = graph.any(each for each in graph.nodes if each.input)
    at = graph.random.randrange(len(node.input)) if node else 0
    if not node or not node.input[at]:
        return None
    was = node.input[at]
    node.input[at] = _renamed(was, graph)
    return Change(name_of(node), f"name of input {at}", was, node.input[at])


@way("renamed weights or input")
def renamed_weights(graph: Graph) -> Change | None:
    chosen = graph.any([*graph.model.graph.initializer, *graph.inputs()])
    if chosen is None or not graph.users(chosen.name):
        return None
    was = chosen.name
    chosen.name = _renamed(was, graph)
    return Change(name_of(graph.users(was)[0]), "name of an initializer or input", was, chosen.name)


@way("renamed graph output")
def renamed_output(graph: Graph) -> Change | None:
    chosen = graph.any(graph.model.graph.output)
    was = chosen.name
    chosen.name = graph.random.choice((_renamed(was, graph), "output", "output_0", "logits"))
    return Change("", "name of an output", was, chosen.name) if chosen.name != was else None


@way("added Transpose")
def added_transpose(graph: Graph) -> Change | None:
    at = graph.any(
        place
        for place, node in enumerate(graph.nodes)
        if node.input and node.input[0] in graph.ranks and graph.ranks[node.input[0]][1] in (2, 3, 4)
    )
    if at is None:
        return None
    node = graph.nodes[at]
    order = graph.any(each for each in permutations(graph.ranks[node.input[0]][1]) if each != sorted(each))
    was = node.input[0]
    added = helper.make_node("Transpose", [was], [f"{was}_transposed"], name=f"{name_of(node)}_transpose", perm=order)
    node.input[0] = added.output[0]
    graph.model.graph.node.insert(at, added)
    return Change(name_of(node), f"added Transpose {order}", was, added.output[0])


@way("dropped input")
def dropped_input(graph: Graph) -> Change | None:
    node = graph.any(each for each in graph.nodes if len(each.input) > 1)
    if not node:
        return None
    was = list(node.input)
    at = graph.random.randrange(len(was))
    if at == len(was) - 1 or graph.random.random() < 0.5:
        del node.input[at]
    else:
        node.input[at] = ""
    return Change(name_of(node), "inputs", str(was), str(list(node.input)))


@way("repeated node or cycle")
def repeated_node(graph: Graph) -> Change | None:
    at = graph.random.randrange(len(graph.nodes))
    node = graph.nodes[at]
    if graph.random.random() < 0.5:
        graph.model.graph.node.insert(at, node)
        return Change(name_of(node), "nodes", "once", "twice, with the same outputs")
    later = graph.any(name for each in graph.nodes[at : at + 4] for name in each.output if name)
    places = [place for place, name in enumerate(node.input) if name]
    if later is None or not places:
        return None
    place = graph.any(places)
    was = node.input[place]
    node.input[place] = later
    return Change(name_of(node), f"input {place}", was, later)
