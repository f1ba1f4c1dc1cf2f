"""Triton's own server, asked what its core says of the models of a repository.

``IRLINT_TRITON`` names the unpacked wheel of ``nvidia-pytriton``, which carries the server with the backend of Python:
`pip download --no-deps nvidia-pytriton==0.7.0 && unzip nvidia_pytriton-0.7.0-*.whl -d FOLDER`. The other backends are
written here in Python, and accept every model: so the core also judges what it looks at after a backend is loaded.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = Path(os.environ.get("IRLINT_TRITON", ""))

needs_server = pytest.mark.skipif(not os.environ.get("IRLINT_TRITON"), reason="IRLINT_TRITON names no server")

#: The backends that accept every model.
BACKENDS = ("mock", "onnxruntime", "openvino", "pytorch", "tensorflow", "tensorrt")

ANSWERS_NOTHING = """class TritonPythonModel:
    def execute(self, requests):
        return []
"""

#: How the lines begin that state why a model is not loaded.
REASONS = (
    re.compile(r"Poll failed for model directory '(?P<name>[^']+)': (?P<reason>.*)"),
    re.compile(r"failed to load (?:model )?'(?P<name>[^']+)'(?: version \d+)?: (?P<reason>.*)"),
    re.compile(r"(?P<reason>Invalid argument: (?:in )?ensemble '?(?P<name>\w+).*)"),
)

#: How many models one server loads: each has processes of its own.
AT_ONCE = 40


def refusals(root: Path, work: Path, *, completes: bool = False) -> dict[str, str]:
    """Why each model that the server does not load is not loaded, by the name of its folder."""
    backends = _backends(work / "backends")
    names = sorted(each.name for each in root.iterdir())
    found: dict[str, str] = {}
    for first in range(0, len(names), AT_ONCE):
        part = work / f"repository{first}"
        part.mkdir()
        for name in names[first : first + AT_ONCE]:
            (part / name).symlink_to(root / name)
        found |= _asked(part, backends, completes=completes)
    return found


def _backends(folder: Path) -> Path:
    """Writes the backends, once."""
    if folder.is_dir():
        return folder
    import numpy

    server = HOME / "pytriton" / "tritonserver"
    python = folder / "python"
    shutil.copytree(server / "backends" / "python", python)
    stub = python / "triton_python_backend_stub"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copy(server / "python_backend_stubs" / version / stub.name, stub)
    stub.chmod(0o755)
    packages = Path(numpy.__file__).parent.parent
    for name in ("numpy", "numpy.libs"):
        (python / name).symlink_to(packages / name)
    for name in BACKENDS:
        (folder / name).mkdir()
        (folder / name / "model.py").write_text(ANSWERS_NOTHING)
    return folder


def _asked(repository: Path, backends: Path, *, completes: bool) -> dict[str, str]:
    binary = HOME / "pytriton" / "tritonserver" / "bin" / "tritonserver"
    binary.chmod(0o755)
    command = [binary, f"--model-repository={repository}", f"--backend-directory={backends}", "--exit-on-error=false"]
    command += [f"--{name}-port={port}" for name, port in zip(("http", "grpc", "metrics"), _free_ports(3))]
    command += [] if completes else ["--disable-auto-complete-config"]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(HOME / "nvidia_pytriton.libs")}
    found: dict[str, str] = {}
    for line in _log(command, environment):
        for pattern in REASONS:
            match = pattern.search(line)
            if match is not None:
                found.setdefault(match["name"], match["reason"])
                break
    return found


def _free_ports(count: int) -> list[int]:
    """So many ports that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _log(command: list[str | Path], environment: dict[str, str]) -> Iterator[str]:
    """The lines that the server writes until it is ready."""
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, stdout=pipe, stderr=both, text=True, errors="replace", env=environment) as server:
        assert server.stdout is not None
        for line in server.stdout:
            if "Started HTTPService" in line:
                break
            yield line
        server.terminate()
        try:
            server.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()
