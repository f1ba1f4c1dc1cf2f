"""Checks of the weights, states and activations of recurrent operators."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, at_least, product, same
from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted, listed
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import Floats
from irlint.ops.shared.element_types import ARITHMETIC, common_type, expect_type
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.records import record

Direction = Literal["forward", "reverse", "bidirectional"]

WEIGHTS_MISMATCH = Rule(
    "IRL375",
    "recurrent-weights-mismatch",
    Severity.ERROR,
    "The shape of a recurrent operator's weight contradicts the other sizes.",
    why=(
        "W, R, B and P have a block of `hidden_size` rows for each gate: 4 in LSTM, 3 in GRU, 1 in RNN. W is "
        "multiplied with the input, and R with the hidden state. Runtimes refuse any other shape, most of them only "
        "when the node runs."
    ),
    fix=(
        "Check the number of gates, `hidden_size`, the size of the input and the number of directions. The message "
        "names the axis."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,30,4] w, float[1,40,10] r) => (float[5,1,3,10] y) { y = LSTM <hidden_size = 10> (x, w, r) \
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,40,4] w, float[1,40,10] r) => (float[5,1,3,10] y) { y = LSTM <hidden_size = 10> (x, w, r) \
}""",
)

STATE_MISMATCH = Rule(
    "IRL376",
    "recurrent-state-mismatch",
    Severity.ERROR,
    "The input, the initial states and the sequence lengths of a recurrent operator have contradicting sizes.",
    why=(
        "The batch size, the number of directions and the hidden size must be equal in all of them. Otherwise, "
        "runtimes refuse the node, most of them only when it runs."
    ),
    fix=(
        "Check the sizes and the order of the axes: sequence, batch, input in ONNX; batch first in OpenVINO and with "
        "`layout=1`."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,40,4] w, float[1,40,10] r, float[1,5,10] h) => (float[5,1,3,10] y) {
  y = LSTM <hidden_size = 10> (x, w, r, , , h)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,40,4] w, float[1,40,10] r, float[1,3,10] h) => (float[5,1,3,10] y) {
  y = LSTM <hidden_size = 10> (x, w, r, , , h)
}""",
)

ACTIVATIONS_MISMATCH = Rule(
    "IRL377",
    "recurrent-activations-mismatch",
    Severity.ERROR,
    "A recurrent operator has too few or too many activations, or an unknown one.",
    why=(
        "Each direction needs its own activations: three in an LSTM, two in a GRU, one in an RNN. ONNX Runtime "
        "refuses to load a model with fewer, more or unknown activations. OpenVINO reads an IR with too few "
        "activations, but cannot compile it. The sequence operators of OpenVINO have no default activations, and "
        "compile only with relu, sigmoid and tanh."
    ),
    fix="List the activations of all directions, one direction after the other.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,40,4] w, float[1,40,10] r) => (float[5,1,3,10] y) {
  y = LSTM <hidden_size = 10, activations = ["Sigmoid", "Tanh"]> (x, w, r)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,40,4] w, float[1,40,10] r) => (float[5,1,3,10] y) {
  y = LSTM <hidden_size = 10, activations = ["Sigmoid", "Tanh", "Tanh"]> (x, w, r)
}""",
    refused=(Refusal("onnxruntime", ("dead by size",)),),
)

HIDDEN_SIZE = Rule(
    "IRL378",
    "recurrent-hidden-size-unclear",
    Severity.WARNING,
    "`hidden_size` is missing or disagrees with the weights.",
    why=(
        "By the ONNX specification, `hidden_size` is optional, but ONNX Runtime refuses a node without it. OpenVINO "
        "reads the size from the weights and ignores the attribute; other readers of the file use the attribute."
    ),
    fix="Set `hidden_size` to the size of R's last axis.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,40,4] w, float[1,40,10] r) => (float[5,1,3,10] y) { y = LSTM (x, w, r) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,3,4] x, float[1,40,4] w, float[1,40,10] r) => (float[5,1,3,10] y) { y = LSTM <hidden_size = 10> (x, w, r) \
}""",
)

KNOWN_ACTIVATIONS = frozenset(
    [
        "relu",
        "tanh",
        "sigmoid",
        "affine",
        "leakyrelu",
        "thresholdedrelu",
        "scaledtanh",
        "hardsigmoid",
        "elu",
        "softsign",
        "softplus",
    ]
)
OV_ACTIVATIONS = frozenset(["sigmoid", "tanh", "relu"])

#: Activations that OpenVINO reads in a cell, but does not compile.
OV_ONLY_READ = frozenset(["hardsigmoid"])


@record
class Kind:
    """A kind of recurrent network."""

    name: str
    #: The number of gates.
    gates: int
    #: OpenVINO's default activations of a direction.
    activations: tuple[str, ...]
    #: Whether ONNX Runtime accepts a ``clip`` that is not positive.
    any_clip: bool = False


