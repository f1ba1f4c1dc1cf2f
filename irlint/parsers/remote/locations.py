"""URLs of files: how reports show them, and the URLs of neighboring files."""

from __future__ import annotations

from irlint.records import record

#: Schemes in which the text before "@" is a container instead of a user.
CONTAINERS = ("abfs", "abfss", "az", "wasb", "wasbs")


@record
class Located:
    """A file with a URL."""

    url: str
    #: The size in bytes; None if it is unknown.
    size: int | None = None
    #: A text that changes when the file is written, or "".
    stamp: str = ""

    def __str__(self) -> str:
        return shown(self.url)


def shown(url: str) -> str:
    """A URL without the parts that may be secret: user info, query and fragment."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    host = host if scheme.lower() in CONTAINERS else host.rpartition("@")[2]
    return f"{scheme}://{_bare(host)}{slash}{_bare(path)}"


def _bare(text: str) -> str:
    return text.partition("?")[0].partition("#")[0]


def sibling(url: str, name: str) -> str:
    """The URL of the file ``name`` in or below the folder of ``url``, with the query of ``url``."""
    address, question, query = url.partition("?")
    folder = address.partition("#")[0].rpartition("/")[0]
    return f"{folder}/{_quoted(url, name)}{question}{query}"


def inside(url: str, path: str) -> str:
    """The URL of the file with the shown URL ``path``, with the secret parts of ``url``.

    ``path`` must be in or below a folder that contains ``url``.
    """
    address, question, query = url.partition("?")
    folder = address.partition("#")[0].rpartition("/")[0]
    while not f"{path}/".startswith(f"{shown(folder)}/"):
        folder = folder.rpartition("/")[0]
    return f"{folder}{_quoted(url, path.removeprefix(shown(folder)))}{question}{query}"


def _quoted(url: str, name: str) -> str:
    """A name as part of a URL. In a web address, characters are escaped."""
    if not is_web(url):
        return name
    from urllib.parse import quote

    return quote(name)


def is_web(url: str) -> bool:
    return url.partition("://")[0].lower() in ("http", "https")


def without_secrets(text: str, url: str) -> str:
    """A message about a URL, without the secret parts of the URL."""
    text = text.replace(url, shown(url))
    rest = url.partition("://")[2]
    for secret in (rest.partition("/")[0].rpartition("@")[0], rest.partition("?")[2]):
        text = text.replace(secret, "...") if secret else text
    return text
