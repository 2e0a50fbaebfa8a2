"""Imports point down only, and each outside library stays where it belongs; read from the source without importing."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SOURCE, TESTS = PROJECT / "src" / "betalike", PROJECT / "tests"
UNIT_TESTS = TESTS / "unit"

# Rooms from the bottom. A room imports rooms below it and itself, nothing beside it and nothing above. `errors` is
# below all of them; `api` is what users call, above the rooms that it needs and below the command line.
LAYERS: list[set[str]] = [
    {"runtime"},
    {"table"},
    {"promises"},
    {"measures"},
    {"schemes"},
    {"io", "datasets"},
    {"engines"},
    {"release"},
    {"queries"},
    {"attacks", "comparison"},
    {"api", "report"},
    {"cli", "web"},
]
BESIDE = {"cli/commands/web.py": "web"}  # the command that starts the page; nothing else of the two knows the other
OUTSIDE_A_ROOM = {"api", "errors", "__init__", "__main__"}
HEIGHT = {"errors": -1} | {unit: height for height, units in enumerate(LAYERS) for unit in units}
SAME_UNIT = {"__main__": "cli"}
CORE = {unit for unit, height in HEIGHT.items() if height <= HEIGHT["schemes"]}
KNOWS_THE_VERSION = {"release", "report", "cli", "queries"}  # a release is reported on by what the package offers
TESTED_AS_A_WHOLE = {"cli", "web"}  # in tests/cli and tests/web

OUTSIDE_THE_CORE = {"polars", "pandas", "pyarrow", "duckdb", "narwhals", "msgspec", "csv", "json", "tomllib"}
OPTIONAL = {"duckdb", "pandas", "pyarrow", "altair", "vl_convert", "pyspark", "cryptography", "fastexcel", "xlsxwriter"}
OPTIONAL |= {"pyreadstat", "adbc_driver_postgresql", "adbc_driver_sqlite", "tomli_w", "uvicorn"}
NAMELESS = {"utils", "util", "helpers", "helper", "misc", "common", "aux", "manager", "tools"}
RANDOM = {"random", "numpy.random"}
PROCESS_MODULES = (
    "subprocess.",
    "multiprocessing.",
    "pty.",
    "concurrent.futures.ProcessPool",
    "concurrent.futures.process.",
)
PROCESS_NAMES = re.compile(
    r"os\.(exec|spawn|posix_spawn|fork|system|popen|startfile)\w*|asyncio\.(\w+\.)*create_subprocess_\w+"
)
MOST_LINES = 450


@dataclass(frozen=True)
class Import:
    """An imported module, with the line and whether it is imported as soon as the file is."""

    module: str
    line: int
    is_at_once: bool

    @property
    def library(self) -> str:
        return self.module.split(".")[0]


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def read_imports(node: ast.AST, is_at_once: bool = True) -> Iterator[Import]:
    """Every import below a node, those inside functions as well; those for type checkers alone do not count."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, is_at_once)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: imports are absolute"
            for alias in child.names:
                yield Import(f"{child.module}.{alias.name}", child.lineno, is_at_once)
        elif is_for_types_only(child):
            assert isinstance(child, ast.If)
            yield from read_imports(ast.Module(child.orelse, []), is_at_once)
        else:
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from read_imports(child, is_at_once and not is_function)


def unit_of(path: Path) -> str:
    """The file or folder directly under the package that a file belongs to; the package itself is ''."""
    first = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else SAME_UNIT.get(first, first)


def unit_of_import(module: str) -> str:
    """The same for an imported name; '' for the package's own names, such as its version."""
    parts = module.split(".")
    if len(parts) == 1 or not ((SOURCE / parts[1]).is_dir() or (SOURCE / f"{parts[1]}.py").is_file()):
        return ""
    return SAME_UNIT.get(parts[1], parts[1])


def forbidden(unit: str, imported: Import) -> str | None:
    """Why a unit may not import this; None if it may."""
    if imported.library != "betalike":
        return None
    target = unit_of_import(imported.module)
    if target == "":
        return None if unit in KNOWS_THE_VERSION else "the package itself, which is above everything"
    if target == unit or HEIGHT[target] < HEIGHT.get(unit, -2):
        return None
    return f"'{target}', which is {'beside' if HEIGHT[target] == HEIGHT.get(unit, -2) else 'above'} it"


