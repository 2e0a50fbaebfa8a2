"""Figures that other programs publish, with their source and commit, and what betalike says of the same tables."""
