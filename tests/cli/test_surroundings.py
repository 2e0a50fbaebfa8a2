"""What a command does where a variable of the environment is odd: a compiler that is switched off, no home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import Desk, assert_refused, run_process

from betalike.runtime.kernel_cache import kernel_folder


def in_home(home: Path) -> dict[str, str]:
    """An environment with this home and the kernels that are stored already."""
    stored = kernel_folder()
    assert stored is not None
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(home), "NUMBA_CACHE_DIR": str(stored.parent)}


def test_a_compiler_that_is_switched_off_is_named(desk: Desk) -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    words = desk.words(desk.table(), "--seed", 1, hierarchies=desk.hierarchies())
    assert_refused(run_process(*words, env=environment), "NUMBA_DISABLE_JIT")
    assert not desk.out.exists()
    program = (
        "import betalike\ntry:\n    betalike.publish\nexcept betalike.errors.InputError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert "NUMBA_DISABLE_JIT" in done.stdout


def test_no_home_is_made(desk: Desk) -> None:
    home = desk.folder / "nowhere" / "home"
    words = desk.words(desk.table(), "--seed", 1, scheme="lmondrian", hierarchies=desk.hierarchies())
    published = run_process(*words, env=in_home(home))
    assert published.status == 0, published.text
    assert not home.parent.exists()


def test_the_page_makes_no_home(desk: Desk) -> None:
    pytest.importorskip("uvicorn")
    home = desk.folder / "nowhere"
    words = ("web", "--no-browser", "--folder", desk.folder)
    assert_refused(run_process(*words, env=in_home(home)), "home folder", "is not there", "--projects")
    assert not home.exists()
