"""Records for ONNX's messages before linking: values are names, bodies are records, and types are bytes."""

from __future__ import annotations

from irlint.findings.faults import Fault
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Constant
from irlint.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The other name of the empty domain, which is the domain of ONNX's own operators.
STANDARD = "ai.onnx"


@record(frozen=False)
class NodeRecord:
    """A NodeProto.

    ``linked`` is True if an attribute has a graph or a type. ``metadata`` has only the entry that irlint reads.
    ``spelled_out`` is True if the file writes the empty domain as ``ai.onnx``.
    """

    name: str
    op: str
    domain: str
    overload: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Attribute]
    linked: bool
    faults: list[Fault]
    metadata: dict[str, str]
    spelled_out: bool


class GraphRecord:
    """A GraphProto, which the file gives in ``pieces``, or the graph of a FunctionProto.

    ``inputs``, ``outputs`` and ``declared`` (``value_info``) are names with the bytes of their TypeProto, b"" without a
    type. ``faults`` are about the values with these names. ``annotated`` is True if there are quantization annotations,
    and ``lacks_name`` if an input of the main graph has no name field. ``places`` are the positions of ``nodes`` among
    the nodes in the file.
    """

    __slots__ = (
        "annotated",
        "constants",
        "declared",
        "faults",
        "inputs",
        "lacks_name",
        "name",
        "nodes",
        "outputs",
        "pieces",
        "places",
    )

    def __init__(self, name: str, pieces: int = 1) -> None:
        self.name = name
        self.pieces = pieces
        self.annotated = False
        self.inputs: list[tuple[str, bytes]] = []
        self.outputs: list[tuple[str, bytes]] = []
        self.declared: list[tuple[str, bytes]] = []
        self.constants: list[tuple[str, Constant]] = []
        self.nodes: list[NodeRecord] = []
        self.places: Sequence[int] = ()
        self.faults: list[tuple[str, Fault]] = []
        self.lacks_name = False


@record(frozen=False)
class FunctionRecord:
    """A FunctionProto; ``attributes`` maps each attribute to its default, or to None without a default."""

    domain: str
    name: str
    overload: str
    graph: GraphRecord
    attributes: dict[str, Attribute | None]
    faults: list[Fault]
    imports: list[tuple[str, int]]


def standard(domain: str) -> str:
    """The domain; "" for ``ai.onnx``."""
    return "" if domain == STANDARD else domain
