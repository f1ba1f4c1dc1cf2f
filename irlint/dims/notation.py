"""The text of a polynomial, in Python's notation (``text``) or for messages (``formatted``)."""

from __future__ import annotations

from irlint.dims.polynomials import Atom, Dim, Expr, Monomial, lone_atom, rank, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    #: The text of a part of a polynomial.
    Written = Callable[[Dim], str]

#: The pattern of a product of ``max(a, b)`` and ``min(a, b, 1)``.
_BROADCAST = r"\bmax\((.+?)\)\*min\(\1, 1\)"


def text(a: Expr) -> str:
    """``a`` in Python's notation: terms by falling degree, then by name."""
    return _text(a, str)


def formatted(a: Expr) -> str:
    """As ``text``, but shows ``max(a, b)*min(a, b, 1)`` as ``max(a, b)``. The two differ only for sizes of 0."""
    return _text(a, "{}".format)


def as_message(text: str) -> str:
    """Turns the text of a size or condition in JSON data into the form of messages; see ``formatted``."""
    import re

    while (found := re.sub(_BROADCAST, r"max(\1)", text)) != text:
        text = found
    return text


def _text(a: Expr, written: Written) -> str:
    short = _short_text(a, written)
    if short is not None:
        return short
    ordered = sorted(a.terms, key=lambda monomial: (-sum(atom.degree for atom in monomial), rank(monomial)))
    first = next((monomial for monomial in ordered if monomial and a.terms[monomial] > 0), ordered[0])
    ordered.remove(first)
    joined = _term_text(first, a.terms[first], written)
    for monomial in ordered:
        factor = a.terms[monomial]
        joined += (" + " if factor > 0 else " - ") + _term_text(monomial, abs(factor), written)
    return joined


def _short_text(a: Expr, written: Written) -> str | None:
    """``n//d`` for a quotient plus a number, ``n % d`` for a remainder, else None."""
    found = lone_atom(a, "//")
    if found:
        (numerator, divisor), constant = found[0].parts, found[1]
        return quotient_text(numerator + constant * divisor, divisor, written)
    for monomial, factor in a.terms.items():
        if len(monomial) == 1 and monomial[0].kind == "//" and monomial[0].parts[1] == -factor:
            numerator = monomial[0].parts[0]
            if a - Expr({monomial: factor}) == numerator:
                return f"{_operand_text(numerator, written)} % {-factor}"
    return None


def _term_text(monomial: Monomial, factor: int, written: Written) -> str:
    names = (
        _with_broadcasts(monomial, written) if written is not str else [_atom_text(atom, written) for atom in monomial]
    )
    if factor == 1 and len(names) == 1:
        return names[0][1:-1] if len(monomial) == 1 and monomial[0].kind == "//" else names[0]
    if factor == -1 and names:
        return "-" + "*".join(names)
    return "*".join(names if factor == 1 and names else [str(factor), *names])


def _with_broadcasts(monomial: Monomial, written: Written) -> list[str]:
    """The texts of the atoms. Beside ``max(a, b)``, the atom ``min(a, b, 1)`` is omitted."""
    remaining = list(monomial)
    names = []
    for atom in monomial:
        if atom not in remaining:
            continue
        remaining.remove(atom)
        limit = next((other for other in remaining if _is_limit(other, atom)), None)
        if limit is not None:
            remaining.remove(limit)
        names.append(_atom_text(atom, written))
    return names


def _is_limit(limit: Atom, atom: Atom) -> bool:
    """Whether ``atom`` is ``max(a, b)`` and ``limit`` is ``min(a, b, 1)`` for the same sizes."""
    return atom.kind == "max" and limit.kind == "min" and {*atom.parts, 1} == {*limit.parts}


def _atom_text(atom: Atom, written: Written) -> str:
    if atom.kind == "//":
        numerator, divisor = atom.parts
        return f"({quotient_text(numerator, divisor, written)})"
    return f"{atom.kind}({', '.join(map(written, atom.parts))})" if atom.parts else atom.name


def quotient_text(numerator: Dim, divisor: Dim, written: Written = str) -> str:
    """The text of numerator // divisor."""
    right = written(divisor)
    is_bare = isinstance(divisor, int) or right.isidentifier()
    return f"{_operand_text(numerator, written)}//{right if is_bare else f'({right})'}"


def _operand_text(a: Dim, written: Written) -> str:
    """The text of ``a`` as the left operand of // or %."""
    return f"({written(a)})" if len(terms_of(a)) > 1 or lone_atom(a, "//") else written(a)
