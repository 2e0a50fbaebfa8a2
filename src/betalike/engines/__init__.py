"""Engines: they count cells, hand rows out and write; nothing else."""
