"""The cache of compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path

from betalike.compilation import STAMP, forget_stale_kernels


def test_cached_kernels_are_forgotten_as_soon_as_any_source_changes(tmp_path: Path) -> None:
    source, cached = tmp_path / "deep" / "module.py", tmp_path / "__pycache__" / "other.nbi"
    source.parent.mkdir()
    cached.parent.mkdir()
    source.write_text("a = 1\n")
    forget_stale_kernels(tmp_path)
    cached.write_text("machine code")
    forget_stale_kernels(tmp_path)
    assert cached.exists()
    os.utime(source, ns=(1, 1))
    forget_stale_kernels(tmp_path)
    assert not cached.exists()
    assert (tmp_path / "__pycache__" / STAMP).exists()


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").write_text("a file where the folder should be")
    forget_stale_kernels(tmp_path)
