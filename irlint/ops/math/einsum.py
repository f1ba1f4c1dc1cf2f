"""Einsum."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from irlint.dims import MaybeDim, Shape
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor
from irlint.ops import onnx, openvino
from irlint.ops.shared.broadcast import Clash, broadcast, broadcast_dim
from irlint.ops.shared.compiling import Layer, not_compiled
from irlint.ops.shared.element_types import ARITHMETIC, common_type, expect_type

EQUATION_INVALID = Rule(
    "IRL322",
    "einsum-equation-invalid",
    Severity.ERROR,
    "An Einsum equation is invalid, or contradicts the inputs.",
    why=(
        "The equation needs one term for each input, separated by commas. A term has one letter for each axis; at most "
        "one ellipsis covers the axes without a letter. The output, after `->`, may use only letters of the terms."
    ),
    fix="Correct the equation. The message names the term and its mistake.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,5] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y) { y = Einsum <equation = "bij,jk->bik"> (x, w) }""",
)

EINSUM_MISMATCH = Rule(
    "IRL323",
    "einsum-sizes-differ",
    Severity.ERROR,
    "Axes with the same letter of an Einsum equation have different sizes.",
    why="A letter is one index for all axes with that letter, so their sizes must be equal or 1.",
    fix="Use another letter, or make the sizes equal.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[4,5] w) => (float[2,5] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[3,5] w) => (float[2,5] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }""",
)


ELLIPSIS = "..."
#: The letters and the ellipsis of a term, in order.
Term = tuple[str, ...]


def equation_terms(equation: str) -> tuple[tuple[Term, ...], Term | None]:
    """(Terms of the inputs, term of the output or None without ``->``). Raises an ``EQUATION_INVALID`` fault."""
    left, arrow, right = equation.partition("->")
    terms = tuple(_term(text, equation) for text in left.split(","))
    return terms, _term(right, equation) if arrow else None


def _term(text: str, equation: str) -> Term:
    before, dots, after = text.partition(ELLIPSIS)
    for letter in before + after:
        if letter.isascii() and letter.isalpha():
            continue
        wrong = "a second ellipsis" if dots and ELLIPSIS in after else f'"{letter}"'
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the term "{text}" has {wrong}; a term has only letters and at most one '
            "ellipsis",
            help='write one letter for each axis, and at most one "..." in each term',
            attribute="equation",
        )
    return (*before, *([ELLIPSIS] if dots else []), *after)


def _check_terms(terms: Sequence[Term], output: Term, shapes: Sequence[Shape | None], *, equation: str) -> None:
    """Checks that the terms match the inputs, and that the output has only letters of the terms."""
    if len(terms) != len(shapes):
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}" with {counted(len(terms), "term")}, and there are '
            f"{counted(len(shapes), 'input')}",
            help="write one term for each input, separated by commas",
            attribute="equation",
        )
    for index, (term, shape) in enumerate(zip(terms, shapes)):
        letters = sum(label != ELLIPSIS for label in term)
        if shape is None or len(shape) == letters or (ELLIPSIS in term and len(shape) > letters):
            continue
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": its term {index}, "{"".join(term)}", has {letters} letters, '
            f"and input {index} has {counted(len(shape), 'axis', 'axes')}",
            help=f"write {len(shape)} letters in term {index}"
            + (', write "..." for the other axes' if len(shape) > letters else "")
            + (f", or give input {index} {counted(letters, 'axis', 'axes')}" if ELLIPSIS not in term else ""),
            input=index,
            attribute="equation",
        )
    known = {label for term in terms for label in term} | {ELLIPSIS}
    unknown = [label for label in output if label not in known]
    if unknown:
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the result has the letter {unknown[0]}, which no term has',
            help="use only letters of the terms after ->",
            attribute="equation",
        )


