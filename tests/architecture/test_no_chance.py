"""No test fails by chance: none sleeps, none looks at a clock, and every release in a test has a seed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
CLOCKS = {
    *(
        f"time.{name}"
        for name in ("sleep", "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "process_time")
    ),
    *(f"datetime.{name}" for name in ("now", "today", "utcnow")),
    *("date.today", "asyncio.sleep", "wait_for_timeout", "signal.setitimer"),
}
SLEEP = re.compile(r"\bsleep \d")  # of a shell
# where a clock or a sleep stays: the reason
CLOCKS_KEPT = {
    "campaign/running.py": "a program that runs for hours reports now and then",
    "fuzzing/__main__.py": "a program that runs for hours reports now and then",
    "fuzzing/judging.py": "the time of an input is a finding of the program above, and never of a test",
    "patience.py": "the one place that asks again and again what no program announces; it has no deadline",
    "unit/runtime/test_kernel_cache.py": "files are aged by whole days or put in order, which no delay changes",
}
PUBLISHING = {"betalike.publish", "betalike.compare", "betalike.explore", "api.publish", "api.compare", "api.explore"}
# functions that publish without a seed: the reason
UNSEEDED = {
    "properties/test_law_columns.py::publish": "the tables that it draws have a seed among their arguments",
    "unit/release/test_certificate.py::folder": "a usual release has none; its certificate is read, and not its rows",
    "web/test_web_pages.py::test_the_release_equals_that_of_the_command_shown": "the page publishes without one",
}


def read_tests() -> Iterator[tuple[str, ast.Module]]:
    """Yield each file of the tests, with its name."""
    for path in sorted(TESTS.rglob("*.py")):
        yield path.relative_to(TESTS).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def find_clocks(tree: ast.Module) -> Iterator[str]:
    """Yield every clock and every sleep, of Python or of a shell, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call | ast.Attribute):
            name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
            is_clock = isinstance(node, ast.Call) and any(
                name == clock or name.endswith(f".{clock}") for clock in CLOCKS
            )
            if is_clock and not (name.endswith("datetime.time")):
                yield f"line {node.lineno}: {name}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SLEEP.search(node.value):
            yield f"line {node.lineno}: {node.value}"


def gives_seed(node: ast.AST, seeded: set[str]) -> bool:
    """Return whether an expression has a dictionary with a seed in it, or a name that stands for one."""
    for part in ast.walk(node):
        if isinstance(part, ast.Dict) and any(
            isinstance(key, ast.Constant) and key.value == "seed" for key in part.keys
        ):
            return True
        if isinstance(part, ast.Call) and any(given.arg == "seed" for given in part.keywords):
            return True
        if isinstance(part, ast.Name) and part.id in seeded:
            return True
    return False


def find_seeded(tree: ast.Module) -> set[str]:
    """Return the names of a file that stand for dictionaries with a seed, or for functions that return one."""
    seeded: set[str] = set()
    while True:
        before = len(seeded)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if gives_seed(node.value, seeded):
                    seeded |= {target.id for target in targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.FunctionDef):
                results = [part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value]
                if any(isinstance(value, ast.Dict) and gives_seed(value, seeded) for value in results):
                    seeded.add(node.name)
        if len(seeded) == before:
            return seeded


def find_unseeded(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the function and the line of every call that publishes without a seed, unless it must raise an error."""
    seeded = find_seeded(tree)

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, int]]:
        if isinstance(node, ast.With) and any("pytest.raises" in ast.unparse(item) for item in node.items):
            return
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PUBLISHING:
            given = [word for word in node.keywords if word.arg in ("seed", None)]
            if not any(word.arg == "seed" or gives_seed(word.value, seeded) for word in given):
                yield function, node.lineno
        for child in ast.iter_child_nodes(node):
            yield from walk(child, function)

    yield from walk(tree, "")


GENERATORS = {"np.random.default_rng", "default_rng", "random.Random", "random.SystemRandom"}
# where random numbers have no seed: the reason
UNSEEDED_NUMBERS = {
    "campaign/whole.py": "a campaign tries new tables; it prints the number that it begins with",
    "postgres_server.py": "a password, so that no two servers have the same",
}


def find_random_numbers(tree: ast.Module) -> Iterator[str]:
    """Yield every draw from a generator without a seed, with its line."""
    imports = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    modules = "|".join({"random", "secrets"} & set(imports)) or "none"  # other names of a file may be called so, too
    drawing = re.compile(rf"(np\.random|{modules})\.[a-z]\w*")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            is_given_a_seed = name in GENERATORS and (node.args or node.keywords)
            if (name in GENERATORS or drawing.fullmatch(name)) and not is_given_a_seed:
                yield f"line {node.lineno}: {name}"


def test_no_test_sleeps_or_looks_at_a_clock() -> None:
    found = {name: list(find_clocks(tree)) for name, tree in read_tests()}
    own = Path(__file__).relative_to(TESTS).as_posix()
    wrong = {name: places for name, places in found.items() if places and name not in {*CLOCKS_KEPT, own}}
    assert not wrong, wrong
    assert [name for name in CLOCKS_KEPT if not found.get(name)] == [], "nothing is there to keep any more"


def test_every_release_of_a_test_has_a_seed() -> None:
    found = {f"{name}::{function}": line for name, tree in read_tests() for function, line in find_unseeded(tree)}
    wrong = {place: line for place, line in found.items() if place not in UNSEEDED}
    assert not wrong, "\n".join(f"{place}, line {line}" for place, line in wrong.items())
    assert set(UNSEEDED) <= set(found), "some of these have a seed by now"


def test_random_numbers_of_tests_have_a_seed() -> None:
    found = {name: places for name, tree in read_tests() if (places := list(find_random_numbers(tree)))}
    assert {name: places for name, places in found.items() if name not in UNSEEDED_NUMBERS} == {}
    assert set(UNSEEDED_NUMBERS) <= set(found), "nothing is there to keep any more"


MEANT = """
import random, secrets
ASKED = {"beta": 2, "seed": 1}
def asked(): return {**ASKED, "k": 3}
def good():
    more = {**asked(), "scheme": "burel"}
    betalike.publish(table, **ASKED), betalike.publish(table, **more), betalike.explore(table, seed=1)
    betalike.publish(table, **{**ASKED, "k": 2}), random.Random(1).random(), datetime.time(1), "sleep well"
    with pytest.raises(ValueError):
        betalike.publish(table, beta=-1)
def bad():
    betalike.publish(table, beta=2), betalike.compare(table, **others)
    time.sleep(1), datetime.datetime.now(), page.wait_for_timeout(2), run(["sh", "-c", "sleep 1"])
    random.uniform(0, 1), np.random.default_rng().random(), secrets.token_hex(2)
"""


def test_the_walks_see_what_depends_on_chance_and_nothing_else() -> None:
    tree = ast.parse(MEANT)
    assert list(find_unseeded(tree)) == [("bad", 12), ("bad", 12)]
    places = ["time.sleep", "datetime.datetime.now", "page.wait_for_timeout", "sleep 1"]
    assert sorted(find_clocks(tree)) == sorted(f"line 13: {place}" for place in places)
    numbers = ["random.uniform", "np.random.default_rng", "secrets.token_hex"]
    assert sorted(find_random_numbers(tree)) == sorted(f"line 14: {number}" for number in numbers)
