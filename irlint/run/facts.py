"""What is known of a model beside its findings, for the forms that show it."""

from __future__ import annotations

from irlint.inference.known import Known
from irlint.lazy_typing import Any

#: Of a model so many values are listed.
VALUES = 2_000


def facts(known: Known, path: str) -> dict[str, Any]:
    """The values of a model (of very many the first) as lines of a table, its contract and costs, and which releases
    take it."""
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
