"""Many files: the same report whatever the number of processes, whatever becomes of one, and whoever interrupts."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from command.process import BAD, FIXTURES, GOOD, ended, ran, run, words

from irlint.command.progress import wanted
from irlint.reporters.forms import FORMS
from irlint.run import files as run_module
from irlint.run import processes as jobs
from irlint.run import sharing
from irlint.run.files import Outcome

posix = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of POSIX")

#: Before irlint runs: a check that does to files, by their names, what can happen to a process.
PATCHED = """
import os, signal, time
from irlint.run import one_file as inspection
from irlint.command import progress

sound = inspection.inspected
progress.DELAY = float(os.environ.get("DELAY", progress.DELAY))

def inspected(path, *rest, **options):
    name = os.path.basename(path)
    if name.startswith("exit"):
        os._exit(3)
    if name.startswith("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("raise"):
        raise RecursionError("too deep")
    if name.startswith("slow"):
        open(f"started-{os.getpid()}", "w").close()
        time.sleep(float(os.environ["SLOW"]))
    return sound(path, *rest, **options)

inspection.inspected = inspected
"""


def patched(*arguments: str, cwd: Path, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", f"{PATCHED}\nfrom irlint.command.entry import main\nmain()", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two dozen models: good and broken ones, one that cannot be opened, a pointer, and no models."""
    for kind in ("good", "bad"):
        for file in (
            sorted((FIXTURES / "onnx" / kind).glob("*"))[:12] + sorted((FIXTURES / "openvino" / kind).glob("*"))[:8]
        ):
            shutil.copy(file, tmp_path / f"{kind}-{file.name}")
    (tmp_path / "pom.xml").write_text("<project/>")
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "dangling.onnx").symlink_to("nowhere")
    (tmp_path / "known.json").write_text(
        '{"schema": "irlint-baseline-1", "findings": {"gone.onnx": {"IRL201": ["x"]}}}'
    )
    (tmp_path / "irlint.toml").write_text(
        'severity = { IRL1 = "note" }\nlfs-pointers = "skip"\nbaseline = "known.json"\n'
        '[per-file-ignores]\n"*IRL005*" = ["IRL005"]\n'
        '[[suppress]]\nrule = "IRL004"\nreason = "known"\n[[suppress]]\nnode = "nobody"\nreason = "known"\n'
        '[[models]]\nfile = "good-*"\nshapes = { x = "?,?" }\n'
    )
    return tmp_path


