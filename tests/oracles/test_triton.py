"""What irlint finds in configurations of Triton against the core of its server."""

from __future__ import annotations

from pathlib import Path

import pytest
from command.process import FIXTURES
from folders.triton_cases import CORE, written
from folders.triton_configurations import FILES, configurations
from oracles.triton_server import needs_server, refusals

import irlint
from irlint.reporters.triton import rendered
from irlint.run.contract import interface_and_contract

pytestmark = [pytest.mark.oracle, needs_server, pytest.mark.slow, pytest.mark.together]

#: Cases that the server of the wheel, 2.51, does not have.
NEWER = ("metrics", "metrics without buckets", "metrics of no family")

#: Cases that the core does not see.
OTHERWISE = {
    "nothing but tensors": "without completion, there is no backend",
    "empty reshape": "the backend compares shapes",
    "state without a control": "the backend counts inputs",
}

#: How many configurations are generated, and from which seed.
COUNT, SEED = 300, 7

#: The generated configurations about which the server says something else, and why.
DIFFERENCES = {
    120: "it names a backend that this server does not have",
    211: "KIND_AUTO means KIND_CPU on a server without GPUs, and the group lists one",
}


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Why the server refuses each case, by the name of its folder."""
    root = tmp_path_factory.mktemp("repository")
    for at, name in enumerate(CORE):
        written(root / f"case{at}", CORE[name])
    return refusals(root, tmp_path_factory.mktemp("server"))


@pytest.mark.parametrize("name", CORE)
def test_the_core_of_the_server_agrees(name: str, core: dict[str, str]) -> None:
    reason = core.get(f"case{list(CORE).index(name)}")
    expected = name in NEWER or (bool(CORE[name][2]) and name not in OTHERWISE)
    assert (reason is not None) == expected, reason


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder of the generated configurations, and why the server refuses some of them."""
    root = tmp_path_factory.mktemp("generated")
    for at, text in enumerate(configurations(COUNT, SEED)):
        folder = root / f"case{at}"
        (folder / "1").mkdir(parents=True)
        for name, data in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        (folder / "config.pbtxt").write_bytes(text.replace("NAME", folder.name).encode())
    return root, refusals(root, tmp_path_factory.mktemp("server"))


def test_the_generated_configurations(generated: tuple[Path, dict[str, str]]) -> None:
    root, refused = generated
    different: dict[int, str] = {}
    for at in range(COUNT):
        found = irlint.check(root / f"case{at}" / "config.pbtxt")
        reason = refused.get(f"case{at}")
        if (found.as_dict()["summary"]["errors"] > 0) != (reason is not None):
            different[at] = f"{reason}, {[each.message for each in found.findings]}"
    assert different.keys() == DIFFERENCES.keys(), different
    assert COUNT // 4 < len(refused) < COUNT * 3 // 4


def test_the_written_configurations(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What ``irlint contract --as triton`` writes for every sound fixture is accepted by the server and by irlint."""
    root = tmp_path_factory.mktemp("written")
    without: list[str] = []
    for at, model in enumerate(sorted((FIXTURES / "onnx" / "good").glob("*.onnx"))):
        try:
            text = rendered(*interface_and_contract(str(model)))
        except ValueError:
            without.append(model.name)
            continue
        folder = root / f"case{at}"
        (folder / "1").mkdir(parents=True)
        (folder / "1" / model.name).write_bytes(model.read_bytes())
        (folder / "config.pbtxt").write_text(text)
        assert [each.message for each in irlint.check(folder / "config.pbtxt").findings] == [], model.name
    assert refusals(root, tmp_path_factory.mktemp("server")) == {}
    assert len(without) < 10 < len(list(root.iterdir())), without