def check_activations(given: Sequence[str], kind: Kind, *, directions: int, known: frozenset[str]) -> None:
    """Checks the number and the names of activations. Raises an ``ACTIVATIONS_MISMATCH`` fault."""
    wanted = len(kind.activations) * directions
    if len(given) != wanted:
        raise ACTIVATIONS_MISMATCH.fault(
            f"`activations` has {counted(len(given), 'entry', 'entries')}; {kind.name} needs {wanted} with "
            f"{_directions_text(directions)}",
            help=f"write {wanted} activations",
            attribute="activations",
        )
    check_activation_names(given, known)


def check_activation_names(given: Sequence[str], known: frozenset[str]) -> None:
    """Checks that each activation is ``known`` in lower case. Raises an ``ACTIVATIONS_MISMATCH`` fault."""
    unknown = [name for name in given if name.lower() not in known]
    if unknown:
        raise ACTIVATIONS_MISMATCH.fault(
            f'`activations` has "{unknown[0]}"; allowed: {", ".join(sorted(known))}',
            help="use one of the allowed activations",
            attribute="activations",
        )


def _directions_text(directions: int) -> str:
    return "1 direction" if directions == 1 else f"{directions} directions"


# --- ONNX -------------------------------------------------------------------------------------------------------------


#: If at least this many weights agree on another number of directions, the attribute is reported.
DIRECTED = 2


@group
@record
class OnnxCell:
    """The common attributes of recurrent ONNX operators."""

    activation_alpha: Floats | None = None
    activation_beta: Floats | None = None
    activations: tuple[str, ...] | None = None
    clip: float | None = None
    direction: Direction = "forward"
    hidden_size: int | None = None


@record
class Sizes:
    """The sizes that the inputs of a recurrent operator share."""

    sequence: MaybeDim
    batch: MaybeDim
    input: MaybeDim
    hidden: MaybeDim
    directions: int
    #: 0 if the sequence is before the batch, else 1.
    layout: int = 0

    def state(self) -> tuple[tuple[str, MaybeDim], ...]:
        """(Name, size) of each axis of a state."""
        axes = (("num_directions", self.directions), ("batch_size", self.batch))
        return (*(reversed(axes) if self.layout else axes), ("hidden_size", self.hidden))


def shared_sizes(
    kind: Kind, x: Tensor, r: Tensor | None, *, h: Tensor | None, cell: OnnxCell, layout: int = 0
) -> Sizes:
    """The sizes of an ONNX operator, from its inputs and attributes.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` or ``STATE_MISMATCH`` fault. A missing ``hidden_size`` and ``layout`` 1 are
    reported as warnings.
    """
    hidden_size = cell.hidden_size
    if hidden_size is None:
        warn(
            HIDDEN_SIZE.fault(
                f"{kind.name} has no `hidden_size`: the specification allows it, but ONNX Runtime refuses it",
                help="set `hidden_size` to the size of R's last axis",
            )
        )
    elif hidden_size < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`hidden_size` is {hidden_size}; expected at least 1",
            help="write the number of neurons of the hidden layer",
            attribute="hidden_size",
        )
    hidden = narrower(hidden_size, size(r, 2, 3), size(h, 2, 3))
    batch_axis = 0 if layout else 1
    batch = narrower(size(x, batch_axis, 3), size(h, batch_axis, 3))
    outer = (("seq_length", None), ("batch_size", batch))
    check(x, Expected(0, "X", (*(reversed(outer) if layout else outer), ("input_size", None)), STATE_MISMATCH))
    if layout not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`layout` is {layout}; allowed: 0 (sequence first) and 1 (batch first)",
            help="use 0 or 1",
            attribute="layout",
        )
    if layout:
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            "`layout` is 1: the specification allows it, but ONNX Runtime refuses it",
            help="transpose the inputs and the outputs, and remove `layout`",
            attribute="layout",
        )
        warn(fault.lowered(Severity.WARNING))
    directions = 2 if cell.direction == "bidirectional" else 1
    return Sizes(size(x, 1 - batch_axis, 3), batch, size(x, 2, 3), hidden, directions, layout)


