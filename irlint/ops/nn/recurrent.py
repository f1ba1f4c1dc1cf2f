"""LSTM, GRU and RNN of ONNX, and OpenVINO's recurrent cells and sequences."""

from __future__ import annotations

from collections.abc import Callable

from irlint.dims import product, same
from irlint.findings.faults import Fault
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import OPENVINO, onnx, openvino, without_rule
from irlint.ops.shared.compiling import Layer, not_compiled, with_elements
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.gates import (
    ACTIVATIONS_MISMATCH,
    OV_ACTIVATIONS,
    OV_ONLY_READ,
    WEIGHTS_MISMATCH,
    Direction,
    Kind,
    OnnxCell,
    OpenvinoCell,
    OpenvinoInputs,
    check_activation_names,
    check_activations,
    check_options,
    check_peepholes,
    check_states,
    check_weights,
    outputs,
    shared_sizes,
)
from irlint.ops.shared.sizes import narrower, size
from irlint.records import replaced
from irlint.schemas import MICROSOFT

WeightsFormat = Literal["fico", "icof", "ifco", "ifoc", "iofc"]

LSTM = Kind("LSTM", gates=4, activations=("sigmoid", "tanh", "tanh"))
GRU = Kind("GRU", gates=3, activations=("sigmoid", "tanh"))
RNN = Kind("RNN", gates=1, activations=("tanh",), any_clip=True)

_TWO_TANH = OnnxCell(activations=("Tanh", "Tanh"))

# --- ONNX -------------------------------------------------------------------------------------------------------------


@onnx("LSTM", since=1, macs=("recurrent",), scratch=("gates",))
def lstm(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
    *,
    cell: OnnxCell,
    input_forget: int = 0,
    layout: int = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, ...]:
    """ONNX LSTM."""
    sizes = shared_sizes(LSTM, x, r, h=initial_h, cell=cell, layout=layout)
    check_weights(LSTM, sizes, w=w, r=r, b=b)
    check_peepholes(p, sizes)
    check_states(sizes, sequence_lens, initial_h, c=initial_c)
    check_options(LSTM, sizes, cell)
    return outputs(x.dtype, sizes, 3)


@onnx("GRU", since=1, macs=("recurrent",), scratch=("gates",))
def gru(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    cell: OnnxCell,
    layout: int = 0,
    linear_before_reset: int = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, ...]:
    """ONNX GRU."""
    sizes = shared_sizes(GRU, x, r, h=initial_h, cell=cell, layout=layout)
    check_weights(GRU, sizes, w=w, r=r, b=b)
    check_states(sizes, sequence_lens, initial_h)
    check_options(GRU, sizes, cell)
    return outputs(x.dtype, sizes, 2)


@onnx("RNN", since=1, macs=("recurrent",), scratch=("states",))
def rnn(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    cell: OnnxCell = _TWO_TANH,
    layout: int = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, ...]:
    """ONNX RNN. If the node has only one direction, its second activation is ignored."""
    sizes = shared_sizes(RNN, x, r, h=initial_h, cell=cell, layout=layout)
    check_weights(RNN, sizes, w=w, r=r, b=b)
    check_states(sizes, sequence_lens, initial_h)
    if cell.activations and len(cell.activations) == 2 and sizes.directions == 1:
        cell = replaced(cell, activations=cell.activations[:1])
    check_options(RNN, sizes, cell)
    if cell.activations == ():
        check_activations((), RNN, directions=sizes.directions, known=frozenset())
    return outputs(x.dtype, sizes, 2)


@onnx("DynamicQuantizeLSTM", domain=MICROSOFT, macs=("recurrent",))
def dynamic_quantize_lstm(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
    *others: Tensor,
    cell: OnnxCell,
    input_forget: int = 0,
) -> tuple[Tensor, ...]:
    """com.microsoft DynamicQuantizeLSTM. Its W and R are transposed, compared with LSTM of ONNX."""
    sizes = shared_sizes(LSTM, x, None, h=initial_h, cell=cell)
    check_weights(LSTM, sizes, w=w, r=r, b=b, transposed=True)
    check_peepholes(p, sizes)
    check_states(sizes, sequence_lens, initial_h, c=initial_c)
    check_options(LSTM, sizes, cell)
    return outputs("float32", sizes, 3)


@onnx("AttnLSTM", domain=MICROSOFT, macs=("attending_lstm",))
def attn_lstm(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    *others: Tensor,
    cell: OnnxCell,
    input_forget: int = 0,
) -> tuple[Tensor, ...]:
    """com.microsoft AttnLSTM. The weights are not checked, because W also multiplies the attention."""
    sizes = shared_sizes(LSTM, x, r, h=initial_h, cell=cell)
    check_states(sizes, sequence_lens, initial_h, c=initial_c)
    return outputs(x.dtype, sizes, 3)


