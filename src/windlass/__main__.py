"""``python -m windlass`` is ``windlass``."""

from windlass.cli import command

if __name__ == "__main__":
    command()
