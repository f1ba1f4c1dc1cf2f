"""Layers that OpenVINO reads, but does not compile for the CPU: the rule, and checks that operations share.

A check is a function of a ``Layer`` that returns its fault or None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from irlint.findings.faults import Fault, Rule, Severity
from irlint.lazy_typing import Any
from irlint.model.tensor import Tensor, Type, shape_text, tensor_shape
from irlint.ops.shared.element_types import ELEMENT_TYPE_REFUSED, UNREADABLE_INTEGERS, kinds_text, one_of
from irlint.records import record

_GOOD = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,3" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port></output></layer>
<layer id="1" name="relu" type="Relu" version="opset1"><input><port id="0"/></input><output>\
<port id="1" precision="FP32"><dim>-1</dim><dim>3</dim></port></output></layer>
<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges></net>"""

NOT_COMPILED = Rule(
    "IRL525",
    "layer-not-compiled",
    Severity.WARNING,
    "OpenVINO reads the layer, but refuses to compile it for the CPU.",
    why=(
        "When OpenVINO reads a model, it checks little more than types and shapes. When the CPU plugin compiles the "
        "model, it needs the rank of every tensor, supports only some element types, and requires constants as some "
        "inputs. If a layer does not meet these conditions, `compile_model` fails with a message that rarely names "
        "it. If the specification allows the layer, this is a warning, because another device may run it, or the CPU "
        "may run it after a reshape; with `--target openvino`, it is an error. If the specification forbids the "
        "layer, it is always an error."
    ),
    fix="Change the layer as the message says. If a rank is missing, call `reshape` before you compile the model.",
    bad=_GOOD.replace('shape="?,3"', 'shape="..."').replace("<dim>-1</dim><dim>3</dim>", ""),
    good=_GOOD,
)

#: Element types for which the plugin has no tensors.
WITHOUT_TENSORS = frozenset({"uint1", "uint3", "uint6"})


#: The name of a property of ``Layer`` that returns indices.
Fact = str

#: Facts that return indices of outputs. All other facts return indices of inputs.
OF_OUTPUTS = frozenset({"used", "outward"})


