"""Finds the releases of runtimes that accept a model.

Importing this package replaces the function ``irlint.targets``, so the package is callable like that function.
"""

from __future__ import annotations

import sys
from types import ModuleType

import irlint
from irlint.lazy_typing import Any

_PUBLIC: Any = vars(irlint)["targets"]


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _PUBLIC(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
