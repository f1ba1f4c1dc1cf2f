"""Which releases of which runtimes take a model.

The folder has the name of the public function ``irlint.targets``, and can be called as that: importing it puts the
folder in the place of the function.
"""

from __future__ import annotations

import sys
from types import ModuleType

import irlint
from irlint.lazy_typing import Any

#: The function, which stands there until this module takes its place.
_PUBLIC: Any = vars(irlint)["targets"]


class _Callable(ModuleType):
    """This module, as the function whose place it takes."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _PUBLIC(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
