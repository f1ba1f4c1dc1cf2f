"""Checks the attributes in ``rt_info`` of layers and ports, and the older ``meta_data``."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted
from irlint.model import Place
from irlint.parsers.openvino.layers import Element, Layer, LayerReader, first_children, texts
from irlint.parsers.openvino.outputs import GOOD
from irlint.parsers.openvino.types import BLANKS, element_type, leading_number

RT_INFO_REPEATED = Rule(
    "IRL122",
    "rt-info-repeated",
    Severity.ERROR,
    "The rt_info of a layer or a port contains an attribute twice.",
    why=(
        "OpenVINO identifies some attributes of rt_info by name and version. It refuses a model of version 11 if one "
        'rt_info contains the same attribute twice: "multiple rt_info attributes are detected".'
    ),
    fix="Remove one of the two.",
    bad=GOOD.replace("</rt_info>", '<attribute name="fused_names" version="0" value="y"/></rt_info>'),
    good=GOOD,
)

RT_INFO_VALUE = Rule(
    "IRL150",
    "rt-info-value-refused",
    Severity.ERROR,
    "An attribute in the rt_info of a layer or a port has a value that OpenVINO cannot read.",
    why=(
        "From rt_info, OpenVINO reads layouts, and the inputs of a model before its conversion. It refuses a model "
        "of version 11 if such a value is invalid, or if a layout has another number of axes than the input."
    ),
    fix="Correct the value, or remove the attribute. The model computes the same without it.",
    bad=GOOD.replace("</rt_info>", '<attribute name="old_api_map_order" version="0" value="x,0"/></rt_info>'),
    good=GOOD.replace("</rt_info>", '<attribute name="old_api_map_order" version="0" value="1,0"/></rt_info>'),
)

META_DATA_VALUE = Rule(
    "IRL151",
    "meta-data-without-value",
    Severity.ERROR,
    "An entry of the meta_data section has no value.",
    why='OpenVINO refuses an entry of <meta_data> without a value: "Unsupported legacy argument".',
    fix="Add the value, or remove the entry or the section. The model computes the same without it.",
    bad=GOOD.replace("</net>", "  <meta_data><MO_version/></meta_data>\n</net>"),
    good=GOOD.replace("</net>", '  <meta_data><MO_version value="2021.4"/></meta_data>\n</net>'),
)

#: The standard names of axes in a layout, by their synonyms.
_AXES = {"B": "N", "BATCH": "N", "CHANNEL": "C", "CHANNELS": "C", "DEPTH": "D", "HEIGHT": "H", "WIDTH": "W"}


def check_attributes(layers: Iterable[Layer], outputs: Iterable[Place], reader: LayerReader) -> None:
    """Complains of attributes that an ``rt_info`` repeats, and of attributes with values that OpenVINO refuses.

    ``outputs`` are the places of the ports that are outputs of the model.
    """
    named = {place.element for place in outputs}
    for layer in layers:
        if not layer.children:
            continue
        info = layer.children.get("rt_info")
        if layer.live and info is not None:
            _check(info, layer, None, reader)
        for side, ports in (("input", layer.inputs), ("output", layer.outputs)) if layer.live else ():
            parent = layer.children.get(side)
            for port, element in zip(ports, () if parent is None else parent.iterchildren("port")):
                info = first_children(element).get("rt_info")
                if info is None:
                    continue
                of_result = side == "output" and (
                    layer.type == "Parameter" or layer.place.located(port.place).element in named
                )
                rank = len(port.type.shape) if of_result and port.type.shape else None
                _check(info, layer, rank, reader)


def check_meta_data(element: Element, reader: LayerReader) -> None:
    """Complains of a text in ``<meta_data>`` or else of the first entry without a value."""
    loose = next(texts(element), None)
    if loose is not None:
        fault = META_DATA_VALUE.fault(
            f'<meta_data> contains the text "{loose.strip(BLANKS)[:40]}", which is not an entry with a value',
            help="remove the text, or the section",
        )
        reader.complain(fault, Place(reader.ordinals[element]))
        return
    for entry in element.iterchildren("*"):
        if entry.tag != "cli_parameters" and "value" not in entry.attrib:
            fault = META_DATA_VALUE.fault(
                f"the entry <{entry.tag}> of <meta_data> has no value",
                help='write value="…", or remove the entry',
            )
            reader.complain(fault, Place(reader.ordinals[entry]))
            return


def _check(info: Element, layer: Layer, rank: int | None, reader: LayerReader) -> None:
    """Checks one ``rt_info``. ``rank`` is the rank of the port if it is an input or output of the model, else None."""
    seen: set[str] = set()
    for each in info.iterchildren("attribute"):
        name = each.get("name")
        if name not in ATTRIBUTES or each.get("version") != "0":
            continue
        place = Place(reader.ordinals[each])
        if name in seen:
            fault = RT_INFO_REPEATED.fault(
                f"an <rt_info> of {layer.text} contains {name} twice", help=f"keep one of the two {name}"
            )
            reader.complain(fault, place, layer)
            continue
        seen.add(name)
        written = "layout" if name == "layout" else "value"
        remark = ATTRIBUTES[name](each.get(written, ""), rank) if written in each.attrib or name in UNREADABLE else ""
        if remark:
            fault = RT_INFO_VALUE.fault(
                f'{name} in an <rt_info> of {layer.text} is "{each.get(written, "")}": {remark}',
                help=f"correct {name}, or remove it",
                attribute=written,
            )
            reader.complain(fault, Place(place.element, written), layer)


def _no_fault(text: str, rank: int | None) -> str:
    return ""


def _order_fault(text: str, rank: int | None) -> str:
    fields = text.removesuffix(",").split(",") if text else []
    for field in fields:
        try:
            axis = leading_number(field)[0]
        except ValueError:
            axis = -1
        if axis < 0 or "+" in field:
            return f'"{field}" is not an axis'
    return ""


def _type_fault(text: str, rank: int | None) -> str:
    try:
        element_type(text)
    except ValueError:
        return "this is not an element type"
    return ""


def _layout_fault(text: str, rank: int | None) -> str:
    """The fault in a layout such as ``NCHW``, ``[N,C,...]`` or ``N...C``, or ""."""
    text = text.strip(BLANKS)
    if not text:
        return ""
    names = [] if text == "**SCALAR**" else _axes_or_fault(text)
    if isinstance(names, str):
        return names
    count = len(names) - ("..." in names)
    if names == ["SCALAR"] and text.startswith("["):
        count = 0
    if rank is not None and (count > rank or (count < rank and "..." not in names)):
        return f"it has {counted(count, 'axis', 'axes')}, and the value has {rank}"
    return ""


def _axes_or_fault(text: str) -> list[str] | str:
    is_list = len(text) > 1 and text[0] == "[" and text[-1] == "]"
    found = _listed_axes(text[1:-1]) if is_list else _lettered_axes(text)
    if found is None:
        return "an axis is a letter, a digit, ? or ..."
    names = [_AXES.get(name.upper(), name.upper()) for name in found]
    odd = next((name for name in names if name not in ("?", "...") and not _is_name(name)), None)
    if odd is not None:
        return f'"{odd}" is not the name of an axis' if odd else "an axis has no name"
    twice = next((name for at, name in enumerate(names) if name != "?" and name in names[:at]), None)
    return names if twice is None else f'the axis "{twice}" appears twice'


def _listed_axes(text: str) -> list[str]:
    """The axes of a layout in brackets. A comma at the end adds no axis, except after ``...``."""
    names = [name.strip(BLANKS) for name in text.removesuffix(",").split(",")]
    return [*names, ""] if text.endswith("...,") else names


def _lettered_axes(text: str) -> list[str] | None:
    if "...." in text or "_" in text:
        return None
    letters = list(text.replace("...", "\0"))
    return None if "." in letters else ["..." if letter == "\0" else letter for letter in letters]


def _is_name(text: str) -> bool:
    plain = text.replace("_", "a")
    return plain.isascii() and plain.isalnum()


#: Attributes that OpenVINO cannot read from a file, whatever their value.
UNREADABLE = frozenset(["nms_selected_indices"])

#: The attributes of version 0 that OpenVINO reads. Each function returns the fault for (value, rank), or "".
ATTRIBUTES: dict[str, Callable[[str, int | None], str]] = {
    "DisablePrecisionConversion": _no_fault,
    "decompression": _no_fault,
    "fused_names": _no_fault,
    "layout": _layout_fault,
    "old_api_map_element_type": _type_fault,
    "old_api_map_order": _order_fault,
    "precise": _no_fault,
    "nms_selected_indices": lambda text, rank: "OpenVINO cannot read this attribute from a file",
    "primitives_priority": _no_fault,
}

#: The attributes that may have any value.
UNCHECKED = frozenset([name for name, check in ATTRIBUTES.items() if check is _no_fault])
