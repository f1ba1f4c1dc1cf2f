"""Git LFS pointers, and the repositories that have what they stand for."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from irlint.parsers.lfs import Pointer, pointer_in, stored

CONTENTS = b"a model"
OID = sha256(CONTENTS).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(CONTENTS)}\n".encode()


def test_what_a_pointer_says() -> None:
    assert pointer_in(POINTER) == Pointer(OID, len(CONTENTS))


@pytest.mark.parametrize("head", [b"", b"\x08\x08", POINTER[:-3], POINTER.replace(OID.encode(), b"../x"), POINTER[:60]])
def test_what_is_none(head: bytes) -> None:
    assert pointer_in(head) is None


def keep(repository: Path) -> Path:
    path = repository / "lfs" / "objects" / OID[:2] / OID[2:4] / OID
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENTS)
    return path


def test_the_store_of_the_repository_around(tmp_path: Path) -> None:
    pointer, folder = Pointer(OID, len(CONTENTS)), tmp_path / "models" / "small"
    folder.mkdir(parents=True)
    assert stored(pointer, str(folder)) is None
    path = keep(tmp_path / ".git")
    assert stored(pointer, str(folder)) == str(path)
    assert stored(pointer, "/nowhere", str(folder)) == str(path)
    assert stored(Pointer(OID, 5), str(folder)) is None


def test_another_work_tree(tmp_path: Path) -> None:
    path = keep(tmp_path / "main" / ".git")
    own = tmp_path / "main" / ".git" / "worktrees" / "other"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {own}\n")
    assert stored(Pointer(OID, len(CONTENTS)), str(other)) == str(path)
