"""Element types of inputs that OpenVINO reads and its CPU plugin refuses, from ``openvino_cpu.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from irlint.records import record
from irlint.schemas import table_text

#: The OpenVINO release with which the table was measured.
RELEASE = "2026.4"


@record
class Refusal:
    """The element types that the CPU plugin refuses at inputs of an operation, from opset ``first`` to ``last``."""

    first: int
    last: int
    indices: frozenset[int]
    types: frozenset[str]
    #: Whether the CPU plugin also refuses them if sizes are dynamic.
    if_dynamic: bool


@cache
def _refusals() -> Mapping[str, tuple[Refusal, ...]]:
    found: dict[str, tuple[Refusal, ...]] = {}
    for line in table_text("openvino_cpu.txt").splitlines()[1:]:
        condition, names, opsets, indices, *types = line.split(" ")
        first, last = opsets.split("-")
        places = frozenset(map(int, indices.split(",")))
        refusal = Refusal(int(first), int(last), places, frozenset(types), condition == "always")
        for name in names.split(","):
            found[name] = (*found.get(name, ()), refusal)
    return found


def is_refused(name: str, opset: int, index: int, dtype: str, *, sized: bool) -> bool:
    """Whether the CPU plugin refuses ``dtype`` at an input that is not a constant.

    ``sized``: all sizes of the inputs are known.
    """
    return any(
        dtype in refusal.types
        and index in refusal.indices
        and refusal.first <= opset <= refusal.last
        and (sized or refusal.if_dynamic)
        for refusal in _refusals().get(name, ())
    )
