"""Proves that conditions on several sizes contradict each other, by Fourier-Motzkin elimination."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd

from irlint.contracts.implied import Alternatives, by_name, symbols_in
from irlint.contracts.simplified import decided, simplified
from irlint.dims import Bounds, Dim, Expr, TooComplex, at_least, bounds, evaluated, substituted, symbol, symbols
from irlint.dims.polynomials import Atom, Monomial, Terms, atom_dim, canonical, terms_of
from irlint.findings.statements import Relation

#: Larger groups of connected conditions are not examined.
MOST_CONDITIONS = 24

#: The most combinations of alternatives in a proof. Conditions that would exceed this number are omitted.
MOST_CASES = 64

#: An elimination with more inequalities proves nothing.
MOST_INEQUALITIES = 100

#: The most relations and combined inequalities in a proof, counted together.
MOST_WORK = 4000


def contradicting(conditions: Sequence[Alternatives], limits: Mapping[str, Bounds]) -> list[int]:
    """The indices of conditions that are proven to contradict each other, or [].

    ``limits`` has the smallest and the largest size of each symbol.
    """
    names = [symbols_in(condition) for condition in conditions]
    places = by_name(names)
    seen: set[int] = set()
    for start in range(len(conditions)):
        if start in seen:
            continue
        found = _connected(start, names, places)
        seen.update(found)
        if len(found) <= MOST_CONDITIONS and _contradict([conditions[at] for at in found], limits):
            return _fewest(found, conditions, limits)
    return []


def inequality_about(relation: Relation, name: str, limits: Mapping[str, Bounds]) -> Relation | None:
    """An inequality about the size ``name``, which the relation and the limits of the other sizes imply.

    Returns None unless the inequality excludes all sizes but the smallest. Also None if the relation has a quotient,
    "min" or "max".
    """
    for fact in _facts(relation):
        most: Dim = 0
        for monomial, factor in terms_of(fact).items():
            term: Dim | None = factor
            for atom in monomial:
                if atom.parts:
                    return None
                low, high = limits.get(atom.name, (1, None))
                size = atom_dim(atom) if atom.name == name else low if factor < 0 else high
                term = None if term is None or size is None else term * size
            if term is None:
                break
            most = most + term
        else:
            least = limits.get(name, (1, None))[0] or 1
            if symbols(most) == {name} and evaluated(most, {name: least + 1}) < 0:
                return Relation(">=", most, 0)
    return None


def _connected(start: int, names: Sequence[Iterable[str]], places: dict[str, list[int]]) -> list[int]:
    """The indices of the conditions that share a symbol with condition ``start``, or with another such condition.

    Removes the symbols of these conditions from ``places``.
    """
    found, waiting = {start}, [start]
    while waiting:
        for name in names[waiting.pop()]:
            beside = [at for at in places.pop(name, ()) if at not in found]
            found.update(beside)
            waiting += beside
    return sorted(found)


def _fewest(found: list[int], conditions: Sequence[Alternatives], limits: Mapping[str, Bounds]) -> list[int]:
    for at in list(reversed(found)):
        fewer = [index for index in found if index != at]
        if fewer and _contradict([conditions[index] for index in fewer], limits):
            found = fewer
    return found


def _contradict(conditions: Sequence[Alternatives], limits: Mapping[str, Bounds]) -> bool:
    names = symbols_in([relation for alternatives in conditions for relation in alternatives])
    known = {name: _bounded_symbol(name, limits.get(name, (1, None))) for name in names}
    work = _Work(MOST_WORK)
    try:
        return all(_is_impossible(case, known, work) for case in _cases(conditions))
    except (TooComplex, ZeroDivisionError):
        return False


def _bounded_symbol(name: str, limits: Bounds) -> Dim:
    return symbol(name, limits[0] or 1, limits[1])


class _Work:
    """The work that remains for one proof."""

    def __init__(self, amount: int) -> None:
        self.remaining = amount

    def spend(self, amount: int) -> None:
        """Subtracts an amount; raises TooComplex if less remains."""
        self.remaining -= amount
        if self.remaining < 0:
            raise TooComplex("a proof about sizes")


def _cases(conditions: Sequence[Alternatives]) -> Iterator[tuple[Relation, ...]]:
    """All ways to choose one alternative of each condition.

    If there are more than MOST_CASES choices, the conditions with the most alternatives are omitted.
    """
    chosen: list[Alternatives] = []
    count = 1
    for condition in sorted(conditions, key=len):
        if count * len(condition) > MOST_CASES:
            break
        count *= len(condition)
        chosen.append(condition)
    cases: list[tuple[Relation, ...]] = [()]
    for alternatives in chosen:
        cases = [(*case, alternative) for case in cases for alternative in alternatives]
    return iter(cases)


def _is_impossible(relations: Sequence[Relation], known: Mapping[str, Dim], work: _Work) -> bool:
    """Whether the relations are proven to contradict each other. Raises TooComplex.

    ``known`` has the value of each symbol, or the symbol with its bounds.
    """
    undecided: list[Relation] = []
    work.spend(len(relations))
    for relation in relations:
        relation = simplified(
            Relation(relation.kind, substituted(relation.left, known), substituted(relation.right, known))
        )
        holds = decided(relation)
        if holds is False:
            return True
        if holds is None:
            undecided.append(relation)
    narrower = {**known}
    for relation in undecided:
        narrower.update(_narrowed(relation, narrower))
    if narrower != known:
        return _is_impossible(undecided, narrower, work)
    for relation in undecided:
        solution = _solved(relation)
        if solution is not None:
            name, size = solution
            # The expression that replaces a symbol must be within the bounds of the symbol.
            low, high = bounds(known[name])
            limited = [Relation(">=", size, low)] if low is not None else []
            limited += [Relation(">=", high, size)] if high is not None else []
            rest = [other for other in undecided if other is not relation]
            return _is_impossible([*rest, *limited], {**known, name: size}, work)
    facts = [fact for relation in undecided for fact in _facts(relation)]
    return bool(facts) and _eliminated([*facts, *_facts_about(facts)], work)


def _narrowed(relation: Relation, known: Mapping[str, Dim]) -> dict[str, Dim]:
    """For an inequality about one symbol, the symbol with the tighter bounds, by its name; else {}."""
    difference = relation.left - relation.right
    terms = terms_of(difference)
    (monomial, *others) = [term for term in terms if term] or [()]
    if relation.kind != ">=" or others or len(monomial) != 1 or monomial[0].parts:
        return {}
    name, factor, constant = monomial[0].name, terms[monomial], terms.get((), 0)
    low, high = bounds(known[name])
    limit = -(constant // factor) if factor > 0 else constant // -factor
    if factor > 0:
        low = limit if low is None else max(low, limit)
    else:
        high = limit if high is None else min(high, limit)
    return {} if high is not None and low is not None and low > high else {name: symbol(name, low or 0, high)}


def _solved(relation: Relation) -> tuple[str, Dim] | None:
    """(symbol, its value), if the relation is an equality that is linear in the symbol; else None."""
    if relation.kind != "==":
        return None
    difference = relation.left - relation.right
    terms = terms_of(difference)
    for monomial, factor in terms.items():
        if len(monomial) == 1 and abs(factor) == 1 and not monomial[0].parts:
            name = monomial[0].name
            rest = canonical({other: coefficient for other, coefficient in terms.items() if other != monomial})
            if name not in symbols(rest):
                return name, -factor * rest
    return None


def _facts(relation: Relation) -> list[Dim]:
    """Expressions that are at least 0 if a relation holds."""
    difference = relation.left - relation.right
    if relation.kind == ">=":
        return [difference]
    if relation.kind == "==":
        return [difference, -difference]
    # A divisor of a positive number is at most this number.
    are_positive = at_least(relation.left, 1) is True and at_least(relation.right, 1) is True
    return [difference] if are_positive else []


def _facts_about(facts: Sequence[Dim]) -> list[Dim]:
    """Expressions that are always at least 0, because of the bounds and operations of the monomials in ``facts``.

    Stops after about MOST_INEQUALITIES expressions.
    """
    found: list[Dim] = []
    seen: set[Monomial] = set()
    waiting = [monomial for fact in facts for monomial in terms_of(fact)]
    while waiting and len(found) < MOST_INEQUALITIES:
        monomial = waiting.pop()
        if monomial in seen or not monomial:
            continue
        seen.add(monomial)
        more = _of_monomial(monomial)
        waiting += [term for fact in more for term in terms_of(fact)]
        found += more
    return found


def _of_monomial(monomial: Monomial) -> list[Dim]:
    """Expressions that are at least 0 because of a monomial's bounds, its two factors, or its operation."""
    dim = Expr({monomial: 1})
    low, high = bounds(dim)
    found: list[Dim] = [] if low is None else [dim - low]
    found += [] if high is None else [high - dim]
    if len(monomial) == 2:
        one, other = (_above_lower_bound(atom) for atom in monomial)
        found += [] if one is None or other is None else [one * other]
    elif len(monomial) == 1 and monomial[0].parts:
        found += _of_operation(monomial[0], dim)
    return [fact for fact in found if not isinstance(fact, int)]


