"""Records for ONNX's messages before linking: values are names, bodies are records, and types are bytes."""

from __future__ import annotations

from irlint.findings.faults import Fault
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Constant
from irlint.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The other name of the empty domain.
STANDARD = "ai.onnx"


@record(frozen=False)
class NodeRecord:
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
    """A graph. ``inputs``, ``outputs`` and ``declared`` (``value_info``) are names with the bytes of their TypeProto.

    The bytes are empty without a type. ``lacks_name`` is True if an input of the main graph has no name field.
    ``places`` are the positions of ``nodes`` in the file.
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
    domain: str
    name: str
    overload: str
    graph: GraphRecord
    attributes: dict[str, Attribute | None]
    faults: list[Fault]
    imports: list[tuple[str, int]]


def standard(domain: str) -> str:
    """A domain in its short form: "" for ``ai.onnx``."""
    return "" if domain == STANDARD else domain