def check_weights(
    kind: Kind, sizes: Sizes, *, w: Tensor | None, r: Tensor | None, b: Tensor | None, transposed: bool = False
) -> None:
    """Checks W, R and B of an ONNX operator. Raises a ``WEIGHTS_MISMATCH`` fault.

    ``transposed``: W and R have the gates on the last axis.
    """
    gates = kind.gates
    _check_directions(sizes, (("W", size(w, 0, 3)), ("R", size(r, 0, 3)), ("B", size(b, 0, 2))))
    directions = ("num_directions", sizes.directions)
    rows = (f"{gates}*hidden_size" if gates > 1 else "hidden_size", product((gates, sizes.hidden)))
    for index, name, tensor, columns in (
        (1, "W", w, ("input_size", sizes.input)),
        (2, "R", r, ("hidden_size", sizes.hidden)),
    ):
        axes = (directions, columns, rows) if transposed else (directions, rows, columns)
        check(tensor, Expected(index, name, axes, WEIGHTS_MISMATCH))
    both = product((2 * gates, sizes.hidden))
    if b is not None and isinstance(both, int) and same(size(b, 1, 2), both // 2):
        raise WEIGHTS_MISMATCH.fault(
            f"axis 1 of input 3 (B) is {both // 2}, which is {gates}*hidden_size; expected {2 * gates}*hidden_size, "
            f"which is {both}: the biases Wb and then Rb",
            help="concatenate the missing biases on axis 1: zeros if each gate has only one bias",
            input=3,
            marks=((3, 1),),
            aligned="left",
        )
    check(b, Expected(3, "B", (directions, (f"{2 * gates}*hidden_size", both)), WEIGHTS_MISMATCH))


def _check_directions(sizes: Sizes, weights: tuple[tuple[str, MaybeDim], ...]) -> None:
    """Raises a ``WEIGHTS_MISMATCH`` fault if all weights have another number of directions than ``sizes``; ``weights``
    has (name, number of directions) of each weight."""
    given = [(index, name, dim) for index, (name, dim) in enumerate(weights, 1) if dim is not None]
    other, word = (1, "forward") if sizes.directions > 1 else (2, "bidirectional")
    if len(given) < DIRECTED or any(dim != other for _, _, dim in given):
        return
    names = listed([f"input {index} ({name})" for index, name, _ in given])
    raise WEIGHTS_MISMATCH.fault(
        f"axis 0 (num_directions) is {other} in {names}; `direction` asks for {sizes.directions}",
        help=f"set `direction = {word}`, or use weights for {counted(sizes.directions, 'direction')}",
        input=1,
        marks=tuple((index, 0) for index, _, _ in given),
        aligned="left",
    )


def check_peepholes(p: Tensor | None, sizes: Sizes) -> None:
    """Checks P of an ONNX LSTM. Raises a ``WEIGHTS_MISMATCH`` fault."""
    axes = (("num_directions", sizes.directions), ("3*hidden_size", product((3, sizes.hidden))))
    check(p, Expected(7, "P", axes, WEIGHTS_MISMATCH))


def check_states(sizes: Sizes, lengths: Tensor | None, h: Tensor | None, *, c: Tensor | None = None) -> None:
    """Checks the lengths and the initial states of an ONNX operator. Raises a ``STATE_MISMATCH`` fault."""
    check(lengths, Expected(4, "sequence_lens", (("batch_size", sizes.batch),), STATE_MISMATCH))
    check(h, Expected(5, "initial_h", sizes.state(), STATE_MISMATCH))
    check(c, Expected(6, "initial_c", sizes.state(), STATE_MISMATCH))
    known = lengths.ints if lengths is not None and lengths.ints is not None else ()
    wrong = [entry for entry in known if at_least(entry, 0) is False or at_least(sizes.sequence, entry) is False]
    if wrong:
        limit = "at least 0" if sizes.sequence is None else f"0 to {sizes.sequence}, the length of the sequence"
        raise STATE_MISMATCH.fault(
            f"input 4 (sequence_lens) has the entry {wrong[0]}; allowed: {limit}",
            help="use lengths within the sequence",
            input=4,
        )


def check_options(kind: Kind, sizes: Sizes, cell: OnnxCell) -> None:
    """Checks the activations and the clipping of an ONNX operator.

    Raises an ``ACTIVATIONS_MISMATCH`` or ``ATTRIBUTE_OUT_OF_RANGE`` fault.
    """
    clip = cell.clip
    if cell.activations:
        check_activations(cell.activations, kind, directions=sizes.directions, known=KNOWN_ACTIVATIONS)
    if clip is not None and not clip > 0:
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`clip` is {clip:g}; expected more than 0", help="remove `clip` for no clipping", attribute="clip"
        )
        if not kind.any_clip:
            raise fault
        warn(fault.lowered(Severity.WARNING))


def outputs(dtype: str | None, sizes: Sizes, count: int) -> tuple[Tensor, ...]:
    """The output Y and ``count`` - 1 final states."""
    state = tuple(dim for _, dim in sizes.state())
    if sizes.layout:
        y: Shape = (sizes.batch, sizes.sequence, sizes.directions, sizes.hidden)
    else:
        y = (sizes.sequence, sizes.directions, sizes.batch, sizes.hidden)
    return (Tensor(dtype, y), *(Tensor(dtype, state) for _ in range(count - 1)))


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


