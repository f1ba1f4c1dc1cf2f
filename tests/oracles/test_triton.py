"""The cases of Triton's configurations against the core of its server, which loads no backend and completes nothing.

It is asked where ``IRLINT_TRITON`` names the unpacked wheel of ``nvidia-pytriton``, which carries the server:
`pip download --no-deps nvidia-pytriton==0.7.0 && unzip nvidia_pytriton-0.7.0-*.whl -d FOLDER`.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from folders.triton_cases import CORE, written

HOME = Path(os.environ.get("IRLINT_TRITON", ""))

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(not os.environ.get("IRLINT_TRITON"), reason="IRLINT_TRITON names no server"),
]

#: What ends a configuration that the core accepts.
NO_BACKEND = "unable to find backend library"

LATER = "the core checks it after it has loaded the backend"

#: Cases of fields that the older server of the wheel does not have.
NEWER = ("metrics", "metrics without buckets", "metrics of no family")

#: Cases that the core does not see, as it completes nothing or as the backend is asked later.
OTHERWISE = {
    "nothing but tensors": "the server chooses the backend by the name of the model's file",
    "empty reshape": "the backend compares shapes",
    "state without a control": "the backend counts inputs",
    "no file of labels": LATER,
    "cpu with gpus": LATER,
    "model with gpus": LATER,
    "profile": LATER,
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the server says of each case, by the name of its folder."""
    root = tmp_path_factory.mktemp("repository")
    for at, name in enumerate(CORE):
        written(root / f"case{at}", CORE[name])
    server = HOME / "pytriton" / "tritonserver"
    binary = server / "bin" / "tritonserver"
    binary.chmod(0o755)
    command = [binary, f"--model-repository={root}", f"--backend-directory={server / 'backends'}"]
    command += ["--exit-on-error=true", "--disable-auto-complete-config", "--http-port=18000"]
    command += ["--grpc-port=18001", "--metrics-port=18002"]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(HOME / "nvidia_pytriton.libs")}
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    found: dict[str, str] = {}
    name = ""
    for line in (run.stdout + run.stderr).splitlines():
        match = re.search(r"\b(case\d+)\b", line)
        name = match[1] if match else name
        if re.match("[EW][0-9]", line) or "error" in line.lower():
            found[name] = f"{found.get(name, '')}{line}\n"
    return found


@pytest.mark.parametrize("name", CORE)
def test_the_core_of_the_server_agrees(name: str, refusals: dict[str, str]) -> None:
    text = refusals.get(f"case{list(CORE).index(name)}", "")
    refused = bool(text) and NO_BACKEND not in text
    expected = name in NEWER or (bool(CORE[name][2]) and name not in OTHERWISE)
    assert refused == expected, text
