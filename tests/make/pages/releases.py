"""Which releases of runtimes take an operator, as the tables of ``irlint.targets`` have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape

from irlint.schemas import official_versions
from irlint.targets import operators, tables
from irlint.targets.runtimes import RUNTIMES
from irlint.targets.tables import ranges, short

from .layout import table

#: The opsets that an IR can name.
OPSETS = range(1, 17)

NONE = "none"


def of_onnx(domain: str, name: str) -> str:
    """The releases that take an ONNX operator, by runtime."""
    parts = (
        ("ONNX Runtime", _onnxruntime(domain, name)),
        ("OpenVINO", _front_end(domain, name)),
        ("TensorRT", _tensorrt(domain, name)),
    )
    return "".join(f"<h3>{runtime}</h3>\n{text}" for runtime, text in parts if text)


def _measured(runtime: str, what: str) -> str:
    every = tables.releases(runtime)
    return f"<p>{what} of {len(every)} releases, {short(every[0])} to {short(every[-1])}.</p>\n"


def _onnxruntime(domain: str, name: str) -> str:
    """The schemas and the CPU kernels of each version."""
    versions = sorted(operators.schemas("onnxruntime", f"{domain}:{name}"))
    rows = []
    for since, removed, releases in versions:
        serving = [each for each in operators.rows("onnxruntime", f"{domain}:{name}") if each.serves(since)]
        having = operators.serving("onnxruntime", f"{domain}:{name}", since)
        types = "" if removed else _types(serving)
        kernel = "removed" if removed else _ranges("onnxruntime", having)
        rows.append((str(since), _ranges("onnxruntime", releases), kernel, types))
    if not rows:
        return f"{_measured('onnxruntime', 'Schemas')}<p>No release that was measured has the operator.</p>\n"
    heads = ("version", "releases that know it", "releases with a CPU kernel", "element types of the newest kernel")
    note = ""
    if any(row[2] == NONE for row in rows) and name not in RUNTIMES["onnxruntime"].built_in:
        note = (
            "<p>Without a kernel of its own a version loads only where ONNX defines it by other operators. "
            "<code>irlint targets MODEL</code> follows these definitions.</p>\n"
        )
    return _measured("onnxruntime", "Schemas and CPU kernels were read out") + table(heads, rows) + note


def _types(serving: Sequence[operators.Row]) -> str:
    """The element types that the newest release with kernels of a version takes, by constraint."""
    last = max((each.releases.bit_length() for each in serving), default=0)
    found: dict[str, set[str]] = {}
    for each in serving:
        if each.releases >> (last - 1) & 1:
            for constraint, types in each.types.items():
                found.setdefault(constraint, set()).update(types)
    return "<br>".join(f"{escape(key)}: {escape(', '.join(sorted(types)))}" for key, types in sorted(found.items()))


def _front_end(domain: str, name: str) -> str:
    """The converters of OpenVINO's ONNX front end."""
    found = operators.rows("openvino", f"{domain}:{name}")
    versions = official_versions(name, "") if not domain else (1,)
    rows = []
    for since in versions if found or not domain else ():
        having = operators.serving("openvino", f"{domain}:{name}", since)
        rows.append((str(since), _ranges("openvino", having)))
    heads = ("version", "releases with a converter in the ONNX front end")
    return _measured("openvino", "Converters were asked") + table(heads, rows) if rows else ""


def _tensorrt(domain: str, name: str) -> str:
    """What the vendor's list has."""
    if domain:
        return ""
    found = operators.rows("tensorrt", f":{name}")
    text = _measured("tensorrt", "The vendor's list")
    if not found:
        return f"{text}<p>No release lists the operator.</p>\n"
    rows = [
        (_ranges("tensorrt", each.releases), escape(", ".join(sorted(each.types.get("0", ())))) or "the operator")
        for each in found
    ]
    for each in operators.refusals("tensorrt", f":{name}"):
        refused = " and ".join(stated.text() for stated in each.conditions)
        rows.append((_ranges("tensorrt", each.releases), f"refused with {escape(refused)}"))
    return text + table(("releases", "what they list"), rows)


def of_openvino(name: str) -> str:
    """The releases that read an operation of an IR, by the opset that its layer names."""
    having = {each: operators.serving("openvino-ir", f"opset:{name.lower()}", each) for each in OPSETS}
    rows = [(opsets, _ranges("openvino", mask)) for opsets, mask in _grouped(having.items())]
    heads = ("opset of the layer", "releases that read it")
    return _measured("openvino", "Layers were read in") + table(heads, rows)


def _grouped(having: Iterable[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    """Opsets in a row that the same releases have."""
    groups: list[tuple[list[int], int]] = []
    for opset, mask in having:
        if groups and groups[-1][1] == mask:
            groups[-1][0].append(opset)
        else:
            groups.append(([opset], mask))
    for opsets, mask in groups:
        yield (f"opset{opsets[0]}" if len(opsets) == 1 else f"opset{opsets[0]} to opset{opsets[-1]}"), mask


@cache
def _ranges(runtime: str, mask: int) -> str:
    return ranges(runtime, mask) if mask else NONE
