"""Facts about a model, for the output formats that show more than findings."""

from __future__ import annotations

from irlint.inference.known import Known
from irlint.lazy_typing import Any

#: At most this many values of a model are listed.
VALUES = 2_000


def facts(known: Known, path: str) -> dict[str, Any]:
    """A table of at most ``VALUES`` values of a model, its contract, its costs, and which releases load the model."""
    from irlint.reporters.listing import table
    from irlint.run.contract import demanded_by
    from irlint.run.info import described_by
    from irlint.run.listing import listed_of
    from irlint.run.targets import taken_of

    listing = listed_of(known, path, marked=True, most=VALUES)
    contract = demanded_by(known, path)
    return {
        "values": table(listing),
        "all": len(listing["values"]) < VALUES,
        "contract": contract,
        "info": described_by(known, path, contract),
        "targets": taken_of(known, path),
    }
