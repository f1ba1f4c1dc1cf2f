"""What an operator's rule states beside its result: requirements, faults that do not stop the rule, and arithmetic.

A requirement is an unproven condition on sizes that the operator needs, such as ``H % 32 == 0``. Statements are stored
only inside a block of ``stated`` or ``collected_arithmetic``.
"""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, at_least, divisible, same
from irlint.dims.polynomials import mapped
from irlint.findings.faults import Fault
from irlint.records import record


@record
class Relation:
    """``left == right``, ``left >= right`` or ``left % right == 0`` between two dims."""

    kind: str
    left: Dim
    right: Dim

    def __str__(self) -> str:
        if self.kind == "%":
            left, right = (
                text if text.replace("_", "").isalnum() else f"({text})" for text in map(str, (self.left, self.right))
            )
            return f"{left} % {right} == 0"
        return f"{self.left!s} {self.kind} {self.right!s}"


@record
class Requirement:
    """An unproven condition that an operator needs: at least one of the relations must hold."""

    any_of: tuple[Relation, ...]
    #: Why the operator needs the condition.
    why: str

    @property
    def condition(self) -> str:
        """The condition as a Python expression."""
        return " or ".join(str(relation) for relation in self.any_of)


class stated:
    """Collects what the rules inside the block state: ``with stated() as statements``."""

    __slots__ = ("faults", "outer", "requirements")

    requirements: list[Requirement]
    faults: list[Fault]

    def __enter__(self) -> stated:
        global _current
        self.requirements, self.faults = [], []
        self.outer, _current = _current, self
        return self

    def __exit__(self, *_: object) -> None:
        global _current
        _current = self.outer


#: The innermost active block of ``stated``, or None.
_current: stated | None = None


def warn(fault: Fault) -> None:
    """States a fault that does not affect the node's outputs."""
    if _current is not None:
        _current.faults.append(fault)


def require_any(*any_of: Relation, why: str) -> None:
    """States that at least one of the relations must be true."""
    if _current is not None:
        _current.requirements.append(Requirement(any_of, why))


def agree(left: MaybeDim, right: MaybeDim, why: str) -> bool:
    """False if two dims always differ. An unproven equality becomes a requirement."""
    proven = same(left, right)
    if proven is None and left is not None and right is not None:
        require_any(Relation("==", left, right), why=why)
    return proven is not False


def reaches(left: MaybeDim, least: MaybeDim, why: str) -> bool:
    """False if ``left < least`` always holds. An unproven ``left >= least`` becomes a requirement."""
    proven = at_least(left, least)
    if proven is None and left is not None and least is not None:
        require_any(Relation(">=", left, least), why=why)
    return proven is not False


def reaches_if_any(count: MaybeDim, left: MaybeDim, least: MaybeDim, why: str, *, demanded: bool = True) -> bool:
    """``reaches`` for a condition that the operator needs only if ``count`` is at least 1.

    With ``demanded=False``, no requirement is stated.
    """
    proven, is_needed = at_least(left, least), at_least(count, 1)
    if is_needed:
        return reaches(left, least, why) if demanded else proven is not False
    if proven or not demanded or left is None or least is None or count is None:
        return True
    from irlint.dims.proofs import raised

    if at_least(mapped(left, raised, {}), mapped(least, raised, {})):
        return True
    relations = [Relation(">=", left, least)]
    if proven is False or not at_least(mapped(count, raised, {}), 1):
        relations.append(Relation(">=", 0, count))
    require_any(*relations, why=why)
    return True


def divides(divisor: int, dim: MaybeDim, why: str) -> bool:
    """False if ``divisor`` never divides ``dim``. An unproven divisibility becomes a requirement."""
    if dim is None:
        return True
    proven = divisible(dim, divisor)
    if proven is None:
        require_any(Relation("%", dim, divisor), why=why)
    return proven is not False


@record
class Arithmetic:
    """How a rule computes the size ``dim`` of an output's axis."""

    axis: int
    dim: MaybeDim
    formula: str = ""
    #: What the numbers in the formula are.
    details: str = ""
    #: Without a formula: the size of which the operator takes a part.
    part_of: MaybeDim = None
    #: For a sum with symbols: the index of the input of each term, and the term.
    terms: tuple[tuple[int, str], ...] = ()


#: The arithmetic of the innermost block of ``collected_arithmetic``, or None.
_collected: list[Arithmetic] | None = None


class collected_arithmetic:
    """Collects the arithmetic of the rules inside the block: ``with collected_arithmetic() as found``."""

    __slots__ = ("outer",)

    def __enter__(self) -> list[Arithmetic]:
        global _collected
        self.outer = _collected
        _collected = inner = list[Arithmetic]()
        return inner

    def __exit__(self, *_: object) -> None:
        global _collected
        _collected = self.outer


def wants_arithmetic() -> bool:
    """Whether a block of ``collected_arithmetic`` is active."""
    return _collected is not None


def explain_size(
    axis: int,
    dim: MaybeDim,
    formula: str = "",
    details: str = "",
    *,
    part_of: MaybeDim = None,
    terms: tuple[tuple[int, str], ...] = (),
) -> None:
    """States the arithmetic of an output's axis; see ``Arithmetic``."""
    if _collected is not None and (formula or part_of is not None):
        _collected.append(Arithmetic(axis, dim, formula, details, part_of, terms))
