"""The names of ``typing`` for annotations, without importing ``typing`` at start-up."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any as Any
    from typing import BinaryIO as BinaryIO
    from typing import ClassVar as ClassVar
    from typing import Generic as Generic
    from typing import Literal as Literal
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import TextIO as TextIO
    from typing import TypeVar as TypeVar
    from typing import overload as overload
else:
    from types import GenericAlias

    Any = BinaryIO = ClassVar = NoReturn = Protocol = TextIO = object

    class Generic:
        """``Generic[...]`` is a class without slots of its own."""

        __slots__ = ()
        __class_getitem__ = classmethod(GenericAlias)

    class Literal:
        """``Literal[...].__args__`` holds the texts, as in ``typing``."""

        __class_getitem__ = classmethod(GenericAlias)

    def TypeVar(name: str, **_: object) -> type:
        """Returns ``object`` in place of a type variable."""
        return object

    def overload(function):
        """Marks a signature of the function that is defined last."""
        return function