def _above_lower_bound(atom: Atom) -> Dim | None:
    return None if atom.low is None else atom_dim(atom) - atom.low


def _of_operation(atom: Atom, dim: Dim) -> list[Dim]:
    """Expressions that are at least 0 because the operation ``atom`` has the value ``dim``."""
    if atom.kind == "//":
        numerator, divisor = atom.parts
        if not isinstance(divisor, int):
            return []
        return [numerator - divisor * dim, divisor * dim + (divisor - 1) - numerator]
    return [part - dim if atom.kind == "min" else dim - part for part in atom.parts]


def _eliminated(facts: Sequence[Dim], work: _Work) -> bool:
    """Whether Fourier-Motzkin elimination proves that the facts cannot all be at least 0.

    Each monomial is a variable.
    """
    rows = {row for fact in facts if (row := _row(terms_of(fact))) is not None}
    while rows:
        if any(len(row) == 1 and row[0][0] == () for row in rows):
            return True
        counts: dict[Monomial, list[int]] = {}
        for row in rows:
            for monomial, factor in row:
                if monomial:
                    counts.setdefault(monomial, [0, 0])[factor > 0] += 1
        if not counts:
            return False
        chosen = min(counts, key=lambda monomial: counts[monomial][0] * counts[monomial][1])
        above, below, rest = _by_sign(rows, chosen)
        work.spend(len(above) * len(below))
        combined = (_combined(one, other, chosen) for one in above for other in below)
        rows = {*rest, *(row for row in combined if row is not None)}
        if len(rows) > MOST_INEQUALITIES:
            return False
    return False


