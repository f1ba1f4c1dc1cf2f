"""Pipes, devices, deep nesting, long lists, slow files and names that steer: what is not a model's to decide, decided
within limits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fuzz
import onnx
import pytest
from command.process import BAD, FORKS, GOOD, IR, ran, run

posix = pytest.mark.skipif(not FORKS, reason="pipes, signals and forks")

#: Before irlint runs: a check that does not end, as Python or inside of a library, where a file's name says so.
SLOW = """
import os, time
from irlint.run import one_file, sharing

sound = one_file.inspected
sharing.GRACE = 0.3

def inspected(path, *rest, **options):
    while os.path.basename(path).startswith("slow"):
        pass
    if os.path.basename(path).startswith("stuck"):
        import signal
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(60)
    if os.path.basename(path).startswith("mark"):
        open(f"at-{os.getpid()}", "w").close()
        time.sleep(60)
    return sound(path, *rest, **options)

one_file.inspected = inspected
"""


@posix
@pytest.mark.parametrize("option", ["--config", "--baseline"])
def test_settings_are_regular_files(option: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file in ("pipe", os.devnull, "/dev/zero"):
        result = run(BAD, option, file, cwd=tmp_path)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"{file}: it is not a regular file" in result.stderr


@posix
def test_a_configuration_that_is_found_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "irlint.toml")
    result = run(BAD, cwd=tmp_path)
    assert result.returncode == 2
    assert "it is not a regular file" in result.stderr


@posix
@pytest.mark.parametrize("command", ["check", "shapes", "contract", "targets"])
def test_models_are_regular_files(command: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.onnx")
    (tmp_path / "z.xml").symlink_to("/dev/zero")
    for file in ("m.onnx", "z.xml"):
        assert "it is not a regular file" in run(command, file, cwd=tmp_path).stderr


@posix
def test_weights_are_regular_files(tmp_path: Path) -> None:
    shutil.copy(IR, tmp_path / "m.xml")
    for make in (os.mkfifo, lambda path: os.symlink("/dev/stdin", path), lambda path: os.symlink("/dev/zero", path)):
        (tmp_path / "m.bin").unlink(missing_ok=True)
        make(tmp_path / "m.bin")
        assert run("m.xml", cwd=tmp_path).returncode == 1


@posix
@pytest.mark.parametrize("name", ["m.onnx", "m.xml"])
def test_standard_input_without_an_end(name: str) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        result = subprocess.run(
            [sys.executable, "-m", "irlint", "-", "--stdin-filename", name],
            stdin=zeros,
            capture_output=True,
            check=False,
        )
    assert result.returncode == 1
    assert b"IRL001" in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        f"a = {'[' * 5000}{']' * 5000}",
        f"a = {'{a = ' * 3000}1{'}' * 3000}",
        f"{'.'.join('a' * 3000)} = 1",
        f"a = {'9' * 5000}",
    ],
    ids=["lists", "tables", "parts", "digits"],
)
def test_configurations_that_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "irlint.toml").write_text(text)
    result = run(BAD, cwd=tmp_path)
    assert result.returncode == 2
    assert "irlint.toml:1:1" in result.stderr


@pytest.mark.parametrize("text", ["[" * 50_000 + "]" * 50_000, f'{{"schema": {"9" * 5000}}}'], ids=["lists", "digits"])
def test_baselines_that_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text(text)
    result = run(BAD, "--baseline", "known.json", cwd=tmp_path)
    assert result.returncode == 2
    assert "is no baseline" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "ignore = [" + '"IRL201", ' * 3000 + "]",
        "".join(f'[[suppress]]\nnode = "a{at}*"\nreason = "known"\n' for at in range(700)),
        "exclude = [" + '"' + "**/" * 60 + 'x"]',
    ],
    ids=["ignore", "suppress", "exclude"],
)
def test_long_configurations(text: str, tmp_path: Path) -> None:
    (tmp_path / "irlint.toml").write_text(text)
    before = os.times()
    folder = Path(tmp_path, *("abcdefgh" * 4))
    folder.mkdir(parents=True)
    shutil.copy(BAD, folder)
    result = run(".", cwd=tmp_path)
    assert result.returncode == (0 if text.startswith("ignore") else 1)
    assert os.times().user - before.user < 5


@posix
def test_a_deep_folder(tmp_path: Path) -> None:
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(1010):
            os.mkdir("d")
            os.chdir("d")
        shutil.copy(BAD, "m.onnx")
    finally:
        os.chdir(here)
    result = run(".", "--format", "json", cwd=tmp_path)
    assert [finding["code"] for finding in json.loads(result.stdout)["findings"]] == ["IRL201"]
    subprocess.run(["rm", "-r", tmp_path / "d"], check=True)


@posix
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_may_take_so_many_seconds(jobs: str, tmp_path: Path) -> None:
    for name in ("a.onnx", "slow.onnx"):
        shutil.copy(GOOD, tmp_path / name)
    result = ran(
        ".", "--jobs", jobs, "--timeout", "1", "--ignore", "IRL010", "--format", "json", cwd=tmp_path, prelude=SLOW
    )
    report = json.loads(result.stdout)
    assert (result.returncode, result.stderr) == (1, b"")
    assert [(each["code"], each["path"]) for each in report["findings"]] == [("IRL010", "slow.onnx")]
    assert "after 1 seconds" in report["findings"][0]["message"]
    assert [file["status"] for file in report["files"]] == ["checked", "unreadable"]


@posix
def test_a_process_that_cannot_be_interrupted_is_ended(tmp_path: Path) -> None:
    for name in ("a.onnx", "stuck.onnx"):
        shutil.copy(GOOD, tmp_path / name)
    result = ran(".", "--jobs", "2", "--timeout", "1", "--format", "json", cwd=tmp_path, prelude=SLOW)
    assert [each["code"] for each in json.loads(result.stdout)["findings"]] == ["IRL010"]


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_run(number: int, tmp_path: Path) -> None:
    for name in ("mark1.onnx", "mark2.onnx"):
        shutil.copy(GOOD, tmp_path / name)
    code = f"{SLOW}\nfrom irlint.command.entry import main\nmain()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code, ".", "--jobs", "2"], cwd=tmp_path, env=environment) as process:
        until = time.monotonic() + 30
        while len(list(tmp_path.glob("at-*"))) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(number)
    workers = [int(file.name[3:]) for file in tmp_path.glob("at-*")]
    assert len(workers) == 2
    while any(map(_runs, workers)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(_runs, workers))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def test_names_steer_neither_a_terminal_nor_a_log(tmp_path: Path) -> None:
    model = onnx.load(BAD)
    name = "\x1b[2J\n::error::x\x9b\x7f\u202e"
    model.graph.input[0].name = model.graph.node[0].input[0] = name
    model.graph.node[0].name = "##[error]y"
    model.graph.output[0].name = model.graph.node[0].output[0] = "::warning::z"
    onnx.save(model, tmp_path / "::error::m.onnx")
    for arguments in (
        ["check", "--shape", "nobody=1"],
        ["check", "-v"],
        ["check", "--format", "concise"],
        ["check", "--format", "junit"],
        ["check", "--format", "markdown"],
        ["check", "--format", "json"],
        ["check", "--format", "sarif"],
        ["check", "--baseline", name],
        ["shapes"],
        ["shapes", "--format", "json"],
        ["contract"],
        ["why", name],
        ["diff", "--textconv"],
    ):
        command, *options = arguments
        result = run(command, "::error::m.onnx", *options, cwd=tmp_path)
        text = result.stdout + result.stderr
        assert text
        assert "##[" not in text, arguments
        for line in text.split("\n"):
            assert line.isprintable(), arguments
            assert not line.lstrip().startswith("::"), arguments
        if "json" in arguments:
            assert json.dumps(name)[1:-1] in json.dumps(json.loads(result.stdout))


HOSTILE = "\x1b[2J\nFORGED\r\x9b\x7f\u202e\u2028"


def journal(**changes: object) -> str:
    """A journal of one model and one finding, in whose texts stands what steers a terminal."""
    finding = {"path": "p", "code": f"IRL1{HOSTILE}", "rule": f"r{HOSTILE}", "severity": "error", "op": f"op{HOSTILE}"}
    file = {"path": f"p{HOSTILE}", "format": f"f{HOSTILE}", "status": "checked", "producer": f"x{HOSTILE}"}
    finding |= {name: value for name, value in changes.items() if name in finding}
    file |= {name: value for name, value in changes.items() if name not in finding}
    run = {"schema": "irlint-jsonl-1", "version": HOSTILE, "paths": [HOSTILE], "settings": ""}
    kinds = {"run": run, "finding": finding, "file": file, "summary": {}}
    return "".join(json.dumps({"kind": kind, **entry}) + "\n" for kind, entry in kinds.items())


@pytest.mark.parametrize(
    "arguments",
    [
        ("summary", "run.jsonl"),
        ("summary", "run.jsonl", "--format", "html"),
        ("summary", "run.jsonl", "--format", "json"),
        ("summary", f"n{HOSTILE}"),
        ("check", "m.onnx", "--resume", "run.jsonl"),
        ("check", f"n{HOSTILE}"),
        ("check", f"--n{HOSTILE}"),
        ("explain", HOSTILE),
        ("why", "m.onnx", HOSTILE),
        ("check", "m.onnx", "--config", "c.toml"),
        ("check", ".", "--config", "d.toml"),
        ("check", "m.onnx", "--color", "always"),
    ],
)
def test_journals_configurations_and_options_steer_no_terminal(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(journal())
    (tmp_path / "c.toml").write_text('ignore = ["IRL9\\u001b[2J\\nFORGED"]')
    (tmp_path / "d.toml").write_text(
        '[[suppress]]\nfile = "x\\u001b\\nFORGED"\nreason = "r\\u009b\\nFORGED"\n'
        '[per-file-ignores]\n"q\\u001b\\nFORGED" = ["IRL2"]\n'
    )
    shutil.copy(BAD, tmp_path / "m.onnx")
    result = run(*arguments, cwd=tmp_path)
    shown = result.stdout + result.stderr
    assert shown
    for paint in ("1;31", "1;33", "1;36", "1", "1;34", "1;4;31", "1;32", "2", "0"):
        shown = shown.replace(f"\x1b[{paint}m", "") if "always" in arguments else shown
    for line in shown.split("\n"):
        assert line.isprintable()
        assert not line.startswith("FORGED")


@pytest.mark.parametrize(
    "changes",
    [
        {"code": 1},
        {"rule": None},
        {"op": ["x"]},
        {"producer": 3},
        {"format": {}},
        {"suppressed": "2"},
        {"severity": "x"},
    ],
    ids=str,
)
def test_journals_with_something_else_in_a_field(changes: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(journal(**changes))
    result = run("summary", "run.jsonl", cwd=tmp_path)
    assert (result.returncode, "is no journal of a check" in result.stderr) == (2, True)


@posix
def test_runs_that_update_one_baseline_lose_no_entry(tmp_path: Path) -> None:
    names = [f"{letter}.onnx" for letter in "abcdefgh"]
    for name in names:
        shutil.copy(BAD, tmp_path / name)

    def update(name: str) -> int:
        return run(name, "--baseline", "known.json", "--update-baseline", cwd=tmp_path).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(update, names)) == [0] * len(names)
    assert list(json.loads((tmp_path / "known.json").read_text())["findings"]) == names


@posix
def test_links_that_lead_out_of_the_folder(tmp_path: Path) -> None:
    """Of a file elsewhere the size is reported, and never its contents."""
    (tmp_path / "secret").write_bytes(b"\x07" * 24)
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "m.bin").symlink_to("../secret")
    shape = reshape_by("m.bin")
    (folder / "m.onnx").write_bytes(shape)
    result = run("m.onnx", "--format", "json", cwd=folder)
    assert SECRET not in result.stdout + run("shapes", "m.onnx", "-v", cwd=folder).stdout
    (folder / "m.xml").write_text(IR_WITH_A_CONSTANT)
    assert SECRET not in run("shapes", "m.xml", "-v", cwd=folder).stdout
    (folder / "m.bin").unlink()
    shutil.copy(tmp_path / "secret", folder / "m.bin")
    assert SECRET in run("shapes", "m.xml", "-v", cwd=folder).stdout


@posix
def test_weights_are_not_read_through_links_that_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\0\0\x80\x7f" * 300)
    folder = tmp_path / "models"
    folder.mkdir()
    large = IR_WITH_A_CONSTANT.replace("i64", "f32").replace("I64", "FP32").replace('size="16"', 'size="1200"')
    (folder / "m.xml").write_text(large.replace('shape="2"', 'shape="300"').replace("<dim>2<", "<dim>300<"))
    (folder / "m.bin").symlink_to("../secret")
    assert "IRL735" not in run("--weights", "m.xml", cwd=folder).stdout
    (folder / "m.bin").unlink()
    shutil.copy(tmp_path / "secret", folder / "m.bin")
    assert "IRL735" in run("--weights", "m.xml", cwd=folder).stdout


SECRET = "506381209866536711"

IR_WITH_A_CONSTANT = """<net name="n" version="11"><layers>
<layer id="0" name="c" type="Const" version="opset1"><data element_type="i64" shape="2" offset="0" size="16"/>
<output><port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="1" name="r" type="Result" version="opset1"><input><port id="0"><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>
"""


def reshape_by(location: str) -> bytes:
    """A Reshape by an initializer whose contents lie in a file."""
    tensor = onnx.TensorProto(name="s", data_type=onnx.TensorProto.INT64, dims=[2])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Reshape", ["x", "s"], ["y"])],
        "g",
        [value("x", 1, [2, 3])],
        [value("y", 1, [None, None])],
        [tensor],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]).SerializeToString()


def test_fixtures_that_are_changed_at_random() -> None:
    text = [fuzz.fault(file, data) for _, (file, data) in zip(range(25), fuzz.inputs(7))]
    assert not any(text), [each for each in text if each]
