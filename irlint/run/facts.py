"""Facts about a model beside its findings, for the forms that show them."""

from __future__ import annotations

from irlint.inference.known import Known
from irlint.lazy_typing import Any

#: At most this many values of a model are listed.
VALUES = 2_000


def facts(known: Known, path: str) -> dict[str, Any]:
    """The table of the values of a model (at most ``VALUES``), its contract, its costs, and the releases that load
    it."""
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
