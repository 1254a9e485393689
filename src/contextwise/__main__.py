"""Run the command: the entry point of ``contextwise`` and of ``python -m contextwise``."""

import atexit
import os
import signal
from typing import Any

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report SIGINT."""


def main() -> None:
    """Run the command; Ctrl-C never prints a traceback, from the first import to the last exit."""
    handles = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles:
        signal.signal(signal.SIGINT, _stop)
        # Registered first, so it runs last: when Python ends, it would reset SIGINT to "kill".
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    from contextwise.cli import main as run

    try:
        if handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        _stop()
    finally:
        if handles:
            signal.signal(signal.SIGINT, _stop)


def _stop(*_: Any) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
