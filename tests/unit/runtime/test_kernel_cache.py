"""The cache of compiled kernels: what is loaded again, and what never is."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from numba.core import event

import betalike
import betalike.runtime.kernel_cache as kernel_cache
from betalike.runtime.compilation import kernel
from betalike.runtime.kernel_cache import DAY, NAME, SUFFIX, kernel_folder, prune, read_private, write_private
from betalike.runtime.kernel_digest import UnknownValueError, digest_kernel
from betalike.runtime.kernel_linking import is_there

INNER = """
from betalike.runtime.compilation import kernel

@kernel
def step(x):
    '''Take a step.'''
    return x + 1
"""
OUTER = """
from typing import NamedTuple
from betalike.runtime.compilation import kernel
from inner import step

FACTOR = 10

class Pair(NamedTuple):
    first: int
    second: int

@kernel
def steps(pair):
    return FACTOR * step(pair.first)

def use():
    return steps(Pair(1, 2))
"""
LONE = """
import sys
from numba.core import event
from betalike.runtime.compilation import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def hashed(text):
    return hash(text)

with event.install_recorder("numba:compile") as compiled:
    assert {call}
print(len(compiled.buffer), "numba.np.linalg" in sys.modules)
"""
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")


class Copy:
    """A copy of a package with two kernels, where one calls the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "inner.py").write_text(INNER)
        (folder / "outer.py").write_text(OUTER)

    def edit(self, file: str, old: str, new: str) -> None:
        """Change a file and keep its time, which must not matter."""
        path = self.folder / file
        times = path.stat()
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def run(self) -> tuple[int, int]:
        """Import the copy as a new process would; return its answer, and how many kernels were compiled."""
        for name in ("inner", "outer"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        sys.path.insert(0, str(self.folder))
        try:
            outer = importlib.import_module("outer")
        finally:
            sys.path.remove(str(self.folder))
        with event.install_recorder("numba:compile") as compiled:
            answer = outer.use()
        return answer, sum(item.is_start for _, item in compiled.buffer)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kernel_folder.cache_clear()
    yield tmp_path / "cache" / NAME
    kernel_folder.cache_clear()


@pytest.fixture
def copy(cache: Path, tmp_path: Path) -> Copy:
    made = Copy(tmp_path / "first")
    assert made.run() == (20, 2)
    return made


def test_equal_sources_are_compiled_once_on_a_machine(copy: Copy, cache: Path, tmp_path: Path) -> None:
    assert copy.run() == (20, 0)
    another = Copy(tmp_path / "second")
    another.edit("inner.py", "Take a step", "Go one step further")
    assert another.run() == (20, 0)
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("call", ["double(3) == 6", "hashed('text') == hash('text')"])
def test_stored_code_runs_without_the_compiler(call: str, tmp_path: Path) -> None:
    """The compiler takes a second to import. Code that refers to what is not there would end the process."""
    (tmp_path / "lone.py").write_text(LONE.replace("{call}", call))
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONHASHSEED": "1"}
    words = [sys.executable, "lone.py"]
    runs = [subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True) for _ in range(2)]
    assert [run.stderr for run in runs] == ["", ""]
    assert [run.stdout.split()[1] for run in runs] == ["True", "False"]
    assert runs[1].stdout.split()[0] == "0"


def test_what_stored_code_refers_to_is_looked_up() -> None:
    assert is_there(("memcpy", "PyExc_ValueError"))
    assert not is_there(("memcpy", "nobody_has_this_name"))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("inner.py", "x + 1", "x + 2", (30, 2)),  # a called kernel: both are compiled
        ("outer.py", "FACTOR = 10", "FACTOR = 20", (40, 1)),  # a constant
        ("outer.py", "10\n", "10\n\n\n# moved down\n", (20, 0)),  # only the line numbers
        ("outer.py", "first: int\n    second: int", "second: int\n    first: int", (30, 1)),  # fields change places
        ("inner.py", "import kernel\n", "import summing_kernel as kernel\n", (20, 2)),  # options
    ],
)
def test_what_changed_is_compiled_again_whatever_the_times_of_files(
    copy: Copy, file: str, old: str, new: str, expected: tuple[int, int]
) -> None:
    copy.edit(file, old, new)
    assert copy.run() == expected
    assert copy.run() == (expected[0], 0)


def test_damaged_files_are_compiled_again(copy: Copy, cache: Path) -> None:
    first, second = cache.iterdir()
    first.write_bytes(first.read_bytes()[:-100])
    second.write_bytes(b"")
    assert copy.run() == (20, 2)
    assert copy.run() == (20, 0)


def test_a_file_under_the_name_of_another_is_not_loaded(copy: Copy, cache: Path) -> None:
    first, second = cache.iterdir()
    first.write_bytes(second.read_bytes())
    assert read_private(first) is None
    assert copy.run()[0] == 20


@posix
def test_a_file_that_another_user_could_write_is_not_loaded(copy: Copy, cache: Path, tmp_path: Path) -> None:
    first, second = cache.iterdir()
    assert first.stat().st_mode & 0o777 == 0o600
    first.chmod(0o666)
    assert read_private(first) is None
    second.rename(tmp_path / "elsewhere")
    second.symlink_to(tmp_path / "elsewhere")
    assert read_private(second) is None
    assert copy.run() == (20, 2)
    assert copy.run() == (20, 0)


