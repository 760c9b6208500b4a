"""``python -m windlass`` is ``windlass``."""

from windlass.cli import main

if __name__ == "__main__":
    main()
