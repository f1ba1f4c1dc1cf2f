"""Models of ONNX and IRs whose values are at fault, each beside a sound one that differs in as little as possible.

A line of ``value_faults.txt`` has the outcome, the places, the rule and the model, with ``~fault|sound~`` wherever the
two differ. Outcomes of every run with random inputs:

    nan, inf   an output has NaN, or infinity, in it
    bad        an output has NaN or infinity in it
    const      the output is the same whatever the inputs are
    wrong      the output differs from that of the sound model
    fused      the engine's optimizations change the output
    float      the engine computes in float32 what it computes in integers in the sound model
    refused    the engine does not load or run the model

The places are names of nodes, of constants, or of layers, at one of which the finding has to be; the rule is ``-``
where irlint does not report the fault. A model of ONNX is written as in the other cases. The layers of an IR stand one
behind the other, between `` / ``: a name, `` = `` and what one line of the other cases has, with names of layers for
inputs; the last one is the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx
from cases.models import OV_TYPES, fed, text_model
from cases.notation import Text, alternatives, given

FILE = Path(__file__).with_suffix(".txt")


@dataclass(frozen=True)
class ValueFault:
    """A faulty model and its sound twin, as texts."""

    outcome: str
    places: tuple[str, ...]
    rule: str
    bad: str
    good: str

    @property
    def is_ir(self) -> bool:
        return not self.bad.startswith("onnx@")


def value_faults() -> Iterator[ValueFault]:
    """Those of the file."""
    for line in FILE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            outcome, places, rule, model = line.split(" ", 3)
            bad, good = alternatives(model)
            yield ValueFault(outcome, tuple(places.split(",")), rule, bad, good)


def onnx_of(text: str) -> onnx.ModelProto:
    """A model of ONNX from its line."""
    head, rest = text.split(" ", 1)
    return text_model(Text(head.removeprefix("onnx@"), rest))


def ir_of(text: str) -> tuple[str, bytes]:
    """An IR from its line: the document and its weights."""
    layers, edges, weights = [], [], b""
    ports: dict[str, str] = {}
    for number, step in enumerate(text.split(" / ")):
        name, body = step.split(" = ", 1)
        if "@" in body.split(" ", 1)[0]:
            layer, sources, port = _operation(number, name, body)
            edges += [(ports[source], number, entry) for entry, source in enumerate(sources)]
        else:
            layer, port = _source(number, name, body, len(weights)), 0
            array = fed(given(body))
            weights += b"" if "Parameter" in layer else array.tobytes()  # type: ignore[union-attr]
        layers.append(layer)
        ports[name] = f'from-layer="{number}" from-port="{port}"'
    last = len(layers)
    layers.append(
        f'<layer id="{last}" name="result" type="Result" version="opset1"><input><port id="0"/></input></layer>'
    )
    edges.append((ports[name], last, 0))
    joined = "".join(f'<edge {source} to-layer="{layer}" to-port="{entry}"/>\n' for source, layer, entry in edges)
    head = '<?xml version="1.0"?>\n<net name="g" version="11">'
    return "\n".join([head, "<layers>", *layers, "</layers>", "<edges>", f"{joined}</edges>", "</net>\n"]), weights


def _operation(number: int, name: str, body: str) -> tuple[str, list[str], int]:
    head, _, attributes = body.partition(" ; ")
    (kind, *sources) = head.split(" ")
    op, version = kind.split("@")
    data = " ".join('{}="{}"'.format(*pair.split("=", 1)) for pair in attributes.split(" ") if pair)
    entries = "".join(f'<port id="{entry}"/>' for entry in range(len(sources)))
    port = len(sources)
    return (
        f'<layer id="{number}" name="{name}" type="{op}" version="opset{version}"><data {data}/>'
        f'<input>{entries}</input><output><port id="{port}" precision="dynamic"/></output></layer>',
        sources,
        port,
    )


def _source(number: int, name: str, body: str, offset: int) -> str:
    """A Parameter, or a Const whose bytes begin at an offset."""
    value = given(body)
    kind, dims = OV_TYPES[value.dtype], value.dims or ()
    data = f'element_type="{kind}" shape="{",".join(map(str, dims))}"'
    if value.values is not None:
        data += f' offset="{offset}" size="{fed(value).nbytes}"'  # type: ignore[union-attr]
    op = "Parameter" if value.values is None else "Const"
    sizes = "".join(f"<dim>{dim}</dim>" for dim in dims)
    return (
        f'<layer id="{number}" name="{name}" type="{op}" version="opset1"><data {data}/>'
        f'<output><port id="0" precision="{kind}">{sizes}</port></output></layer>'
    )
