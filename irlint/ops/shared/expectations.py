"""Checks of the ranks and sizes of inputs."""

from __future__ import annotations

from irlint.dims import MaybeDim, quotient, same
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted, either
from irlint.model.tensor import Tensor, shape_text
from irlint.records import record

INPUT_RANK_REFUSED = Rule(
    "IRL339",
    "input-rank-refused",
    Severity.ERROR,
    "An input has a number of axes that the operator does not accept.",
    why=(
        "Some operators accept only certain ranks, such as images with four axes, lists with one axis, or scalars. "
        "Runtimes refuse any other rank when they load the model."
    ),
    fix="Use Reshape, Squeeze or Unsqueeze to give the input the number of axes in the message.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[8,2,3] x) => (float[2,4,6] y) { y = DepthToSpace <blocksize = 2> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 2> (x) }""",
    refused=(Refusal("onnxruntime"),),
)


def expect_rank(tensor: Tensor | None, index: int, *allowed: int, least: int | None = None, what: str = "") -> None:
    """Checks that input ``index`` has one of the ``allowed`` ranks, or at least ``least`` axes.

    ``what`` is the name of the input. Raises an ``INPUT_RANK_REFUSED`` fault.
    """
    fault = _rank_fault(tensor, index, allowed, least=least, what=what, taker="the operator")
    if fault is not None:
        raise fault


def warn_of_rank(tensor: Tensor | None, index: int, *allowed: int, least: int | None = None, what: str = "") -> None:
    """Reports a rank that the specification allows and ONNX Runtime refuses, as a warning."""
    taker = "the specification allows it, but ONNX Runtime"
    fault = _rank_fault(tensor, index, allowed, least=least, what=what, taker=taker)
    if fault is not None:
        warn(fault.lowered(Severity.WARNING))


def _rank_fault(
    tensor: Tensor | None, index: int, allowed: tuple[int, ...], *, least: int | None, what: str, taker: str
) -> Fault | None:
    if tensor is None or tensor.shape is None:
        return None
    rank = len(tensor.shape)
    if rank in allowed or (least is not None and rank >= least):
        return None
    wanted = f"at least {least}" if least is not None else either(*allowed)
    if allowed == (0,) and least is None:
        wanted, help = "a scalar", f"make input {index} a scalar"
    else:
        help = f"reshape input {index} to {wanted} {'axis' if wanted in ('1', 'at least 1') else 'axes'}"
    name = f"input {index} ({what})" if what else f"input {index}"
    return INPUT_RANK_REFUSED.fault(
        f"{name} is {shape_text(tensor.shape)} with {counted(rank, 'axis', 'axes')}; {taker} takes {wanted}",
        help=help,
        input=index,
    )


def expect_one(tensor: Tensor | None, index: int, what: str, *, scalar: bool = False, any_rank: bool = False) -> None:
    """Checks that input ``index`` is a scalar or, unless ``scalar``, a list of one element.

    Raises an ``INPUT_RANK_REFUSED`` fault. ``any_rank``: one element with another rank is reported as a warning.
    """
    if tensor is None or tensor.shape is None:
        return
    wrong = [axis for axis, dim in enumerate(tensor.shape) if same(dim, 1) is False]
    if len(tensor.shape) > (0 if scalar else 1) or wrong:
        wanted = "a scalar" if scalar else "a scalar or a list of one element"
        fault = INPUT_RANK_REFUSED.fault(
            f"input {index} ({what}) is {shape_text(tensor.shape)}; the operator takes {wanted}",
            help=f"make input {index} {wanted}",
            input=index,
        )
        if wrong or not any_rank:
            raise fault
        warn(fault.lowered(Severity.WARNING))


def expect_list_of_axes(axes: Tensor) -> None:
    """Checks that input 1, which lists axes, has rank 1. Raises an ``INPUT_RANK_REFUSED`` fault.

    A scalar is reported as a warning: the specification allows it, but ONNX Runtime does not.
    """
    try:
        expect_rank(axes, 1, 1, what="axes")
    except Fault as fault:
        if axes.rank != 0:
            raise
        warn(fault.lowered(Severity.WARNING))


#: The other inputs confirm this size: if all of them contradict `direction`, another check reports it.
CONFIRMED = "num_directions"


def _other_size(what: str, found: MaybeDim) -> str:
    """The end of the help: to change the size elsewhere, if ``what``, such as ``4*hidden_size``, can be ``found``."""
    factor = what.partition("*")[0]
    is_possible = found is not None and not (factor.isdecimal() and quotient(found, int(factor)) is None)
    return f", or make {what} {found}" if is_possible and what != CONFIRMED else ""


@record
class Expected:
    """The axes that an input should have."""

    index: int
    name: str
    #: (description, size) of each axis; a description may begin with the size: "2 numbers: height and width".
    axes: tuple[tuple[str, MaybeDim], ...]
    #: The rule of the fault if the axes differ.
    rule: Rule


def check(x: Tensor | None, expected: Expected) -> None:
    """Checks that an input has the expected axes. Raises a fault of ``expected.rule``."""
    if x is None or x.shape is None:
        return
    words = ", ".join(what for what, _ in expected.axes)
    if len(x.shape) != len(expected.axes):
        raise expected.rule.fault(
            f"input {expected.index} ({expected.name}) has {counted(len(x.shape), 'axis', 'axes')}; "
            f"expected {len(expected.axes)}: [{words}]",
            help=f"give {expected.name} the axes [{words}]",
            input=expected.index,
        )
    for axis, (found, (what, size)) in enumerate(zip(x.shape, expected.axes)):
        if agree(found, size, f"axis {axis} of {expected.name} is {what}"):
            continue
        has_size = what.partition(" ")[0] == str(size)
        raise expected.rule.fault(
            f"axis {axis} of input {expected.index} ({expected.name}) is {found}; expected {what}"
            + ("" if has_size else f", which is {size}"),
            help=f"give axis {axis} of {expected.name} {what}"
            if has_size and what != str(size)
            else f"give {expected.name} the shape [{words}]" + ("" if has_size else _other_size(what, found)),
            input=expected.index,
            marks=((expected.index, axis),),
            aligned="left",
        )
