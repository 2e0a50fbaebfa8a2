"""The pages: one file per step. Each parses a request, calls betalike, and shows the answer."""
