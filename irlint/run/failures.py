"""Findings about files whose check failed."""

from __future__ import annotations

import os

from irlint.findings.faults import Rule
from irlint.findings.report import Finding
from irlint.parsers.faults import CHECK_CRASHED


def crash(path: str, message: str) -> Finding:
    """The finding that irlint failed at a file."""
    advice = "report this with the model, if you may share it; it is a defect of irlint, or a lack of memory"
    return about_file(path, CHECK_CRASHED, message, advice)


def about_file(path: str, rule: Rule, message: str, advice: str = "") -> Finding:
    """A finding of ``rule`` about a whole file, with the advice of the rule unless another is given."""
    from hashlib import sha256

    name = path.replace(os.sep, "/")
    fingerprint = sha256(rule.code.encode()).hexdigest()[:32]
    return Finding(name, rule, rule.severity, message, help=advice or rule.advice, fingerprint=fingerprint)


def described(error: Exception) -> str:
    """The type and message of an exception, and the last line of irlint that it passed."""
    message = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {message}{_raised_at(error)}"


def _raised_at(error: Exception) -> str:
    """The last line of irlint's code that an exception passed, as the end of a message; or ""."""
    found, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename.replace(os.sep, "/")
        if "/irlint/" in file:
            found = f" (irlint/{file.rpartition('/irlint/')[2]}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return found
