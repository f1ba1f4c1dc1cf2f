"""Reads the text of an IR attribute as OpenVINO does: a number, a list, a truth value or one of several words."""

from __future__ import annotations

from math import isinf

from irlint.binding.calls import choices, quoted
from irlint.lazy_typing import Any
from irlint.ops import Operator
from irlint.parsers.openvino.types import BLANKS, DIGITS

#: The smallest number that rounds to infinity as a float of 32 bits.
FLOAT_OVERFLOW = 3.4028235677973366e38

#: An integer of 64 bits has at most this many digits.
MOST_DIGITS = 19


def read_text(text: str, name: str, annotation: str, operator: Operator) -> tuple[Any, str]:
    """(the value of the parameter ``name``, a remark on the part of the text that OpenVINO ignores, or "").

    The value is None if OpenVINO ignores the complete text, and for a dynamic element type. Raises ValueError if
    OpenVINO refuses the text.
    """
    kind = annotation.removesuffix(" | None")
    strict = name in operator.strict
    if kind in ("int", "float"):
        return _number(text, kind)
    if kind == "bool":
        return _truth(text)
    if kind in ("Ints", "Floats"):
        return _numbers(text, "int" if kind == "Ints" else "float", unsigned=strict)
    if kind == "DType":
        from irlint.parsers.openvino.types import element_type

        return element_type(text), ""
    allowed = choices(kind, operator.function)
    return (_chosen(text, allowed, strict) if allowed else text), ""


def _chosen(text: str, allowed: tuple[str, ...], exact: bool) -> str:
    lowered = {choice.lower(): choice for choice in allowed}
    if text.lower() not in lowered or (exact and text not in allowed):
        raise ValueError(
            f"it has to be {'one of ' * (len(allowed) > 1)}{quoted(allowed)}{', letter for letter' if exact else ''}"
        )
    return lowered[text.lower()]


def allowed_texts(text: str, annotation: str, operator: Operator) -> list[str]:
    """The texts that an attribute may have; for an element type, only the correct spelling of ``text``."""
    if not annotation.startswith("DType"):
        return [choice for choice in choices(annotation, operator.function) if isinstance(choice, str)]
    from irlint.parsers.openvino.types import renamed_type

    name = renamed_type(text)
    return [name] if name else []


def _truth(text: str) -> tuple[bool | None, str]:
    if text.lower() in ("true", "1"):
        return True, ""
    if text.lower() in ("false", "0"):
        return False, ""
    return None, "it has to be true or false, and OpenVINO ignores anything else"


def _numbers(text: str, kind: str, *, unsigned: bool) -> tuple[tuple[int | float, ...], str]:
    """(the numbers between commas, a remark or ""); floats have 32 bits. Raises ValueError."""
    parts = text.removesuffix(",").split(",") if text else []
    numbers = [_number(part, kind, unsigned=unsigned, overflow=FLOAT_OVERFLOW) for part in parts]
    return tuple(value for value, _ in numbers), next((remark for _, remark in numbers if remark), "")


def _number(text: str, kind: str, *, unsigned: bool = False, overflow: float = float("inf")) -> tuple[int | float, str]:
    """(the number at the beginning, as C++ streams read it; a remark on the rest, or ""). Raises ValueError."""
    stripped = text.lstrip(BLANKS)
    length = _integer_length(stripped) if kind == "int" else _float_length(stripped)
    expected = "it has to be an integer" if kind == "int" else "it has to be a number"
    if not length:
        raise ValueError(expected)
    if kind == "int" and len(stripped[:length].lstrip("-0")) > MOST_DIGITS:
        raise ValueError(f"{expected} of 64 bits")
    number = _integer(stripped[:length]) if kind == "int" else float(stripped[:length])
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise ValueError(f"{expected} of 64 bits")
    if isinstance(number, float) and "inf" not in stripped[:length] and (isinf(number) or abs(number) >= overflow):
        raise ValueError(f"{expected} of {32 if overflow == FLOAT_OVERFLOW else 64} bits")
    if unsigned and stripped.startswith("-"):
        raise ValueError("it has to be an integer of at least 0")
    return number, "" if not stripped[length:].strip(BLANKS) else f"OpenVINO reads {number} and ignores the rest"


def _integer(text: str) -> int:
    # Python's int() refuses texts of very many digits, and counts leading zeros.
    digits = int(text.lstrip("-0") or "0")
    return -digits if text.startswith("-") else digits


def _integer_length(text: str) -> int:
    """The length of the integer at the beginning of a text; 0 without an integer."""
    sign = 1 if text.startswith("-") else 0
    end = _end_of_digits(text, sign)
    return end if end > sign else 0


def _float_length(text: str) -> int:
    """The length of the float at the beginning of a text; 0 if it is incomplete."""
    if text.rstrip(BLANKS) in ("inf", "-inf", "nan"):
        return len(text.rstrip(BLANKS))
    sign = 1 if text.startswith(("-", "+")) else 0
    end = _end_of_digits(text, sign)
    count = end - sign
    if text[end : end + 1] == ".":
        count += _end_of_digits(text, end + 1) - end - 1
        end = _end_of_digits(text, end + 1)
    if not count or text[end : end + 1] not in ("e", "E"):
        return end if count else 0
    start = end + 1 + (text[end + 1 : end + 2] in ("+", "-"))
    end = _end_of_digits(text, start)
    return end if end > start else 0


def _end_of_digits(text: str, start: int) -> int:
    while text[start : start + 1] in DIGITS:
        start += 1
    return start
