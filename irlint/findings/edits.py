"""Edits: changes of a model as data, such as another attribute, another input or a removed node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from irlint.findings.wording import counted, first_few, listed
from irlint.lazy_typing import TYPE_CHECKING, Any, Literal
from irlint.records import record

if TYPE_CHECKING:
    from irlint.findings.report import Report

#: ``safe``: the model gives the same outputs, bit for bit, for every input that it accepted before.
Applicability = Literal["safe", "unsafe"]

#: The part of a model that an edit changes. ``entries``, ``shape`` and ``type`` belong to a constant or declaration.
#: ``layer``, ``port``, ``port_map`` and ``back_edges`` are XML attributes of an IR layer, of its ports, and of the
#: entries of its port map and back edges.
Of = Literal[
    "node",
    "input",
    "output",
    "initializer",
    "value_info",
    "opset_import",
    "metadata",
    "graph",
    "domain",
    "value",
    "operator",
    "attribute",
    "entries",
    "shape",
    "type",
    "layer",
    "port",
    "port_map",
    "back_edges",
]

#: A message has the text of at most this many edits.
_MOST_SHOWN = 3

#: The kinds of edits, as in ``check --format json``.
Kind = Literal[
    "attribute", "input", "constant", "declaration", "insert", "remove", "rename", "order", "opset", "ir_version"
]


@record
class Edit:
    """One change of a model."""

    kind: Kind
    of: Of = "node"
    #: The path of the graph, "" for the main graph.
    graph: str = ""
    node: str = ""
    index: int | None = None
    #: The name of the changed part.
    name: str = ""
    #: The new value: an attribute (None removes it), all entries of a constant, the name of a connected value ("" for
    #: none), a shape, an element type, a name, a version, or the attributes of an inserted node as pairs.
    value: Any = None
    #: The old indices of the nodes in the new order, or the permutation of a transposed constant's axes.
    order: tuple[int, ...] = ()
    #: The index of an input of the node, or of an entry of its port map.
    input: int | None = None
    op: str = ""
    #: The id of an IR layer.
    layer: str = ""
    #: The old value, or None if it is unknown.
    before: Any = None
    #: The phrase for the value in messages; "" if messages use ``name``.
    called: str = ""
    #: Whether this is one of two edits that exchange two inputs of a node, or two ids of a port map.
    swaps: bool = False
    #: The new dims of a declaration: a number or a symbol, "" for the declared dim, None for any dim.
    shape: tuple[Any, ...] | None = None
    dtype: str = ""
    #: The names of additional inputs of an inserted node.
    inputs: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The edit as an imperative."""
        return self.text_at(None)

    def text_at(self, node: int | None) -> str:
        """The edit as an imperative. The text names the node, unless it is node number ``node`` of the main graph."""
        text = _TEXTS[self.kind](self)
        here = self.index is None or (self.index == node and not self.graph)
        return text if here or not self.op else f"{text} in {self.place}"

    @property
    def place(self) -> str:
        """The node in a message: ``Gemm[12]``, or ``MatMul (layer 7)``."""
        return f"{self.op} (layer {self.layer})" if self.layer else f"{self.op}[{self.index}]"

    def as_dict(self) -> dict[str, Any]:
        """The edit as ``check --format json`` prints it."""
        node = {"node": self.node, "index": self.index} if self.index is not None else {}
        name = {"name": self.name} if self.name else {}
        input = {"input": self.input} if self.input is not None else {}
        value = self.order or (dict(self.value) if (self.kind, self.of) == ("insert", "node") else self.value)
        value = list(value) if isinstance(value, tuple) else value
        stated = {} if value is None else {"value": value}
        shape = {"shape": list(self.shape)} if self.shape is not None else {}
        dtype = {"dtype": self.dtype} if self.dtype else {}
        inputs = {"inputs": list(self.inputs)} if self.inputs else {}
        where = {"kind": self.kind, "of": self.of, "graph": self.graph, **node, **name, **input}
        return {**where, **stated, **shape, **dtype, **inputs}


