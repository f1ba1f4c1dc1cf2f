"""Configurations behind URLs: the same findings as on this machine, and no file outside of their folders is opened."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Site, served

from irlint.findings.report import Report
from irlint.parsers.remote import session
from irlint.parsers.remote.locations import Located
from irlint.run.files import Settings, checked

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

FOLDERS = Path(__file__).parents[2] / "fixtures" / "folders"
TINY = Path(__file__).parents[1] / "folders" / "tiny"


def everything(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    from irlint.parsers.remote import stores

    monkeypatch.setattr(stores, "PAUSE", 0.01)
    monkeypatch.setattr(session, "_STORES", {})
    with served(everything(FOLDERS)) as site:
        yield site


def of(*paths: str) -> Report:
    return checked(paths, settings=Settings({}, skip_non_models=True))


def reported(report: Report, root: str) -> list[tuple[str, str, str, int | None]]:
    return sorted((each.path.removeprefix(root), each.rule.code, each.message, each.line) for each in report.findings)


def configurations(report: Report, root: str) -> list[tuple[str, str | None, str]]:
    return sorted((each.path.removeprefix(root), each.kind, each.reason) for each in report.files if each.kind)


def test_a_store_says_the_same_as_this_machine() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for name, data in everything(FOLDERS).items():
        memory.pipe_file(f"/{name}", data)
    here, there = of(str(FOLDERS)), of("memory:///bad", "memory:///good")
    assert len(here.findings) >= 10
    assert reported(there, "memory:///") == reported(here, f"{FOLDERS}/")
    assert configurations(there, "memory:///") == configurations(here, f"{FOLDERS}/")


def test_a_server_that_lists_folders_says_the_same_as_this_machine(site: Site) -> None:
    here, there = of(str(FOLDERS)), of(f"{site.url}/x/")
    assert reported(there, f"{site.url}/x/") == reported(here, f"{FOLDERS}/")


def test_configurations_of_language_models_say_the_same(tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for name, data in everything(TINY).items():
        text = data.replace(b'"num_hidden_layers": 2', b'"num_hidden_layers": 3')
        memory.pipe_file(f"/{name}", text.replace(b'"position_ids"', b'"positions"'))
    for name in ("genai", "openvino_genai", "transformers"):
        memory.get(f"/{name}", str(tmp_path / name), recursive=True)
    here, there = of(str(tmp_path)), of(*(f"memory:///{name}" for name in ("genai", "openvino_genai", "transformers")))
    assert len({each.rule.code for each in here.findings}) >= 2
    assert reported(there, "memory:///") == reported(here, f"{tmp_path}/")
    assert configurations(there, "memory:///") == configurations(here, f"{tmp_path}/")


def test_a_configuration_of_a_server_without_lists_is_skipped(site: Site) -> None:
    (name,) = {each for each in site.files if each.startswith("bad/IRL622") and each.endswith("config.pbtxt")}
    (entry,) = of(f"{site.url}/nolist/{name}").files
    assert (entry.status, entry.reason) == (
        "skipped",
        "the server does not list the folder of the configuration: copy the folder to this machine",
    )


@pytest.mark.parametrize(
    ("name", "is_contained"),
    [
        ("https://h/repository/model/1/model.onnx", True),
        ("https://h/repository/other/config.pbtxt", True),
        ("https://h/repository", True),
        ("https://h/secret", False),
        ("https://h/repository2/model", False),
        ("https://h/repository/../secret", False),
        ("https://elsewhere/repository/model", False),
    ],
)
def test_what_a_configuration_may_open(name: str, is_contained: bool) -> None:
    with session.Session(Located("https://h/repository/model/config.pbtxt"), "https://h/repository") as found:
        assert found.contains(name) is is_contained
        if not is_contained:
            with pytest.raises(OSError, match="only if you name it") as caught:
                session.opened(name)
            assert caught.value.errno == errno.EACCES


def test_a_model_alone_opens_no_neighbors() -> None:
    with session.Session(Located("https://h/repository/model/1/model.onnx")), pytest.raises(OSError, match="only if"):
        session.opened("https://h/repository/model/config.pbtxt")


def test_secrets_of_a_url_go_to_its_neighbors_and_are_not_shown() -> None:
    with session.Session(Located("https://me:pw@h/r/m/config.pbtxt?token=t"), "https://h/r") as found:
        assert found.located("https://h/r/m/1/a b.onnx").url == "https://me:pw@h/r/m/1/a%20b.onnx?token=t"
        assert found.located("https://h/r/other").url == "https://me:pw@h/r/other?token=t"
        assert str(found.located("https://h/r/m/1/model.onnx")) == "https://h/r/m/1/model.onnx"


def test_a_run_checks_configurations_again(tmp_path: Path) -> None:
    import fsspec

    from irlint.run.files import checked

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for name, data in everything(FOLDERS / "bad" / "IRL623-config-unknown-tensor").items():
        memory.pipe_file(f"/r/{name}", data)
    settings = Settings({}, skip_non_models=True, stamped=True)
    stamps = {each.path.rpartition("/")[2]: each.stamp for each in checked(["memory:///r"], settings=settings).files}
    assert (stamps["config.pbtxt"], bool(stamps["model.onnx"])) == ("", True)
