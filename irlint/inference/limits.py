"""Checks the outputs of a node: sizes that no tensor has, too many axes, and ports that the operation lacks."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.binding.calls import OUTPUT_COUNT
from irlint.dims import Expr
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.unknowns import is_complete
from irlint.model import Graph, Model, Node
from irlint.model.tensor import CONTENTS_LIMIT, Tensor, Type

SIZE_TOO_LARGE = Rule(
    "IRL303",
    "size-too-large",
    Severity.ERROR,
    "A size is larger than any tensor can have.",
    why=(
        "Both formats store sizes as signed 64-bit integers. No runtime has a tensor with an axis of more than "
        "9223372036854775807 elements, and arithmetic with such a size overflows."
    ),
    fix="Find the origin of the size: a repeat, a pad or a scale that is too large, or damaged data.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[n] y) <int64[1] r = {4611686018427387904}> { y = Tile (x, r) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[n] y) <int64[1] r = {4}> { y = Tile (x, r) }""",
)

RANK_TOO_LARGE = Rule(
    "IRL304",
    "rank-too-large",
    Severity.WARNING,
    "A list with one entry per axis is too long for irlint to infer the shape.",
    why=(
        "irlint stores lists of up to 256 entries. ONNX Runtime and many operators of OpenVINO accept more axes, but "
        "NumPy arrays have at most 64, so a longer list is probably a mistake. irlint does not check the shapes of "
        "nodes that depend on the result."
    ),
    fix="Find the origin of the list. Its length is the number of axes.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6] x, int64[300] s) => (float[m,n] y) { z = Reshape (x, s) y = Flatten <axis = 0> (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6] x, int64[3] s) => (float[m,n] y) { z = Reshape (x, s) y = Flatten <axis = 0> (z) }""",
)

#: The largest size.
LARGEST = 2**63 - 1


def too_large(outputs: Sequence[Type | None]) -> Fault | None:
    """The fault of an output size that no tensor can have, or None."""
    for index, known in enumerate(outputs):
        if not isinstance(known, Tensor) or known.shape is None:
            continue
        for axis, dim in enumerate(known.shape):
            if isinstance(dim, int) and dim > LARGEST:
                size = str(dim) if dim.bit_length() < 256 else f"about 2**{dim.bit_length() - 1}"
                return SIZE_TOO_LARGE.fault(
                    f"axis {axis} of output {index} is {size}; a size has to be at most {LARGEST}",
                    help="find the origin of the size",
                )
    return None


def too_many_axes(inputs: Sequence[Type | None], outputs: Sequence[Type | None]) -> Fault | None:
    """The fault of an input list with too many entries, which makes the rank of an output unknown; or None."""
    for port, output in enumerate(outputs):
        if not isinstance(output, Tensor) or output.shape is not None:
            continue
        for index, operand in enumerate(inputs):
            match operand:
                case Tensor(shape=None) | Tensor(dtype="int32" | "int64", shape=(None | Expr(),)):
                    return None
                case Tensor(dtype="int32" | "int64", shape=(int(count),)) if count > CONTENTS_LIMIT:
                    return RANK_TOO_LARGE.fault(
                        f"input {index} has {count} entries, one for each axis; irlint infers shapes of at most "
                        f"{CONTENTS_LIMIT} axes, and uses the declaration of output {port}",
                        help="find the origin of the list",
                        input=index,
                    )
    return None


def surplus_outputs(model: Model, graph: Graph, node: Node, count: int) -> tuple[Fault, ...]:
    """The fault of output ports that the operation does not have.

    At the format's ``lenient_version``, the fault is a warning if nothing uses these ports.
    """
    form = model.format
    if form is None or not form.operators_count_outputs or len(node.outputs) <= max(count, 1):
        return ()
    from irlint.binding.openvino_attributes import version_advice

    fault = OUTPUT_COUNT.fault(
        f"the layer has {counted(len(node.outputs), 'output port')}; the operation makes {count} here",
        help=version_advice(node) or f"remove the output ports from index {count} on",
    )
    surplus = set(node.outputs[count:])
    are_unused = all(surplus.isdisjoint(other.inputs) for other in graph.nodes)
    is_lenient = model.format_version == form.lenient_version and are_unused
    return (fault.lowered(Severity.WARNING) if is_lenient else fault,)


class Limits:
    """Checks outputs against the limits of this module. Outputs that equal nodes share are checked once."""

    __slots__ = ("_complete", "_within")

    def __init__(self) -> None:
        # By id. The values keep the outputs alive, so that no id is reused.
        self._within: dict[int, tuple[Type | None, ...]] = {}
        self._complete: set[int] = set()

    def are_complete(self, outputs: tuple[Type | None, ...] | None) -> bool:
        """Whether outputs were checked and have no unknown part."""
        return id(outputs) in self._complete

    def checked(
        self, node: Node, inputs: Sequence[Type | None], outputs: tuple[Type | None, ...]
    ) -> tuple[tuple[Type | None, ...] | None, tuple[Fault, ...]]:
        """(the outputs, the faults of the limits). The outputs are None if one of them is too large for a tensor."""
        if id(outputs) in self._within:
            return outputs, ()
        large = too_large(outputs)
        if large is not None:
            return None, (large,)
        long = None if node.bodies else too_many_axes(inputs, outputs)
        if long is not None:
            return outputs, (long,)
        self._within[id(outputs)] = outputs
        if all(map(is_complete, outputs)):
            self._complete.add(id(outputs))
        return outputs, ()