def test_same_bytes_whatever_the_number(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    written = tmp_path_factory.mktemp("forms")
    outputs = [f"--output={form}={written / form}" for form in FORMS]
    runs = []
    for count, env in (("1", {}), ("2", {"PYTHONHASHSEED": "2"}), ("5", {})):
        result = run(".", "-v", *outputs, "--jobs", count, cwd=folder, **env)
        runs.append(
            (result.returncode, result.stdout, result.stderr, {form: (written / form).read_bytes() for form in FORMS})
        )
    first, *others = runs
    assert others == [first, first]
    assert first[0] == 1
    assert all(len(text) > 200 for text in (first[1], *first[3].values()))
    statuses = [file["status"] for file in json.loads(first[3]["json"])["files"]]
    assert statuses.count("checked") > 20
    assert {"skipped", "unreadable"} <= set(statuses)


@posix
@pytest.mark.parametrize(
    ("name", "text"),
    [("kill.onnx", "was ended by SIGKILL"), ("exit.onnx", "ended with status 3"), ("raise.onnx", "RecursionError")],
)
def test_a_process_that_ends_costs_one_finding(name: str, text: str, tmp_path: Path) -> None:
    for other in ("a.onnx", "b.onnx", "y.onnx", "z.onnx", name):
        shutil.copy(BAD if other == "z.onnx" else GOOD, tmp_path / other)
    for options in (("--jobs", "2"), ("--jobs", "2", "--select", "IRL2"), ("--jobs", "3", "--ignore", "IRL008")):
        result = ran(".", *options, "--format", "json", cwd=tmp_path, prelude=PATCHED)
        assert (result.returncode, result.stderr) == (1, b"")
        report = json.loads(result.stdout)
        found = {finding["path"]: finding for finding in report["findings"]}
        assert sorted(found) == sorted([name, "z.onnx"])
        assert (found[name]["code"], found["z.onnx"]["code"]) == ("IRL008", "IRL201")
        assert text in found[name]["message"]
        statuses = {file["path"]: file["status"] for file in report["files"]}
        assert statuses == dict.fromkeys(["a.onnx", "b.onnx", "y.onnx", "z.onnx"], "checked") | {name: "unreadable"}


@posix
def test_every_process_ends(tmp_path: Path) -> None:
    for index in range(4):
        shutil.copy(GOOD, tmp_path / f"kill{index}.onnx")
    result = ran(".", "--jobs", "2", "--format", "json", cwd=tmp_path, prelude=PATCHED)
    assert [finding["code"] for finding in json.loads(result.stdout)["findings"]] == ["IRL008"] * 4


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pids: list[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(alive, pids))


def started(folder: Path, count: int) -> list[int]:
    """The processes that have begun a slow file, once there are so many."""
    until = time.monotonic() + 30
    while len(found := sorted(folder.glob("started-*"))) < count:
        assert time.monotonic() < until
        time.sleep(0.02)
    return [int(path.name.partition("-")[2]) for path in found]


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    for index in range(4):
        shutil.copy(GOOD, tmp_path / f"slow{index}.onnx")
    return tmp_path


linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are seen in /proc")


@linux
@pytest.mark.parametrize(
    ("sent", "status", "seconds"), [(signal.SIGINT, 130, 30), (signal.SIGTERM, -15, 20), (signal.SIGKILL, -9, 20)]
)
def test_nothing_is_left_behind(sent: signal.Signals, status: int, seconds: float, slow: Path) -> None:
    patience = "60" if sent is signal.SIGINT else "0.5"
    with patched(".", "--jobs", "2", cwd=slow, SLOW=patience) as process:
        pids = started(slow, 2)
        if sent is signal.SIGINT:
            for pid in pids:
                os.kill(pid, sent)
        process.send_signal(sent)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (status, "", "")
    assert process.pid not in pids
    assert gone(pids, seconds)


@posix
def test_closed_pipe(folder: Path) -> None:
    for options in ("--jobs 2", "--jobs 1", "--jobs 2 --format json", "--show-files"):
        command = f"{{ {words()} . -q {options}; echo $? >status; }} | head -n 1"
        result = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
        assert result.stderr == ""
        assert len(result.stdout.splitlines()) == 1
        assert (folder / "status").read_text().strip() in ("0", "1")


# The progress bar.


@pytest.mark.parametrize("variable", ["CI", "PRE_COMMIT"])
def test_no_bar_where_nobody_watches(variable: str) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    assert wanted(Terminal(), {"TERM": "xterm"})  # type: ignore[arg-type]
    assert not wanted(Terminal(), {"TERM": "xterm", variable: "1"})  # type: ignore[arg-type]
    assert not wanted(Terminal(), {"TERM": "dumb"})  # type: ignore[arg-type]
    assert not wanted(None, {})


def seen(folder: Path, *arguments: str, **env: str) -> tuple[str, str, int]:
    """What a run writes to a terminal that is its standard error, what to its standard output, and its status."""
    import pty

    ours, theirs = pty.openpty()
    quiet = {name: value for name, value in os.environ.items() if name not in ("CI", "PRE_COMMIT")}
    environment = {**quiet, "TERM": "xterm", "SLOW": "0.1", "DELAY": "0.05", **env}

    def checked() -> int:
        try:
            return ended([".", *arguments], folder, environment, (0, stdout, theirs), PATCHED)
        finally:
            os.close(theirs)

    with TemporaryFile() as stdout, ThreadPoolExecutor(1) as beside:
        status = beside.submit(checked)
        shown = b"".join(chunks(ours))
        stdout.seek(0)
        out = stdout.read()
    os.close(ours)
    return shown.decode(), out.decode(), status.result()


def chunks(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            return
        if not data:
            return
        yield data


@posix
@pytest.mark.parametrize("count", ["1", "2"])
def test_bar_on_a_terminal(count: str, slow: Path) -> None:
    shown, out, status = seen(slow, "--jobs", count)
    assert re.search(r"Checking [^ ]+ [234]/4 models", re.sub(r"\x1b\[[0-9;]*m", "", shown))
    assert shown.endswith("\x1b[2K")
    assert (out, status) == ("No findings.\nChecked 4 ONNX models.\n", 0)


@posix
def test_name_of_the_only_file_on_a_terminal(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "slow\x1b.onnx")
    shown, out, status = seen(tmp_path)
    assert shown == "\rchecking slow\\x1b.onnx...\r\x1b[2K"
    assert (out, status) == ("No findings.\nChecked 1 ONNX model.\n", 0)
    assert seen(tmp_path, DELAY="60") == ("", out, 0)


@posix
@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (("--no-progress",), {}),
        ((), {"CI": "true"}),
        ((), {"PRE_COMMIT": "1"}),
        ((), {"TERM": "dumb"}),
        ((), {"SLOW": "0", "DELAY": "60"}),
    ],
)
def test_no_bar(arguments: tuple[str, ...], env: dict[str, str], slow: Path) -> None:
    assert seen(slow, *arguments, **env) == ("", "No findings.\nChecked 4 ONNX models.\n", 0)


# The machinery.


def squared(number: int) -> int:
    if number == 13:
        os._exit(7)
    return number * number


def died(number: int, ending: str) -> int:
    assert ending == "ended with status 7"
    return -number


@pytest.mark.parametrize("count", [1, 2, 7])
def test_every_item_has_one_result(count: int) -> None:
    found = list(jobs.results(squared, range(30), count, died=died))
    assert sorted(found) == [(number, -13 if number == 13 else number * number) for number in range(30)]


def test_results_in_order_are_few_ahead() -> None:
    begun: list[int] = []

    def items() -> Iterator[int]:
        for number in range(200):
            begun.append(number)
            yield number

    answers = jobs.results(napped, items(), 3, died=died, ahead=20)
    for number, answer in enumerate(sharing.in_order(answers)):  # type: ignore[arg-type]
        assert answer == number  # type: ignore[comparison-overlap]
        assert len(begun) <= number + 23
    assert number == 199


def napped(number: int) -> int:
    time.sleep(0.05 * (number == 0))
    return number


@pytest.mark.parametrize("patience", [-1.0, 1e-9, 60.0])
def test_more_processes_where_a_run_lasts(patience: float, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irlint.run.files.ALONE_SECONDS", patience)
    monkeypatch.setattr("irlint.run.files._processors", lambda: 2)
    shared: list[int] = []
    several = sharing.shared

    def counted(files: Iterator[str], *rest: Any, **options: Any) -> Iterator[Outcome]:
        given = list(files)
        shared.append(len(given))
        return several(given, *rest, **options)

    monkeypatch.setattr("irlint.run.sharing.shared", counted)
    alone, patient = (run_module.checked([str(folder)], jobs=jobs) for jobs in (1, None))
    assert patient.as_dict() == alone.as_dict()
    assert bool(shared) is (patience < 1)
