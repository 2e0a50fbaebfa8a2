"""Guesses about the columns of a table: from their names, their values, and how they go together."""