@group
@record
class OpenvinoCell:
    """The common attributes of OpenVINO's recurrent operations."""

    hidden_size: int
    activations: str | None = None
    activations_alpha: Floats = ()
    activations_beta: Floats = ()
    clip: float = 0.0

    def names(self, default: tuple[str, ...] = ()) -> list[str]:
        """The names in ``activations``; the ``default`` if the attribute is missing."""
        if self.activations is None:
            return list(default)
        return [name for part in self.activations.split(",") if (name := part.strip(" \t\n\v\f\r"))]


def ov_hidden_size(hidden_size: int | None, found: MaybeDim) -> MaybeDim:
    """The hidden size ``found`` in the inputs, or else the attribute ``hidden_size``.

    Reports a ``HIDDEN_SIZE`` warning if they differ.
    """
    if not isinstance(found, int) and hidden_size and hidden_size > 0:
        agree(found, hidden_size, "the inputs have the hidden size that `hidden_size` states")
        return hidden_size
    if hidden_size and same(hidden_size, found) is False:
        warn(
            HIDDEN_SIZE.fault(
                f"`hidden_size` is {hidden_size}, but the inputs have {found}, which OpenVINO uses",
                help=f"write {found} as `hidden_size`, or use weights for {hidden_size}",
                attribute="hidden_size",
            )
        )
    return found


@record
class OpenvinoInputs:
    """The inputs of a recurrent OpenVINO operation."""

    kind: Kind
    x: Tensor
    states: tuple[Tensor, ...]
    w: Tensor
    r: Tensor
    b: Tensor | None
    lengths: Tensor | None = None
    #: The number of directions of a sequence; None for a cell.
    directions: int | None = None
    #: The number of gates in the bias; None if it is ``kind.gates``.
    bias_gates: int | None = None

    def checked_sizes(self, hidden_size: int | None) -> tuple[MaybeDim, MaybeDim, MaybeDim]:
        """(Batch size, sequence length or None for a cell, hidden size), after checking the shapes of all inputs.

        Raises a ``STATE_MISMATCH`` or ``WEIGHTS_MISMATCH`` fault.
        """
        rank = 2 if self.directions is None else 3
        per_direction = () if self.directions is None else (("num_directions", self.directions),)
        gates = self.kind.gates
        rows_of = [size(x, rank - 2, rank) for x in (self.w, self.r)]
        by_rows = [count // gates for count in rows_of if isinstance(count, int) and count % gates == 0]
        found = narrower(*(size(x, rank - 1, rank) for x in (*self.states, self.r)), *by_rows)
        hidden = ov_hidden_size(hidden_size, found)
        batch = narrower(size(self.x, 0, rank), *(size(x, 0, rank) for x in self.states), size(self.lengths, 0, 1))
        steps = () if self.directions is None else (("seq_length", None),)
        names = ("initial_hidden_state", "initial_cell_state")
        check(self.x, Expected(0, "X", (("batch_size", batch), *steps, ("input_size", None)), STATE_MISMATCH))
        for index, state in enumerate(self.states):
            axes = (("batch_size", batch), *per_direction, ("hidden_size", found))
            check(state, Expected(1 + index, names[index], axes, STATE_MISMATCH))
        first = 1 + len(self.states)
        if self.lengths is not None:
            check(self.lengths, Expected(first, "sequence_lengths", (("batch_size", batch),), STATE_MISMATCH))
            first += 1
        bias = self.bias_gates or gates
        rows = (_rows_text(gates), product((gates, found)))
        of_w = (*per_direction, rows, ("input_size", size(self.x, rank - 1, rank)))
        of_r = (*per_direction, rows, ("hidden_size", found))
        of_b = (*per_direction, (_rows_text(bias), product((bias, found))))
        check(self.w, Expected(first, "W", of_w, WEIGHTS_MISMATCH))
        check(self.r, Expected(first + 1, "R", of_r, WEIGHTS_MISMATCH))
        check(self.b, Expected(first + 2, "B", of_b, WEIGHTS_MISMATCH))
        return batch, size(self.x, 1, 3), hidden

    def dtype(self) -> str | None:
        """The common element type of all inputs except the lengths.

        Raises an ``ELEMENT_TYPE_REFUSED`` or ``ELEMENT_TYPES_DIFFER`` fault.
        """
        for index, tensor in enumerate((self.x, *self.states)):
            expect_type(tensor, index, ARITHMETIC)
        if self.lengths is None:
            return common_type((self.x, *self.states, self.w, self.r, self.b))
        return common_type((self.x, *self.states, None, self.w, self.r, self.b))


def _rows_text(gates: int) -> str:
    return f"{gates}*hidden_size" if gates > 1 else "hidden_size"
