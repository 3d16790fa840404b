"""`python -m memgrep` is the command."""

from memgrep.cli import main

if __name__ == "__main__":
    main()