@record
class Replacement:
    """A part of a text document and its new text. Lines and columns start at 1, and the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@record
class Fix:
    """Edits that, applied in this order, fix a finding."""

    edits: tuple[Edit, ...]
    applicability: Applicability = "safe"
    #: The same changes as changes of the text, for formats that are text.
    replacements: tuple[Replacement, ...] = ()

    @property
    def message(self) -> str:
        """All edits as one imperative."""
        return message(self.edits)

    def as_dict(self) -> dict[str, Any]:
        """The fix as ``check --format json`` prints it."""
        return {
            "applicability": self.applicability,
            "message": self.message,
            "edits": [edit.as_dict() for edit in self.edits],
        }


@record(eq=False)
class Fixed:
    """A fixed model: its bytes, the applied edits, and the report on the remaining findings."""

    data: bytes
    edits: tuple[Edit, ...]
    report: Report


def message(edits: Sequence[Edit], node: int | None = None) -> str:
    """Edits as one imperative. The text names their nodes, except node number ``node`` of the main graph."""
    first = edits[0]
    if len(edits) == 2 and all(edit.swaps for edit in edits):
        where = "" if first.index == node else f" in {first.place}"
        if first.of == "port_map":
            return f"swap {first.name} {first.before} and {first.value} in the port map{where}"
        if first.index != edits[1].index:
            one, other = (each.called or f"`{each.value}`" for each in (edits[1], first))
            return f"swap input {first.input}{where}, {one}, with input {edits[1].input} of {edits[1].place}, {other}"
        return f"swap inputs {first.input} and {edits[1].input}{where}"
    if len(edits) <= _MOST_SHOWN and all(
        edit.kind == first.kind == "attribute" and edit.of == "node" and edit.index == first.index for edit in edits
    ):
        pairs = listed([written(edit.name, edit.value, edit.layer) for edit in edits])
        return f"set {pairs}" + ("" if first.index == node or not first.op else f" in {first.place}")
    if len(edits) > 1 and all(edit.of == "port_map" and edit.input == first.input for edit in edits):
        pairs = listed([f'{edit.name}="{edit.value}"' for edit in edits])
        return f"set {pairs} in entry {first.input} of the port map" + f" in {first.place}" * (first.index != node)
    if [edit.of for edit in edits] == ["type", "entries"] and first.name == edits[1].name:
        values = edits[1].value
        listed_values = str(values[0]) if len(values) == 1 else f"[{', '.join(map(str, values))}]"
        return f"{first.text_at(node)} with the {'value' if len(values) == 1 else 'values'} {listed_values}"
    if [edit.of for edit in edits] == ["entries", "shape"] and first.name == edits[1].name:
        called, shapes = first.called or f"`{first.name}`", (edits[1].before, edits[1].value)
        return (
            f"change {_elements(first.before, shapes[0])} to {_elements(first.value, shapes[1])} in constant {called}"
        )
    ports = [edit.input for edit in edits if edit.kind == "input" and edit.index == first.index]
    if len(edits) == len(ports) > 2 and ports == [*range(ports[0] or 0, (ports[0] or 0) + len(ports))]:
        names = listed([(edit.called or f"`{edit.value}`").rstrip(",") for edit in edits])
        where = "" if first.index == node else f" in {first.place}"
        return f"connect {names} as inputs {ports[0]} to {ports[-1]}{where}"
    if len(edits) > 1 and all(edit.kind == "constant" and _difference(edit) == _difference(first) for edit in edits):
        others = [edit.called or f"`{edit.name}`" for edit in edits[1:]]
        rest = listed(others) if len(others) <= _MOST_SHOWN else counted(len(others), "more constant")
        return f"{first.text_at(node)}, and likewise in {rest}"
    if len(edits) <= _MOST_SHOWN:
        return ", and ".join(edit.text_at(node) for edit in edits)
    if first.kind in ("input", "insert") and len({(edit.of, edit.name, edit.value, edit.input) for edit in edits}) == 1:
        places = [edit.place for edit in edits[1:]]
        rest = listed(places) if len(places) <= _MOST_SHOWN else first_few(places, _MOST_SHOWN)
        return f"{first.text_at(node)}, and likewise in {rest}"
    like = " like it" if all((edit.kind, edit.of) == (first.kind, first.of) for edit in edits) else ""
    return f"{first.text_at(node)}, and {counted(len(edits) - 1, 'more edit')}{like}"


def _difference(edit: Edit) -> object:
    """For a change of entries, the changed entries as pairs (old, new); for other changes, the new value."""
    if edit.of != "entries" or len(edit.before or ()) != len(edit.value):
        return edit.value
    return {(one, other) for one, other in zip(edit.before, edit.value) if one != other}


# --- the texts of edits -----------------------------------------------------------------------------------------------


def _attribute(edit: Edit) -> str:
    if edit.of in ("port_map", "back_edges"):
        where = f"entry {edit.input} of the port map" if edit.of == "port_map" else f"back edge {edit.input}"
        return f'set {edit.name}="{edit.value}" in {where}'
    if edit.of in ("layer", "port"):
        port = f" at input {edit.input}" if edit.of == "port" else ""
        named = " (only edges name it)" if (edit.of, edit.name) == ("layer", "id") else ""
        return f'set {edit.name}="{edit.value}"{named}{port}'
    if edit.value is None:
        return f"remove the attribute `{edit.name}`"
    return f"set {written(edit.name, edit.value, edit.layer)}"


def written(name: str, value: object, layer: str = "") -> str:
    """An attribute in the syntax of its format: ```axis = 1```, or ``axis="1"`` with the id of a ``layer``."""
    if layer:
        text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        return f'{name}="{text.lower() if isinstance(value, bool) else text}"'
    shown = list(value) if isinstance(value, tuple) else int(value) if isinstance(value, bool) else value
    return f"`{name} = {shown}`"


def _input(edit: Edit) -> str:
    if edit.value == "":
        return f"leave input {edit.input} empty"
    return f"connect {edit.called or f'`{edit.value}`'} as input {edit.input}"


def _constant(edit: Edit) -> str:
    called = edit.called or f"`{edit.name}`"
    if edit.of == "type":
        return f"store constant {called} as {edit.value}"
    before, after = _shortest(edit.before or ()), _shortest(edit.value)
    differing = [at for at, (one, other) in enumerate(zip(before, after)) if one != other]
    if edit.order:
        return f"transpose constant {called} with {edit.order}, from {before} to {after}"
    if edit.of == "shape" and len(before) == len(after) and len(differing) == 1:
        (at,) = differing
        return f"change {before[at]} to {after[at]} on axis {at} of constant {called}"
    if edit.of == "shape":
        return f"reshape constant {called} from {before} to {after}"
    if len(before) != len(after) or len({(before[at], after[at]) for at in differing}) != 1:
        return f"change {before} to {after} in constant {called}"
    places = listed([str(at) for at in differing])
    where = f" ({'entry' if len(differing) == 1 else 'entries'} {places})" if len(after) > 1 else ""
    return f"change {before[differing[0]]} to {after[differing[0]]} in constant {called}{where}"


def _elements(values: Sequence[Any], shape: Sequence[int]) -> str:
    """The elements of a constant: ``the scalar 1``, ``[1]``, or ``[1, 2] of shape [1, 2]``."""
    shown = _shortest(values)
    if not shape:
        return f"the scalar {shown[0]}"
    return str(shown) if len(shape) == 1 else f"{shown} of shape {list(shape)}"


def _shortest(values: Iterable[Any]) -> list[Any]:
    """The values, with 2 for 2.0."""
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]


def _declaration(edit: Edit) -> str:
    called = f"input {edit.input} of {_node(edit)}" if edit.input is not None else edit.called or f"`{edit.name}`"
    before, after = list(edit.before or ()), list(edit.shape or ())
    differing = [at for at, (one, other) in enumerate(zip(before, after)) if one != other]
    if len(before) != len(after) or not differing or any(isinstance(after[at], str) for at in differing):
        dims = ", ".join("?" if dim is None or dim == "" else str(dim) for dim in after)
        return f"declare {called} as {edit.dtype}" + (f"[{dims}]" if edit.shape is not None else "")
    where = f"{'axis' if len(differing) == 1 else 'axes'} {listed([str(at) for at in differing])} of {called}"
    pairs = dict.fromkeys((str(before[at]), str(after[at])) for at in differing)
    return f"change {listed([one for one, _ in pairs])} to {listed([other for _, other in pairs])} on {where}"


def _inserted(edit: Edit) -> str:
    if edit.of == "port":
        return f"insert {'output' if edit.input is None else 'input'} port {edit.value}"
    if edit.of == "output":
        return f"add {edit.called or f'`{edit.name}`'} as output {edit.input} of the body"
    article = "an" if edit.name[:1] in "AEIOU" else "a"
    others = [f"`{name}` as input {at}" for at, name in enumerate(edit.inputs, 1)]
    joins = bool(edit.inputs and edit.called)
    stated = [*(written(name, value, edit.layer) for name, value in edit.value), *(() if joins else others)]
    details = f" with {listed(stated)}" if stated else ""
    details += f" of {edit.called}" if joins else ""
    if not stated:
        details = f", {edit.called}," if edit.called else ""
    of = f", {edit.called}," if edit.called and stated and not joins else ""
    return f"insert {article} {edit.name}{details} before input {edit.input}{of}".rstrip(",")


def _renamed(edit: Edit) -> str:
    match edit.of:
        case "domain" if edit.index is not None:
            return f'set the domain to "{edit.value}"'
        case "domain":
            return f'leave the domain of the nodes empty, instead of "{edit.name}"'
        case "graph":
            return f'name the graph "{edit.value}"'
        case "operator":
            return f'set type="{edit.value}"' if edit.layer else f"set op_type to {edit.value}"
        case "attribute":
            return f"rename the attribute `{edit.name}` to `{edit.value}`"
        case "value":
            return f"rename `{edit.name}` to `{edit.value}`"
    return f'rename {_node(edit)} to "{edit.value}"'


def _removed(edit: Edit) -> str:
    match edit.of:
        case "node":
            return f"remove {_node(edit)}"
        case "input":
            return f"remove input {edit.input}, {edit.called}"
        case "attribute":
            return f"remove the attribute `{edit.name}`"
        case "opset_import":
            return f"remove {'a repeated' if edit.index is not None else 'the'} import of {edit.name or 'ai.onnx'}"
        case "metadata":
            return "remove all but the last metadata entry of each key"
        case "value_info":
            return f'remove "{edit.name}" from value_info'
    return f'remove the initializer "{edit.name}"' if edit.name else "remove the initializers without a name"


def _order(edit: Edit) -> str:
    if edit.of == "output":
        first, second = (at for at, old in enumerate(edit.order) if at != old)
        return f'swap outputs {first} and {second} of the body "{edit.graph}", {edit.called}'
    return "sort the nodes" + (f' of the graph "{edit.graph}"' if edit.graph else "")


def _opset(edit: Edit) -> str:
    return f"import opset {edit.value} of {edit.name or 'ai.onnx'}"


def _ir_version(edit: Edit) -> str:
    if edit.name:
        return f'set {edit.name}="{edit.value}" in <net>'
    return f"set ir_version = {edit.value}"


_TEXTS: dict[Kind, Callable[[Edit], str]] = {
    "attribute": _attribute,
    "input": _input,
    "constant": _constant,
    "declaration": _declaration,
    "insert": _inserted,
    "remove": _removed,
    "rename": _renamed,
    "order": _order,
    "opset": _opset,
    "ir_version": _ir_version,
}


def _node(edit: Edit) -> str:
    return f'node {edit.index} "{edit.node}"' if edit.node else f"node {edit.index}"
