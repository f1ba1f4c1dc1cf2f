"""Element types that OpenVINO reads at an input but its CPU plugin refuses to compile, from ``openvino_cpu.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from irlint.records import record
from irlint.schemas import table_text

#: The OpenVINO release with which the table was measured.
RELEASE = "2026.4"


@record
class Refusal:
    """The element types ``types`` that the CPU plugin refuses at the inputs ``indices`` of an operation of the opsets
    ``first`` to ``last``. ``always``: also if sizes are dynamic; if False, only if all sizes are known."""

    first: int
    last: int
    indices: frozenset[int]
    types: frozenset[str]
    always: bool


@cache
def _refusals() -> Mapping[str, tuple[Refusal, ...]]:
    """The refusals of each operation, by its name."""
    found: dict[str, tuple[Refusal, ...]] = {}
    for line in table_text("openvino_cpu.txt").splitlines()[1:]:
        when, names, opsets, indices, *types = line.split(" ")
        first, last = opsets.split("-")
        places = frozenset(map(int, indices.split(",")))
        refusal = Refusal(int(first), int(last), places, frozenset(types), when == "always")
        for name in names.split(","):
            found[name] = (*found.get(name, ()), refusal)
    return found


def is_refused(name: str, opset: int, index: int, dtype: str, *, sized: bool) -> bool:
    """Whether the CPU plugin refuses ``dtype`` at an input that is not a constant.

    ``sized`` states whether all sizes of the inputs are known.
    """
    return any(
        dtype in each.types and index in each.indices and each.first <= opset <= each.last and (sized or each.always)
        for each in _refusals().get(name, ())
    )
