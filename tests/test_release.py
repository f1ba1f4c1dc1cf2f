"""The version stands in one place, and every other that names it follows."""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

import pytest
from make import release

import irlint
from irlint.targets import tables
from irlint.targets.newest import RUNTIME

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = release.ROOT


def shipped() -> list[Path]:
    """The texts of the project but its tests, whose reports name versions of their own."""
    folders = [ROOT / name for name in ("irlint", ".github")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".yml", ".md", ".json")]
    return [*files, *ROOT.glob("*.md"), ROOT / "pyproject.toml", ROOT / ".pre-commit-hooks.yaml"]


def test_package_says_what_the_source_says() -> None:
    assert release.version() == irlint.__version__


def test_build_reads_it_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert ROOT / project["tool"]["hatch"]["version"]["path"] == release.SOURCE


def test_engines_are_asked_up_to_the_release_that_was_measured_last() -> None:
    """A release that nobody has measured breaks nothing."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    limits = {}
    for line in (*extras["test-core"], *extras["oracles"]):
        name, limit = re.findall(r"[\w-]+", line)[0], re.search(r"(==|<)([\d.]+)", line.partition(";")[0])
        limits[name] = limit.groups() if limit is not None else None
    major, minor = RUNTIME.split(".")
    assert limits["onnxruntime"] == ("<", f"{major}.{int(minor) + 1}")
    assert limits["openvino"] == ("==", tables.releases("openvino")[-1])
    assert limits["onnx"] is not None


def test_examples_name_one_version() -> None:
    tags = {tag for path in release.EXAMPLES for _, tag in release.TAGGED.findall(path.read_text("utf-8"))}
    assert tags in ({release.UNRELEASED}, {f"v{irlint.__version__}"})
    assert all(release.TAGGED.search(path.read_text("utf-8")) for path in release.EXAMPLES)


def test_it_stands_nowhere_else() -> None:
    known = {release.SOURCE, release.CHANGELOG, *release.EXAMPLES}
    number = re.compile(rf"(?<![\d.]){re.escape(irlint.__version__)}(?![\d.])")
    assert [path.name for path in shipped() if path not in known and number.search(path.read_text("utf-8"))] == []
    for path in release.EXAMPLES:
        assert not number.search(release.TAGGED.sub("", path.read_text("utf-8"))), path.name


def test_changelog_begins_with_what_is_to_come_and_this_version() -> None:
    assert list(release.sections())[:2] == ["Unreleased", irlint.__version__]
    assert release.notes(f"v{irlint.__version__}")


@pytest.mark.parametrize("tag", [irlint.__version__, "v0.0.1", f"v{irlint.__version__}rc1", "", "vv"])
def test_another_tag_is_refused(tag: str) -> None:
    with pytest.raises(SystemExit, match="the tag has to be v"):
        release.notes(tag)


def test_next_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## [Unreleased]\n\n- a\n\n## [0.1.0]\n\n- b\n", "utf-8")
    monkeypatch.setattr(release, "CHANGELOG", changelog)
    texts = dict(release.bumped("9.8.7", datetime.date(2030, 1, 2)))
    assert set(texts) == {release.SOURCE, changelog, *release.EXAMPLES}
    assert '__version__ = "9.8.7"\n' in texts[release.SOURCE]
    assert texts[changelog].partition("\n\n")[2] == (
        "## [Unreleased]\n\n## [9.8.7] - 2030-01-02\n\n- a\n\n## [0.1.0]\n\n- b\n"
    )
    assert all(release.TAGGED.findall(texts[path]) and "v9.8.7" in texts[path] for path in release.EXAMPLES)


@pytest.mark.parametrize(
    ("number", "changes", "message"),
    [("0.2", "- a", "no version"), ("0.1.0", "- a", "already"), ("0.2.0", "", "nothing under")],
)
def test_what_is_no_next_version(
    number: str, changes: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(f"## [Unreleased]\n\n{changes}\n\n## [0.1.0]\n\n- b\n", "utf-8")
    monkeypatch.setattr(release, "CHANGELOG", changelog)
    with pytest.raises(SystemExit, match=message):
        list(release.bumped(number, datetime.date(2030, 1, 2)))
