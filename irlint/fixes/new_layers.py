"""Layers and ports that a fix inserts into an IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.findings.edits import Edit
from irlint.fixes.document import ENDS, End, number
from irlint.fixes.inserted import CAST, SQUEEZE, TRANSPOSE, UNSQUEEZE
from irlint.fixes.openvino import deeper, size_text, type_name
from irlint.fixes.stored import constants_with
from irlint.fixes.wire import Unwritable
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Constant, Model, Value
from irlint.model.order import used_values
from irlint.model.tensor import Tensor, Type
from irlint.records import record

if TYPE_CHECKING:
    from irlint.fixes.openvino import Writer

RESHAPE, CONVERT = "Reshape", "Convert"

#: The operations with a list of numbers as second input.
LISTED = (TRANSPOSE, UNSQUEEZE, SQUEEZE, RESHAPE)

#: The operators that have another name in an IR.
SPELLED = {CAST: CONVERT}

#: The attributes of new layers.
ATTRIBUTES: Mapping[str, str] = {RESHAPE: ' special_zero="true"'}


@record
class NewPort:
    """A port as text. Precision and dims are "" and () if they are not declared."""

    precision: str
    dims: tuple[str, ...]


def insert_layer(writer: Writer, edit: Edit) -> None:
    """Inserts a Convert, or an operation with a constant of the file, before an input port. Raises Unwritable."""
    node, port = writer.port(edit)
    wires, op = writer.graph(edit), SPELLED.get(edit.name, edit.name)
    given = next((value for _, value in edit.value or ()), None)
    end = wires.key(node), port.id
    leading = wires.into(end)
    if len(leading) != 1 or wires.value(leading[0]) is None:
        raise Unwritable("the port does not have exactly one incoming edge")
    value = wires.value(leading[0])
    source = value.type if value is not None else None
    inputs = [new_port(source)]
    sources: list[End] = [leading[0].source]
    attributes = ATTRIBUTES.get(op, "")
    if op == CONVERT:
        attributes = f' destination_type="{type_name(str(given), port=False)}"'
    elif op in LISTED:
        listed, constant = constant_with(writer.model, given)
        inputs.append(new_port(constant.tensor))
        sources.append(wires.end(listed.name))
    else:
        raise Unwritable("layers of this type are not inserted")
    writer.last_new_id = max(writer.last_new_id, *(number(each or "") or 0 for each in wires.ids)) + 1
    outline = writer.outline.layers.get(wires.ordinal)
    if outline is None or not outline.children:
        raise Unwritable("the graph has no layers")
    last = outline.children[-1]
    blank = writer.outline.blank_before(last.tag.start)
    output = new_port(port.type if port.type.dtype or op != CONVERT else port.type.changed(dtype=str(given)))
    output = output if output.precision else NewPort(inputs[0].precision, output.dims)
    text = layer_text(writer.last_new_id, op, attributes, inputs, output, blank)
    writer.change(outline, ("layer", writer.last_new_id), last.end, last.end, text)
    for at, (layer, id) in enumerate(sources):
        writer.add_edge(wires, dict(zip(ENDS, map(str, (layer, id, writer.last_new_id, at)))))
    writer.rewire(leading[0].element, dict(zip(ENDS, map(str, (writer.last_new_id, len(inputs), *end)))))


def new_port(type: Type | None) -> NewPort:
    """A port that declares a type."""
    known = type if isinstance(type, Tensor) else Tensor(None, None)
    return NewPort(type_name(known.dtype, port=True) if known.dtype else "", tuple(map(size_text, known.shape or ())))


def constant_with(model: Model, values: object) -> tuple[Value, Constant]:
    """(value, constant) of a list of integers, preferably an unused one. Raises Unwritable if there is none."""
    assert model.graph is not None
    needed = used_values(model.graph)
    listed = values if isinstance(values, (tuple, list)) else (values,)
    found = sorted(constants_with(model, listed, ("int64", "int32")), key=lambda each: each[0] in needed)
    if not found:
        raise Unwritable("no constant of the file holds the list")
    return found[0]


def insert_port(writer: Writer, edit: Edit) -> None:
    """Inserts a port with the id ``value`` before the input port ``input``, or after the last output port."""
    layer = writer.layer(edit)
    side = "output" if edit.input is None else "input"
    precision = f' precision="{type_name(edit.dtype, port=True)}"' if edit.dtype else ""
    parent = next(iter(layer.named(side)), None)
    ports = parent.named("port") if parent is not None else []
    outer = writer.outline.blank_before(layer.tag.start)
    blank = writer.outline.blank_before(ports[0].tag.start) if ports else deeper(deeper(outer))
    dims = "".join(f"{deeper(blank)}<dim>{size_text(size)}</dim>" for size in edit.shape or ())
    text = f'<port id="{edit.value}"{precision}>{dims}{blank * bool(dims)}</port>'
    if parent is None:
        within = deeper(outer)
        at = layer.named("input")[-1].end if layer.named("input") and side == "output" else None
        text = f"{within}<{side}>{deeper(within)}{text}{within}</{side}>"
        data = layer.named("data")
        at = at if at is not None else data[0].end if data else layer.tag.end
        if layer.is_empty:
            raise Unwritable("the layer is empty")
        writer.change(layer, side, at, at, text)
    elif ports and (edit.input is None or edit.input >= len(ports)):
        writer.change(parent, "last", ports[-1].end, ports[-1].end, blank + text)
    elif ports:
        at = ports[edit.input or 0].tag.start
        writer.change(parent, "before", at, at, text + blank)
    else:
        writer.insert_inside(parent, [text])


def layer_text(id: int, op: str, attributes: str, inputs: Sequence[NewPort], output: NewPort, blank: str) -> str:
    """The text of a layer of opset1. ``blank`` is the whitespace before the layer."""
    inner = blank + ("\t" if blank.endswith("\t") else "  ") if blank.strip(" \t") else ""
    deeper = inner + ("\t" if blank.endswith("\t") else "  ") if inner else ""
    data = f"{inner}<data{attributes}/>" if attributes else ""
    ports = "".join(_port(at, each, deeper) for at, each in enumerate(inputs))
    return (
        f'{blank}<layer id="{id}" name="{op}_{id}" type="{op}" version="opset1">{data}'
        f"{inner}<input>{ports}{inner}</input>"
        f"{inner}<output>{_port(len(inputs), output, deeper)}{inner}</output>{blank}</layer>"
    )


def _port(id: int, port: NewPort, blank: str) -> str:
    dims = "".join(f"<dim>{each}</dim>" for each in port.dims)
    precision = f' precision="{port.precision}"' if port.precision else ""
    return f'{blank}<port id="{id}"{precision}>{dims}</port>'