without_rule("GRUUnit", help="use GRU instead")


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def _cell_outputs(inputs: OpenvinoInputs, cell: OpenvinoCell) -> tuple[Tensor, ...]:
    dtype = inputs.dtype()
    batch, _, hidden = inputs.checked_sizes(cell.hidden_size)
    names, wanted = cell.names(inputs.kind.activations), len(inputs.kind.activations)
    if len(names) < wanted:
        check_activations(names, inputs.kind, directions=1, known=OV_ACTIVATIONS)
    check_activation_names(names[:wanted], OV_ACTIVATIONS | OV_ONLY_READ)
    _warn_of_activations(names, inputs.kind)
    return (Tensor(dtype, (batch, hidden)),) * len(inputs.states)


def _compiled_in_one_kernel(kind: Kind, w_index: int) -> Callable[[Layer], Fault | None]:
    """Returns a check of cells and sequences that the CPU plugin computes in one kernel.

    ``w_index`` is the index of the input W.
    """

    def refused(layer: Layer) -> Fault | None:
        cell, r = layer.attributes["cell"], layer.inputs[w_index + 1]
        names = tuple(name.lower() for name in cell.names(kind.activations))[: len(kind.activations)]
        supported = names == kind.activations or (kind is RNN and names in (("relu",), ("sigmoid",)))
        if cell.clip or not supported or not {w_index, w_index + 1} <= layer.fixed:
            return None
        if (fault := with_elements(0)(layer)) is not None:
            return fault
        if not isinstance(r, Tensor) or not r.shape or same(r.shape[-1], cell.hidden_size) is not False:
            return None
        return not_compiled(
            f"`hidden_size` is {cell.hidden_size}, but the weights have {r.shape[-1]}",
            help=f'write hidden_size="{r.shape[-1]}", or use weights for {cell.hidden_size}',
            attribute="hidden_size",
            forbidden=True,
        )

    return refused


_CELL_ABSENT = {"hidden_size": 0}


@openvino(
    "LSTMCell",
    since=4,
    absent=_CELL_ABSENT,
    fills_in=True,
    compiles=_compiled_in_one_kernel(LSTM, 3),
    macs=("recurrent",),
)
def ov_lstm_cell(
    x: Tensor,
    initial_hidden_state: Tensor,
    initial_cell_state: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor,
    *,
    cell: OpenvinoCell,
) -> tuple[Tensor, ...]:
    """OpenVINO LSTMCell-4."""
    inputs = OpenvinoInputs(LSTM, x, (initial_hidden_state, initial_cell_state), w, r, b)
    return _cell_outputs(inputs, cell)


@openvino("LSTMCell", since=1, absent=_CELL_ABSENT, fills_in=True, macs=("recurrent",))
def ov_lstm_cell_with_peepholes(
    x: Tensor,
    initial_hidden_state: Tensor,
    initial_cell_state: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    p: Tensor | None = None,
    *,
    cell: OpenvinoCell,
    input_forget: bool = False,
    weights_format: WeightsFormat = "ifco",
) -> tuple[Tensor, ...]:
    """OpenVINO LSTMCell-1."""
    inputs = OpenvinoInputs(LSTM, x, (initial_hidden_state, initial_cell_state), w, r, b)
    outputs = _cell_outputs(inputs, cell)
    hidden = narrower(*(size(state, 1, 2) for state in (*inputs.states, r)))
    check(p, Expected(6, "P", (("3*hidden_size", product((3, hidden))),), WEIGHTS_MISMATCH))
    if p is None and same(hidden, cell.hidden_size) is False:
        raise WEIGHTS_MISMATCH.fault(
            f"`hidden_size` is {cell.hidden_size} and the states have {hidden}: OpenVINO adds an input 6 (P) of "
            "3*hidden_size zeros, and then refuses this input",
            help=f'write hidden_size="{hidden}"',
            attribute="hidden_size",
        )
    return outputs


@openvino(
    "GRUCell",
    since=3,
    absent=_CELL_ABSENT,
    fills_in=True,
    labels={"experimental": 6, "extension": 6},
    compiles=_compiled_in_one_kernel(GRU, 2),
    macs=("recurrent",),
)
def ov_gru_cell(
    x: Tensor,
    initial_hidden_state: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor,
    *,
    cell: OpenvinoCell,
    linear_before_reset: bool = False,
) -> tuple[Tensor, ...]:
    """OpenVINO GRUCell-3. With ``linear_before_reset``, B has four gates."""
    inputs = OpenvinoInputs(GRU, x, (initial_hidden_state,), w, r, b, bias_gates=4 if linear_before_reset else 3)
    return _cell_outputs(inputs, cell)


