"""Checks of attributes: numbers within a range, lists of equal length, element types by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import MaybeDim, at_least
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.model.tensor import NUMBERED_TYPES, Tensor, shape_text
from irlint.ops import Context
from irlint.records import NOTHING
from irlint.schemas import official

Lengths = Mapping[str, int | None]

ATTRIBUTE_OUT_OF_RANGE = Rule(
    "IRL510",
    "attribute-out-of-range",
    Severity.ERROR,
    "An attribute is outside the range that the operator defines.",
    why=(
        "Outside of this range, the operator is undefined: runtimes refuse the model, divide by zero, or compute an "
        "unintended result. If a runtime replaces the value by its own, irlint warns."
    ),
    fix="Use a value in the range of the message.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 0> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,2,3] x) => (float[1,2,4,6] y) { y = DepthToSpace <blocksize = 2> (x) }""",
    accepted=("openvino_ir",),
)

LISTS_INCONSISTENT = Rule(
    "IRL513",
    "attribute-lists-inconsistent",
    Severity.ERROR,
    "Attributes that together describe one table contradict each other.",
    why=(
        "Trees, vocabularies and encodings are stored in several lists with one entry per node, word or key, so the "
        "lists must have the same length. Some lists are alternatives, of which exactly one may be present. Runtimes "
        "refuse other lists when they create the session, often without naming them."
    ),
    fix="Give the lists in the message the same length, or keep only one of the alternatives.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 2]>
g (int64[4] x) => (int64[4] y)
{ y = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2, 3], values_int64s = [10, 20]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 2]>
g (int64[4] x) => (int64[4] y)
{ y = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2, 3], values_int64s = [10, 20, 30]> (x) }""",
)


# --- numbers ----------------------------------------------------------------------------------------------------------


def expect_attribute(
    value: float, least: float, name: str, *, most: float | None = None, severity: Severity | None = None
) -> None:
    """Checks that an attribute is between ``least`` and ``most``, inclusive.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault; with ``severity``, it reports the fault at that severity and returns.
    """
    if value >= least and (most is None or value <= most):
        return
    allowed = f"at least {least:g}" if most is None else f"between {least:g} and {most:g}"
    fault = ATTRIBUTE_OUT_OF_RANGE.fault(
        f"attribute `{name}` is {value:g}; it has to be {allowed}",
        help=f"write a number that is {allowed}",
        attribute=name,
    )
    if severity is None:
        raise fault
    warn(fault.lowered(severity))


def expect_range(values: Sequence[MaybeDim], lowest: int, name: str, *, severity: Severity | None = None) -> bool:
    """Returns True after checking that no entry is certainly below ``lowest``.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault; with ``severity``, it reports the fault at that severity and returns
    False.
    """
    for position, value in enumerate(values):
        if value < lowest if isinstance(value, int) else at_least(value, lowest) is False:
            fault = ATTRIBUTE_OUT_OF_RANGE.fault(
                f"entry {position} of `{name}` is {value}; it has to be at least {lowest}",
                help=f"write {lowest} or more for each entry of `{name}`",
                attribute=name,
            )
            if severity is None:
                raise fault
            warn(fault.lowered(severity))
            return False
    return True


#: Syntax of RE2 that Python's regular expressions lack or read differently.
_ONLY_RE2 = (
    "\\p",
    "\\P",
    "\\Q",
    "\\E",
    "\\C",
    "\\z",
    "\\x{",
    "\\a",
    "[[:",
    "[^[:",
    "(?U",
    "(?<",
    "(?^",
    "(?-",
    "(?i",
    "(?m",
    "(?s",
    "(?P",
)
#: The named character classes of RE2.
_RE2_CLASSES = (
    "alnum",
    "alpha",
    "ascii",
    "blank",
    "cntrl",
    "digit",
    "graph",
    "lower",
    "print",
    "punct",
    "space",
    "upper",
    "word",
    "xdigit",
)
#: Syntax outside character classes that Python's regular expressions have and RE2 lacks.
_NEVER_RE2 = (
    (r"\(\?<?[=!]", "looks ahead or back"),
    (r"\\[1-9]", "refers back to a group"),
    (r"[*+?]\+", "repeats a repetition"),
    (r"\(\?(?!P?<\w|[imsU]*(-[imsU]+)?[:)]|\^)", "opens a group with an unknown `(?`"),
)


def expect_regex(pattern: str, name: str, *, least: int = 0) -> None:
    """Checks that RE2 can read a regular expression, and that it has at least ``least`` characters.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault.
    """
    import re

    wrong = f"is empty; expected at least {least}" if len(pattern) < least else ""
    if "[" not in pattern:
        plain = re.sub(r"\\[^1-9]", "", pattern)
        wrong = next((f"{does}, which RE2 refuses" for text, does in _NEVER_RE2 if re.search(text, plain)), wrong)
    named = re.findall(r"\[:\^?([^]:]*):\]", pattern)
    wrong = next(
        (f"has the class [:{name}:], which RE2 does not know" for name in named if name not in _RE2_CLASSES), wrong
    )
    if not wrong and not any(text in pattern for text in _ONLY_RE2):
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            wrong = f"is not a regular expression: {error}"
    if wrong:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f'attribute `{name}`, "{pattern}", {wrong}', help="write the expression in RE2 syntax", attribute=name
        )


def numbered_type(
    number: int,
    context: Context,
    attribute: str = "dtype",
    *,
    output: int = 0,
    also: frozenset[str] = frozenset(),
    all_bits: bool = False,
) -> str:
    """The element type with a number of TensorProto.DataType. Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault.

    The schema of the output or ``also`` must have the type. ``all_bits``: ONNX Runtime reads more than the lower 32
    bits of the number. Otherwise, a number that is valid only in these bits is reported as a warning.
    """
    if not 1 <= number <= len(NUMBERED_TYPES):
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{attribute}` is {number}, which is not an element type; they are numbered 1 (float) "
            f"to {len(NUMBERED_TYPES)}",
            help="use a number of TensorProto.DataType",
            attribute=attribute,
        )
        if all_bits or not 1 <= number & 0xFFFF_FFFF <= len(NUMBERED_TYPES):
            raise fault
        warn(fault.lowered(Severity.WARNING))
    dtype = NUMBERED_TYPES[(number & 0xFFFF_FFFF) - 1]
    schema = official(context.op, context.version, context.domain) if dtype not in also else None
    if schema is not None and output < len(schema.outputs) and dtype not in schema.outputs[output].types:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{attribute}` is {number} ({dtype}), which the operator cannot return in opset "
            f"{context.version}",
            help=f"use a type that the operator supports, or import an opset in which it supports {dtype}",
            attribute=attribute,
        )
    return dtype


# --- parallel lists ---------------------------------------------------------------------------------------------------


def entry_count(given: Sequence[object] | Tensor | None) -> int | None:
    """The number of entries of an attribute; None for an omitted attribute or an unknown number."""
    if not isinstance(given, Tensor):
        return None if given is None else len(given)
    size = given.shape[0] if given.shape else None
    return size if isinstance(size, int) else None


def expect_lists(**tensors: Tensor | None) -> None:
    """Checks that tensors in attributes have one axis. Raises a ``LISTS_INCONSISTENT`` fault."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.shape is not None and len(tensor.shape) != 1:
            raise LISTS_INCONSISTENT.fault(
                f"attribute `{name}` is {shape_text(tensor.shape)}; expected a list",
                help=f"give `{name}` one axis",
                attribute=name,
            )


