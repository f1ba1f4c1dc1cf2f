"""Files that are longer than irlint reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from irlint.parsers.opening import MOST, file_bytes


@pytest.mark.parametrize("what", MOST)
def test_a_longer_file_is_refused_instead_of_cut(what: str, tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.truncate(MOST[what] + 1)
    with pytest.raises(OSError, match=f"it has more than the {MOST[what]:,} bytes that irlint reads"):
        file_bytes(path, what)
