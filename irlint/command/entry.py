"""The ``irlint`` command: all else is imported in a block that Ctrl-C ends quietly."""

import sys

#: A model is many small objects, hardly any of which become garbage: the collector need not look so often.
COLLECTOR_THRESHOLD = 500_000


def main() -> None:
    """Runs the command in ``sys.argv`` and ends with its exit status."""
    try:
        _run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _run() -> None:
    import gc
    import os

    gc.set_threshold(COLLECTOR_THRESHOLD)
    # A third of what importing NumPy costs are threads that its linear algebra would run in.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from irlint.command.arguments import run
    from irlint.command.streams import discard_output, fail, reason

    try:
        run(sys.argv[1:])
    except BrokenPipeError:
        discard_output()
        raise SystemExit(0) from None
    except OSError as error:
        discard_output()
        fail(reason(error))
    finally:
        # The interpreter's end need not look for cycles among what the check has made.
        gc.freeze()