def expect_parallel(lengths: Lengths, *, optional: Lengths | None = None, lost: Mapping[str, str] = NOTHING) -> None:
    """Checks that attributes have equal lengths; ``optional`` attributes may be empty, and None is an unknown length.

    ``lost`` has the end of the help for an attribute with a missing entry. Raises a ``LISTS_INCONSISTENT`` fault.
    """
    known = {name: count for name, count in lengths.items() if count is not None}
    known |= {name: count for name, count in (optional or {}).items() if count}
    first = next(iter(known), None)
    if first is None:
        return
    for name, count in known.items():
        if count != known[first]:
            raise LISTS_INCONSISTENT.fault(
                f"attribute `{first}` has {counted(known[first], 'entry', 'entries')} and `{name}` has {count}: "
                "expected equally many",
                help=_help_for_length(name, known, lost.get(name, "")),
                attribute=name,
            )


def _help_for_length(name: str, lengths: Mapping[str, int], end: str) -> str:
    """The help if the list ``name`` is not as long as the first list; ``end`` states why an entry of it is missing."""
    first, count = next(iter(lengths)), lengths[name]
    give = f"give `{name}` {counted(lengths[first], 'entry', 'entries')}{end}"
    if end or not count:
        return give
    if all(length == count for other, length in lengths.items() if other != first):
        other_list = f"`{first}` {counted(count, 'entry', 'entries')}"
        return f"{give}, or {other_list}" if len(lengths) == 2 else f"give {other_list}, like the other lists"
    return give


def the_one_of(**lists: object) -> str:
    """The name of the only attribute that is present and not empty.

    Raises a ``LISTS_INCONSISTENT`` fault if there is no such attribute, or more than one.
    """
    present = [name for name, value in lists.items() if value]
    if len(present) == 1:
        return present[0]
    names = ", ".join(f"`{name}`" for name in lists)
    found = "none is present" if not present else f"{' and '.join(f'`{name}`' for name in present)} are present"
    raise LISTS_INCONSISTENT.fault(
        f"{found}; expected exactly one of {names}",
        help=f"add one of {names}" if not present else "remove all but one",
        attribute=present[-1] if present else None,
    )
