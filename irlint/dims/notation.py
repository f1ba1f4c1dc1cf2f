"""The text of a polynomial, in Python's notation."""

from __future__ import annotations

from irlint.dims.polynomials import Dim, Expr, Monomial, lone_atom, rank, terms_of


def text(a: Expr) -> str:
    """Python's notation for `a`: terms by falling degree and then by name, the constant last."""
    short = _short_text(a)
    if short is not None:
        return short
    ordered = sorted(a.terms, key=lambda monomial: (-sum(atom.degree for atom in monomial), rank(monomial)))
    first = next((monomial for monomial in ordered if monomial and a.terms[monomial] > 0), ordered[0])
    ordered.remove(first)
    joined = _term_text(first, a.terms[first])
    for monomial in ordered:
        factor = a.terms[monomial]
        joined += (" + " if factor > 0 else " - ") + _term_text(monomial, abs(factor))
    return joined


def _short_text(a: Expr) -> str | None:
    """`a` as one quotient or one remainder, if it is one."""
    alone = lone_atom(a, "//")
    if alone:
        (numerator, divisor), constant = alone[0].parts, alone[1]
        return quotient_text(numerator + constant * divisor, divisor)
    for monomial, factor in a.terms.items():
        if len(monomial) == 1 and monomial[0].kind == "//" and monomial[0].parts[1] == -factor:
            numerator = monomial[0].parts[0]
            if a - Expr({monomial: factor}) == numerator:
                return f"{_operand_text(numerator)} % {-factor}"
    return None


def _term_text(monomial: Monomial, factor: int) -> str:
    if factor == 1 and len(monomial) == 1:
        return str(monomial[0])
    names = [f"({atom})" if atom.kind == "//" else str(atom) for atom in monomial]
    if factor == -1 and names:
        return "-" + "*".join(names)
    return "*".join(names if factor == 1 and names else [str(factor), *names])


def quotient_text(numerator: Dim, divisor: Dim) -> str:
    """The text of numerator // divisor."""
    bare = isinstance(divisor, int) or str(divisor).isidentifier()
    return f"{_operand_text(numerator)}//{divisor if bare else f'({divisor})'}"


def _operand_text(a: Dim) -> str:
    """`a` as the left operand of // or %."""
    return f"({a})" if len(terms_of(a)) > 1 or lone_atom(a, "//") else str(a)