FILES = sorted(SOURCE.rglob("*.py"))
NAMES = {path: path.relative_to(SOURCE).as_posix() for path in FILES}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """A file of the source, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports_of(path: Path) -> list[Import]:
    """Every import of a file."""
    return list(read_imports(tree_of(path)))


def test_the_source_is_found() -> None:
    assert {"errors.py", "cli/app.py", "schemes/burel/buckets.py"} <= set(NAMES.values())


def test_every_unit_has_a_layer_and_every_layer_is_there() -> None:
    units = {unit_of(path) for path in FILES} - {""}
    assert units - set(HEIGHT) == set(), "give each new file or folder its place in LAYERS"
    assert set(HEIGHT) - units == set()


def test_every_module_is_in_a_room() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} == OUTSIDE_A_ROOM
    assert len(LAYERS) <= 12


def test_the_unit_tests_mirror_the_rooms() -> None:
    """A folder of unit tests for every room and every scheme, and no other; each holds tests."""

    def folders(parent: Path) -> set[str]:
        return {path.name for path in parent.iterdir() if path.is_dir() and path.name != "__pycache__"}

    tested = folders(UNIT_TESTS) | TESTED_AS_A_WHOLE
    assert tested == folders(SOURCE)
    assert folders(UNIT_TESTS / "schemes") == folders(SOURCE / "schemes")
    assert [name for name in folders(UNIT_TESTS) if not any((UNIT_TESTS / name).rglob("test_*.py"))] == []
    assert [path.name for path in UNIT_TESTS.glob("test_*.py")] == [], "a unit test belongs to a room"


def scheme_of(module: str) -> str | None:
    """Return the scheme that a module is part of: a folder of `schemes`; None for what schemes share."""
    parts = module.split(".")
    is_scheme = parts[:2] == ["betalike", "schemes"] and len(parts) > 2 and (SOURCE / "schemes" / parts[2]).is_dir()
    return parts[2] if is_scheme else None


def wrong_imports(is_wrong: Callable[[Path, Import], object]) -> list[str]:
    """List every import of every file that breaks a rule, with its file and line."""
    return [
        f"{NAMES[path]}:{imported.line} imports {imported.module}"
        for path in FILES
        for imported in imports_of(path)
        if is_wrong(path, imported)
    ]


def test_no_scheme_imports_another() -> None:
    def own(path: Path) -> str | None:
        return scheme_of(".".join(["betalike", *path.relative_to(SOURCE).with_suffix("").parts]))

    wrong = wrong_imports(lambda path, i: own(path) is not None and scheme_of(i.module) not in (own(path), None))
    assert wrong == []


def test_imports_point_down() -> None:
    def is_wrong(path: Path, imported: Import) -> bool:
        is_beside = unit_of_import(imported.module) == BESIDE.get(NAMES[path]) is not None
        return forbidden(unit_of(path), imported) is not None and not is_beside

    assert wrong_imports(is_wrong) == []


def test_the_core_knows_no_frames_and_no_file_formats() -> None:
    assert wrong_imports(lambda path, i: unit_of(path) in CORE and i.library in OUTSIDE_THE_CORE) == []


def test_optional_parts_are_imported_when_they_are_used() -> None:
    assert wrong_imports(lambda _, imported: imported.is_at_once and imported.library in OPTIONAL) == []


def test_numba_comes_through_compilation_alone() -> None:
    allowed = {SOURCE / "runtime" / f"{name}.py" for name in ("compilation", "kernel_cache", "kernel_types")}
    assert wrong_imports(lambda path, imported: imported.library == "numba" and path not in allowed) == []


def test_only_the_package_itself_imports_by_name() -> None:
    """Names that are put together at run time would escape the rules above.

    A process that compiles kernels gets their names from the job, which imported them already.
    """
    by_name = {"importlib.import_module", "import_module", "__import__"}
    allowed = {SOURCE / "runtime" / "kernel_building.py"}
    wrong = [
        f"{NAMES[path]}:{node.lineno}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in by_name
        and unit_of(path) != ""
        and path not in allowed
    ]
    assert wrong == []


def started_with(tree: ast.AST) -> set[str]:
    """Return what a file could start a process with: modules that it imports, and names such as `os.execv`."""
    imported = {i.module for i in read_imports(tree) if f"{i.module}.".startswith(PROCESS_MODULES)}
    names = {i.module for i in read_imports(tree)}
    names |= {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return imported | set(filter(PROCESS_NAMES.fullmatch, names))


def test_every_process_is_started_in_one_place() -> None:
    """`start_python` keeps Python from running what lies in the working folder."""
    allowed = SOURCE / "runtime" / "processes.py"
    found = {NAMES[path]: started_with(tree_of(path)) for path in FILES if path != allowed}
    assert {name: ways for name, ways in found.items() if ways} == {}
    calls = [node for node in ast.walk(tree_of(allowed)) if isinstance(node, ast.Call)]
    assert [ast.unparse(call) for call in calls] == ["Popen([sys.executable, '-P', *words], **options)"]


def random_sources(tree: ast.AST) -> set[str]:
    """Return what a file draws random numbers from: imported modules, and np.random or os.urandom in expressions."""
    imported = {module for i in read_imports(tree) for module in RANDOM if f"{i.module}.".startswith(f"{module}.")}
    written = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return imported | (written & {"os.urandom", "np.random", "numpy.random"})


def test_tests_import_no_private_names() -> None:
    private = re.compile(r"^ *from betalike[\w.]* import .*\b_[a-z]\w*", re.MULTILINE)
    wrong = {path.name: private.findall(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_chance_comes_from_randomness() -> None:
    allowed = {path for path in FILES if unit_of(path) == "datasets" or path.parent == SOURCE / "runtime"}
    sources = {NAMES[path]: random_sources(tree_of(path)) for path in FILES if path not in allowed}
    assert {name: found for name, found in sources.items() if found} == {}


def test_consoles_are_made_in_one_place() -> None:
    """There, and in the streams of a command, control characters of texts from files are shown as codes."""
    made = {NAMES[path] for path in FILES for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Console")}  # fmt: skip
    assert made == {"report/terminal.py"}


def test_modules_are_named_after_what_they_hold() -> None:
    assert [name for name in NAMES.values() if set(name.removesuffix(".py").split("/")) & NAMELESS] == []


def test_every_class_has_a_name_of_its_own() -> None:
    defined = [
        node.name for file in FILES for node in tree_of(file).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]  # fmt: skip
    assert {name for name in defined if defined.count(name) > 1} == set()


def test_files_stay_short() -> None:
    lengths = {
        path.relative_to(PROJECT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in [*FILES, *TESTS.rglob("*.py")]
    }
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


@pytest.mark.parametrize(
    ("unit", "source", "is_allowed"),
    [
        ("table", "from betalike.table.axis import Axis", True),
        ("table", "from betalike.errors import SchemaError", True),
        ("table", "from betalike.runtime.compilation import kernel", True),
        ("table", "from betalike.promises import Caps", False),
        ("table", "from betalike import promises", False),
        ("table", "import betalike.promises.caps", False),
        ("table", "def late():\n    from betalike.schemes import SCHEMES", False),
        ("table", "if TYPE_CHECKING:\n    from betalike.api import publish", True),
        ("table", "if TYPE_CHECKING:\n    pass\nelse:\n    from betalike.api import publish", False),
        ("attacks", "from betalike.comparison.search import match", False),
        ("release", "import betalike", True),
        ("table", "import betalike", False),
        ("table", "from betalike import __version__", False),
        ("table", "import numpy as np", True),
    ],
)
def test_the_rule_tells_right_from_wrong(unit: str, source: str, is_allowed: bool) -> None:
    reasons = [forbidden(unit, imported) for imported in read_imports(ast.parse(source))]
    assert all(reason is None for reason in reasons) is is_allowed


def test_imports_inside_functions_are_not_at_once() -> None:
    source = (
        "import a\ntry:\n    import b\nexcept ImportError:\n    pass\ndef f():\n    import c\nclass D:\n    import e"
    )
    found = {imported.module: imported.is_at_once for imported in read_imports(ast.parse(source))}
    assert found == {"a": True, "b": True, "c": False, "e": True}


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        ("import random", {"random"}),
        ("from random import choice", {"random"}),
        ("from numpy import random", {"numpy.random"}),
        ("from numpy.random import default_rng", {"numpy.random"}),
        ("def f(n):\n    return np.random.default_rng(n)", {"np.random"}),
        ("x = os.urandom(8)", {"os.urandom"}),
        ("from betalike.runtime.randomness import Randomness", set()),
    ],
)
def test_sources_of_chance_are_found(source: str, sources: set[str]) -> None:
    assert random_sources(ast.parse(source)) == sources


@pytest.mark.parametrize(
    ("source", "ways"),
    [
        ("import subprocess", {"subprocess"}),
        ("from subprocess import run", {"subprocess.run"}),
        ("import multiprocessing as mp", {"multiprocessing"}),
        ("from concurrent.futures import ProcessPoolExecutor", {"concurrent.futures.ProcessPoolExecutor"}),
        ("from os import execv", {"os.execv"}),
        ("def f():\n    os.spawnlp(mode, name)", {"os.spawnlp"}),
        ("run = os.posix_spawn", {"os.posix_spawn"}),
        ("await asyncio.create_subprocess_exec(name)", {"asyncio.create_subprocess_exec"}),
        ("from concurrent.futures import ThreadPoolExecutor\nos.path.join(a, b)", set()),
        ("from betalike.runtime.processes import start_python", set()),
    ],
)
def test_ways_to_start_a_process_are_found(source: str, ways: set[str]) -> None:
    assert started_with(ast.parse(source)) == ways
