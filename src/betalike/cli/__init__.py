"""The command line: it parses, calls the library and prints."""

from betalike.cli.app import main

__all__ = ["main"]
