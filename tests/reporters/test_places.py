"""Where a file lies in the repository and what its URI is, also with the paths of Windows."""

from __future__ import annotations

import ntpath
from types import SimpleNamespace

import pytest

from irlint.reporters import headlines, sarif


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (headlines, sarif):
        monkeypatch.setattr(module, "os", SimpleNamespace(path=ntpath, sep="\\"))


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("path", "root", "place"),
    [
        (r"C:\repo\models\a.onnx", "C:\\repo", "models/a.onnx"),
        (r"c:\Repo\models\a.onnx", "C:\\repo", "models/a.onnx"),
        (r"C:\a.onnx", "C:\\", "a.onnx"),
        (r"C:\repository\a.onnx", "C:\\repo", "C:/repository/a.onnx"),
        (r"D:\a.onnx", "C:\\repo", "D:/a.onnx"),
        (r"\\server\share\a.onnx", "C:\\repo", "//server/share/a.onnx"),
    ],
)
def test_places_of_windows(path: str, root: str, place: str) -> None:
    assert headlines._from_root(path, root) == place


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("place", "uri"),
    [
        ("models/a b.onnx", "models/a%20b.onnx"),
        ("C:/models/a.onnx", "file:///C:/models/a.onnx"),
        ("//server/share/a.onnx", "file://server/share/a.onnx"),
    ],
)
def test_uris_of_windows(place: str, uri: str) -> None:
    assert sarif._uri(place) == uri


def test_uri_of_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    import posixpath

    monkeypatch.setattr(sarif, "os", SimpleNamespace(path=posixpath, sep="/"))
    assert sarif._uri("/models/a.onnx") == "file:///models/a.onnx"
    assert sarif._uri("models/\udcff.onnx") == "models/%FF.onnx"
