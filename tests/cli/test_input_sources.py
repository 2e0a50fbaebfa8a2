"""Tables from standard input, pipes and devices; damaged, compressed and headless ones, in every engine and command."""

from __future__ import annotations

import gzip
import io
import os
import signal
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from typer.testing import CliRunner
from workbench import CANARY, COLUMNS, Desk, Outcome, assert_refused, files_under, people, run, to_csv

import betalike
from betalike.cli.app import app
from betalike.engines.choice import choose_engine
from betalike.errors import FileError
from listeners import Changing, Meanwhile
from patience import PATIENCE

ASKED = {
    "quasi_identifiers": ["age", "gender", "city"],
    "sensitive": "disease",
    "beta": 2,
    "options": {"effort": 0},
    "seed": 1,
}
GOOD = to_csv(people())


def frame() -> pl.DataFrame:
    return pl.DataFrame(people(), schema=COLUMNS, orient="row").cast({"age": pl.Int64})


def bytes_of(write: Callable[..., object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def run_with(given: bytes, *words: object) -> Outcome:
    """Run a command that gets these bytes as its standard input."""
    result = CliRunner().invoke(app, [str(word) for word in words], input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


FORMS = {
    "csv": GOOD,
    "gz": gzip.compress(GOOD),
    "parquet": bytes_of(frame().write_parquet),
    "arrow": bytes_of(frame().write_ipc),
    "arrow stream": bytes_of(frame().write_ipc_stream),
}


@pytest.mark.some(2)
@pytest.mark.parametrize("form", FORMS)
def test_a_table_comes_from_standard_input(desk: Desk, form: str, engine: str) -> None:
    published = run_with(FORMS[form], *desk.words(Path("-"), engine=engine))
    assert published.status == 0, published.text
    assert len(desk.published()) == len(people())
    assert set(files_under(desk.folder)) == {"out", "out/published.csv", "out/certificate.json"}
    verified = run_with(FORMS[form], "verify", desk.out, "--original", "-")
    assert verified.status == 0, verified.text


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_a_damaged_stream_is_refused(desk: Desk, compression: Literal["uncompressed", "zstd"]) -> None:
    stream = bytes_of(lambda buffer: frame().write_ipc_stream(buffer, compression=compression))
    path = desk.folder / "t.arrows"
    path.write_bytes(stream)
    assert betalike.describe(path).rows == len(people())
    for n_bytes in (10, 300, len(stream) // 2, len(stream) - 8, len(stream) - 5):
        assert_refused(run_with(stream[:n_bytes], "describe", "-"), "cut off")
    claim = stream.rfind((len(people()) * 8).to_bytes(8, "little"))  # the length of the numbers, before compression
    if compression == "zstd" and claim > 0:
        huge = stream[:claim] + (1 << 50).to_bytes(8, "little") + stream[claim + 8 :]
        described = run_with(huge, "describe", "-")
        if described.status == 0:  # the library goes by the numbers themselves
            assert f"{len(people())} rows" in described.text
        else:
            assert_refused(described, "cut off")


def test_every_command_takes_standard_input(desk: Desk) -> None:
    described = run_with(GOOD, "describe", "-", "-o", "-")
    assert described.status == 0
    assert '[columns."age"]' in described.stdout
    assert "table =" not in described.stdout
    desk.publish()
    columns = ["--qi", "age,gender,city", "--sensitive", "disease"]
    audited = run_with((desk.out / "published.csv").read_bytes(), "audit", "-", *columns)
    assert audited.status == 0, audited.text
    twice = run_with(GOOD, "audit", "-", "--original", "-", *columns)
    assert_refused(twice, "standard input")


def test_much_of_standard_input_goes_to_a_file_without_a_name(desk: Desk) -> None:
    rows = [[name * 40_000, *rest] for name, *rest in people()]  # 80 MB
    published = run_with(to_csv(rows), *desk.words(Path("-")))
    assert published.status == 0, published.text
    assert len(desk.published()) == len(rows)


def test_empty_standard_input(desk: Desk) -> None:
    assert_refused(run_with(b"", *desk.words(Path("-"))), "standard input is empty")
    assert not desk.out.exists()


def test_a_pipe_is_refused_at_once(desk: Desk, engine: str) -> None:
    pipe = desk.folder / "pipe"
    os.mkfifo(pipe)
    signal.alarm(int(PATIENCE))  # else it would wait for ever
    refused = desk.publish(table=pipe, engine=engine)
    signal.alarm(0)
    assert_refused(refused, "pipe", "standard input")


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero"])
def test_devices_are_refused(desk: Desk, device: str, engine: str) -> None:
    assert_refused(desk.publish(table=Path(device), engine=engine), "is a device")


FOOTER = len(FORMS["parquet"]) - 8 - int.from_bytes(FORMS["parquet"][-8:-4], "little")


def overwritten(data: bytes, start: int, end: int) -> bytes:
    return data[:start] + b"\xff" * (end - start) + data[end:]


DAMAGES = {
    "parquet cut": FORMS["parquet"][:-200],
    "parquet footer": overwritten(FORMS["parquet"], FOOTER, FOOTER + 40),
    "parquet data": overwritten(FORMS["parquet"], 4, FOOTER),
    "arrow cut": FORMS["arrow"][:-200],
    "arrow data": overwritten(FORMS["arrow"], 300, 500),
    "gz cut": FORMS["gz"][:-30],
    "gz data": FORMS["gz"][:300] + bytes([0, 255]) + FORMS["gz"][302:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_command_refuses_damaged_tables(
    desk: Desk, capfd: pytest.CaptureFixture[str], damage: str, engine: str
) -> None:
    desk.publish()
    table = desk.write("t", DAMAGES[damage])
    columns = ["--qi", "age,gender,city", "--sensitive", "disease"]
    new = ["--beta", 2, "--out", desk.folder / "new", "--engine", engine]
    before = files_under(desk.folder)
    for words in (
        ["publish", table, *columns, *new],
        ["publish", table, *columns, *new, "--keep", "name", "--keep-identifiers"],
        ["describe", table],
        ["audit", table, *columns],
        ["verify", desk.out, "--original", table],
    ):
        assert_refused(run(*words))
        assert files_under(desk.folder) == before
    assert "panicked" not in capfd.readouterr().err


def test_a_file_of_carriage_returns_is_refused(desk: Desk, engine: str) -> None:
    table = desk.write("t.csv", GOOD.replace(b"\n", b"\r"))
    assert_refused(desk.publish(table=table, engine=engine), "line 1 has a carriage return without a line feed")


def test_nobody_is_shown_as_names(desk: Desk, engine: str) -> None:
    first = [f"{CANARY} Smith", "37", "f", "Ulm", "disease"]  # one of the wanted names is a cell
    table = desk.write("t.csv", to_csv([first, *people()], header=None))
    refused = desk.publish(table=table, engine=engine)
    assert_refused(refused, "header line", "5 columns")
    assert "37" not in refused.text
    assert_refused(run("describe", table), "header line")


def test_doubled_names_are_refused_in_every_engine(desk: Desk, engine: str) -> None:
    table = desk.write("t.csv", GOOD.replace(b"name,age", b"age,age", 1))
    assert_refused(desk.publish(table=table, engine=engine), "more than one column", "'age'")


def test_a_guessed_quote_swallows_no_row(desk: Desk, engine: str) -> None:
    rows = [list(row) for row in people()]
    rows[3][3], rows[4][4] = "'Ulm", "flu'"
    table = desk.write("t.csv", to_csv(rows))
    assert desk.publish(table=table, engine=engine).status == 0
    assert len(desk.published()) == len(rows)
    assert sum(row["disease"] == "flu'" for row in desk.published()) == 1


def test_compressed_tables_are_judged_by_their_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 8_000_000))
    assert path.stat().st_size < 1 << 20
    assert not choose_engine(path, "auto", "256MB", 2).holds_table
    assert choose_engine(path, "auto", "4GB", 2).holds_table


@pytest.mark.parametrize("form", ["gz", "western", "parquet"])
def test_no_copy_of_the_table_is_on_disk_meanwhile(desk: Desk, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    content = GOOD.replace(b"Ulm", "Köln".encode("cp1252")) if form == "western" else FORMS[form]
    table = desk.write("people", content)
    monkeypatch.setenv("TMPDIR", str(desk.folder))
    seen: list[str] = []
    counted = Meanwhile("plan", lambda: seen.extend(files_under(desk.folder)))
    betalike.publish(table, **ASKED, out=desk.out, engine="batches", progress=counted)
    shown = {name.split("/")[0] for name in seen}
    assert seen
    assert not any(CANARY in Path(desk.folder, name).read_text() for name in shown - {"people"} if "." not in name)
    assert all(name in ("people", "out") or name.startswith(".out.betalike-") for name in shown)


def test_scratch_files_are_private(desk: Desk) -> None:
    modes: list[tuple[int, ...]] = []

    def look(rows: pl.DataFrame) -> pl.DataFrame:
        found = desk.folder.glob(".out.betalike-*/*/*.arrow")
        modes.extend(tuple(stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)) for path in found)
        return rows

    rows = [[name * 30_000, *rest] for name, *rest in people()]  # 50 MB, more than is put in random order in memory
    kept = {"keep": ["name"], "keep_identifiers": True, "engine": "batches", "memory": "256MB"}
    betalike.publish(desk.table(rows), **ASKED, **kept, out=desk.out, progress=Changing("rows written", look))
    assert modes
    assert set(modes) == {(0o600, 0o700)}


def test_what_a_killed_process_left_is_removed_whatever_it_published(desk: Desk) -> None:
    desk.publish()
    with subprocess.Popen(["true"]) as gone:
        pass
    from betalike.runtime.scratch import own_mark

    left = desk.folder / f".other.betalike-{own_mark().replace(str(os.getpid()), str(gone.pid))}"
    left.mkdir()
    (left / "published.csv").write_text(CANARY)
    assert desk.publish("--force").status == 0
    assert not left.exists()


def test_a_table_that_changes_meanwhile_is_refused(desk: Desk) -> None:
    table = desk.table()
    touched = Changing("rows read", lambda rows: (rows, os.utime(table, ns=(1, 1)))[0])
    with pytest.raises(FileError, match="changed while it was read"):
        betalike.publish(table, **ASKED, out=desk.out, engine="batches", progress=touched)
    assert not desk.out.exists()


def test_a_lazy_frame_of_a_damaged_file_is_refused(desk: Desk, capfd: pytest.CaptureFixture[str], engine: str) -> None:
    table = desk.write("t", DAMAGES["parquet data"])
    asked = {"quasi_identifiers": ["age"], "sensitive": "disease", "beta": 2}
    with pytest.raises(FileError):
        betalike.publish(pl.scan_parquet(table), out=desk.out, engine=engine, **asked)
    assert "panicked" not in capfd.readouterr().err


def test_no_command_waits_for_a_pipe_in_place_of_a_small_file(desk: Desk) -> None:
    assert desk.publish().status == 0
    assert desk.publish(scheme="perturb", out=desk.folder / "perturbed").status == 0
    for path in ("out/published.csv", "perturbed/transition.csv", "trees/city.csv", "fake/certificate.json"):
        (desk.folder / path).unlink(missing_ok=True)
        (desk.folder / path).parent.mkdir(exist_ok=True)
        os.mkfifo(desk.folder / path)
    columns = "".join(f'[columns.{name}]\nrole = "quasi-identifier"\n' for name in ("age", "city"))
    columns += 'hierarchy = "trees/city.csv"\n[columns.disease]\nrole = "sensitive"\n'
    spec = desk.write("release.toml", f'table = "people.csv"\n[promise]\nbeta = 2\n{columns}')
    signal.alarm(int(PATIENCE))  # else it would wait for ever
    assert_refused(run("query", desk.out, "age > 30"), "cannot be read")
    assert_refused(run("query", desk.folder / "perturbed", "age > 30"), "not the matrix")
    assert_refused(run("publish", "--spec", spec, "--out", desk.folder / "new"), "not a regular file")
    assert_refused(desk.publish(hierarchies=desk.folder / "trees", out=desk.folder / "new"), "not a regular file")
    assert_refused(desk.publish("--force", out=desk.folder / "fake"), "no betalike certificate")
    assert_refused(run("publish", "--spec", "/dev/zero", "--out", desk.folder / "new"), "not a specification")
    signal.alarm(0)
