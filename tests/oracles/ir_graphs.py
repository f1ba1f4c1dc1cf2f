"""IRs of several layers, and layers with bodies, under construction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from oracles.ir_generator import Dims, Document, Input, input_settled

Source = int | Input
Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Body:
    """A body with its tag, and the port map's entries: (kind, external port, step, text of the other attributes).

    ``edges`` are back edges from a step that is a Result to one that is a Parameter. ``remark`` names what may change
    from one iteration to the next, or of inputs that are cut into unequal numbers of slices.
    """

    tag: str
    steps: tuple[Step, ...]
    entries: tuple[tuple[str, int, int, str], ...]
    edges: tuple[tuple[int, int], ...] = ()
    remark: str = ""

    def __str__(self) -> str:
        ports = "; ".join(f"{kind} {port}: {step} {text}".strip() for kind, port, step, text in self.entries)
        return f" {self.tag}{self.remark}(" + " | ".join(map(str, self.steps)) + f" / {ports} / {list(self.edges)})"


@dataclass(frozen=True)
class Step:
    """A layer; its sources are inputs of its own, or the numbers of steps before, whose first output it takes."""

    op: str
    opset: int
    sources: tuple[Source, ...]
    attributes: Attributes = ()
    outputs: int = 1
    bodies: tuple[Body, ...] = ()

    def __str__(self) -> str:
        if self.op == "Parameter":
            return str(self.sources[0])
        sources = " ".join(f"%{each}" if isinstance(each, int) else str(each) for each in self.sources)
        attributes = " ".join(f"{name}={value!r}" for name, value in self.attributes)
        return f"{self.op}@{self.opset} {sources} ; {attributes}{''.join(map(str, self.bodies))} -> {self.outputs}"


@dataclass(frozen=True)
class Net:
    """Layers one after the other; every output of every one of them is a Result."""

    steps: tuple[Step, ...]

    @property
    def op(self) -> str:
        return self.steps[-1].op

    def __str__(self) -> str:
        return "\n      ".join(f"%{number} {step}" for number, step in enumerate(self.steps))

    def settled(self, random: Random) -> Net:
        """The net with a number for every size that its Parameters leave open."""
        return Net(tuple(_settled(step, random) for step in self.steps))

    def document(self) -> tuple[bytes, bytes]:
        drawn = Document()
        for step, (layer, first) in zip(self.steps, _draw(drawn, self.steps)):
            for port in range(step.outputs):
                drawn.layer("Result", [(layer, first + port)], outputs=0)
        return drawn.xml(), drawn.weights


def _settled(step: Step, random: Random) -> Step:
    sources = tuple(each if isinstance(each, int) else input_settled(each, random) for each in step.sources)
    return replace(step, sources=sources)


def _draw(drawn: Document, steps: tuple[Step, ...]) -> list[tuple[int, int]]:
    """Adds the layers of ``steps``; where each of their first outputs is."""
    places: list[tuple[int, int]] = []
    for step in steps:
        ports = [places[each] if isinstance(each, int) else drawn.input(each) for each in step.sources]
        if step.op == "Parameter":
            places.append(ports[0])
            continue
        inside = _bodies(drawn, step)
        me = drawn.layer(step.op, ports, step.attributes, step.outputs, step.opset, inside=inside)
        places.append((me, len(ports)))
    return places


def _bodies(drawn: Document, step: Step) -> str:
    text = ""
    for body in step.bodies:
        inner = Document()
        inner.weights = drawn.weights
        ids = [layer for layer, _ in _draw(inner, body.steps)]
        drawn.weights = inner.weights
        prefix = body.tag.removesuffix("body")
        text += f"<{prefix}port_map>" + "".join(
            f'<{kind} external_port_id="{port}" internal_layer_id="{ids[place]}" {more}/>'
            for kind, port, place, more in body.entries
        )
        text += f"</{prefix}port_map>"
        if step.op != "If":
            edges = (
                f'<edge from-layer="{ids[a]}" from-port="0" to-layer="{ids[b]}" to-port="0"/>' for a, b in body.edges
            )
            text += f"<back_edges>{''.join(edges)}</back_edges>"
        layers, wires = "".join(inner.layers), "".join(inner.edges)
        text += f"<{body.tag}><layers>{layers}</layers><edges>{wires}</edges></{body.tag}>"
    return text


class Builder:
    """Steps under construction; ``random`` makes every choice."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.steps: list[Step] = []

    def add(self, op: str, opset: int, *sources: Source, outputs: int = 1, **attributes: object) -> int:
        written = tuple((name, str(value)) for name, value in attributes.items() if value is not None)
        self.steps.append(Step(op, opset, sources, written, outputs))
        return len(self.steps) - 1

    def parameter(self, dtype: str, dims: Dims | None) -> int:
        return self.add("Parameter", 1, Input(dtype, dims))

    def pick(self, *choices: object) -> object:
        return self.random.choice(choices)

    def dim(self) -> int | str:
        return self.random.choice((1, 2, 3, 4, 6, 8, 1, 2, 3, 4, -1, -1, "1..4", "..3", "2..6", "3..", 0))

    def dims(self, least: int = 1, most: int = 4) -> Dims:
        return tuple(self.dim() for _ in range(self.random.randint(least, most)))


def integers(dtype: str, *values: int) -> Input:
    return Input(dtype, (len(values),), values)


def scalar(dtype: str, value: float) -> Input:
    return Input(dtype, (), (value,))
