"""Finds how ONNX Runtime changes a graph before another execution provider gets the nodes of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from irlint.inference.known import Known
from irlint.model import Graph, Node, Value
from irlint.model.order import live, producers, users
from irlint.model.tensor import Tensor, Type
from irlint.records import record, replaced
from irlint.targets import operators
from irlint.targets.uses import Use, is_fixed, is_static

#: Operators that ONNX Runtime does not fold.
KEPT = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")

#: Operators that depend only on the shape of their input.
OF_SHAPES = ("Shape", "Size")

#: Operators that are removed, unless they compute an output of the graph.
PASSING = ("Identity", "Dropout")

#: The first version of Gelu.
GELU_SINCE = 20


@record
class Optimized:
    """The main graph as a provider gets it."""

    table: str
    #: Nodes that ONNX Runtime computes, removes, or handles as part of other nodes.
    removed: Set[Node]
    #: Other nodes whose inputs are all constant or without elements.
    constant_fed: Set[Node]
    #: For each node of a pattern that becomes one Gelu, the first node of the pattern.
    fused: Mapping[Node, Node]
    #: Nodes with inputs for which ONNX Runtime infers no shapes.
    without_shapes: Set[Node]
    #: The inputs of the model with dynamic sizes, as texts.
    dynamic_inputs: tuple[str, ...]

    def distinction(self, use: Use) -> object:
        """A key that differs for nodes that a provider may treat differently although they have the same operator; None
        if ONNX Runtime removes the node."""
        node = use.node
        if node in self.removed:
            return None
        return node in self.constant_fed, node in self.fused, node in self.without_shapes, is_static(use)

    def visible(self, use: Use) -> Use | None:
        """The node as a provider gets it; None if the provider does not get it."""
        if use.node in self.removed:
            return None
        fused = self.fused.get(use.node)
        if fused is None:
            return use
        if fused is not use.node:
            return None
        node = replaced(fused, op="Gelu", inputs=fused.inputs[:1], attributes={}, version=GELU_SINCE)
        return replaced(use, node=node, version=GELU_SINCE, inputs=use.inputs[:1])

    def stays_on_cpu(self, use: Use) -> bool:
        """Whether the provider leaves the node to the CPU because of its place or its dynamic sizes."""
        if _is_in_body(use) or use.node in self.without_shapes:
            return True
        return not is_static(use) and not operators.is_refused_for_sizes(self.table, use)

    def why_on_cpu(self, use: Use) -> tuple[str, str]:
        """(why the node stays on the CPU, help)."""
        if _is_in_body(use):
            return "it is in a body, and the provider takes no nodes of bodies", "write the model without the body"
        if use.node in self.without_shapes:
            return "it depends on operators without shape inference in ONNX Runtime", "declare the shapes of the values"
        sizes = (
            f"fix {', '.join(self.dynamic_inputs)} with `--shape`"
            if self.dynamic_inputs
            else "write it without sizes that data decide"
        )
        return "it has a dynamic size", sizes


def _is_in_body(use: Use) -> bool:
    return bool(use.graph) and not use.graph.startswith("function:")


def optimized(known: Known, table: str) -> Optimized:
    """The main graph as a provider with this table gets it."""
    graph = known.model.graph
    assert graph is not None
    removed, constant_fed = _computed_and_constant_fed(graph, known.types)
    needed = live(graph, ())
    removed |= {node for node in graph.nodes if node not in needed}
    removed |= {node for node in graph.nodes if node.op in PASSING and not set(node.outputs) & set(graph.outputs)}
    removed |= {*_between_dequantize_and_quantize(graph), *_fused_into_layer_normalization(graph)}
    return Optimized(
        table,
        frozenset(removed),
        constant_fed - removed,
        dict(_gelus(graph)),
        _without_shapes(graph),
        _dynamic_inputs(graph, known.types),
    )


def _without_shapes(graph: Graph) -> set[Node]:
    """The nodes that depend on a node of ai.onnx.ml or on a node with bodies. ONNX Runtime does not infer the shapes of
    their inputs."""
    values: set[Value] = set()
    found: set[Node] = set()
    for node in graph.nodes:
        if any(value in values for value in node.inputs if value is not None):
            found.add(node)
        if node in found or node.domain == "ai.onnx.ml" or node.bodies:
            values.update(value for value in node.outputs if value is not None)
    return found


def _dynamic_inputs(graph: Graph, types: Mapping[Value, Type | None]) -> tuple[str, ...]:
    found = []
    for value in graph.inputs:
        known = types.get(value)
        if value not in graph.constants and not is_fixed(known):
            shape = known.shape if isinstance(known, Tensor) else None
            found.append(value.name if shape is None else f"{value.name} [{', '.join(map(str, shape))}]")
    return tuple(found)


def _fused_into_layer_normalization(graph: Graph) -> Iterator[Node]:
    quotients = [node for node in graph.nodes if node.op == "Div"]
    makers = producers(graph) if quotients else {}
    for node in quotients:
        found = [node, *_chain_before(node, ("Sqrt", "Add", "ReduceMean", "Pow", "Sub"), makers)]
        if len(found) == 6 and node.inputs[0] in found[-1].outputs:
            yield from found


def _chain_before(node: Node, ops: Sequence[str], makers: Mapping[Value, Node]) -> Iterator[Node]:
    """The nodes with the operators ``ops`` before a node, from the last to the first; fewer if an operator is
    missing."""
    for op in ops:
        made = [makers.get(value) for value in node.inputs if value is not None]
        before = [each for each in made if each is not None and each.op == op]
        if not before:
            return
        node = before[-1]
        yield node


def _computed_and_constant_fed(graph: Graph, types: Mapping[Value, Type | None]) -> tuple[set[Node], set[Node]]:
    """(nodes that ONNX Runtime computes at load, other nodes with only constant or empty inputs)."""
    constant: set[Value | None] = set(graph.constants)
    empty = {value for value, known in types.items() if isinstance(known, Tensor) and 0 in (known.shape or ())}
    computed: set[Node] = set()
    constant_fed: set[Node] = set()
    unreached: set[Value | None] = set()
    for node in graph.nodes:
        given = [value for value in node.inputs if value is not None]
        of_shape = node.op in OF_SHAPES and not node.domain and is_fixed(types.get(given[0]) if given else None)
        if node.op in KEPT or node.bodies:
            continue
        if of_shape or (all(each in constant for each in given) and _can_be_computed(node, types)):
            computed.add(node)
            constant.update(node.outputs)
        elif all(each in constant or each in empty or each in unreached for each in given):
            constant_fed.add(node)
            unreached.update(node.outputs)
    return computed, constant_fed


def _can_be_computed(node: Node, types: Mapping[Value, Type | None]) -> bool:
    given = [types.get(value) for value in node.inputs if value is not None]
    if not any(isinstance(known, Tensor) and known.dtype == "float16" for known in given):
        return True
    rows = operators.rows("onnxruntime", f"{node.domain}:{node.op}")
    newest = max((row.releases for row in rows), default=0).bit_length()
    return any(row.releases >> newest - 1 and "float16" in types for row in rows for types in row.types.values())


def _between_dequantize_and_quantize(graph: Graph) -> Iterator[Node]:
    made = {value for node in graph.nodes if node.op == "DequantizeLinear" for value in node.outputs}
    readers = users(graph) if made else {}
    for node in graph.nodes if made else ():
        following = [user for value in node.outputs if value is not None for user in readers.get(value, ())]
        if following and not made.isdisjoint(node.inputs) and all(each.op == "QuantizeLinear" for each in following):
            yield node


def _gelus(graph: Graph) -> Iterator[tuple[Node, Node]]:
    """(node, first node) for each node of a Gelu: ``x / sqrt(2)``, Erf, ``+ 1``, ``* x``, ``* 0.5``."""
    functions = [node for node in graph.nodes if node.op == "Erf" and not node.domain]
    makers, readers = (producers(graph), users(graph)) if functions else ({}, {})
    for erf in functions:
        first = makers.get(erf.inputs[0]) if erf.inputs[0] is not None else None
        chain = _adds_and_muls_after(erf, readers)
        if first is not None and first.op in ("Div", "Mul") and len(chain) == 3:
            yield from ((node, first) for node in (first, erf, *chain))


def _adds_and_muls_after(erf: Node, readers: Mapping[Value, list[Node]]) -> list[Node]:
    """The Add and the two Mul after an Erf; fewer nodes if others follow the Erf."""
    found, node = [], erf
    for op in ("Add", "Mul", "Mul"):
        value = node.outputs[0]
        following = list(dict.fromkeys(readers.get(value, ()))) if value is not None else []
        if len(following) != 1 or following[0].op != op:
            break
        node = following[0]
        found.append(node)
    return found