@record
class Layer:
    """A layer to compile. Each property returns the indices of the inputs or outputs that it describes."""

    inputs: tuple[Type | None, ...]
    outputs: tuple[Type | None, ...]
    #: Attributes by name. A group of attributes has the name of the rule's parameter.
    attributes: Mapping[str, Any]
    #: Returns the inputs or outputs for which a fact holds.
    indices: Callable[[Fact], frozenset[int]]

    @property
    def fixed(self) -> frozenset[int]:
        """Inputs that depend only on constants."""
        return self.indices("fixed")

    @property
    def varying(self) -> frozenset[int]:
        """Inputs computed at run time."""
        return self.indices("varying")

    @property
    def direct(self) -> frozenset[int]:
        """Inputs that are inputs of the model."""
        return self.indices("direct")

    @property
    def stored(self) -> frozenset[int]:
        """Inputs that are constants."""
        return self.indices("stored")

    @property
    def used(self) -> frozenset[int]:
        """Outputs with a user."""
        return self.indices("used")

    @property
    def shared(self) -> frozenset[int]:
        """Inputs that other layers also use."""
        return self.indices("shared")

    @property
    def outward(self) -> frozenset[int]:
        """Outputs that are outputs of the model."""
        return self.indices("outward")

    @property
    def leaving(self) -> frozenset[int]:
        """Inputs that are also outputs of the model."""
        return self.indices("leaving")

    def dtype(self, index: int) -> str | None:
        """The element type of an input; None if it is unknown."""
        known = self.inputs[index] if index < len(self.inputs) else None
        return known.dtype if isinstance(known, Tensor) else None

    def sizes(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input; None if it is not fully known."""
        return known_shape(self.inputs[index] if index < len(self.inputs) else None)


def known_shape(known: Type | None) -> tuple[int, ...] | None:
    """The shape of a tensor; None if it is not fully known."""
    if not isinstance(known, Tensor) or known.shape is None:
        return None
    return known.shape if all(isinstance(dim, int) for dim in known.shape) else None  # type: ignore[return-value]


def not_compiled(
    message: str, *, help: str, input: int | None = None, attribute: str | None = None, forbidden: bool = False
) -> Fault:
    """The fault of a layer that OpenVINO does not compile; an error if the specification forbids the layer."""
    return NOT_COMPILED.fault(
        f"{message}; OpenVINO reads the layer and refuses to compile it",
        help=help,
        input=input,
        attribute=attribute,
        severity=Severity.ERROR if forbidden else None,
        stage="compile",
    )


def not_implemented(layer: Layer) -> Fault | None:
    """The fault of an operation that the CPU plugin does not implement."""
    return not_compiled(
        "the CPU plugin does not implement the operation",
        help="replace it by other operations, or use another device",
    )


def without_strings(layer: Layer) -> Fault | None:
    """The fault of strings in an operation that the CPU plugin implements only for numbers."""
    for index in range(len(layer.inputs)):
        if layer.dtype(index) == "string" and layer.varying:
            return not_compiled(
                f"input {index} is string, but the CPU plugin requires numbers",
                help=f"use numbers as input {index}",
                input=index,
                forbidden=True,
            )
    return None


def aligned_as_numpy(layer: Layer) -> Fault | None:
    """The fault of ``pdpd`` shapes that NumPy's rule cannot broadcast: the CPU plugin follows NumPy's rule."""
    first, second = layer.sizes(0), layer.sizes(1)
    if layer.attributes["broadcasting"].auto_broadcast != "pdpd" or first is None or second is None:
        return None
    if all(a == b or 1 in (a, b) for a, b in zip(first[::-1], second[::-1])) or not {0, 1} & layer.varying:
        return None
    return not_compiled(
        f'attribute `auto_broadcast` is "pdpd", which the specification allows, but the CPU plugin aligns '
        f"{list(second)} with the last axes of {list(first)} anyway",
        help='write auto_broadcast="numpy", and unsqueeze input 1 to the intended axes',
        attribute="auto_broadcast",
        input=1,
    )


def constants_at(*indices: int) -> Callable[[Layer], Fault | None]:
    """The check that inputs ``indices`` are constants."""

    def refused(layer: Layer) -> Fault | None:
        for index in indices:
            if index in layer.varying:
                return not_compiled(
                    f"input {index} is computed when the model runs, but the CPU plugin requires a constant",
                    help=f"make input {index} a constant",
                    input=index,
                )
        return None

    return refused


#: Element types of constants whose values OpenVINO does not read.
UNREADABLE = UNREADABLE_INTEGERS | {"bool", "nf4", "float4_e2m1", "float8_e4m3fn", "float8_e5m2", "float8_e8m0"}


def readable_constants(*indices: int, unreadable: Collection[str] = UNREADABLE) -> Callable[[Layer], Fault | None]:
    """The check that OpenVINO can read the values of inputs ``indices``, if these are constants."""

    def refused(layer: Layer) -> Fault | None:
        for index in indices:
            dtype = layer.dtype(index)
            if dtype in unreadable and index in layer.fixed:
                return ELEMENT_TYPE_REFUSED.fault(
                    f"input {index} is a constant of {dtype}, whose values OpenVINO does not read",
                    help=f"make input {index} a constant of int64",
                    input=index,
                )
        return None

    return refused


def types_at(
    *indices: int, allowed: Collection[str], reason: str = "the CPU plugin supports"
) -> Callable[[Layer], Fault | None]:
    """The check that inputs ``indices`` have an ``allowed`` type; in the message, ``reason`` precedes these types."""

    def refused(layer: Layer) -> Fault | None:
        for index in indices:
            dtype = layer.dtype(index)
            if dtype is not None and dtype not in allowed:
                return not_compiled(
                    f"input {index} is {dtype}, and {reason} {kinds_text(allowed)}",
                    help=f"convert input {index} to {one_of(allowed, dtype)}",
                    input=index,
                    forbidden=True,
                )
        return None

    return refused


def with_elements(*indices: int, beside: Collection[int] = ()) -> Callable[[Layer], Fault | None]:
    """The check that inputs ``indices`` have no size of 0.

    It accepts the layer if ``beside`` lists inputs, and none of these inputs is computed at run time.
    """

    def refused(layer: Layer) -> Fault | None:
        for index in indices:
            known = layer.inputs[index]
            if isinstance(known, Tensor) and known.shape is not None and 0 in known.shape:
                if beside and not layer.varying & {*beside}:
                    return None
                return not_compiled(
                    f"input {index} is {shape_text(known.shape)}, but the CPU plugin does not support tensors "
                    "without elements",
                    help=f"remove the operation if input {index} is empty, or make that size dynamic",
                    input=index,
                )
        return None

    return refused


def known_sizes(layer: Layer) -> Fault | None:
    """The fault of a layer with dynamic sizes."""
    for index, known in enumerate(layer.inputs):
        if isinstance(known, Tensor) and known.shape is not None and layer.sizes(index) is None:
            return not_compiled(
                f"input {index} is {shape_text(known.shape)}, but the CPU plugin supports no dynamic sizes there",
                help=f"write all sizes of input {index}, or call `reshape` before you compile the model",
                input=index,
            )
    return None


def known_filters(layer: Layer) -> Fault | None:
    """The fault of a convolution with dynamic filters that are computed at run time."""
    filters = layer.inputs[1]
    if not isinstance(filters, Tensor) or filters.shape is None or all(isinstance(dim, int) for dim in filters.shape):
        return None
    if 1 not in layer.varying:
        return None
    return not_compiled(
        f"the filters, input 1, are {shape_text(filters.shape)}, but the CPU plugin supports no dynamic sizes there",
        help="write the sizes of the filters, or use a constant",
        input=1,
    )


def without_negatives(*names: str, known_from: int | None = None) -> Callable[[Layer], Fault | None]:
    """The check that attributes of a window have no negative entries.

    With ``known_from``, entries are checked only if the sizes of the data are known from this axis on.
    """

    def refused(layer: Layer) -> Fault | None:
        data = layer.inputs[0]
        shape = tensor_shape(data)
        if known_from is not None and not (shape and all(isinstance(dim, int) for dim in shape[known_from:])):
            return None
        for name in names:
            entries = layer.attributes[name]
            if name.startswith("pads") and layer.attributes["auto_pad"] != "explicit":
                continue
            negative = [entry for entry in entries or () if entry < 0]
            if negative:
                return not_compiled(
                    f"`{name}` has the entry {negative[0]}",
                    help=f"write numbers of at least {0 if name.startswith('pads') else 1}",
                    attribute=name,
                    forbidden=True,
                )
        return None

    return refused


def without_negatives_at_known_axes(*names: str) -> Callable[[Layer], Fault | None]:
    """The check that attributes of a convolution have no negative entries for axes of known sizes."""

    def refused(layer: Layer) -> Fault | None:
        data = layer.inputs[0]
        sizes = data.shape[2:] if isinstance(data, Tensor) and data.shape is not None else ()
        for name in names:
            if name.startswith("pads") and layer.attributes["auto_pad"] != "explicit":
                continue
            entries = layer.attributes[name]
            for axis, (size, entry) in enumerate(zip(sizes, entries or ()), 2):
                if isinstance(size, int) and entry < 0:
                    return not_compiled(
                        f"`{name}` has the entry {entry} for axis {axis}, whose size is known",
                        help=f"write numbers of at least {0 if name.startswith('pads') else 1}",
                        attribute=name,
                        forbidden=True,
                    )
        return None

    return refused


def first_of(*checks: Callable[[Layer], Fault | None]) -> Callable[[Layer], Fault | None]:
    """The check that returns the first fault of several checks."""

    def refused(layer: Layer) -> Fault | None:
        return next((fault for check in checks if (fault := check(layer)) is not None), None)

    return refused


def output_type_at(
    attribute: str, refused: Collection[str], *, dynamic: bool = True, computed: bool = False
) -> Callable[[Layer], Fault | None]:
    """The check that an attribute names a supported element type.

    ``dynamic``: the dynamic type (None) is refused. ``computed``: the dynamic type is refused only if all inputs depend
    only on constants.
    """

    def fault(layer: Layer) -> Fault | None:
        dtype = layer.attributes[attribute]
        accepted = dtype not in refused if dtype is not None else not dynamic
        if accepted or (dtype is None and computed and len(layer.fixed) < len(layer.inputs)):
            return None
        return not_compiled(
            f"attribute `{attribute}` is {dtype or 'dynamic'}, which the CPU plugin does not support as an output",
            help="write a supported element type, such as f32 or i32",
            attribute=attribute,
            forbidden=dtype is None,
        )

    return fault
