"""``python -m irlint``."""

import os
import sys


def _without_working_folder() -> None:
    """Removes the working folder from the module search path: it may have modules beside an untrusted model."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        if os.path.samefile(sys.path[0], os.curdir) and not os.path.samefile(own, os.curdir):
            del sys.path[0]
    except OSError:
        return


if __name__ == "__main__":
    _without_working_folder()
    from irlint.command.entry import main

    main()
