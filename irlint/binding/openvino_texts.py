"""How OpenVINO reads the text of an attribute: as a number, a list, a truth value or one of several words."""

from __future__ import annotations

from irlint.binding.calls import choices, listed
from irlint.lazy_typing import Any
from irlint.ops import Operator


def read_text(text: str, name: str, annotation: str, operator: Operator) -> tuple[Any, str]:
    """The text of the parameter ``name`` as its annotation says, and what the library passes over in it, "" for nothing.

    The value is None where the library passes over all of it. Raises ValueError where it refuses the text.
    """
    kind = annotation.removesuffix(" | None")
    strict = name in operator.strict
    if kind in ("int", "float"):
        return _number(text, kind)
    if kind == "bool":
        return _truth(text)
    if kind in ("Ints", "Floats"):
        parts = text.split(",") if text.strip() else []
        read = [_number(part, "int" if kind == "Ints" else "float", unsigned=strict) for part in parts]
        return tuple(value for value, _ in read), next((remark for _, remark in read if remark), "")
    if kind == "DType":
        from irlint.parsers.openvino.types import element_type

        return element_type(text), ""
    allowed = choices(kind, operator.function)
    return (_chosen(text, allowed, strict) if allowed else text), ""


def _chosen(text: str, allowed: tuple[str, ...], exact: bool) -> str:
    lowered = {choice.lower(): choice for choice in allowed}
    if text.lower() not in lowered or (exact and text not in allowed):
        raise ValueError(f"it has to be one of {listed(allowed)}{', letter for letter' if exact else ''}")
    return lowered[text.lower()]


def allowed_texts(text: str, annotation: str, operator: Operator) -> list[str]:
    """The texts that an attribute may have; of the names of element types the one that ``text`` stands for."""
    if not annotation.startswith("DType"):
        return [each for each in choices(annotation, operator.function) if isinstance(each, str)]
    from irlint.parsers.openvino.types import renamed_type

    name = renamed_type(text)
    return [name] if name else []


def _truth(text: str) -> tuple[bool | None, str]:
    if text.lower() in ("true", "1"):
        return True, ""
    if text.lower() in ("false", "0"):
        return False, ""
    return None, "it has to be true or false, and OpenVINO passes over anything else"


def _number(text: str, kind: str, *, unsigned: bool = False) -> tuple[int | float, str]:
    """The number that a text begins with; an ``int`` has no plus sign, and an unsigned one no minus sign either."""
    stripped = text.lstrip()
    end = len(stripped)
    while end and (number := _whole(stripped, end) if kind == "int" else _real(stripped, end)) is None:
        end -= 1
    if not end or (kind == "int" and not -(2**63) <= number < 2**63):  # type: ignore[operator]
        raise ValueError("it has to be a whole number" if kind == "int" else "it has to be a number")
    if unsigned and stripped.startswith("-"):
        raise ValueError("it has to be a whole number of at least 0")
    assert number is not None
    return number, "" if not stripped[end:].strip() else f"OpenVINO reads {number} and passes over the rest"


def _whole(text: str, end: int) -> int | None:
    digits = text[1:end] if text.startswith("-") else text[:end]
    return int(text[:end]) if digits.isascii() and digits.isdecimal() else None


def _real(text: str, end: int) -> float | None:
    try:
        return float(text[:end]) if "_" not in text[:end] else None
    except ValueError:
        return None