#: The sorted terms of an expression that must be at least 0.
Row = tuple[tuple[Monomial, int], ...]


def _row(terms: Terms) -> Row | None:
    """The terms, divided by the common factor of all coefficients except the constant. The constant is rounded down.

    Returns None if the terms are only a constant of at least 0.
    """
    factors = [factor for monomial, factor in terms.items() if monomial]
    constant = terms.get((), 0)
    if not factors:
        return (((), constant),) if constant < 0 else None
    number = gcd(*factors)
    divided = {monomial: factor // number for monomial, factor in terms.items()}
    return tuple(sorted(((monomial, factor) for monomial, factor in divided.items() if factor), key=_order))


def _order(term: tuple[Monomial, int]) -> list[object]:
    return [atom.key for atom in term[0]]


def _by_sign(rows: set[Row], monomial: Monomial) -> tuple[list[Terms], list[Terms], list[Row]]:
    """The rows with a positive, a negative and no coefficient of a monomial."""
    above: list[Terms] = []
    below: list[Terms] = []
    rest: list[Row] = []
    for row in rows:
        terms = dict(row)
        factor = terms.get(monomial, 0)
        if factor:
            (above if factor > 0 else below).append(terms)
        else:
            rest.append(row)
    return above, below, rest


def _combined(above: Terms, below: Terms, monomial: Monomial) -> Row | None:
    """The sum of positive multiples of two rows, in which the monomial cancels."""
    one, other = -below[monomial], above[monomial]
    terms = {term: one * factor for term, factor in above.items()}
    for term, factor in below.items():
        terms[term] = terms.get(term, 0) + other * factor
    return _row({term: factor for term, factor in terms.items() if factor})
