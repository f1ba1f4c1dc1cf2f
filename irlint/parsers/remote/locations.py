"""Where a file lies that is reached by a URL, and how that is shown."""

from __future__ import annotations

from irlint.records import record

#: Schemes in which what stands before the host is no user, but a container.
CONTAINERS = ("abfs", "abfss", "az", "wasb", "wasbs")


@record
class Located:
    """A file by its URL, and its size and what changes when it is written, where that is known."""

    url: str
    size: int | None = None
    stamp: str = ""

    def __str__(self) -> str:
        return shown(self.url)


def shown(url: str) -> str:
    """A URL without what may be secret: user info, query and fragment."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    host = host if scheme.lower() in CONTAINERS else host.rpartition("@")[2]
    return f"{scheme}://{_bare(host)}{slash}{_bare(path)}"


def _bare(text: str) -> str:
    return text.partition("?")[0].partition("#")[0]


def sibling(url: str, name: str) -> str:
    """The URL of a file beside another one, or below its folder; the query goes with it, as it may be what allows
    reading."""
    whole, question, query = url.partition("?")
    folder = whole.partition("#")[0].rpartition("/")[0]
    return f"{folder}/{_quoted(url, name)}{question}{query}"


def inside(url: str, path: str) -> str:
    """The URL of a file or folder from its path as it is shown; the path lies in a folder that contains ``url``."""
    whole, question, query = url.partition("?")
    folder = whole.partition("#")[0].rpartition("/")[0]
    while not f"{path}/".startswith(f"{shown(folder)}/"):
        folder = folder.rpartition("/")[0]
    return f"{folder}{_quoted(url, path.removeprefix(shown(folder)))}{question}{query}"


def _quoted(url: str, name: str) -> str:
    """A name as part of a URL: in those of the web it may have nothing that ends the path."""
    if not is_web(url):
        return name
    from urllib.parse import quote

    return quote(name)


def is_web(url: str) -> bool:
    """Whether a URL is one of HTTP."""
    return url.partition("://")[0].lower() in ("http", "https")


def without_secrets(text: str, url: str) -> str:
    """What somebody says of a URL, with that as it is shown."""
    text = text.replace(url, shown(url))
    rest = url.partition("://")[2]
    for secret in (rest.partition("/")[0].rpartition("@")[0], rest.partition("?")[2]):
        text = text.replace(secret, "...") if secret else text
    return text