def test_the_versions_and_settings_are_part_of_the_name(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "abiflags", "another version")
    kernel_cache._surroundings.cache_clear()
    assert copy.run() == (20, 2)
    monkeypatch.undo()
    kernel_cache._surroundings.cache_clear()


@pytest.fixture
def find_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], Path | None]]:
    """The choice of the folder, for a user whose home is `tmp_path`."""
    for variable in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return partial(kernel_folder.__wrapped__, tmp_path / "package")


@posix
def test_the_folder_is_one_that_nobody_else_can_write(
    find_folder: Callable[[], Path | None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = find_folder()
    assert folder == tmp_path / "home" / ".cache" / NAME
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find_folder() == tmp_path / "xdg" / NAME
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert find_folder() == tmp_path / "numba" / NAME
    (tmp_path / "numba" / NAME).chmod(0o777)
    assert find_folder() == tmp_path / "xdg" / NAME
    monkeypatch.setattr(os, "geteuid", lambda: 12345)  # all of them belong to another user
    assert find_folder() is None


@posix
def test_without_a_home_the_folder_is_beside_the_package(
    find_folder: Callable[[], Path | None], tmp_path: Path
) -> None:
    (tmp_path / "home").rmdir()
    assert find_folder() == tmp_path / "package" / "__pycache__" / NAME
    assert not (tmp_path / "home").exists()
    (tmp_path / "home").write_text("a file where the folder should be")
    assert find_folder() == tmp_path / "package" / "__pycache__" / NAME


def test_without_any_folder_kernels_are_compiled_in_each_process(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)  # every folder belongs to another user
    made = Copy(tmp_path / "first")
    assert made.run() == (20, 2)
    assert made.run() == (20, 2)


def test_the_files_that_were_unused_longest_go_first(tmp_path: Path) -> None:
    now = time.time()
    for age in range(5):
        path = tmp_path / f"{age}{SUFFIX}"
        write_private(path, b"x" * 936)  # and 64 of the seal
        os.utime(path, (now - age, now - age))
    (tmp_path / "kept.txt").write_text("not a kernel")
    left_over = tmp_path / "broken.tmp"
    left_over.write_text("")
    os.utime(left_over, (10**9, 10**9))
    prune(tmp_path, largest=3000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.kernel", "1.kernel", "2.kernel", "kept.txt"]


def test_files_that_were_not_used_for_months_are_removed(tmp_path: Path) -> None:
    for days in (1, 99, 101):
        path = tmp_path / f"{days}{SUFFIX}"
        write_private(path, b"machine code")
        os.utime(path, (time.time() - days * DAY,) * 2)
    prune(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.kernel", "99.kernel"]


def test_loading_a_file_renews_it(tmp_path: Path) -> None:
    path = tmp_path / f"one{SUFFIX}"
    write_private(path, b"machine code")
    os.utime(path, (10**9, 10**9))
    assert read_private(path) == b"machine code"
    assert path.stat().st_mtime > 10**9


def test_two_processes_at_once_do_not_disturb_each_other(cache: Path, tmp_path: Path) -> None:
    made = Copy(tmp_path / "first")
    source = Path(betalike.__file__).parents[1]
    variables = os.environ | {"PYTHONPATH": f"{made.folder}{os.pathsep}{source}", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", "import outer; print(outer.use())"]
    both = [subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["20\n", "20\n"]
    assert [path.suffix for path in (tmp_path / NAME).iterdir()] == [SUFFIX] * 2


def test_a_kernel_with_a_global_that_cannot_be_described_is_not_stored(cache: Path) -> None:
    unknown = slice(1, 3)

    @kernel
    def within(values: tuple[int, ...]) -> tuple[int, ...]:
        return values[unknown]

    with pytest.raises(UnknownValueError):
        digest_kernel(within)
    assert within((1, 2, 3, 4)) == (2, 3)
    assert not list(cache.iterdir())


def test_every_kernel_of_the_package_can_be_stored() -> None:
    names = [module.name for module in pkgutil.walk_packages(betalike.__path__, "betalike.")]
    with_kernels = [name for name in names if _has_kernels(name)]
    modules = [importlib.import_module(name) for name in with_kernels]
    kernels = {value for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
    assert len({digest_kernel(found) for found in kernels}) == len(kernels) > 100


def _has_kernels(name: str) -> bool:
    path = Path(betalike.__file__).parents[1].joinpath(*name.split(".")).with_suffix(".py")
    return path.exists() and "compilation import" in path.read_text(encoding="utf-8")


def test_another_way_to_compile_or_link_has_files_of_its_own(tmp_path: Path) -> None:
    here = Path(kernel_cache.__file__).parent
    for name in kernel_cache.MACHINERY:
        (tmp_path / name).write_bytes((here / name).read_bytes())
    assert kernel_cache.digest_machinery(tmp_path) == kernel_cache.digest_machinery(here)
    assert kernel_cache.digest_machinery(here) in kernel_cache._surroundings()
    for name in kernel_cache.MACHINERY:
        before = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(before + b"CHANGED = 1\n")
        assert kernel_cache.digest_machinery(tmp_path) != kernel_cache.digest_machinery(here)
        (tmp_path / name).write_bytes(before)
    (tmp_path / name).unlink()
    with pytest.raises(UnknownValueError):  # then nothing is stored
        kernel_cache.digest_machinery(tmp_path)
