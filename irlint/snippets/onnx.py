"""The snippet of a finding in an ONNX model: nodes and declarations in ONNX's text syntax."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.checks.declared import SHAPE_CONTRADICTED, TYPE_CONTRADICTED
from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.inference.origins import Maker, Makers, Trail
from irlint.model import Graph, Model, Node, Problem, Value
from irlint.model.tensor import Tensor
from irlint.snippets.drawing import Line, Piece, Table
from irlint.snippets.onnx_text import element, name_piece, named, node_pieces, onnx_type, signature_pieces
from irlint.snippets.tables import ELEMENT_TYPES, TYPED, contradicted, declared, marked_axes, operands

#: The largest number of nodes before the node at fault.
PRODUCERS = 4

#: The largest number of nodes of a path in the table.
CHAIN = 3

#: The rules about declarations that contradict inferred types.
DECLARATIONS = (SHAPE_CONTRADICTED, TYPE_CONTRADICTED)

#: If a node has more inputs than this, a fault of element types marks only the inputs at fault.
OPERANDS = 4


class Painter:
    """``snippets.finding.Painter`` for ONNX."""

    def __init__(self, model: Model, known: Known, makers: Makers, data: bytes) -> None:
        from irlint.model.order import graphs

        self.model = model
        self.known = known
        self.makers = makers
        self.graphs = {graph.path: graph for graph in graphs(model)}
        self._parts: dict[Graph, tuple[frozenset[Value], frozenset[Node]]] = {}

    # --- names --------------------------------------------------------------------------------------------------------

    def element_type(self, dtype: str | None) -> str:
        return element(dtype)

    def node(self, node: Node) -> str:
        return f"{self.short(node)}" + f' "{node.name}"' * bool(node.name)

    def short(self, node: Node) -> str:
        return f"{node.op}[{node.index}]"

    def at(self, node: Node) -> str:
        return ""

    def element(self, dtype: str | None) -> str:
        return element(dtype)

    def written(self, name: str, value: object) -> str:
        if isinstance(value, tuple):
            return f"{name} = {list(value)}"
        return f"{name} = {int(value) if isinstance(value, bool) else value}"

    def called(self, value: Value) -> str:
        return f"`{value.name}`"

    def declared(self, value: Value, maker: Maker) -> str:
        path = maker.graph.path
        if not path:
            return f"graph input `{value.name}`"
        return f"input `{value.name}` of the {_called(path)}"

    def shows(self, value: Value, maker: Maker) -> bool:
        return maker.node is None

    def constant(self, value: Value, maker: Maker) -> str:
        return f"initializer `{value.name}`"

    def place(self, problem: Problem) -> tuple[str, str, str]:
        node = problem.node
        graph = self.graphs.get(problem.graph)
        inside = self._graph_text(problem.graph, graph)
        if node is None:
            named_one = problem.value is not None
            what = f"value `{problem.value}` of " if named_one else ""
            return f"{what}{inside}", problem.value or "", f"{'value of ' * named_one}{inside}"
        text = name = ""
        if node.name:
            text, name = f' "{node.name}"', node.name
        elif node.label:
            text, name = f" (output {named(node.label)})", f"output {node.label}"
        version = f" ({node.domain or 'ai.onnx'} opset {node.version})" if node.version is not None else ""
        rest = f" of {inside}{version}"
        return f"node[{node.index}]{text}{rest}", name, f"node[{node.index}]{rest}"

    def _graph_text(self, path: str, graph: Graph | None) -> str:
        if path.startswith("function:") and path.count("/") == 0:
            domain, _, name = path.removeprefix("function:").rpartition(":")
            return f'function "{name}" of the domain "{domain}"'
        name = path or (graph.name if graph is not None else "")
        return f'graph "{name}"' if name else "the graph"

    # --- lines --------------------------------------------------------------------------------------------------------

    def lines(self, problem: Problem, trails: Sequence[Trail], *, types_match: bool) -> tuple[Line, ...]:
        node, graph = problem.node, self.graphs.get(problem.graph)
        if node is None:
            return self._signature(problem, graph)
        inputs = self._inputs_at_fault(node, problem.fault)
        lines: list[Line] = []
        if graph is not None:
            lines = self._declaring(graph, inputs) or self._declaring(graph, [found.value for found in trails])
        producers = self._producers(node, graph, inputs, trails)
        last = -1
        for each in sorted([*producers, node], key=lambda each: each.index):
            gap = 0 <= last < each.index - 1
            if each is node:
                lines.append(self._node_line(problem, node, gap=gap, types_match=types_match))
            else:
                lines.append(Line(f"[{each.index}]", node_pieces(each), self._types_comment(each), gap))
            last = each.index
        return (*lines, *self._declared_output(problem, graph))

    def _declared_output(self, problem: Problem, graph: Graph | None) -> tuple[Line, ...]:
        """The line of the graph output whose declaration contradicts the inferred type."""
        if problem.fault.rule not in DECLARATIONS or graph is None:
            return ()
        value = next((value for value in graph.outputs if value.name == problem.value), None)
        if value is None:
            return ()
        found = contradicted(problem, self.known)
        inferred = self.known.types.get(value)
        stated = [
            each.type
            for each in value.declared
            if each.by == "output" and (each is found.declaration if found is not None else each.type != inferred)
        ]
        if not stated:
            return ()
        title = graph.name or graph.path or "graph"
        return (_output_line(title, name_piece(value.name, f"{onnx_type(stated[0])} ", "second", "declared here")),)

    def _inputs_at_fault(self, node: Node, fault: Fault) -> list[Value]:
        chosen = [fault.input] if fault.input is not None else []
        refused = (each.input for each in fault.refused_types)
        indices = dict.fromkeys([*(index for index, _ in fault.marks), *chosen, *refused])
        return [
            value for index in indices if 0 <= index < len(node.inputs) and (value := node.inputs[index]) is not None
        ]

    def _inputs_and_nodes(self, graph: Graph) -> tuple[frozenset[Value], frozenset[Node]]:
        if graph not in self._parts:
            self._parts[graph] = frozenset(graph.inputs), frozenset(graph.nodes)
        return self._parts[graph]

    def _declaring(self, graph: Graph, values: Iterable[Value]) -> list[Line]:
        """The line with the declarations of ``values`` that are inputs of the graph; [] if there are none."""
        inputs, _ = self._inputs_and_nodes(graph)
        wanted = [value for value in dict.fromkeys(values) if value in inputs and value.type is not None]
        if not wanted:
            return []
        title = graph.name or graph.path or "graph"
        marks = {value: ("second", self._declaration_of(value)) for value in wanted[:3]}
        types = {value: self.known.types.get(value) for value in self.known.overridden}
        return [Line("in", signature_pieces(graph, marks, title, types))]

    def _declaration_of(self, value: Value) -> str:
        by = self.known.overridden.get(value)
        if by is None:
            return f"`{value.name}` is declared here"
        return f"`{value.name}` is given by {by}; declared: {onnx_type(value.type)}"

    def _producers(self, node: Node, graph: Graph | None, inputs: list[Value], trails: Sequence[Trail]) -> list[Node]:
        """At most PRODUCERS nodes: makers of inputs at fault, origins of sizes, nodes that keep sizes."""
        found: dict[Node, None] = {}

        def add(maker: Maker | None) -> None:
            if maker is not None and maker.node is not None and maker.graph is graph and maker.node is not node:
                found.setdefault(maker.node)

        for value in inputs:
            add(self.makers.of(value))
        for each in trails:
            add(each.maker)
        for each in trails:
            for kept in reversed(each.kept):
                add(Maker(graph, kept) if graph is not None and kept.index < len(graph.nodes) else None)
        own = self._inputs_and_nodes(graph)[1] if graph is not None and len(found) > 1 else found
        return sorted([each for each in found if each in own][:PRODUCERS], key=lambda each: each.index)

    def _types_comment(self, node: Node) -> str:
        results = [
            f"{named(value.name)}: {onnx_type(known)}"
            for value in node.outputs[:2]
            if value is not None and (known := self.known.types.get(value)) is not None and known != Tensor()
        ]
        return f"# {', '.join(results)}" if results else ""

    def _node_line(self, problem: Problem, node: Node, *, gap: bool, types_match: bool) -> Line:
        """The line of the node at fault. Without a marked input, output or attribute, the operator is marked."""
        fault = problem.fault
        value = next((each for each in node.outputs if each is not None and each.name == problem.value), None)
        if fault.rule in DECLARATIONS and value is not None:
            label = f"the operator computes {onnx_type(self.known.types.get(value))}"
            pieces = node_pieces(node, outputs={node.outputs.index(value): ("primary", label)})
            return Line(f"[{node.index}]", pieces, "", gap)
        marks = self._operand_marks(node, fault, types_match=types_match)
        attribute = fault.attribute if fault.attribute in node.attributes else None
        outputs = {node.outputs.index(value): ("primary", "")} if fault.loses and value is not None else {}
        op = ("", "") if attribute or marks or outputs else ("primary", "")
        return Line(f"[{node.index}]", node_pieces(node, marks, attribute, op=op, outputs=outputs), "", gap)

    def _operand_marks(self, node: Node, fault: Fault, *, types_match: bool) -> dict[int, tuple[str, str]]:
        """(mark, label) of inputs, by index. The input at fault is ``primary``, others are ``second``."""
        marked = marked_axes(fault, node, self.known)
        chosen = fault.input if fault.input is not None else max(marked, default=None)
        refused = (each.input for each in fault.refused_types)
        indices = dict.fromkeys([*marked, *([chosen] if chosen is not None else []), *refused])
        if fault.rule.family == ELEMENT_TYPES and len(node.inputs) <= OPERANDS:
            indices = dict.fromkeys(index for index, value in enumerate(node.inputs) if value is not None)
        typed = types_match and fault.rule.family in TYPED
        marks = {}
        for index in indices:
            if not 0 <= index < len(node.inputs):
                continue
            value = node.inputs[index]
            known = self.known.types.get(value) if value is not None else None
            label = onnx_type(known) if typed and known is not None and known != Tensor() else ""
            marks[index] = ("primary" if index == chosen else "second", label)
        return marks

    def _signature(self, problem: Problem, graph: Graph | None) -> tuple[Line, ...]:
        """The line of the input, initializer or output that a problem names; () if there is none."""
        if graph is None or problem.value is None:
            return ()
        marks = {value: ("primary", "") for value in graph.inputs if value.name == problem.value}
        title = graph.name or graph.path or "graph"
        if marks:
            return (Line("in", signature_pieces(graph, marks, title)),)
        constant = next((value for value in graph.constants if value.name == problem.value), None)
        if constant is not None:
            before = f"{onnx_type(graph.constants[constant].tensor)} "
            return (Line("init", (name_piece(constant.name, before, "primary"), Piece(" = {...}"))),)
        outputs = [value for value in graph.outputs if value.name == problem.value]
        if not outputs:
            return ()
        value = outputs[0]
        before = f"{onnx_type(value.type)} " if value.type is not None else ""
        return (_output_line(title, name_piece(value.name, before, "primary")),)

    # --- the table ----------------------------------------------------------------------------------------------------

    def table(self, problem: Problem) -> Table | None:
        node, fault = problem.node, problem.fault
        found = contradicted(problem, self.known)
        if found is not None:
            value, by = found.value, found.declaration.by
            by = {"output": "graph output", "input": "graph input"}.get(by, by)
            origins: dict[str, tuple[tuple[str, ...], int | None]] = {
                "declared": ((f"{by} {named(value.name)}", by), None),
                "inferred": (self._chains(value), None),
            }
            return declared(found, element, origins)
        family = fault.rule.family
        if node is None or family == ELEMENT_TYPES:
            return None
        if not fault.marks and (fault.input is None or family not in TYPED):
            return None
        return operands(
            fault, node, self.known, named=lambda value: named(value.name), dtype=element, origins=self._origins
        )

    def _origins(self, value: Value) -> tuple[tuple[str, ...], int | None]:
        """(texts on the origin of a value, the longest first; None, because ONNX files have no lines)."""
        maker = self.makers.of(value)
        if maker is None:
            return ("not defined",), None
        if maker.constant is not None:
            return ("constant" if maker.node is not None else "initializer",), None
        if maker.node is None:
            by = self.known.overridden.get(value)
            if by is not None:
                return (f"from {by}: graph input", f"from {by}"), None
            return (
                "declared: graph input" if not maker.graph.path else f"input of the {_called(maker.graph.path)}",
                "input",
            ), None
        verb = "inferred:"
        if maker.node in self.known.faulted:
            verb = "declared: output of" if value.type is not None else "not known: output of"
        return (*(f"{verb} {chain}" for chain in self._chains(value)), self.short(maker.node)), None

    def _first_variable_input(self, node: Node) -> Value | None:
        """The first input that is not constant, or else the first input."""
        inputs = [each for each in node.inputs if each is not None]
        return next((each for each in inputs if not self.makers.is_constant(each)), inputs[0] if inputs else None)

    def _chains(self, value: Value) -> tuple[str, ...]:
        """The path to a value, ``images -> Conv[0] -> Relu[1]``, then shorter and shorter ends of it."""
        parts: list[str] = []
        current: Value | None = value
        while current is not None and len(parts) < CHAIN:
            maker = self.makers.of(current)
            if maker is None or maker.node is None:
                parts.append(named(current.name))
                current = None
                break
            parts.append(self.short(maker.node))
            current = self._first_variable_input(maker.node)
        complete = len(parts) if current is None else 0
        return tuple(
            " -> ".join([*([] if count == complete else ["..."]), *reversed(parts[:count])])
            for count in range(len(parts), 0, -1)
        )


def _called(path: str) -> str:
    name = path.removeprefix("function:")
    return f"body {path}" if name == path else f"function {name}"


def _output_line(title: str, output: Piece) -> Line:
    return Line("out", (name_piece(title), Piece(" (...) => ("), output, Piece(")")))