def einsum_shape(equation: str, terms: Sequence[Term], output: Term, *, shapes: Sequence[Shape | None]) -> Shape | None:
    """The output shape of an Einsum; None if the output has an ellipsis whose axes are unknown.

    Raises an ``EQUATION_INVALID`` or ``EINSUM_MISMATCH`` fault.
    """
    _check_terms(terms, output, shapes, equation=equation)
    columns: dict[str, list[tuple[int, int, MaybeDim]]] = {}
    ellipses: list[Shape | None] = []
    for index, (term, shape) in enumerate(zip(terms, shapes)):
        start = term.index(ELLIPSIS) if ELLIPSIS in term else len(term)
        width = 0 if shape is None else len(shape) - sum(label != ELLIPSIS for label in term)
        ellipses.append(() if ELLIPSIS not in term else None if shape is None else shape[start : start + width])
        for position, label in enumerate(term):
            axis = position if position < start else position - 1 + width
            if label != ELLIPSIS:
                columns.setdefault(label, []).append((index, axis, None if shape is None else shape[axis]))
    sizes: dict[str, MaybeDim] = {letter: _size_of_letter(letter, column) for letter, column in columns.items()}
    middle = _axes_of_ellipsis(ellipses)
    if ELLIPSIS in output and middle is None:
        return None
    result: list[MaybeDim] = []
    for label in output:
        result += (middle or ()) if label == ELLIPSIS else (sizes[label],)
    return tuple(result)


def _size_of_letter(letter: str, column: Sequence[tuple[int, int, MaybeDim]]) -> MaybeDim:
    """The size to which the axes that share a letter are broadcast; ``column`` has (input, axis, size) of each axis."""
    sizes = [(position, dim) for position, (_, _, dim) in enumerate(column)]
    found = broadcast_dim(sizes, f"the letter {letter}")
    if not isinstance(found, Clash):
        return found
    (left, axis_a, a), (right, axis_b, b) = column[found.left], column[found.right]
    raise EINSUM_MISMATCH.fault(
        f"axis {axis_a} of input {left} and axis {axis_b} of input {right} share the letter {letter}, but their sizes "
        f"are {a} and {b}: the sizes must be equal, or one of them must be 1",
        help=f"make both sizes equal, or use two letters instead of {letter}",
        input=right,
        marks=((left, axis_a), (right, axis_b)),
        remark="differ, but share a letter",
    )


