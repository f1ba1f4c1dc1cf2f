"""The frame of every HTML page. Its security policy allows only its own style and script."""

from __future__ import annotations

import os

from irlint.reporters.html.markup import escaped


def framed(title: str, body: str, *, footer: str = "", scripted: bool = False) -> str:
    """A page. ``title`` and ``footer`` are texts, ``body`` is markup."""
    style, script = _part("style.css"), _part("script.js") if scripted else ""
    allowed = f" script-src {_hash(script)};" if script else ""
    policy = f"default-src 'none'; style-src {_hash(style)};{allowed} base-uri 'none'; form-action 'none'"
    end = f"<footer>{escaped(footer)}</footer>\n" if footer else ""
    end += f"<script>{script}</script>\n" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" '
        'content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}{end}</body>\n</html>\n"
    )


def _part(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _hash(text: str) -> str:
    """The hash of a style or a script for the content security policy."""
    from base64 import b64encode
    from hashlib import sha256

    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
