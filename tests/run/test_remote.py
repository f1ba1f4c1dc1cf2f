"""Models behind URLs: few of their bytes are read, servers may misbehave, and nothing leads to where nobody asked
for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import monotonic

import numpy
import onnx
import onnx.helper as make
import onnx.numpy_helper
import pytest
from command.process import BAD, FIXTURES, GOOD, IR, ran, run
from serving import Site, served

import irlint
from irlint.findings.report import Report
from irlint.reporters.forms import FORMS
from irlint.run.files import Settings, checked
from irlint.run.search import Excluded, MissingPaths

pytestmark = pytest.mark.skipif(not (find_spec("fsspec") and find_spec("aiohttp")), reason="the extra `remote`")


@cache
def weighed(tensors: int = 6, size: int = 300_000) -> bytes:
    """A model with large weights between small ones."""
    weights = [onnx.numpy_helper.from_array(numpy.zeros((size // 4,), "float32"), f"w{n}") for n in range(tensors)]
    shapes = [onnx.numpy_helper.from_array(numpy.array([2, -1], "int64"), f"s{n}") for n in range(tensors)]
    nodes = [make.make_node("Reshape", [f"w{n}", f"s{n}"], [f"y{n}"]) for n in range(tensors)]
    outputs = [make.make_tensor_value_info(f"y{n}", 1, [2, size // 8]) for n in range(tensors)]
    mixed = [each for pair in zip(weights, shapes) for each in pair]
    graph = make.make_graph(nodes, "g", [], outputs, mixed)
    return make.make_model(graph, ir_version=8, opset_imports=[make.make_opsetid("", 17)]).SerializeToString()


def external(*locations: str) -> bytes:
    """A model with a large tensor of 8,000 bytes at each location."""
    tensors = []
    for number, location in enumerate(locations):
        tensor = onnx.TensorProto(name=f"w{number}", dims=[2000], data_type=1, data_location=onnx.TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=location)
        tensors.append(tensor)
    names = [tensor.name for tensor in tensors]
    nodes = [make.make_node("Relu", [name], [f"y_{name}"]) for name in names]
    outputs = [make.make_tensor_value_info(f"y_{name}", 1, [2000]) for name in names]
    graph = make.make_graph(nodes, "g", [], outputs, tensors)
    return make.make_model(graph, ir_version=8, opset_imports=[make.make_opsetid("", 17)]).SerializeToString()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    from irlint.parsers.remote import session, stores

    monkeypatch.setattr(stores, "PAUSE", 0.01)
    monkeypatch.setattr(session, "_STORES", {})
    files = {"good.onnx": GOOD.read_bytes(), "bad.onnx": BAD.read_bytes(), "big.onnx": weighed()}
    with served(files) as site:
        yield site


def of(*paths: str, **settings: object) -> Report:
    return checked(paths, settings=Settings({}, skip_non_models=True, **settings))  # type: ignore[arg-type]


def reported(report: Report) -> list[tuple[str, str]]:
    return [(finding.rule.code, finding.message) for finding in report.findings]


# What is read.


def test_every_fixture_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    monkeypatch.chdir(FIXTURES)
    paths = [path for kind in ("onnx", "openvino") for path in sorted(Path(kind, "bad").iterdir())][::7]
    for path in paths:
        for each in {path, path.with_suffix(".bin")}:
            if each.exists():
                memory.pipe_file(f"/models/{each.as_posix()}", each.read_bytes())
    there = of("memory://models").as_dict()["findings"]
    here = of(*[str(path) for path in paths if path.suffix != ".bin"]).as_dict()["findings"]
    assert len(here) > 20
    for each in there:
        each["path"] = each["path"].removeprefix("memory://models/").removeprefix("memory:///models/")
    assert json.dumps(there).replace("memory://models/", "") == json.dumps(here)


def test_large_weights_are_not_read(site: Site) -> None:
    report = of(f"{site.url}/x/big.onnx")
    assert (reported(report), report.models) == ([], 1)
    assert len(site.files["big.onnx"]) > 1_800_000
    assert site.sent < 60_000
    assert len(site.log) == len(site.asked("GET")) <= 9
    assert site.log[0] == ("GET", "/x/big.onnx", "bytes=0-4095")


def test_a_small_model_costs_few_requests(site: Site) -> None:
    assert [code for code, _ in reported(of(f"{site.url}/x/bad.onnx"))] == ["IRL201"]
    assert len(site.log) == 1


def test_reading_on_takes_larger_parts(site: Site) -> None:
    names = [f"{'v' * 40}{n}" for n in range(3001)]
    nodes = [make.make_node("Relu", [one], [other]) for one, other in pairwise(names)]
    ends = [[make.make_tensor_value_info(name, 1, [2])] for name in (names[0], names[-1])]
    graph = make.make_graph(nodes, "g", *ends)
    model = make.make_model(graph, ir_version=8, opset_imports=[make.make_opsetid("", 17)])
    site.files["long.onnx"] = model.SerializeToString()
    assert reported(of(f"{site.url}/x/long.onnx")) == []
    assert len(site.files["long.onnx"]) > 200_000
    assert len(site.log) <= 8


def test_weights_in_other_files_are_asked_for_their_size(site: Site) -> None:
    site.files |= {"m.onnx": external("a.data", "sub/b c.data"), "a.data": bytes(8000), "sub/b c.data": bytes(8000)}
    assert reported(of(f"{site.url}/x/m.onnx?token=t")) == []
    assert site.asked("HEAD") == [("/x/a.data?token=t", ""), ("/x/sub/b%20c.data?token=t", "")]
    site.files["a.data"] = bytes(7000)
    ((code, message),) = reported(of(f"{site.url}/x/m.onnx"))
    assert (code, "past the end" in message) == ("IRL702", True)
    del site.files["a.data"]
    ((code, message),) = reported(of(f"{site.url}/x/m.onnx"))
    assert (code, "a.data, which does not exist" in message) == ("IRL701", True)


def test_an_ir_and_its_bin(site: Site) -> None:
    for path in (FIXTURES / "openvino" / "good").glob("IRL70*"):
        site.files[path.name] = path.read_bytes()
    document = next(name for name in site.files if name.endswith(".xml"))
    assert reported(of(f"{site.url}/x/{document}")) == []
    assert len(site.asked("HEAD")) == 1
    assert len(site.log) <= 3
    site.files["ir.xml"] = IR.read_bytes()
    assert reported(of(f"{site.url}/x/ir.xml")) == reported(of(str(IR)))


def test_a_server_that_takes_no_head(site: Site) -> None:
    site.files |= {"m.onnx": external("a.data", "b.data"), "a.data": bytes(8000), "b.data": bytes(7000)}
    assert [code for code, _ in reported(of(f"{site.url}/nohead/m.onnx"))] == ["IRL702"]


def test_a_server_that_compresses_whatever_it_sends(site: Site) -> None:
    site.files |= {"m.onnx": external("a.data"), "a.data": bytes(8000)}
    assert reported(of(f"{site.url}/gzip/m.onnx", f"{site.url}/gzip/good.onnx", f"{site.url}/gzip/big.onnx")) == []
    assert [code for code, _ in reported(of(f"{site.url}/gzip/bad.onnx"))] == ["IRL201"]


# Folders, globs, and many files.


def test_folders_and_globs(site: Site) -> None:
    site.files |= {"sub/c.onnx": GOOD.read_bytes(), "sub/readme.txt": b"", "sub/.hidden/d.onnx": b""}
    assert [file.path for file in of(f"{site.url}/x/").files] == [
        f"{site.url}/x/{name}" for name in ("bad.onnx", "big.onnx", "good.onnx", "sub/c.onnx")
    ]
    assert [file.path for file in of(f"{site.url}/x/b*.onnx").files] == [
        f"{site.url}/x/b{name}.onnx" for name in ("ad", "ig")
    ]


def test_folders_of_a_store() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for name in ("a.onnx", "z/b.onnx", "z/y/c.onnx", "z.onnx", "z/.git/d.onnx", "w.bin", "z/old/e.onnx"):
        memory.pipe_file(f"/hub/{name}", GOOD.read_bytes())
    excluded = Excluded(("old",))
    report = checked(["memory://hub"], settings=Settings({}), excluded=excluded)
    names = [file.path.partition("hub/")[2] for file in report.files]
    assert names == ["a.onnx", "z.onnx", "z/b.onnx", "z/y/c.onnx"]
    assert [file.path.partition("hub/")[2] for file in of("memory://hub/z/**/*.onnx").files][:1] == ["z/b.onnx"]
    with pytest.raises(MissingPaths):
        of("memory://nothing-here")


def test_several_at_once_say_the_same_as_one(site: Site) -> None:
    for number in range(12):
        site.files[f"many/{number:02}.onnx"] = (BAD if number % 3 == 0 else GOOD).read_bytes()
    site.files["many/html.onnx"] = b"<html>"
    several, one = (checked([f"{site.url}/x/many/"], jobs=jobs).as_dict() for jobs in (3, 1))
    assert several == one
    assert one["summary"] == {"files": 13, "errors": 5, "warnings": 0, "notes": 0}


def test_a_run_goes_on_by_size_and_tag(site: Site, tmp_path: Path) -> None:
    memory = "from fsspec import filesystem\nfs = filesystem('memory')\n"
    memory += "".join(f"fs.pipe_file('/m/{n}.onnx', open({str(GOOD)!r}, 'rb').read())\n" for n in range(3))
    first = ran("memory://m", "--resume", "run.jsonl", cwd=tmp_path, prelude=memory)
    assert (first.returncode, b"Checked 3 models" in first.stdout) == (0, True), first.stderr
    files = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert all(each["size"] == GOOD.stat().st_size and each["stamp"] for each in files if each["kind"] == "file")
    assert files[0]["paths"] == ["memory://m"]


@pytest.mark.parametrize("path", ["good.onnx", ""], ids=["named", "listed"])
def test_a_file_that_is_read_again_replaces_its_entry(path: str, site: Site, tmp_path: Path) -> None:
    arguments = (f"{site.url}/x/{path}", "--resume", "run.jsonl")
    first, second, third = (run(*arguments, cwd=tmp_path) for _ in range(3))
    assert first.stdout == second.stdout == third.stdout
    files = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    paths = [each["path"] for each in files if each["kind"] == "file"]
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:word@host:8443/a/m.onnx?sig=1#x", "https://host:8443/a/m.onnx"),
        ("s3://key:secret@bucket/a/m.onnx", "s3://bucket/a/m.onnx"),
        ("hf://org/name@v1/m.onnx", "hf://org/name@v1/m.onnx"),
        ("abfss://models@account.dfs.core.windows.net/m.onnx", "abfss://models@account.dfs.core.windows.net/m.onnx"),
    ],
)
def test_how_urls_are_shown(url: str, shown: str) -> None:
    from irlint.parsers.remote.locations import Located

    assert str(Located(url)) == shown


def test_files_of_a_folder_have_what_its_url_has() -> None:
    from irlint.run.remote import _Folder

    place = _Folder("abfss://models@account/zoo/", "models/zoo")
    assert place.file("models/zoo/a/m.onnx", {}).url == "abfss://models@account/zoo/a/m.onnx"
    query = _Folder("s3://bucket/zoo?versionId=1", "bucket/zoo")
    assert query.file("bucket/zoo/m.onnx", {"size": 3, "ETag": '"x"'}).url == "s3://bucket/zoo/m.onnx?versionId=1"


# What goes wrong.


@pytest.mark.parametrize("how", ["flaky", "cut"])
def test_what_fails_in_passing_is_tried_again(how: str, site: Site) -> None:
    assert reported(of(f"{site.url}/{how}/good.onnx")) == []
    assert len(site.log) == 3


def test_a_server_that_stalls_is_asked_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from irlint.parsers.remote import web

    monkeypatch.setattr(web, "STALL", 0.4)
    assert reported(of(f"{site.url}/stall/good.onnx")) == []
    assert len(site.log) == 3


@pytest.mark.parametrize("how", ["slow-head", "slow", "slow-whole"])
@pytest.mark.parametrize("name", ["good.onnx", "big.onnx"])
def test_a_server_that_trickles_is_left(how: str, name: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from irlint.parsers.remote import web

    monkeypatch.setattr(web, "PATIENCE", 0.5)
    monkeypatch.setattr(web, "RATE", 1 << 14)
    start = monotonic()
    ((code, message),) = reported(of(f"{site.url}/{how}/{name}", timeout=20.0))
    assert monotonic() - start < 10
    assert (code, message) == ("IRL009", "the file cannot be opened: the server sends fewer than 16,384 bytes a second")
    assert len(site.log) <= 2


def test_a_listing_that_trickles_is_left(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from irlint.parsers.remote import web

    monkeypatch.setattr(web, "LISTED", 0.5)
    site.files["slow/sub/a.onnx"] = GOOD.read_bytes()
    for path in ("slow/", "slow/*.onnx"):
        with pytest.raises(ValueError, match="cannot be listed: the server did not answer in time"):
            of(f"{site.url}/slow-list/{path}")


def test_a_remote_file_has_a_time_limit(site: Site, tmp_path: Path) -> None:
    shorter = "from irlint.run import remote\nremote.DEFAULT_SECONDS = 0.5\n"
    check = (
        "import irlint, sys\nsys.exit([each.rule.code for each in irlint.check(sys.argv[1]).findings] == ['IRL010'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", shorter + check, f"{site.url}/slow/good.onnx"], check=False, timeout=60
    )
    assert ended.returncode == 1


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("403/good.onnx", "IRL009", "the file cannot be opened: the server answers 403 Forbidden"),
        ("x/missing.onnx", "IRL009", "the file cannot be opened: the server answers 404 Not Found"),
        (
            "dead/good.onnx",
            "IRL009",
            "the file cannot be opened: the server answers 503 Service Unavailable (5 attempts)",
        ),
        ("html/good.onnx", "IRL001", "the file is a web page"),
        ("shifted/good.onnx", "IRL009", "the file cannot be opened: the server sends another range than requested"),
    ],
)
def test_a_clear_finding_and_the_run_goes_on(path: str, code: str, message: str, site: Site) -> None:
    report = of(f"{site.url}/{path}", f"{site.url}/x/bad.onnx", str(GOOD))
    found = {finding.path.removeprefix(site.url): finding for finding in report.findings}
    assert (found[f"/{path}"].rule.code, found[f"/{path}"].message) == (code, message)
    assert found["/x/bad.onnx"].rule.code == "IRL201"
    assert report.models == 3


def test_nobody_listens(site: Site) -> None:
    ((code, message),) = reported(of("http://127.0.0.1:9/m.onnx"))
    assert (code, message.startswith("the file cannot be opened: the connection failed")) == ("IRL009", True)


@pytest.mark.parametrize("path", ["http://127.0.0.1:9/models/", "http://127.0.0.1:9/models/*.onnx"])
def test_a_folder_of_a_server_that_does_not_answer_ends_the_run(path: str) -> None:
    with pytest.raises(ValueError, match=r"models/.* cannot be listed: the connection failed"):
        of(path, str(GOOD))


def test_a_folder_that_is_not_there_ends_the_run(site: Site) -> None:
    for path in ("404/models/", "404/models/*.onnx"):
        with pytest.raises(MissingPaths, match="404/models/"):
            of(f"{site.url}/{path}", str(GOOD))


def test_a_server_without_ranges_is_reported_once(site: Site, tmp_path: Path) -> None:
    site.files |= {f"{n}.onnx": weighed(1, 200_000) for n in range(3)}
    for form in ("concise", "jsonl"):
        paths = [f"{site.url}/whole/{n}.onnx" for n in range(3)]
        assert run(*paths, "--format", form, "--jobs", 1, cwd=tmp_path).stderr.count("ignores ranges") == 1


@pytest.mark.parametrize("how", ["whole", "unsized"])
def test_a_server_without_ranges_is_read_up_to_what_is_needed(how: str, site: Site) -> None:
    report = of(f"{site.url}/{how}/big.onnx")
    assert reported(report) == []
    assert report.files[0].notices == (
        f"{site.url} ignores ranges, so each model is read from its start up to the last byte that is needed",
    )
    assert of(f"{site.url}/{how}/bad.onnx").findings[0].rule.code == "IRL201"


def test_a_server_without_ranges_is_read_up_to_a_limit(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from irlint.parsers.remote import ranges

    monkeypatch.setattr(ranges, "LIMIT", 500_000)
    ((code, message),) = reported(of(f"{site.url}/whole/big.onnx"))
    assert (code, message) == (
        "IRL009",
        "the file cannot be opened: the server ignores ranges, and irlint stopped after 500,000 bytes",
    )


# What is not followed, and not shown.


@pytest.mark.parametrize(
    "location", ["http~a.data", "//evil.example/a.data", "../a.data", "/a.data", "https~evil.example/a"]
)
def test_no_url_within_a_model_is_followed(location: str, site: Site) -> None:
    location = location.replace("~", "://" if "evil" in location else f"://{site.url[7:]}/x/")
    site.files |= {"sub/m.onnx": external(location), "a.data": bytes(8000)}
    assert [code for code, _ in reported(of(f"{site.url}/x/sub/m.onnx"))] == ["IRL701"]
    assert {path for path, _ in site.asked()} == {"/x/sub/m.onnx"}


def test_a_model_on_this_machine_leads_to_no_server(site: Site, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(external(f"{site.url}/x/good.onnx"))
    assert [code for code, _ in reported(of(str(tmp_path / "m.onnx")))] == ["IRL701"]
    assert site.log == []


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("https~example.org/m.onnx", "it redirects from http to https"),
        ("http~169.254.169.254/latest", "it redirects to 169.254.169.254, which is not a public address"),
        ("http~localhost:9/m.onnx", "it redirects to localhost, which is not a public address"),
        ("http~127.0.0.1:9/m.onnx", "it redirects to 127.0.0.1, which is not a public address"),
        ("http~[::1]:9/m.onnx", "it redirects to ::1, which is not a public address"),
    ],
)
def test_redirects_that_are_refused(target: str, message: str, site: Site) -> None:
    expected = f"the file cannot be opened: the server is not trusted: {message}"
    assert reported(of(f"{site.url}/to/{target}")) == [("IRL009", expected)]


def test_a_redirect_to_a_name_with_a_private_address(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import aiohttp

    async def resolved(*_: object, **__: object) -> list[dict[str, object]]:
        return [{"hostname": "h", "host": "10.0.0.1", "port": 80, "family": 2, "proto": 0, "flags": 0}]

    monkeypatch.setattr(aiohttp.ThreadedResolver, "resolve", resolved)
    ((_, message),) = reported(of(f"{site.url}/to/http~models.example/m.onnx"))
    assert message.endswith("it redirects to models.example, which has an address that is not public")


def test_a_redirect_on_the_same_server_is_followed(site: Site) -> None:
    assert reported(of(f"{site.url}/to/x/good.onnx")) == []
    assert [code for code, _ in reported(of(f"{site.url}/to/x/bad.onnx"))] == ["IRL201"]


def test_secrets_are_not_shown(site: Site, tmp_path: Path) -> None:
    site.files |= {"m.onnx": external("lost.data")}
    base = site.url.replace("http://", "http://user:pa55word@")
    paths = [f"{base}/{path}?token=s3cr3t" for path in ("x/bad.onnx", "x/m.onnx", "403/m.onnx", "dead/good.onnx")]
    prelude = "from irlint.parsers.remote import stores\nstores.PAUSE = 0.01\n"
    outputs = [f"--output={form}={tmp_path / form}" for form in FORMS]
    result = ran(*paths, "-v", "--jobs", 1, *outputs, cwd=tmp_path, prelude=prelude)
    with pytest.raises(ValueError, match="cannot be listed: the server answers 403 Forbidden") as lost:
        of(f"{base}/403/*.onnx?token=s3cr3t")
    assert result.returncode == 1
    reported = str(lost.value).encode()
    written = [result.stdout, result.stderr, reported, *((tmp_path / form).read_bytes() for form in FORMS)]
    assert all(len(text) > 50 for text in written)
    assert not any(secret in text for secret in (b"pa55word", b"s3cr3t", b"user") for text in written)
    assert any("Authorization" in headers for headers in site.headers)
    assert any(path.endswith("?token=s3cr3t") for path, _ in site.asked())


def test_what_is_missing_is_reported(tmp_path: Path) -> None:
    install = "pip install 'irlint[remote]'"
    for module, scheme, extra in (
        ("fsspec", "s3", install),
        ("aiohttp", "https", install),
        ("s3fs", "s3", "s3:// needs another package"),
    ):
        without = f"import sys\nsys.modules[{module!r}] = None\n"
        result = ran(f"{scheme}://bucket/m.onnx", cwd=tmp_path, prelude=without)
        assert (result.returncode, extra in result.stderr.decode()) == (2, True), result.stderr
    result = run("nonsense://x/m.onnx", cwd=tmp_path)
    assert (result.returncode, "nonsense" in result.stderr) == (2, True)


def test_a_url_of_this_machine_is_a_path(tmp_path: Path) -> None:
    assert [code for code, _ in reported(of(f"file://{BAD}"))] == ["IRL201"]
    assert irlint.check(f"file://{BAD}").files[0].path == str(BAD).replace(os.sep, "/")


@pytest.mark.parametrize("command", ["contract", "info", "targets", "shapes"])
def test_only_a_check_reads_urls(command: str, site: Site, tmp_path: Path) -> None:
    result = run(command, f"{site.url}/x/good.onnx", cwd=tmp_path)
    assert (result.returncode, site.log) == (2, [])
    assert "only `irlint check` reads models behind URLs; download the model" in result.stderr
