"""Attributes that are lists side by side: one entry of each belongs to one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor

LISTS_INCONSISTENT = Rule(
    "IRL513",
    "attribute-lists-inconsistent",
    Severity.ERROR,
    "Attributes that describe one table between them do not fit together.",
    why="""Trees, vocabularies and encodings stand in several lists, an entry of each for one node, word or key; of some
lists exactly one may be given. Runtimes refuse lists that do not fit when they create the session, often without saying
which.""",
    mend="Give the lists that the message names equally many entries, or exactly one of those that exclude each other.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 2]>
g (int64[4] x) => (int64[4] y)
{ y = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2, 3], values_int64s = [10, 20]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 2]>
g (int64[4] x) => (int64[4] y)
{ y = ai.onnx.ml.LabelEncoder <keys_int64s = [1, 2, 3], values_int64s = [10, 20, 30]> (x) }""",
)

Lengths = Mapping[str, int | None]


def length(given: Sequence[object] | Tensor | None) -> int | None:
    """How many entries a list or a tensor in an attribute has; None where it is left out or not known."""
    if not isinstance(given, Tensor):
        return None if given is None else len(given)
    size = given.shape[0] if given.shape else None
    return size if isinstance(size, int) else None


def expect_parallel(lengths: Lengths, *, optional: Lengths | None = None) -> None:
    """Makes sure that lists have one length; those in ``optional`` may be left out (None) or empty.

    A length that is not known is None. Raises a ``LISTS_INCONSISTENT`` fault.
    """
    known = {name: count for name, count in lengths.items() if count is not None}
    known |= {name: count for name, count in (optional or {}).items() if count}
    first = next(iter(known), None)
    if first is None:
        return
    for name, count in known.items():
        if count != known[first]:
            raise LISTS_INCONSISTENT.fault(
                f"attribute `{first}` has {counted(known[first], 'entry', 'entries')} and `{name}` has {count}: expected is one of each",
                help=f"give `{name}` {counted(known[first], 'entry', 'entries')}",
                attribute=name,
            )


def the_one_of(**lists: object) -> str | None:
    """The name of the one attribute that is given and not empty.

    Raises a ``LISTS_INCONSISTENT`` fault where it is none, or more than one.
    """
    given = [name for name, value in lists.items() if value]
    if len(given) == 1:
        return given[0]
    names = ", ".join(f"`{name}`" for name in lists)
    found = "none is given" if not given else f"{' and '.join(f'`{name}`' for name in given)} are given"
    raise LISTS_INCONSISTENT.fault(
        f"{found}; expected is exactly one of {names}",
        help=f"give one of {names}" if not given else "remove all but one",
        attribute=given[-1] if given else None,
    )