@openvino(
    "RNNCell",
    since=1,
    absent=_CELL_ABSENT,
    missing=(2,),
    fills_in=True,
    labels={"experimental": 6, "extension": 6},
    compiles=_compiled_in_one_kernel(RNN, 2),
    macs=("recurrent",),
)
def ov_rnn_cell(
    x: Tensor,
    h: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor,
    *,
    cell: OpenvinoCell,
) -> tuple[Tensor, ...]:
    """OpenVINO RNNCell-1."""
    return _cell_outputs(OpenvinoInputs(RNN, x, (h,), w, r, b), cell)


def _sequence_outputs(inputs: OpenvinoInputs, cell: OpenvinoCell) -> tuple[Tensor, ...]:
    """(hidden states of all steps, *final states)."""
    dtype = inputs.dtype()
    batch, steps, hidden = inputs.checked_sizes(cell.hidden_size)
    _warn_of_activations(cell.names(), inputs.kind)
    state = Tensor(dtype, (batch, inputs.directions, hidden))
    return (Tensor(dtype, (batch, inputs.directions, steps, hidden)), *(state for _ in inputs.states))


def _warn_of_activations(names: list[str], kind: Kind) -> None:
    """Warns of activations that OpenVINO reads but refuses to compile."""
    wanted = len(kind.activations)
    unknown = [name for name in names[:wanted] if name.lower() not in OV_ACTIVATIONS]
    if len(names) < wanted:
        written = f"has {counted(len(names), 'entry', 'entries')}" if names else "is missing or empty"
        message = (
            f"`activations` {written}; OpenVINO reads the layer, but refuses to compile it without "
            f"{counted(wanted, 'activation')}"
        )
    elif unknown:
        message = f'`activations` has "{unknown[0]}"; OpenVINO reads the layer, but refuses to compile it'
    else:
        return
    warn(
        ACTIVATIONS_MISMATCH.fault(
            message,
            help=f"write {wanted} of {', '.join(sorted(OV_ACTIVATIONS))}",
            attribute="activations",
        )
    )


def _direction_count(direction: str) -> int:
    return 2 if direction == "bidirectional" else 1


_SEQUENCE_ABSENT = {"hidden_size": 0, "direction": "forward"}


@openvino(
    "LSTMSequence", since=5, absent=_SEQUENCE_ABSENT, compiles=_compiled_in_one_kernel(LSTM, 4), macs=("recurrent",)
)
def ov_lstm_sequence(
    x: Tensor,
    initial_hidden_state: Tensor,
    initial_cell_state: Tensor,
    sequence_lengths: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor,
    *,
    cell: OpenvinoCell,
    direction: Direction,
) -> tuple[Tensor, ...]:
    """OpenVINO LSTMSequence-5."""
    states = (initial_hidden_state, initial_cell_state)
    inputs = OpenvinoInputs(LSTM, x, states, w, r, b, sequence_lengths, _direction_count(direction))
    return _sequence_outputs(inputs, cell)


@openvino(
    "GRUSequence", since=5, absent=_SEQUENCE_ABSENT, compiles=_compiled_in_one_kernel(GRU, 3), macs=("recurrent",)
)
def ov_gru_sequence(
    x: Tensor,
    initial_hidden_state: Tensor,
    sequence_lengths: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor,
    *,
    cell: OpenvinoCell,
    direction: Direction,
    linear_before_reset: bool = False,
) -> tuple[Tensor, ...]:
    """OpenVINO GRUSequence-5. With ``linear_before_reset``, B has four gates."""
    bias_gates = 4 if linear_before_reset else 3
    inputs = OpenvinoInputs(
        GRU, x, (initial_hidden_state,), w, r, b, sequence_lengths, _direction_count(direction), bias_gates
    )
    return _sequence_outputs(inputs, cell)


@openvino(
    "RNNSequence",
    since=5,
    absent=_SEQUENCE_ABSENT,
    compiles=_compiled_in_one_kernel(RNN, 3),
    ignores_extra_inputs=True,
    macs=("recurrent",),
)
def ov_rnn_sequence(
    x: Tensor,
    h: Tensor,
    sequence_lengths: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor,
    *,
    cell: OpenvinoCell,
    direction: Direction,
) -> tuple[Tensor, ...]:
    """OpenVINO RNNSequence-5."""
    inputs = OpenvinoInputs(RNN, x, (h,), w, r, b, sequence_lengths, _direction_count(direction))
    return _sequence_outputs(inputs, cell)


without_rule(
    "AUGRUCell",
    "AUGRUSequence",
    domain=OPENVINO,
    help="write other operations instead: OpenVINO creates this operation internally and does not read it from a file",
)
