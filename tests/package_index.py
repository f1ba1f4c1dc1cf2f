"""Whether pip reached a package index."""

from __future__ import annotations

#: What pip says where it reaches no package index.
UNREACHABLE = (
    "No matching distribution",
    "Could not find a version",
    "Network is unreachable",
    "Temporary failure in name resolution",
    "ConnectionError",
    "ConnectTimeoutError",
    "NewConnectionError",
    "ProxyError",
    "Read timed out",
)
