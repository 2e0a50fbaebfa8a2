"""`python -m betalike` is the command `betalike`."""

from betalike.cli import main

if __name__ == "__main__":
    main()
