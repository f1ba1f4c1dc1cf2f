"""Records for ONNX's messages before linking: values are names, bodies are records, and types are bytes."""

from __future__ import annotations

from irlint.findings.faults import Fault
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Constant
from irlint.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The other name of the domain "", which has ONNX's own operators.
STANDARD = "ai.onnx"


@record(frozen=False)
class NodeRecord:
    """A NodeProto."""

    name: str
    op: str
    domain: str
    overload: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Attribute]
    #: Whether an attribute has a graph or a type.
    needs_linking: bool
    faults: list[Fault]
    #: The metadata entry that irlint reads, if any.
    metadata: dict[str, str]
    #: Whether the file writes the domain "" as ``ai.onnx``.
    spelled_out: bool


class GraphRecord:
    """A GraphProto, or the graph of a FunctionProto."""

    __slots__ = (
        "annotated",
        "constants",
        "faults",
        "inputs",
        "lacks_name",
        "name",
        "nodes",
        "outputs",
        "pieces",
        "places",
        "value_info",
    )

    def __init__(self, name: str, pieces: int = 1) -> None:
        self.name = name
        #: The number of pieces of the message in the file. Protobuf merges pieces of one message.
        self.pieces = pieces
        #: Whether there are quantization annotations.
        self.annotated = False
        #: (name, bytes of the TypeProto) of each input. The bytes are empty if the input has no type.
        self.inputs: list[tuple[str, bytes]] = []
        self.outputs: list[tuple[str, bytes]] = []
        self.value_info: list[tuple[str, bytes]] = []
        self.constants: list[tuple[str, Constant]] = []
        self.nodes: list[NodeRecord] = []
        #: The position of each of ``nodes`` in the list of the file. Skipped nodes of the file are not in ``nodes``.
        self.places: Sequence[int] = ()
        #: (name of a damaged initializer, its fault).
        self.faults: list[tuple[str, Fault]] = []
        #: Whether an input of the main graph has no name field.
        self.lacks_name = False


@record(frozen=False)
class FunctionRecord:
    """A FunctionProto."""

    domain: str
    name: str
    overload: str
    graph: GraphRecord
    #: The default of each attribute, or None.
    attributes: dict[str, Attribute | None]
    faults: list[Fault]
    imports: list[tuple[str, int]]


def standard(domain: str) -> str:
    """The domain; "" for ``ai.onnx``."""
    return "" if domain == STANDARD else domain