def _axes_of_ellipsis(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape to which the axes of all ellipses are broadcast."""
    try:
        return broadcast(shapes)
    except Fault as fault:
        raise EINSUM_MISMATCH.fault(
            f"in the axes of the ellipsis, {fault.message}", help=fault.help, input=fault.input
        ) from None


def _implicit_output(terms: Sequence[Term], letters: list[str]) -> Term:
    """The term of the output for an equation without ``->``."""
    dots = (ELLIPSIS,) if any(ELLIPSIS in term for term in terms) else ()
    return (*dots, *sorted(letters))


@onnx("Einsum", since=12, macs=("einsum",))
def einsum(*xs: Tensor, equation: str) -> Tensor:
    """ONNX Einsum-12. Without ``->``, the result has the letters that occur exactly once."""
    terms, output = equation_terms(equation.replace(" ", ""))
    if output is None:
        letters = [label for term in terms for label in term if label != ELLIPSIS]
        output = _implicit_output(terms, [letter for letter in dict.fromkeys(letters) if letters.count(letter) == 1])
    repeated = [label for label in dict.fromkeys(output) if output.count(label) > 1]
    if repeated:
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the result has the letter {repeated[0]} more than once',
            help="use a different letter for each axis of the result",
            attribute="equation",
        )
    shapes = [x.shape for x in xs]
    shape = einsum_shape(equation, terms, output, shapes=shapes)
    _expect_equal_widths(equation, terms, output, shapes=shapes)
    return Tensor(next((x.dtype for x in xs if x.dtype is not None), None), shape)


def _expect_equal_widths(equation: str, terms: Sequence[Term], output: Term, *, shapes: Sequence[Shape | None]) -> None:
    """Checks that the ellipsis covers equally many axes in all inputs. Warns if the result has no ellipsis."""
    widths = [
        (index, len(shape) - len(term) + 1)
        for index, (term, shape) in enumerate(zip(terms, shapes))
        if shape is not None and ELLIPSIS in term
    ]
    odd = next(((index, width) for index, width in widths if width != widths[0][1]), None)
    if odd is not None:
        fewer, more = sorted((odd, widths[0]), key=itemgetter(1))
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the ellipsis covers {counted(widths[0][1], "axis", "axes")} in input '
            f"{widths[0][0]} and {odd[1]} in input {odd[0]}; the numbers must be equal",
            help=f"insert axes of size 1 in input {fewer[0]} (Unsqueeze), so that its ellipsis covers "
            f"{counted(more[1], 'axis', 'axes')}",
            input=odd[0],
            attribute="equation",
        )
    if ELLIPSIS not in output and any(width for _, width in widths):
        warn(
            EQUATION_INVALID.fault(
                f'the equation is "{equation}": the ellipsis covers {counted(widths[0][1], "axis", "axes")} and is not '
                "in the result; ONNX Runtime and NumPy refuse to sum over an ellipsis",
                help='write "..." after ->, or letters instead of "..."',
                attribute="equation",
                severity=Severity.WARNING,
            )
        )


def _terms_and_result(equation: str) -> tuple[tuple[Term, ...], Term]:
    """(Terms of the inputs, term of the output), as OpenVINO reads an equation."""
    terms, output = equation_terms(equation)
    if output is None:
        letters = [label for term in terms for label in term if label != ELLIPSIS]
        output = _implicit_output(terms, [letter for letter in letters if sum(letter in term for term in terms) == 1])
    return terms, output


def _letters_once(layer: Layer) -> Fault | None:
    """The fault of a result with a repeated letter."""
    equation = str(layer.attributes["equation"])
    _, output = _terms_and_result(equation)
    repeated = next((label for label in output if output.count(label) > 1), None)
    if repeated is None:
        return None
    return not_compiled(
        f'the equation is "{equation}": the result has the letter {repeated} more than once'
        + ("" if "->" in equation else f", since without -> it is {''.join(output)}"),
        help="write each letter once after ->",
        attribute="equation",
        forbidden=True,
    )


@openvino("Einsum", since=7, absent={"equation": ""}, compiles=_letters_once, macs=("einsum",))
def ov_einsum(*xs: Tensor, equation: str) -> Tensor:
    """OpenVINO Einsum-7: the equation must have no spaces."""
    for index, x in enumerate(xs):
        expect_type(x, index, ARITHMETIC)
    dtype = common_type(xs)
    terms, output = _terms_and_result(equation)
    shapes = [x.shape for x in xs]
    _check_terms(terms, output, shapes, equation=equation)
    for index, (term, shape) in enumerate(zip(terms, shapes)):
        if shape is not None:
            _expect_equal_sizes(index, term, shape)
    return Tensor(dtype, einsum_shape(equation, terms, output, shapes=shapes))


def _expect_equal_sizes(index: int, term: Term, shape: Shape) -> None:
    """Checks that the axes of an input with the same letter have equal sizes, without broadcasting."""
    first: dict[str, int] = {}
    for position, label in enumerate(term):
        after = ELLIPSIS in term[:position]
        axis = position - len(term) + len(shape) if after else position
        if label == ELLIPSIS:
            continue
        other = first.setdefault(label, axis)
        if not agree(shape[other], shape[axis], f"axes {other} and {axis} of input {index} share the letter {label}"):
            raise EINSUM_MISMATCH.fault(
                f"axes {other} and {axis} of input {index} share the letter {label}, but their sizes are "
                f"{shape[other]} and {shape[axis]}: the sizes must be equal",
                help=f"use two letters instead of {label}",
                input=index,
                marks=((index, other), (index, axis)),
                remark="differ, but share a letter",
            )
