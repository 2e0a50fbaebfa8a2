"""File formats and frames: tables, hierarchies, specifications."""
