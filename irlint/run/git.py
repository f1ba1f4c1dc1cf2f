"""Runs git in a repository. Prevents git from running programs that the repository configures, such as hooks."""

from __future__ import annotations

import os
from collections.abc import Iterator

from irlint.run.deadline import DEFAULT_SECONDS

#: The variables that git sets for a hook. They may name another repository.
HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE")

#: (key of git's configuration that would start a program, harmless value for it).
OVERRIDDEN = (("core.fsmonitor", "false"), ("core.hooksPath", os.devnull))

#: An environment in which git does not fetch, prompt or write.
ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}

#: The scopes of git's configuration that a repository cannot set.
TRUSTED = ("system", "global", "command")

#: The mode of a submodule in the index.
SUBMODULE = "160000 "


class NoRevision(ValueError):
    """A revision does not exist, a file is in no repository, or git fails."""


class Git:
    """Runs git commands in the work tree at ``root``."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.keys = list(OVERRIDDEN)
        for name in sorted(set(self._filters(root, set()))):
            self.keys += [(f"{name}.{key}", "") for key in ("clean", "smudge", "process")]
            self.keys.append((f"{name}.required", "false"))

    def __call__(self, *arguments: str, root: str = "") -> list[str] | None:
        """The output of git, split at NUL; None if git fails without a message.

        Raises NoRevision if git cannot be run, takes too long, or fails with a message.
        """
        import subprocess

        try:
            result = subprocess.run(
                [_program(), *arguments],
                cwd=root or self.root,
                env=_environment(self.keys),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=DEFAULT_SECONDS,
            )
        except OSError as error:
            raise NoRevision(f"git cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise NoRevision(f"git {arguments[0]} takes more than {DEFAULT_SECONDS} seconds") from None
        message = result.stderr.decode("utf-8", "replace").strip()
        if result.returncode and message:
            raise NoRevision(f"git {arguments[0]}: {message.splitlines()[0]}")
        return os.fsdecode(result.stdout).split("\0") if result.returncode == 0 else None

    def _filters(self, root: str, seen: set[str]) -> Iterator[str]:
        """``filter.NAME`` of each filter that a work tree or one of its submodules configures.

        If the work tree configures an extension of Git LFS, the result also has the filters that the user configures,
        because these would run the extension.
        """
        seen.add(os.path.realpath(root))
        pattern = r"^(filter\..*\.(clean|smudge|process)|lfs\.extension\..*)$"
        listed = self("config", "--show-scope", "--name-only", "-z", "--get-regexp", pattern, root=root) or []
        found = list(zip(listed[::2], listed[1::2]))
        untrusted = [name for scope, name in found if scope not in TRUSTED]
        extends_lfs = any(name.startswith("lfs.") for name in untrusted)
        chosen = [name for _, name in found] if extends_lfs else untrusted
        yield from (name.rpartition(".")[0] for name in chosen if name.startswith("filter."))
        for entry in self("ls-files", "--stage", "-z", root=root) or []:
            folder = os.path.join(root, entry.partition("\t")[2])
            if not entry.startswith(SUBMODULE) or os.path.realpath(folder) in seen:
                continue
            if os.path.exists(os.path.join(folder, ".git")):
                yield from self._filters(folder, seen)


def _program() -> str:
    """The command for git. On Windows, it is a full path, because Windows would also search the working folder."""
    from irlint.reporters.console import WINDOWS

    candidates = (os.path.join(folder, "git.exe") for folder in os.get_exec_path() if os.path.isabs(folder))
    return next(filter(os.path.isfile, candidates), "git.exe") if WINDOWS else "git"


def _environment(keys: list[tuple[str, str]]) -> dict[str, str]:
    """The environment of git. ``keys`` override the configuration of the repository."""
    result = {name: value for name, value in os.environ.items() if name not in HOOK_VARIABLES} | ENVIRONMENT
    text = result.get("GIT_CONFIG_COUNT", "")
    count = int(text) if text.isascii() and text.isdigit() else 0
    for at, (key, value) in enumerate(keys, count):
        result |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": value}
    return result | {"GIT_CONFIG_COUNT": str(count + len(keys))}
