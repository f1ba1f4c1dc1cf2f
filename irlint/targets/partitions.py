"""What ONNX Runtime does to a graph before another provider takes nodes of it: what it computes at once, and what a
provider takes as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from irlint.inference.known import Known
from irlint.model import Graph, Node, Value
from irlint.model.order import live, producers, users
from irlint.model.tensor import Tensor, Type
from irlint.records import record, replaced
from irlint.targets import operators
from irlint.targets.uses import Use, is_fixed, is_static

#: Operators that give another result each time, or that ONNX Runtime keeps though their inputs are constant.
KEPT = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")

#: Operators of which the shape of the input decides.
OF_SHAPES = ("Shape", "Size")

#: Operators that are taken away, as long as they give no output of the graph.
PASSING = ("Identity", "Dropout")

#: The version of Gelu as an operator of its own.
GELU_SINCE = 20


@record
class Ahead:
    """The nodes that a provider with a table is not asked about: what ONNX Runtime computes or takes away when it loads
    a model, and nodes between DequantizeLinear and QuantizeLinear, which are taken with these.

    ``loose`` are the nodes that it does not compute, though all of their inputs are constant or without elements;
    ``fused`` are those that are taken as one node of another operator: the first of them, by each. ``unseen`` are the
    nodes of which ONNX Runtime infers no shapes, and ``open`` the inputs of the model with dynamic sizes.
    """

    table: str
    gone: Set[Node]
    loose: Set[Node]
    fused: Mapping[Node, Node]
    unseen: Set[Node]
    open: tuple[str, ...]

    def apart(self, use: Use) -> object:
        """What distinguishes a node from others of its operator; those that the provider does not see are alike."""
        node = use.node
        if node in self.gone:
            return None
        return node in self.loose, node in self.fused, node in self.unseen, is_static(use)

    def judged(self, use: Use) -> Use | None:
        """The node as a provider is asked about it, None for one that it does not see."""
        if use.node in self.gone:
            return None
        whole = self.fused.get(use.node)
        if whole is None:
            return use
        if whole is not use.node:
            return None
        node = replaced(whole, op="Gelu", inputs=whole.inputs[:1], attributes={}, version=GELU_SINCE)
        return replaced(use, node=node, version=GELU_SINCE, inputs=use.inputs[:1])

    def is_left(self, use: Use) -> bool:
        """Whether the provider takes no such node, whatever its operator is. It fails over a few of dynamic size."""
        if _is_in_body(use) or use.node in self.unseen:
            return True
        return not is_static(use) and not operators.is_refused_for_sizes(self.table, use)

    def why_left(self, use: Use) -> tuple[str, str]:
        """Why it does not, and the help."""
        if _is_in_body(use):
            return "it stands in a body, of which the provider takes nothing", "write the model without the body"
        if use.node in self.unseen:
            return "ONNX Runtime infers no shapes behind these operators", "declare the shapes of the values"
        sizes = f"fix {', '.join(self.open)} with `--shape`" if self.open else "write it without sizes that data decide"
        return "it has a dynamic size", sizes


def _is_in_body(use: Use) -> bool:
    return bool(use.graph) and not use.graph.startswith("function:")


def ahead(known: Known, table: str) -> Ahead:
    """What becomes of the nodes of the main graph when a provider with this table gets it."""
    graph = known.model.graph
    assert graph is not None
    gone, loose = _computed(graph, known.types)
    needed = live(graph, ())
    gone |= {node for node in graph.nodes if node not in needed}
    gone |= {node for node in graph.nodes if node.op in PASSING and not set(node.outputs) & set(graph.outputs)}
    gone |= {*_quantized(graph), *_normalizations(graph)}
    return Ahead(table, frozenset(gone), loose - gone, dict(_gelus(graph)), _unseen(graph), _open(graph, known.types))


def _unseen(graph: Graph) -> set[Node]:
    """The nodes behind those of ai.onnx.ml and those with bodies, whose outputs have no shapes for ONNX Runtime."""
    values: set[Value] = set()
    found: set[Node] = set()
    for node in graph.nodes:
        if any(value in values for value in node.inputs if value is not None):
            found.add(node)
        if node in found or node.domain == "ai.onnx.ml" or node.bodies:
            values.update(value for value in node.outputs if value is not None)
    return found


def _open(graph: Graph, types: Mapping[Value, Type | None]) -> tuple[str, ...]:
    """The inputs of the model that have dynamic sizes, with their shapes."""
    found = []
    for value in graph.inputs:
        known = types.get(value)
        if value not in graph.constants and not is_fixed(known):
            shape = known.shape if isinstance(known, Tensor) else None
            found.append(value.name if shape is None else f"{value.name} [{', '.join(map(str, shape))}]")
    return tuple(found)


def _normalizations(graph: Graph) -> Iterator[Node]:
    """The nodes that ONNX Runtime makes a LayerNormalization of: a difference, divided by the root of the mean of its
    squares."""
    quotients = [node for node in graph.nodes if node.op == "Div"]
    makers = producers(graph) if quotients else {}
    for node in quotients:
        found = [node, *_before(node, ("Sqrt", "Add", "ReduceMean", "Pow", "Sub"), makers)]
        if len(found) == 6 and node.inputs[0] in found[-1].outputs:
            yield from found


def _before(node: Node, ops: Sequence[str], makers: Mapping[Value, Node]) -> Iterator[Node]:
    """The chain of nodes of these operators before a node, as many as there are."""
    for op in ops:
        made = [makers.get(value) for value in node.inputs if value is not None]
        before = [each for each in made if each is not None and each.op == op]
        if not before:
            return
        node = before[-1]
        yield node


def _computed(graph: Graph, types: Mapping[Value, Type | None]) -> tuple[set[Node], set[Node]]:
    """The nodes whose outputs are known when the model is loaded, and those that no other value reaches."""
    constant: set[Value | None] = set(graph.constants)
    empty = {value for value, known in types.items() if isinstance(known, Tensor) and 0 in (known.shape or ())}
    computed: set[Node] = set()
    loose: set[Node] = set()
    unreached: set[Value | None] = set()
    for node in graph.nodes:
        given = [value for value in node.inputs if value is not None]
        of_shape = node.op in OF_SHAPES and not node.domain and is_fixed(types.get(given[0]) if given else None)
        if node.op in KEPT or node.bodies:
            continue
        if of_shape or (all(each in constant for each in given) and _is_folded(node, types)):
            computed.add(node)
            constant.update(node.outputs)
        elif all(each in constant or each in empty or each in unreached for each in given):
            loose.add(node)
            unreached.update(node.outputs)
    return computed, loose


def _is_folded(node: Node, types: Mapping[Value, Type | None]) -> bool:
    """Whether ONNX Runtime has a kernel to compute a node, which it may not have for float16."""
    given = [types.get(value) for value in node.inputs if value is not None]
    if not any(isinstance(known, Tensor) and known.dtype == "float16" for known in given):
        return True
    rows = operators.rows("onnxruntime", f"{node.domain}:{node.op}")
    newest = max((row.releases for row in rows), default=0).bit_length()
    return any(row.releases >> newest - 1 and "float16" in types for row in rows for types in row.types.values())


def _quantized(graph: Graph) -> Iterator[Node]:
    """The nodes that read what DequantizeLinear gives, and whose results are quantized again."""
    made = {value for node in graph.nodes if node.op == "DequantizeLinear" for value in node.outputs}
    readers = users(graph) if made else {}
    for node in graph.nodes if made else ():
        following = [user for value in node.outputs if value is not None for user in readers.get(value, ())]
        if following and not made.isdisjoint(node.inputs) and all(each.op == "QuantizeLinear" for each in following):
            yield node


def _gelus(graph: Graph) -> Iterator[tuple[Node, Node]]:
    """The nodes of each ``x / sqrt(2)``, Erf, ``+ 1``, ``* x``, ``* 0.5``, with the first of them."""
    functions = [node for node in graph.nodes if node.op == "Erf" and not node.domain]
    makers, readers = (producers(graph), users(graph)) if functions else ({}, {})
    for erf in functions:
        first = makers.get(erf.inputs[0]) if erf.inputs[0] is not None else None
        chain = _after(erf, readers)
        if first is not None and first.op in ("Div", "Mul") and len(chain) == 3:
            yield from ((node, first) for node in (first, erf, *chain))


def _after(erf: Node, readers: Mapping[Value, list[Node]]) -> list[Node]:
    """The Add and the two Mul that follow an Erf, as far as they exist."""
    found, node = [], erf
    for op in ("Add", "Mul", "Mul"):
        value = node.outputs[0]
        following = list(dict.fromkeys(readers.get(value, ()))) if value is not None else []
        if len(following) != 1 or following[0].op != op:
            break
        node = following[0]
        found.append(node)
    return found
