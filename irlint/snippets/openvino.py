"""The snippet of a finding in an OpenVINO IR: lines of the document."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.checks.declared import source_text
from irlint.dims import same
from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.inference.origins import Maker, Makers, Trail
from irlint.model import Model, Node, Place, Problem, Value
from irlint.model.tensor import Tensor
from irlint.snippets.document import Document, Spot, layer_text
from irlint.snippets.drawing import Line, Table
from irlint.snippets.tables import TYPED, contradicted, declared, marked_axes, operands

#: The families of rules about sizes that attributes of a layer may decide.
SIZED = ("shapes", "declarations")

_TYPES = {
    "bool": "boolean",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0": "f8e8m0",
    "float4_e2m1": "f4e2m1",
}


def element(dtype: str | None) -> str:
    """The name of an element type in an IR, such as ``f32``; ``?`` for None."""
    if dtype is None:
        return "?"
    if dtype in _TYPES:
        return _TYPES[dtype]
    for name, short in (("float", "f"), ("uint", "u"), ("int", "i")):
        if dtype.startswith(name) and dtype[len(name) :].isdigit():
            return short + dtype[len(name) :]
    return dtype


class Painter:
    """``snippets.finding.Painter`` for IR documents."""

    def __init__(self, model: Model, known: Known, makers: Makers, data: bytes) -> None:
        self.model = model
        self.known = known
        self.makers = makers
        self.document = Document(data)

    # --- names --------------------------------------------------------------------------------------------------------

    def element_type(self, dtype: str | None) -> str:
        return element(dtype)

    def node(self, node: Node) -> str:
        return f"{node.op} {layer_text(node)}"

    def short(self, node: Node) -> str:
        return f"{node.op} (layer {node.id or '?'})"

    def at(self, node: Node) -> str:
        return self._at(node.place)

    def _at(self, place: Place | None) -> str:
        position = self.document.position(place)
        if position is None:
            return ""
        return f"{self.model.path}:{position[0]}:{position[1]}" if self.model.path else f"line {position[0]}"

    def element(self, dtype: str | None) -> str:
        return element(dtype)

    def written(self, name: str, value: object) -> str:
        text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        return f'{name}="{text.lower() if isinstance(value, bool) else text}"'

    def called(self, value: Value) -> str:
        maker = self.makers.of(value)
        return layer_text(maker.node) if maker is not None and maker.node is not None else "an input of the body"

    def declared(self, value: Value, maker: Maker) -> str:
        node = maker.node
        if node is None:
            return f"an input of the body {maker.graph.path}"
        attribute = node.attributes.get("shape")
        if attribute is None or attribute.place is None:
            return f'Parameter "{node.name}"'
        place = self._at(node.located(attribute.place))
        return f'<data shape="{attribute.value}"> of Parameter "{node.name}"' + f", {place}" * bool(place)

    def shows(self, value: Value, maker: Maker) -> bool:
        return False

    def constant(self, value: Value, maker: Maker) -> str:
        if maker.node is None:
            return "a constant"
        place = self.at(maker.node)
        return f"Const {layer_text(maker.node)}" + f", {place}" * bool(place)

    def place(self, problem: Problem) -> tuple[str, str, str]:
        node = problem.node
        if node is None:
            return f'in the body "{problem.graph}"' if problem.graph else "", "", ""
        version = f" ({node.version})" if node.version else ""
        inside = f' in the body "{problem.graph}"' if problem.graph else ""
        rest = f", {node.op}{version}{inside}"
        return f"{layer_text(node)}{rest}", node.name, f"layer{f' {node.id}' * bool(node.id)}{rest}"

    # --- lines --------------------------------------------------------------------------------------------------------

    def lines(self, problem: Problem, trails: Sequence[Trail], *, types_match: bool) -> tuple[Line, ...]:
        if self.model.graph is None:
            return self._broken(problem)
        node, fault = problem.node, problem.fault
        if node is None:
            return self.document.drawn([self.document.spot(problem.place, "primary")])
        details = self._dims(node, fault) if types_match else []
        details += self._disputed_dims(problem)
        if not details and problem.place is not None and problem.place != node.place:
            details = [self.document.spot(problem.place, "primary")]
        if not details and fault.input is not None and 0 <= fault.input < len(node.input_ports):
            details = [
                self.document.spot(node.located(node.input_ports[fault.input].place), "primary", f"input {fault.input}")
            ]
        if details:
            return self.document.drawn([self.document.spot(node.place), *self._attributes(node, fault), *details])
        op = Place(node.place.element, "type") if node.place is not None else None
        return self.document.drawn([self.document.spot(op, "primary")])

    def _attributes(self, node: Node, fault: Fault) -> list[Spot | None]:
        """The <data> of a layer if it may decide the clashing sizes and has its own line."""
        place = next((each.place for each in node.attributes.values() if each.place is not None), None)
        if place is None or place.attribute is None or fault.rule.family not in SIZED:
            return []
        tag = node.located(Place(place.element))
        start, at = self.document.position(node.place), self.document.position(tag)
        return [self.document.spot(tag)] if start is not None and at is not None and start[0] != at[0] else []

    def _broken(self, problem: Problem) -> tuple[Line, ...]:
        """The lines of an unreadable document: the place of the problem, and where the markup breaks."""
        spots = [self.document.spot(problem.place)]
        broken = self.document.broken()
        if broken is None:
            return self.document.drawn([self.document.spot(problem.place, "primary")])
        at, truncated = broken
        text = self.document.text.rstrip()
        at = max(0, min(at, len(text) - 1))
        end = len(text) if truncated and "\n" not in text[at:] else at + 1
        return self.document.drawn([*spots, Spot(at, end, "primary", "the file ends here" if truncated else "")])

    def _dims(self, node: Node, fault: Fault) -> list[Spot | None]:
        """The clashing dims of input ports. The input at fault is ``primary``, others are ``second``."""
        marks = marked_axes(fault, node, self.known)
        chosen = fault.input if fault.input in marks else max(marks, default=None)
        spots: list[Spot | None] = []
        for index, axes in marks.items():
            mark = "primary" if index == chosen or len(marks) == 1 else "second"
            spots += [self._input_dim(node, index, axis, mark) for axis in axes[:2]]
        return [spot for spot in spots if spot is not None]

    def _input_dim(self, node: Node, index: int, axis: int, mark: str) -> Spot | None:
        """The dim of an input port, or the port without such a dim. The label names an inferred size that differs."""
        if index >= len(node.input_ports):
            return None
        port, value = node.input_ports[index], node.inputs[index]
        label = f"input {index}, axis {axis}"
        known = self.known.types.get(value) if value is not None else None
        stated = port.type.shape
        if not isinstance(known, Tensor) or known.shape is None or not stated or axis >= len(stated):
            return self.document.spot(node.located(port.place), mark, label)
        if stated[axis] is not None and same(stated[axis], known.shape[axis]) is False:
            label += f": {known.shape[axis]} comes in, {stated[axis]} is declared"
        return self.document.dim(node.located(port.place), axis, mark, label)

    # --- declarations -------------------------------------------------------------------------------------------------

    def _disputed_dims(self, problem: Problem) -> list[Spot | None]:
        """The dims of an output port that contradict the inferred shape, or the port."""
        found = contradicted(problem, self.known)
        if found is None or problem.node is None:
            return []
        shape = found.inferred.shape or ()
        index = problem.node.outputs.index(found.value)
        port = problem.node.located(problem.node.output_ports[index].place)
        source = source_text(problem.node, self.known, problem.graph)
        spots = [
            self.document.dim(port, axis, "primary", f"output {index}, axis {axis}: {source} {shape[axis]}")
            for axis in found.axes[:3]
        ]
        return [spot for spot in spots if spot] or [self.document.spot(port, "primary")]

    # --- the table ----------------------------------------------------------------------------------------------------

    def table(self, problem: Problem) -> Table | None:
        node, fault = problem.node, problem.fault
        found = contradicted(problem, self.known)
        if found is not None and node is not None:
            position = self.document.position(node.located(found.declaration.place) or node.place)
            line = position[0] if position is not None else None
            origins: dict[str, tuple[tuple[str, ...], int | None]] = {
                "declared": ((f'<port id="{found.value.port}">',), line),
                "inferred": ((f"the result of {node.op}",), None),
            }
            return declared(found, element, origins)
        if node is None or not (fault.marks or (fault.input is not None and fault.rule.family in TYPED)):
            return None
        return operands(fault, node, self.known, named=lambda value: "", dtype=element, origins=self._origins)

    def _origins(self, value: Value) -> tuple[tuple[str, ...], int | None]:
        """(texts on the origin of a value, the longest first; the line of its layer or None)."""
        maker = self.makers.of(value)
        if maker is None or maker.node is None:
            return (), None
        node = maker.node
        position = self.document.position(node.place)
        origins: tuple[str, ...] = (
            f"{layer_text(node)} ({node.op})",
            f"layer {node.id} ({node.op})",
            f"layer {node.id}",
        )
        if value in self.known.overridden:
            by = f"from {self.known.overridden[value]}"
            origins = (*(f"{by}: {each}" for each in origins), by)
        return origins, position[0] if position is not None else None
