"""The cache of compiled kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from betalike.runtime.compilation import STAMP, forget_stale_kernels

KERNEL = "from betalike.runtime.compilation import kernel\nfrom {package}.deep.constants import STEP\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    package = tmp_path / "betalike"
    (package / "deep").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    (package / "kernels.py").write_text(KERNEL.format(package=package.name))
    (package / "deep" / "constants.py").write_text("STEP = 1\n")
    (package / "pages.py").write_text("TITLE = 'one'\n")
    forget_stale_kernels(package)
    (package / "__pycache__" / "other.nbi").write_text("machine code")
    return package


@pytest.mark.parametrize("changed", ["kernels.py", "deep/constants.py"])
def test_cached_kernels_are_forgotten_when_a_kernel_or_what_it_imports_changes(package: Path, changed: str) -> None:
    forget_stale_kernels(package)
    assert (package / "__pycache__" / "other.nbi").exists()
    with (package / changed).open("a") as file:
        file.write("MORE = 2\n")
    forget_stale_kernels(package)
    assert not (package / "__pycache__" / "other.nbi").exists()
    assert (package / "__pycache__" / STAMP).exists()


def test_cached_kernels_stay_when_another_module_changes(package: Path) -> None:
    (package / "pages.py").write_text("TITLE = 'another one'\n")
    forget_stale_kernels(package)
    assert (package / "__pycache__" / "other.nbi").exists()


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").write_text("a file where the folder should be")
    forget_stale_kernels(tmp_path)
