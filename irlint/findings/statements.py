"""What a rule states besides its result: requirements, faults that do not stop it, and the arithmetic of sizes."""

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
    """What an operator needs and could not prove: at least one of the relations holds."""

    any_of: tuple[Relation, ...]
    why: str

    @property
    def condition(self) -> str:
        """A text that Python evaluates to true or false."""
        return " or ".join(str(relation) for relation in self.any_of)


class Statements:
    """What the rule of one node has stated: requirements, and faults that do not stop it."""

    __slots__ = ("faults", "requirements")

    def __init__(self) -> None:
        self.requirements: list[Requirement] = []
        self.faults: list[Fault] = []


_current: Statements | None = None


class stated:
    """Collects what operator rules state inside the block: ``with stated() as statements``."""

    __slots__ = ("outer",)

    def __enter__(self) -> Statements:
        global _current
        self.outer = _current
        _current = inner = Statements()
        return inner

    def __exit__(self, *_: object) -> None:
        global _current
        _current = self.outer


def statements() -> Statements:
    """What has been stated so far in the innermost block of ``stated``; outside of any block nothing is kept."""
    return _current if _current is not None else Statements()


def warn(fault: Fault) -> None:
    """States a fault that leaves the node's outputs as they are."""
    if _current is not None:
        _current.faults.append(fault)


def require(*any_of: Relation, why: str) -> None:
    """States that one of the relations has to hold."""
    if _current is not None:
        _current.requirements.append(Requirement(any_of, why))


def agree(left: MaybeDim, right: MaybeDim, why: str) -> bool:
    """Whether two dims can be equal; where that is not proven, their equality is stated as a requirement."""
    proven = same(left, right)
    if proven is None and left is not None and right is not None:
        require(Relation("==", left, right), why=why)
    return proven is not False


def reaches(left: MaybeDim, least: MaybeDim, why: str) -> bool:
    """Whether ``left >= least`` can hold; where that is not proven, it is stated as a requirement."""
    proven = at_least(left, least)
    if proven is None and left is not None and least is not None:
        require(Relation(">=", left, least), why=why)
    return proven is not False


def reaches_if_any(count: MaybeDim, left: MaybeDim, least: MaybeDim, why: str, *, demanded: bool = True) -> bool:
    """Whether ``left >= least`` can hold, or there is none of the ``count`` elements that need it.

    What is not proven is stated as a requirement, where it is ``demanded``.
    """
    proven, filled = at_least(left, least), at_least(count, 1)
    if filled:
        return reaches(left, least, why) if demanded else proven is not False
    if proven or not demanded or left is None or least is None or count is None:
        return True
    from irlint.dims.proofs import raised

    if at_least(mapped(left, raised, {}), mapped(least, raised, {})):
        return True
    relations = [Relation(">=", left, least)]
    if proven is False or not at_least(mapped(count, raised, {}), 1):
        relations.append(Relation(">=", 0, count))
    require(*relations, why=why)
    return True


def divides(divisor: int, dim: MaybeDim, why: str) -> bool:
    """Whether ``dim`` can be a multiple of ``divisor``; where that is not proven, it is stated as a requirement."""
    if dim is None:
        return True
    proven = divisible(dim, divisor)
    if proven is None:
        require(Relation("%", dim, divisor), why=why)
    return proven is not False


@record
class Arithmetic:
    """How a rule computes the size ``dim`` of axis ``axis`` of an output.

    ``formula`` is the arithmetic, and ``details`` say what its numbers are. ``whole`` is the size that the operator
    leaves a part of, where that is all there is to say.
    """

    axis: int
    dim: MaybeDim
    formula: str = ""
    details: str = ""
    whole: MaybeDim = None


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
    """Whether the caller collects the arithmetic of sizes; a rule writes its formulas only then."""
    return _collected is not None


def explain_size(axis: int, dim: MaybeDim, formula: str = "", details: str = "", *, whole: MaybeDim = None) -> None:
    """States how the size of an axis is computed, or which size is ``whole``."""
    if _collected is not None and (formula or whole is not None):
        _collected.append(Arithmetic(axis, dim, formula, details, whole))
