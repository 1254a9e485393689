"""``python -m contextwise`` is the command."""

from contextwise.cli import main

if __name__ == "__main__":
    main()
