"""Counts in, figures out: information loss, and the levels that classes reach."""
