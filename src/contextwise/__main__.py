"""Run the command: the entry point of ``contextwise`` and of ``python -m contextwise``."""

# `signal` would import `enum` first, and Ctrl-C in that time prints a traceback.
import _signal as signal  # type: ignore[import-not-found]
import atexit
import os
import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report SIGINT."""
TERMINATED = 143
"""Exit code after SIGTERM, which otherwise ends the command in the same way."""


def main() -> None:
    """Run the command; Ctrl-C never prints a traceback, from the first import to the last exit."""
    # On small matrices the threads of BLAS wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    handled = []
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        handled.append(signal.SIGINT)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        handled.append(signal.SIGTERM)
    for number in handled:
        signal.signal(number, _stop)
        # Registered first, so it runs last: at its end Python would reset SIGINT to "kill".
        atexit.register(signal.signal, number, signal.SIG_IGN)
    from contextwise.cli import main as run

    received = 0

    def interrupt(number: int, _: object) -> None:
        nonlocal received
        received = number
        raise KeyboardInterrupt

    try:
        for number in handled:
            signal.signal(number, interrupt)
        run()
    except KeyboardInterrupt:
        _stop(received)
    except SystemExit as end:
        if received:
            # After an interrupt inside of exec(), as in imports, Python would end itself by SIGINT
            # and lose the exit code; the next exec() makes it forget.
            exec("")
        if end.code == INTERRUPTED and received == signal.SIGTERM:
            sys.exit(TERMINATED)
        raise
    except Exception:
        if received:  # NumPy turns Ctrl-C during its import into an ImportError
            _stop(received)
        raise
    finally:
        for number in handled:
            signal.signal(number, _stop)


def _stop(number: int, _: object = None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(TERMINATED if number == signal.SIGTERM else INTERRUPTED)


if __name__ == "__main__":
    main()
