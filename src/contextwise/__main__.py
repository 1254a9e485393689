"""Run the command: the entry point of ``contextwise`` and of ``python -m contextwise``."""

# `signal` would import `enum` first, and Ctrl-C in that time prints a traceback.
import _signal as signal  # type: ignore[import-not-found]
import atexit
import os

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report SIGINT."""


def main() -> None:
    """Run the command; Ctrl-C never prints a traceback, from the first import to the last exit."""
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handled:
        signal.signal(signal.SIGINT, _stop)
        # Registered first, so it runs last: at its end Python would reset SIGINT to "kill".
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    from contextwise.cli import main as run

    interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    try:
        if handled:
            signal.signal(signal.SIGINT, interrupt)
        run()
    except KeyboardInterrupt:
        _stop()
    except Exception:
        if interrupted:  # NumPy turns Ctrl-C during its import into an ImportError
            _stop()
        raise
    finally:
        if handled:
            signal.signal(signal.SIGINT, _stop)


def _stop(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
