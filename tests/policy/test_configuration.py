"""The configuration: where it is found, what it says, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command.process import BAD, FIXTURES, GOOD, IR, WARNING, run

from irlint.policy import configuration as config
from irlint.policy import template
from irlint.policy.configuration_files import candidates
from irlint.policy.keys import KEYS

DETECTOR = FIXTURES / "onnx" / "good" / "small-detector.onnx"
POINTER = FIXTURES / "onnx" / "bad" / "IRL002-lfs-pointer.onnx"


def codes(*arguments: object, cwd: Path) -> list[str]:
    """The codes of the findings of a run, in order."""
    result = run(*arguments, "--format", "json", cwd=cwd)
    assert result.returncode in (0, 1), result.stderr
    return [finding["code"] for finding in json.loads(result.stdout)["findings"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with three models: one has an error, one a warning, one nothing."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "models").mkdir()
    for name, model in {"bad": BAD, "unsorted": WARNING, "detector": DETECTOR}.items():
        shutil.copy(model, tmp_path / "models" / f"{name}.onnx")
    return tmp_path


def written(folder: Path, text: str, name: str = "irlint.toml") -> Path:
    (folder / name).write_text(text, "utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("text", "arguments", "found"),
    [
        ("", (), ["IRL201", "IRL104"]),
        ('select = ["IRL1"]', (), ["IRL104"]),
        ('ignore = ["broadcast-mismatch"]', (), ["IRL104"]),
        ('select = ["IRL3"]\nextend-select = ["IRL104"]', (), ["IRL104"]),
        ('select = ["IRL201"]\nignore = ["IRL2"]', (), ["IRL201"]),
        ('extend-select = ["IRL2"]\nignore = ["IRL201"]', (), ["IRL104"]),
        ('select = ["IRL1"]', ("--select", "IRL2"), ["IRL201"]),
        ('ignore = ["IRL201"]', ("--select", "IRL2"), ["IRL201"]),
        ('select = ["IRL2"]', ("--extend-select", "IRL1"), ["IRL201", "IRL104"]),
        ('select = ["IRL201"]', ("--ignore", "IRL2"), []),
        ('ignore = ["IRL2"]', ("--ignore", "IRL1"), []),
        ('exclude = ["bad.onnx"]', (), ["IRL104"]),
        ('exclude = ["models/bad.onnx", "unsorted*"]', (), []),
        ('exclude = ["models/**"]', ("--allow-empty",), []),
        ('exclude = ["bad.onnx"]', ("--exclude", "unsorted.onnx"), ["IRL201"]),
        ('[per-file-ignores]\n"models/b*" = ["IRL2"]', (), ["IRL104"]),
        ('[per-file-ignores]\n"*.xml" = ["IRL2"]\n"unsorted.onnx" = ["nodes-not-sorted"]', (), ["IRL201"]),
        ('[[models]]\nfile = "models/det*"\nshapes = { images = "1,3,65,65" }', (), ["IRL201", "IRL340", "IRL104"]),
        (
            '[[models]]\nfile = "models/det*"\nshapes = { images = "1,3,65,65" }',
            ("--shape", "images=1,3,64,64"),
            ["IRL201", "IRL104"],
        ),
        ("", ("--isolated",), ["IRL201", "IRL104"]),
        ('select = ["IRL1"]', ("--isolated",), ["IRL201", "IRL104"]),
    ],
)
def test_what_is_reported(text: str, arguments: tuple[str, ...], found: list[str], folder: Path) -> None:
    written(folder, text)
    assert codes(".", *arguments, cwd=folder) == found


@pytest.mark.parametrize(
    ("text", "arguments", "status"),
    [
        ("", (), 1),
        ('fail-on = "never"', (), 0),
        ('fail-on = "never"', ("--fail-on", "error"), 1),
        ('severity = { IRL201 = "warning" }', (), 0),
        ('severity = { IRL201 = "warning" }', ("--fail-on", "warning"), 1),
        ('severity = { IRL201 = "warning" }', ("--severity", "IRL201=error"), 1),
        ('severity = { broadcast-mismatch = "note", IRL2 = "error" }', (), 0),
        ('severity = { IRL2 = "error", IRL201 = "note" }', (), 0),
        ('ignore = ["IRL201"]\nseverity = { IRL1 = "error" }', (), 1),
    ],
)
def test_status(text: str, arguments: tuple[str, ...], status: int, folder: Path) -> None:
    written(folder, text)
    for form in ("text", "concise", "json", "sarif", "github", "gitlab", "junit"):
        assert run(".", "--format", form, *arguments, cwd=folder).returncode == status


@pytest.mark.parametrize(
    ("text", "arguments", "hidden"),
    [
        ('ignore = ["IRL2"]', (), 2),
        ('select = ["IRL1"]', (), 2),
        ('[severity]\nIRL201 = "warning"', (), 1),
        ('[per-file-ignores]\n"*.xml" = ["IRL2"]', (), 1),
        ('[[suppress]]\nfile = "bad.onnx"\nreason = "x"', (), 1),
        ('[[suppress]]\nfile = "*"\nreason = "x"\n[severity]\nIRL204 = "note"', (), 2),
        ('ignore = ["IRL104"]', (), 0),
        ('[severity]\nIRL104 = "error"', (), 0),
        ('ignore = ["IRL2"]', ("--ignore", "IRL201"), 1),
        ('ignore = ["IRL2"]', ("--select", "IRL1"), 0),
        ('ignore = ["IRL2"]', ("--extend-select", "IRL201"), 1),
        ('ignore = ["IRL2"]', ("--severity", "IRL204=warning"), 1),
        ('[severity]\nIRL201 = "note"', ("--severity", "IRL201=error"), 0),
    ],
)
def test_errors_that_a_configuration_hides(text: str, arguments: tuple[str, ...], hidden: int, folder: Path) -> None:
    written(folder, text)
    shutil.copy(IR, folder / "models" / "ir.xml")
    shown = f"{hidden} error{'s' * (hidden != 1)} hidden by irlint.toml"
    for form in ("text", "concise", "markdown", "github", "html"):
        result = run(".", *arguments, "--format", form, cwd=folder)
        assert (shown in result.stdout) == bool(hidden), form
    document = json.loads(run(".", *arguments, "--format", "json", cwd=folder).stdout)
    assert document["summary"].get("errors_hidden", 0) == hidden
    journal = run(".", *arguments, "--resume", "run.jsonl", cwd=folder)
    assert (shown in journal.stdout) == bool(hidden)
    again = run(".", *arguments, "--resume", "run.jsonl", cwd=folder)
    assert (shown in again.stdout) == bool(hidden)
    assert ("hidden by the configuration" in run("summary", "run.jsonl", cwd=folder).stdout) == bool(hidden)
    (folder / "run.jsonl").unlink()
    assert "hidden by" not in run(".", *arguments, "--isolated", cwd=folder).stdout


def test_what_follows_from_a_hidden_error_counts_with_it(folder: Path) -> None:
    written(folder, 'ignore = ["IRL"]')
    for model in FIXTURES.glob("onnx/bad/IRL3*.onnx"):
        shutil.copy(model, folder)
    found = json.loads(run(".", "--isolated", "--format", "json", cwd=folder).stdout)["summary"]
    assert found["errors"] > 10
    hidden = json.loads(run(".", "--format", "json", cwd=folder).stdout)["summary"]
    assert (hidden["errors"], hidden["errors_hidden"]) == (0, found["errors"])


def test_what_the_baseline_hides_is_counted_as_such(folder: Path) -> None:
    written(folder, 'baseline = "known.json"')
    result = run(".", "--update-baseline", cwd=folder)
    assert result.returncode == 0
    assert "in the baseline" in result.stdout
    assert "hidden by" not in result.stdout + run(".", cwd=folder).stdout


def test_severity_reaches_every_form(folder: Path) -> None:
    written(folder, 'ignore = ["IRL104"]\nseverity = { IRL201 = "note" }')
    expected = {form: run(".", "--format", form, cwd=folder).stdout for form in ("text", "concise", "sarif", "github")}
    assert expected["text"].startswith("note[IRL201]")
    assert "note[IRL201]" in expected["concise"]
    assert '"level": "note"' in expected["sarif"]
    assert expected["github"].startswith("::notice ")
    assert all("Found 1 note in 1 of 3 models" in expected[form] for form in ("text", "concise", "github"))


def test_output_format(folder: Path) -> None:
    written(folder, 'output-format = "json"')
    assert json.loads(run(".", cwd=folder).stdout)["schema"] == "irlint-report-1"
    assert run(".", "--format", "concise", cwd=folder).stdout.startswith("models/bad.onnx: error")


def test_lfs_pointers(folder: Path) -> None:
    shutil.copy(POINTER, folder / "models" / "pointer.onnx")
    written(folder, 'select = ["IRL0"]')
    assert codes(".", cwd=folder) == ["IRL002"]
    written(folder, 'select = ["IRL0"]\nlfs-pointers = "skip"')
    result = run(".", cwd=folder)
    assert (result.returncode, result.stdout) == (
        0,
        "No findings.\nChecked 3 ONNX models; skipped 1 Git LFS pointer; 1 error hidden by irlint.toml.\n",
    )
    (entry,) = (
        file
        for file in json.loads(run(".", "--format", "json", cwd=folder).stdout)["files"]
        if file["status"] == "skipped"
    )
    assert "Git LFS pointer" in entry["reason"]
    alone = run("models/pointer.onnx", cwd=folder)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "nothing to check (1 skipped: Git LFS pointers)" in alone.stderr


def test_nearest_configuration_counts(folder: Path) -> None:
    written(folder, 'ignore = ["IRL201", "IRL104"]')
    inner = folder / "models" / "deep"
    inner.mkdir()
    assert codes("..", cwd=inner) == []
    written(folder / "models", '[tool.other]\nname = "irlint"', "pyproject.toml")
    assert codes("..", cwd=inner) == []
    written(folder / "models", '[tool.irlint]\nignore = ["IRL104"]', "pyproject.toml")
    assert codes("..", cwd=inner) == ["IRL201"]
    written(folder / "models", 'ignore = ["IRL201"]', ".irlint.toml")
    assert codes("..", cwd=inner) == ["IRL104"]
    written(folder / "models", "", "irlint.toml")
    assert codes("..", cwd=inner) == ["IRL201", "IRL104"]
    assert codes("models", cwd=folder) == []


def test_configuration_ends_at_the_repository(folder: Path) -> None:
    written(folder, 'ignore = ["IRL2"]')
    (folder / "models" / ".git").write_text("gitdir: elsewhere")
    assert codes(".", cwd=folder / "models") == ["IRL201", "IRL104"]
    assert list(candidates(str(folder / "models"))) == []


@pytest.mark.parametrize(
    "text",
    [
        '[tool.irlint]\nselect = ["IRL3"]',
        '[ tool . "irlint" ]\nselect = ["IRL3"]',
        '[tool]\nirlint.select = ["IRL3"]',
        'tool.irlint.select = ["IRL3"]',
        'tool = { irlint = { select = ["IRL3"] } }',
        '[[tool.irlint.suppress]]\nreason = "known"\nfile = "*"',
        '\ufeff[tool.irlint]\r\nselect = ["IRL3"]\r\n',
    ],
)
def test_table_of_pyproject(text: str, folder: Path) -> None:
    written(folder, text, "pyproject.toml")
    assert codes(".", cwd=folder) == []


def test_named_configuration(folder: Path) -> None:
    written(folder, 'ignore = ["IRL104"]')
    (folder / "ci").mkdir()
    named = written(folder / "ci", 'ignore = ["IRL201"]\nexclude = ["../nothing"]', "other.toml")
    assert codes(".", "--config", named, cwd=folder) == ["IRL104"]
    for arguments in (("--config", "gone.toml"), ("--config", named, "--isolated")):
        result = run(".", *arguments, cwd=folder)
        assert (result.returncode, result.stdout) == (2, "")
    written(folder, "[project]", "pyproject.toml")
    assert "no table [tool.irlint]" in run(".", "--config", "pyproject.toml", cwd=folder).stderr


def test_error_shows_the_place() -> None:
    text = '[project]\nname = "x"\n\n[tool.irlint]\n\tslect = ["IRL2"]\n'
    lines = refused(text, "pyproject.toml").splitlines()
    assert lines[:6] == [
        "irlint: error: unknown key `slect`, did you mean `select`?",
        "   --> pyproject.toml:5:2",
        "    |",
        "  4 | [tool.irlint]",
        '  5 |     slect = ["IRL2"]',
        "    |     ^^^^^",
    ]
    assert lines[-1] == "Nothing was linted."
    allowed = ", ".join(sorted(key.name for key in KEYS))
    assert "".join(lines[6:-1]).replace(" ", "") == f"= help: keys allowed here: {allowed}".replace(" ", "")
    assert max(map(len, lines)) <= 100 < len(allowed)


def refused(text: str, name: str = "irlint.toml") -> str:
    """What the parser says to a text that it refuses."""
    document = config.parsed(text, name)
    prefix = () if name == "irlint.toml" else ("tool", "irlint")
    for part in prefix:
        document = document[part]
    with pytest.raises(config.ConfigError) as error:
        config.values(document, text, name, prefix)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "expected", "place"),
    [
        ('ignore = ["IRL2",\n  "brodcast-mismatch"]', "did you mean `broadcast-mismatch`?", "2:3"),
        ('select = ["IRL9999"]', "unknown rule `IRL9999`", "1:11"),
        ("select = []", "`select` is empty", "1:10"),
        ('select = "IRL2"', 'write ["IRL2"]', "1:10"),
        ("ignore = [1]", "`ignore` holds the number 1, where a text is expected", "1:11"),
        ('fail-on = "warn"', "did you mean `warning`?", "1:11"),
        ("fail-on = true", "`fail-on` is true", "1:11"),
        ('output-format = "xml"', '"text", "concise", "json"', "1:17"),
        ('lfs-pointers = "ignore"', '"error", "skip"', "1:16"),
        ('baseline = ""', "`baseline` is an empty text", "1:12"),
        ('baseline = "../known.json"', "`baseline` is outside of the folder of the configuration", "1:12"),
        ('baseline = "a/../../known.json"', "name a file below this folder, or give --baseline", "1:12"),
        ('baseline = "/dev/stdout"', "`baseline` is outside of the folder", "1:12"),
        ('baseline = "a\\u0000b"', "`baseline` is no path", "1:12"),
        ('[severity]\nIRL2 = "warn"', "did you mean `warning`?", "2:8"),
        ('[severity]\n"nodes-not-sortd" = "note"', "did you mean `nodes-not-sorted`?", "2:1"),
        ("severity = 3", "`severity` is the number 3", "1:12"),
        ('[per-file-ignores]\n"*" = ["IRL8", "IR9"]', "unknown rule `IR9`", "2:16"),
        ('[per-file-ignores]\n"*" = "IRL9"', 'write ["IRL9"]', "2:7"),
        ('[suppress]\nreason = "x"', "`suppress` is a table, where tables [[suppress]] are expected", "1:2"),
        ("suppress = [1]", "`suppress` is the number 1", "1:13"),
        ('[[suppress]]\nnode = "a"', "has no `reason`", "1:3"),
        ('[[suppress]]\nnode = "a"\nreason = ""', "`suppress.reason` is an empty text", "3:10"),
        ('[[suppress]]\nreason = "x"', "would hide every finding", "1:3"),
        ('[[suppress]]\nreason = "x"\nrule = "IRL2*x"', "no rule has a code or name that matches `IRL2*x`", "3:8"),
        ('[[suppress]]\nreason = "x"\nrules = "IRL2"', "did you mean `rule`?", "3:1"),
        ('[[suppress]]\nreason = "x"\nnode = "a"\nexpires = "soon"', "a date such as", "4:11"),
        ('[[suppress]]\nreason = "x"\nnode = "a"\nexpires = 2027-01-31T00:00:00', "a date such as", "4:11"),
        ('[[models]]\nfile = "a"', "states nothing about its models", "1:3"),
        ('[[models]]\nfile = "a"\nmax-macs = "5X"', "`models.max-macs` is", "3:12"),
        ('[[models]]\nfile = "a"\nmax-bytes = -1', "`models.max-bytes` is", "3:13"),
        ('[[models]]\nfile = "a"\nshapes = { x = "N;3" }', "'N;3' is not a size", "3:16"),
        ('[[models]]\nfile = "a"\nshapes = { x = [1, 3] }', "the shape of `x` is a list", "3:16"),
        ('[[models]]\nfile = "a"\n[models.shapes]\nx = -1', "the shape of `x` is the number -1", "4:5"),
        ('[[suppress]]\nnode = "a"\nreason = "b"\n[[suppress]]\nnode = "a"', "has no `reason`", "4:3"),
        ('ignore = [\n  # one\n  \'IRL1\', # two\n  """IRL_"""]', "unknown rule `IRL_`", "4:3"),
    ],
)
def test_refused(text: str, expected: str, place: str) -> None:
    message = refused(text)
    assert expected in " ".join(message.replace("\n            ", " ").split("\n"))
    assert f"--> irlint.toml:{place}\n" in message
    assert message.endswith("Nothing was linted.\n")


@pytest.mark.parametrize("text", ["slect = 1", 'select = ["IRL2"', "a = = 1", 'ignore = ["IRL77"]'])
def test_broken_configuration_ends_the_run(text: str, folder: Path) -> None:
    written(folder, text)
    result = run(".", cwd=folder)
    assert (result.returncode, result.stdout) == (2, "")
    assert "--> irlint.toml:1:" in result.stderr
    assert run(".", "--isolated", cwd=folder).returncode == 1


def test_bytes_that_are_no_text(folder: Path) -> None:
    (folder / "irlint.toml").write_bytes(b'select = ["IRL2"]\nignore = ["\xff"]')
    result = run(".", cwd=folder)
    assert (result.returncode, "irlint.toml:2:1" in result.stderr) == (2, True)


def test_shape_of_an_input_that_no_model_has(folder: Path) -> None:
    written(folder, '\n[[models]]\nfile = "detector.onnx"\nshapes = { imges = "1,3,64,64" }')
    result = run(".", cwd=folder)
    assert result.returncode == 2
    assert "irlint.toml:2: no input named imges; the inputs of models/detector.onnx are images" in result.stderr
    assert run("models/bad.onnx", cwd=folder).returncode == 1


def test_init(folder: Path) -> None:
    assert run("init", cwd=folder).returncode == 0
    assert (folder / "irlint.toml").read_text("utf-8") == template.text()
    assert codes(".", cwd=folder) == ["IRL201", "IRL104"]
    (folder / "irlint.toml").write_text("ignore = []")
    again = run("init", cwd=folder)
    assert (again.returncode, "nothing was written" in again.stderr) == (2, True)
    assert (folder / "irlint.toml").read_text() == "ignore = []"


# What else the command line has.


def test_show_files(folder: Path) -> None:
    (folder / "pom.xml").write_text("<project/>")
    written(folder, 'exclude = ["unsorted.onnx"]')
    result = run(".", "./models/bad.onnx", "--show-files", cwd=folder)
    assert (result.returncode, result.stdout) == (0, "models/bad.onnx\nmodels/detector.onnx\n")
    assert run("pom.xml", "--show-files", cwd=folder).returncode == 2
    assert run("pom.xml", "--show-files", "--allow-empty", cwd=folder).returncode == 0


def test_rules_for_files_that_there_are_not(folder: Path) -> None:
    written(folder, '[per-file-ignores]\n"models/b*" = ["IRL2"]\n"modles/*" = ["IRL1"]')
    expected = (
        'irlint: note: irlint.toml:3: "modles/*" of per-file-ignores matches no checked file: correct it, or '
        "remove it\n"
    )
    assert run(".", cwd=folder).stderr == expected
    assert run("models", cwd=folder).stderr == ""


def test_promises_of_models_that_there_are_not(folder: Path) -> None:
    written(
        folder, '[[models]]\nfile = "models/det*"\nmax-bytes = "1G"\n[[models]]\nfile = "old.onnx"\nmax-bytes = "1G"'
    )
    expected = (
        'irlint: note: irlint.toml:4: "old.onnx" of [[models]] matches no checked file: correct it, or remove it\n'
    )
    assert run(".", cwd=folder).stderr == expected
    assert run("models/detector.onnx", cwd=folder).stderr == ""


def test_what_git_ignores(folder: Path) -> None:
    (folder / ".gitignore").write_text("bad.onnx\n")
    result = run(".", cwd=folder)
    assert (result.returncode, "2 ONNX models" in result.stdout) == (0, True)
    assert "not checked: 1 model that git ignores (.gitignore:1: bad.onnx); name a file" in result.stderr
    for arguments in (("models/bad.onnx",), (".", "--no-respect-gitignore")):
        assert codes(*arguments, cwd=folder)[:1] == ["IRL201"]
    written(folder, "respect-gitignore = false")
    assert codes(".", cwd=folder) == ["IRL201", "IRL104"]
    assert codes(".", "--respect-gitignore", cwd=folder) == ["IRL104"]
    (folder / ".gitignore").write_text("models/\n")
    result = run(".", "--respect-gitignore", cwd=folder)
    assert (result.returncode, ".gitignore:1: models/ ignores 3 models" in result.stderr) == (2, True)


def test_statistics_quiet_and_verbose(folder: Path) -> None:
    rules = "by rule\n     1  IRL104  nodes-not-sorted\n     1  IRL201  broadcast-mismatch\n"
    operators = "by operator\n     1  Add\n     1  Relu\n"
    counted = f"{rules}{operators}by exporter\n     3  (unknown): 2 findings, errors in 1 model\n"
    assert run(".", "--statistics", cwd=folder).stdout.endswith(counted)
    assert run(".", "--statistics", "--format", "concise", cwd=folder).stdout.endswith(counted)
    document = run(".", "--statistics", "--format", "json", cwd=folder)
    assert (document.stderr, json.loads(document.stdout)["summary"]["files"]) == (counted, 3)
    assert "Checked" not in run(".", "-q", cwd=folder).stdout
    assert run("models/detector.onnx", "-q", cwd=folder).stdout == ""
    expected = run(".", "-v", cwd=folder).stderr
    assert expected.splitlines()[0] == "irlint: no configuration"
    assert "irlint: models/bad.onnx: checked, 1 node, 1 finding" in expected.splitlines()


def test_nothing_is_reported_before_nothing_to_check(tmp_path: Path) -> None:
    result = run(tmp_path, "--output", f"json={tmp_path / 'report.json'}")
    assert (result.returncode, result.stdout) == (2, "")
    assert not (tmp_path / "report.json").exists()


HEAVY = (
    "tomllib",
    "tomli",
    "click",
    "re",
    "typing",
    "multiprocessing",
    "json",
    "datetime",
    "rich",
    "numpy",
    "onnx",
    "lxml",
)


@pytest.mark.parametrize("form", [(), ("--no-progress", "--")])
def test_a_plain_check_loads_nothing_that_it_does_not_need(form: tuple[str, ...], tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "m.onnx")
    written(tmp_path, '[project]\nname = "x"\ndependencies = ["irlint"]', "pyproject.toml")
    code = (
        "import sys; before = set(sys.modules)\n"
        "from irlint.command.entry import main\n"
        f"sys.argv = ['irlint', *{form!r}, 'm.onnx']\n"
        "try: main()\n"
        f"finally: print(*sorted(({set(HEAVY)!r} & set(sys.modules)) - before), file=sys.stderr)\n"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "\n")


def test_an_ir_is_found_by_its_configuration(folder: Path) -> None:
    shutil.copy(IR, folder / "models" / "ir.xml")
    written(folder, 'select = ["IRL204"]')
    assert codes(".", cwd=folder) == ["IRL204"]
