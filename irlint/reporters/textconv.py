"""A model as lines of text for ``git diff``, in which small changes of the model change few lines.

Only inputs and outputs of the model appear with their names. ``Relu`` stands for the output of the last Relu above the
line, and ``Relu^2`` for the output of the last Relu but one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from irlint.contracts.contract import contract_of
from irlint.contracts.identity import Digest, Numbering, Numbers, attribute_text, constant_text, trimmed
from irlint.contracts.interface import inputs, outputs
from irlint.inference.known import Known
from irlint.model import Constant, Function, Graph, Node, Value
from irlint.model.order import used
from irlint.model.tensor import type_text
from irlint.reporters.plain import safe


def rendered(known: Known, digest: Digest) -> str:
    """The format, the inputs and outputs, the conditions, and a line for each node."""
    model = known.model
    lines = [f"{known.format.name} {model.format_version or '?'}"]
    lines += [f"opset {domain or 'ai.onnx'} {version}" for domain, version in sorted(model.opsets.items())]
    lines += [f"input `{end.name}` {type_text(end.type)}{' = a default' * end.optional}" for end in inputs(known)]
    lines += _conditions(known)
    lines += [f"output `{end.name}` {type_text(end.type)}" for end in outputs(known)]
    writer = _Writer(known, digest)
    assert model.graph is not None
    names = {end.value: f"`{end.name}`" for end in inputs(known) if not end.optional}
    results = [(f"output `{end.name}`", end.value) for end in outputs(known)]
    lines += writer.graph(model.graph, names, results)
    for function in model.functions.values():
        lines += writer.function(function)
    return "".join(f"{safe(line)}\n" for line in lines)


def _conditions(known: Known) -> Iterator[str]:
    contract = contract_of(known)
    if not contract.satisfiable:
        yield "fits no sizes"
    for each in contract.conditions:
        where = f" in {each.when.rpartition('/')[2]}" if each.when else ""
        yield f"requires {each.text}{where}"


class _Scope:
    """The values of a graph to which the next line can refer."""

    def __init__(self, names: Mapping[Value, str]) -> None:
        #: The texts of inputs and constants.
        self.names = dict(names)
        #: For each computed value: (operator, number of its node among those of the operator, index of the output).
        self.computed: dict[Value, tuple[str, int, int]] = {}
        self.counts: dict[str, int] = {}

    def add(self, node: Node, op: str) -> None:
        """Adds the outputs of a node whose line was written."""
        self.counts[op] = self.counts.get(op, 0) + 1
        for at, value in enumerate(node.outputs):
            if value is not None:
                self.computed[value] = op, self.counts[op], at

    def name(self, value: Value) -> str | None:
        """The text that refers to a value; None if the value is not of this graph."""
        if value in self.names:
            return self.names[value]
        if value not in self.computed:
            return None
        op, number, at = self.computed[value]
        back = self.counts[op] - number + 1
        return f"{op}{f'^{back}' if back > 1 else ''}{f':{at}' if at else ''}"


class _Writer:
    def __init__(self, known: Known, digest: Digest) -> None:
        self.numbering = Numbering(known, Numbers(), digest)
        self.format = known.format
        self.digest = digest
        self.scopes: list[_Scope] = []

    def graph(
        self, graph: Graph, names: Mapping[Value, str], results: Iterable[tuple[str, Value]], indent: str = ""
    ) -> Iterator[str]:
        """The lines of nodes, then a line for each (name, value) of ``results``. ``names`` are the texts of inputs."""
        constants = {value: self._constant(constant) for value, constant in graph.constants.items()}
        nodes = []
        for node in graph.nodes:
            if not self.numbering.is_leaf(node):
                nodes.append(node)
                continue
            for value in node.outputs:
                if value is not None and value not in names:
                    constant = self.numbering.constant_of(node, value, graph)
                    constants[value] = node.op if constant is None else self._constant(constant)
        scope = _Scope({**constants, **names})
        self.scopes.append(scope)
        ends = list(results)
        for node in _needed(nodes, [value for _, value in ends]):
            if node.op != self.format.output_node:
                yield from self._node(node, scope, indent)
        for name, value in ends:
            yield f"{indent}{name} = {self._reference(value)}"
        self.scopes.pop()

    def function(self, function: Function) -> Iterator[str]:
        """The lines of a function of the model."""
        name = ".".join(part for part in (function.domain, function.name, function.overload) if part)
        yield f"function {name} <{', '.join(sorted(function.attributes))}>"
        yield from self._inner(function.graph, "  ")

    def _inner(self, graph: Graph, indent: str) -> Iterator[str]:
        """The lines of a body or a function. Its inputs and outputs are named by their indices, such as ``input 0``."""
        names = {value: f"input {at}" for at, value in enumerate(graph.inputs)}
        yield from self.graph(graph, names, [(f"output {at}", value) for at, value in enumerate(graph.outputs)], indent)

    def _node(self, node: Node, scope: _Scope, indent: str) -> Iterator[str]:
        op = self.format.operator_name(node.domain, node.op)
        attributes = ", ".join(
            f"{name} = {attribute_text(node, name, self.digest)}"
            for name in sorted(self.numbering.compared_attributes(node))
        )
        version = f" {node.version}" if isinstance(node.version, str) else ""
        taken = ", ".join("" if value is None else self._reference(value) for value in trimmed(node.inputs))
        yield f"{indent}{op}{version}{f' <{attributes}>' if attributes else ''} ({taken})"
        for name, body in node.bodies:
            yield f"{indent}  {name}"
            yield from self._inner(body, f"{indent}    ")
        scope.add(node, op)

    def _reference(self, value: Value) -> str:
        """The text that refers to a value. It has one ``outer`` for each level from this graph to the value's graph."""
        for depth, scope in enumerate(reversed(self.scopes)):
            name = scope.name(value)
            if name is not None:
                return "outer " * depth + name
        return f"`{value.name}`"

    def _constant(self, constant: Constant) -> str:
        stored = constant.stored
        if stored is not None and stored.file is not None and constant.tensor.value is None:
            return f"{type_text(constant.tensor)} in {stored.file}"
        return constant_text(constant, self.digest)


def _needed(nodes: list[Node], results: Iterable[Value]) -> Iterator[Node]:
    """The nodes that the ``results`` need, each after the nodes on which it depends. Then the unused nodes."""
    makers = {value: node for node in nodes for value in node.outputs if value is not None}
    seen: set[Node] = set()
    wanted = [*(makers[value] for value in results if value in makers), *nodes]
    for last in wanted:
        waiting = [(last, iter(used(last)))] if last not in seen else []
        seen.add(last)
        while waiting:
            node, rest = waiting[-1]
            maker = next((makers[value] for value in rest if value in makers and makers[value] not in seen), None)
            if maker is None:
                waiting.pop()
                yield node
            else:
                seen.add(maker)
                waiting.append((maker, iter(used(maker))))
