"""Facts about a model, for the output formats that show more than findings."""

from __future__ import annotations

from irlint.inference.known import Known
from irlint.lazy_typing import Any

#: At most this many values of a model are listed.
VALUES = 2_000


def facts(known: Known, path: str) -> dict[str, Any]:
    """The facts about a model: a table of its values, its contract, its costs, and which releases load it."""
    from irlint.reporters.listing import table
    from irlint.run.contract import contract_data_of
    from irlint.run.info import info_data_of
    from irlint.run.listing import shapes_data_of
    from irlint.run.targets import targets_data_of

    shapes = shapes_data_of(known, path, marked=True, most=VALUES)
    contract = contract_data_of(known, path)
    return {
        "values": table(shapes),
        "all": len(shapes["values"]) < VALUES,
        "contract": contract,
        "info": info_data_of(known, path, contract),
        "targets": targets_data_of(known, path),
    }
