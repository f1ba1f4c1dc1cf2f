"""Other values as the inputs of a node: those that nothing uses, and those of another element type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from irlint.inference.origins import inputs_of
from irlint.inference.questions import asked_again
from irlint.inference.trials import Change
from irlint.model import Node, Value
from irlint.model.tensor import FLOATS, INTEGERS, NUMBERED_TYPES, Tensor, Type
from irlint.pictures.candidates import Candidates, Lever, as_input
from irlint.pictures.other_values import SELDOM, USUAL
from irlint.pictures.reasons import Naming
from irlint.records import replaced

#: So many values that nothing uses are tried.
UNUSED = 24

#: Back from a node whose element types clash so many nodes are looked at.
TYPED_NODES = 6

#: The attributes that name the element type of a result.
TYPE_ATTRIBUTES = ("to", "destination_type", "output_type", "dtype")


class Operands:
    """The values that may be meant as inputs of the nodes of the main graph."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.known = candidates.known
        self.graph = candidates.graph
        self.makers = candidates.makers
        self.users = candidates.users

    def unused(self, nodes: Iterable[Node], missing: Mapping[Node, int]) -> Iterator[Lever]:
        """The values that nobody uses, in the place of one like them, or of one that is missing."""
        names: dict[str, int] = {}
        made = [value for each in self.graph.nodes for value in each.outputs if value is not None]
        for value in {*made, *self.graph.constants, *self.graph.inputs}:
            names[value.name] = names.get(value.name, 0) + 1
        returned = set(self.graph.outputs)
        spare = [
            (value, known)
            for value in (*chain.from_iterable(map(self._meant_to_be_used, self.graph.nodes)), *self.graph.constants)
            if value is not None
            and not self.users.get(value)
            and isinstance(known := self.known.types.get(value), Tensor)
            and value not in returned
            and names.get(value.name, 1) == 1
        ][:UNUSED]
        for node in nodes if spare else ():
            for port, given in enumerate(inputs_of(node, self.known)):
                for value, known in spare:
                    if value in node.outputs or (
                        port != missing[node] if node in missing else not _alike(known, given)
                    ):
                        continue
                    makers = self._named_after(node.inputs[port]) if node in missing else []
                    maker = self.makers.of(value)
                    if makers and (maker is None or maker.node is None or maker.node.op != makers[0].op):
                        yield from self._behind(value, makers, node, port)
                        continue
                    told = partial(as_input, value, port, ", which nothing uses,")
                    yield Lever(told, Change(inputs={node: {port: value}}), SELDOM)

    def _meant_to_be_used(self, node: Node) -> Sequence[Value | None]:
        """The outputs of a node, of one that is used those alone that its operator always has."""
        if not any(value is not None and self.users.get(value) for value in node.outputs):
            return node.outputs
        call = self.known.calls.get(node)
        formal = call.schema.outputs if call is not None and call.schema is not None else ()
        if formal and formal[-1].option == "variadic":
            return node.outputs
        return [value for value, each in zip(node.outputs, formal) if each.option == "single"]

    def _named_after(self, value: Value | None) -> list[Node]:
        """The nodes of the operator that exporters have named a value after: ``/block/Relu_output_0`` or ``/block/Relu_1``."""
        name = value.name.rpartition("/")[2] if value is not None else ""
        op = name.partition("_output_")[0].rstrip("0123456789").removesuffix("_")
        return [each for each in self.graph.nodes if each.op in (op, name)]

    def _behind(self, value: Value, makers: Sequence[Node], node: Node, port: int) -> Iterator[Lever]:
        """An input as what a node like ``makers`` gives for one value."""
        like = next((each for each in makers if len(each.inputs) == 1), None)
        answer = asked_again(self.known, like, [self.known.types.get(value)]) if like is not None else None
        given = answer.outputs[0] if answer is not None and answer.outputs else None
        if like is not None and given is not None:
            yield Lever(partial(_put_between, like.op, value, port), Change(given={node: {port: given}}), SELDOM)

    def retyped(self, node: Node) -> Iterator[Lever]:
        """Inputs and constants of another element type, and nodes that give another one, behind the inputs of a node."""
        inputs = inputs_of(node, self.known)
        wanted = dict.fromkeys(each.dtype for each in inputs if isinstance(each, Tensor) and each.dtype)
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            if value is None or not isinstance(known, Tensor):
                continue
            others = ("int64", "bool") if known.dtype in FLOATS else ("float32", "bool")
            for dtype in dict.fromkeys((*wanted, *others)):
                if dtype == known.dtype:
                    continue
                if self.makers.is_constant(value):
                    yield from self._constant_of_type(node, port, value, known, dtype)
                else:
                    yield from self._of_type(value, dtype)

    def _constant_of_type(self, node: Node, port: int, value: Value, known: Tensor, dtype: str) -> Iterator[Lever]:
        """A constant of an element type that others have in its place, or one of these itself."""
        type_of = self.known.types.get
        there = [each.inputs[port] for each in self.candidates.of(node) if port < len(each.inputs)]
        kin = [each for each in there if each is not None and each is not value]
        others = [each for each in kin if self.makers.is_constant(each) and _dtype(type_of(each)) == dtype]
        if kin and not others:
            return
        changed = Tensor(dtype, known.shape, None if dtype not in INTEGERS else known.value)
        yield Lever(partial(_of_other_type, value, dtype), Change(types={value: changed}), SELDOM)
        for other in others if len(self.users.get(value, ())) > 1 else ():
            held = type_of(other)
            if isinstance(held, Tensor) and held.shape == known.shape:
                told = partial(as_input, other, port, f", one of {len(set(others))} of type {dtype} there,")
                yield Lever(told, Change(inputs={node: {port: other}}), SELDOM)
                return

    def _of_type(self, value: Value, dtype: str) -> Iterator[Lever]:
        """The cast that a value comes from with another element type, or the input of the graph that it comes from."""
        for _ in range(TYPED_NODES):
            known, maker = self.known.types.get(value), self.makers.of(value)
            if maker is None or not isinstance(known, Tensor):
                return
            node = maker.node if maker.constant is None else None
            if node is None or node.op == self.known.format.input_node:
                told = partial(_of_other_type, value, dtype)
                yield Lever(told, Change(types={value: Tensor(dtype, known.shape, known.value)}), SELDOM)
                return
            call = self.known.calls.get(node)
            if call is None:
                return
            given = call.attributes or {}
            for name in (each for each in TYPE_ATTRIBUTES if each in given):
                number = NUMBERED_TYPES.index(dtype) + 1 if isinstance(given[name], int) else None
                changed = replaced(call, attributes={**given, name: dtype if number is None else number})
                yield Lever(partial(_typed, name, dtype, number), Change(calls={node: changed}), USUAL, node)
                return
            first = node.inputs[0] if node.inputs else None
            before = self.known.types.get(first) if first is not None else None
            if first is None or not isinstance(before, Tensor) or before.dtype != known.dtype:
                return
            value = first


def _dtype(known: Type | None) -> str | None:
    return known.dtype if isinstance(known, Tensor) else None


def _alike(known: Tensor, given: Type | None) -> bool:
    """Whether a value may be meant where another one of the element type and rank is."""
    return isinstance(given, Tensor) and known.dtype == given.dtype and known.rank == given.rank and known != given


# --- words ------------------------------------------------------------------------------------------------------------


def _put_between(op: str, value: Value, index: int, naming: Naming) -> str:
    article = "an" if op[0] in "AEIOU" else "a"
    return f"{article} {op}, as the name says, between {naming.called(value)}, which nothing uses, and input {index}"


def _typed(name: str, dtype: str, number: int | None, naming: Naming) -> str:
    if number is None:
        return naming.written(name, naming.element(dtype))
    return f"{naming.written(name, number)} ({naming.element(dtype)})"


def _of_other_type(value: Value, dtype: str, naming: Naming) -> str:
    return f"{naming.called(value)} as {naming.element(dtype)}"
