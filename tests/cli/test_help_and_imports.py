"""Help that names everything, and an import that costs nothing."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from workbench import run

import betalike

OPTIONS = {
    "demo": "--out --rows --beta --scheme --force --seed --quiet --json --help",
    "describe": "--output -o --hierarchies --missing --sheet --labels --query --table --delimiter --force --quiet "
    "--json --help",
    "publish": "--qi --sensitive --beta --out --spec --scheme --promise --k --t --delta --l --c --ground "
    "--negative-beta --groups --width --with-values --hierarchies "
    "--numeric --categorical --keep --keep-identifiers --person --weights --round --bottom --top "
    "--missing --missing-sensitive --dates --bins --format "
    "--retrieval --effort --strict --attribute --no-second-try --redistribution --mechanism "
    "--engine --memory --master --sheet --labels --query --table --delimiter --report --force --seed --sign --quiet "
    "--json --help",
    "audit": "--qi --sensitive --original --certificate --beta --promise --k --t --delta --l --c --ground "
    "--negative-beta --groups --width --with-values --hierarchies --missing --sheet --labels --query "
    "--table --delimiter --population --thresholds --person --quiet --json --help",
    "compare": "--qi --sensitive --beta --schemes --match --spec --promise --k --t --hierarchies --numeric "
    "--categorical --weights --round --bottom --top --person --missing --missing-sensitive --dates --bins --queries "
    "--predicates --selectivity --picture --sheet --labels --query --table --delimiter --seed --quiet --json --help",
    "explore": "--qi --sensitive --beta --schemes --consider --spec --promise --k --hierarchies --numeric "
    "--categorical --weights --round --bottom --top --person --missing --missing-sensitive --dates --bins --queries "
    "--output -o --sheet --labels --query --table --delimiter --force --seed --quiet --json --help",
    "report": "--original --audience --output -o --quick --population --thresholds --hierarchies --missing --sheet "
    "--labels --query --table --delimiter --force --seed --quiet --json --help",
    "verify": "--original --signed-by --missing --sheet --labels --query --table --delimiter --quiet --json --help",
    "web": "--port --folder --projects --upload-limit --no-browser --read-only --help",
}
HEAVY = ["pyspark", "duckdb", "altair", "polars", "numba", "pandas", "pyarrow", "numpy", "narwhals", "rich"]


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_names_every_command(word: str) -> None:
    outcome = run(word)
    assert outcome.status == 0
    for command in OPTIONS:
        assert re.search(rf"\b{command}\b", outcome.text)


def test_no_command_shows_help() -> None:
    assert "publish" in run().text


@pytest.mark.parametrize("command", OPTIONS)
def test_help_names_every_option(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    outcome = run(command, "--help")
    assert outcome.status == 0
    for option in OPTIONS[command].split():
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", outcome.text), option


@pytest.mark.parametrize("command", OPTIONS)
def test_no_option_is_left_without_words(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option that the command has is known to this test, so that none is added without help."""
    monkeypatch.setenv("COLUMNS", "160")
    shown = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", run(command, "--help").stdout))
    assert shown <= set(OPTIONS[command].split()) | {"--spec", "--missing"}


def test_version() -> None:
    outcome = run("--version")
    assert outcome.status == 0
    assert outcome.stdout.strip() == f"betalike {betalike.__version__}"


def test_an_unknown_command_is_refused() -> None:
    outcome = run("publsh")
    assert outcome.status == 2
    assert "publsh" in outcome.text


@pytest.mark.parametrize("module", ["betalike", "betalike.cli"])
def test_an_import_loads_nothing_heavy(module: str) -> None:
    allowed = {"rich"} if module == "betalike.cli" else set()  # Typer shows its help with it
    script = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= allowed


def test_what_the_package_offers() -> None:
    assert set(betalike.__all__) >= {"publish", "audit", "verify", "describe", "Release", "__version__"}
    for name in betalike.__all__:
        assert getattr(betalike, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        betalike.nothing  # noqa: B018
