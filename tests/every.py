"""One test of many alike: cheaper than one test for each where there are hundreds, and it names all that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any


def of_each(cases: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Makes one test of a test of one case: it runs for the case behind each name, a tuple being several arguments."""

    def decorated(test: Callable[..., None]) -> Callable[[], None]:
        @wraps(test)
        def of_all() -> None:
            wrong = []
            for name, case in cases.items():
                try:
                    test(*case) if isinstance(case, tuple) else test(case)
                except Exception as error:
                    wrong.append(f"{name}: {type(error).__name__}: {error}")
            assert cases
            assert not wrong, "\n".join(wrong)

        del of_all.__wrapped__  # type: ignore[attr-defined]  # pytest would take its parameters for fixtures
        return of_all

    return decorated
