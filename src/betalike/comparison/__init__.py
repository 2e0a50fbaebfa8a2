"""Schemes side by side, on one table."""
