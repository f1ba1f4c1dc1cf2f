"""Globs and relative paths, also with the paths of Windows."""

from __future__ import annotations

import ntpath
from pathlib import Path
from types import SimpleNamespace

import pytest

from irlint.policy import globs


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "os", SimpleNamespace(path=ntpath, sep="\\", curdir="."))


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("path", "root", "relative"),
    [
        (r"C:\repo\models\a.onnx", r"C:\repo", "models/a.onnx"),
        (r"c:\repo\a.onnx", r"C:\Repo", "a.onnx"),
        (r"C:/repo/models/a.onnx", r"C:\repo", "models/a.onnx"),
        (r"C:\other\a.onnx", r"C:\repo", "../other/a.onnx"),
        (r"D:\a.onnx", r"C:\repo", "D:/a.onnx"),
        (r"\\server\share\a.onnx", r"C:\repo", "//server/share/a.onnx"),
        (r"\\server\share\m\a.onnx", r"\\server\share", "m/a.onnx"),
    ],
)
def test_relative_paths_of_windows(path: str, root: str, relative: str) -> None:
    assert globs.relative(path, root) == relative


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("models/*.onnx", True),
        ("models\\*.onnx", True),
        ("models\\", True),
        ("**\\a.onnx", True),
        ("a.onnx", True),
        (r"C:\repo\models", True),
        ("C:/repo/**", True),
        (r"D:\repo\models", False),
        ("other\\*", False),
    ],
)
def test_patterns_of_windows(pattern: str, named: bool) -> None:
    assert globs.matches(r"C:\repo\models\a.onnx", [pattern], r"C:\repo") is named
    assert globs.ByGlob(["no", pattern], "ab", r"C:\repo").of(r"C:\repo\models\a.onnx") == ["b"] * named


PATTERNS = (
    "",
    ".",
    "..",
    "./.",
    "/",
    "a",
    "b.onnx",
    "./b.onnx",
    "a/b.onnx",
    "a//b.onnx",
    "/a/b.onnx",
    "/a",
    "/r/a",
    "./a/",
    "../a",
    "**",
    "*",
    "a/*",
    "[",
    "?",
)


@pytest.mark.parametrize("path", ["a/b.onnx", "/a/b.onnx", "/r/a/b.onnx", "b.onnx", "../a", ".", "s3://a/b.onnx"])
@pytest.mark.parametrize("root", ["", "/r", "/"])
def test_entries_are_found_as_their_globs_match(path: str, root: str) -> None:
    fitting = [at for at, pattern in enumerate(PATTERNS) if globs.matches(path, [pattern], root)]
    assert globs.ByGlob(PATTERNS, PATTERNS, root).fitting(path) == fitting


@pytest.mark.parametrize("pattern", ["link/m.onnx", "link", "./link/", "real/m.onnx", "./real", "link/../real/m.onnx"])
@pytest.mark.parametrize("path", ["link/m.onnx", "real/m.onnx"])
def test_entries_of_a_path_are_found_through_links(pattern: str, path: str, tmp_path: Path) -> None:
    root = str(tmp_path / "root")
    (tmp_path / "root" / "real").mkdir(parents=True)
    (tmp_path / "root" / "link").symlink_to("real")
    (tmp_path / "root" / "link" / "m.onnx").touch()
    linked = "/" in pattern.rstrip("/") or pattern == path.partition("/")[0]
    assert globs.ByGlob([pattern], [pattern], root).of(f"{root}/{path}") == [pattern] * linked


def test_a_backslash_elsewhere_is_a_character_of_a_name() -> None:
    assert not globs.matches("models/a.onnx", ["models\\a.onnx"])
