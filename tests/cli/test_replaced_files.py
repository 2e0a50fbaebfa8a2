"""`--force` replaces the files of an older release and nothing else; no input is ever among what is replaced."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from workbench import Desk, assert_refused, command_line, files_under, people, run, to_csv

import betalike
from betalike.errors import FileError
from listeners import Meanwhile
from patience import PATIENCE

INPUTS = ["sensitive.csv", "published.csv", "published.parquet", "transition.csv", "certificate.json"]


def assert_untouched(desk: Desk, *words: object) -> None:
    """A publish command is refused, does not suggest --force, and leaves every file as it was."""
    before = files_under(desk.folder)
    outcome = run(*words)
    assert_refused(outcome)
    assert "with --force" not in outcome.text, outcome.text
    assert files_under(desk.folder) == before


@pytest.mark.parametrize("force", [["--force"], []], ids=["forced", "unforced"])
@pytest.mark.parametrize("name", INPUTS)
def test_a_table_named_like_a_file_of_a_release(desk: Desk, name: str, force: list[str]) -> None:
    table = desk.table(name=f"d/{name}")
    assert_untouched(desk, *desk.words(table, *force, out=table.parent))


@pytest.mark.parametrize("name", ["published.csv", "published.parquet"])
def test_the_table_of_an_older_release_published_over_itself(desk: Desk, name: str, engine: str) -> None:
    form = name.removeprefix("published.")
    assert desk.publish(format=form).status == 0
    words = desk.words(desk.out / name, "--force", "--categorical", "age", format=form, engine=engine)
    assert_untouched(desk, *words)


@pytest.mark.parametrize("link", ["symbolic", "hard", "folder", "relative", "inside"])
def test_the_same_file_under_another_name(desk: Desk, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert desk.publish().status == 0
    inside = desk.out / "published.csv"
    table = desk.folder / "linked.csv"
    out: object = desk.out
    if link == "symbolic":
        table.symlink_to(inside)
    elif link == "hard":
        os.link(inside, table)
    elif link == "folder":
        (desk.folder / "elsewhere").symlink_to(desk.out, target_is_directory=True)
        table = desk.folder / "elsewhere" / "published.csv"
    elif link == "relative":
        monkeypatch.chdir(desk.folder)
        table, out = Path("out/../out/published.csv"), "out"
    else:  # the name in the folder is the link, and the table lies elsewhere
        inside.rename(table)
        inside.symlink_to(table)
    assert_untouched(desk, *desk.words(table, "--force", "--categorical", "age", out=out))


def test_a_folder_of_tables_and_a_pattern(desk: Desk) -> None:
    desk.table(name="d/published.csv")
    desk.table(name="d/more.csv")
    for table in (desk.folder / "d", desk.folder / "d" / "*.csv"):
        assert_untouched(desk, *desk.words(table, "--force", out=desk.folder / "d"))


def test_a_table_inside_the_folder_of_published_parts(desk: Desk) -> None:
    assert desk.publish(format="parquet").status == 0
    (desk.out / "published.parquet").unlink()
    table = desk.table(name="out/published.parquet/mine.csv")
    assert_untouched(desk, *desk.words(table, "--force"))


def test_hierarchies_and_the_specification_are_inputs_too(desk: Desk) -> None:
    table = desk.table()
    assert desk.publish(table=table).status == 0
    tree = "".join(f"{leaf};*\n" for leaf in dict.fromkeys(row[4] for row in people()))
    certificate = desk.certificate()
    certificate["files"]["sensitive.csv"] = certificate["files"]["published.csv"]
    (desk.out / "certificate.json").write_text(json.dumps(certificate))
    desk.write("out/sensitive.csv", tree)
    assert_untouched(desk, *desk.words(table, "--force", hierarchies=desk.out))
    columns = (
        '[columns.age]\nrole="quasi-identifier"\n[columns.disease]\nrole="sensitive"\nhierarchy="../out/sensitive.csv"'
    )
    spec = desk.write("spec/release.toml", f'table = "../people.csv"\n[promise]\nbeta = 2\n{columns}\n')
    assert_untouched(desk, "publish", "--spec", spec, "--out", desk.out, "--force")
    inside = desk.write("out/sensitive.csv", spec.read_text().replace('hierarchy="../out/sensitive.csv"', ""))
    assert_untouched(desk, "publish", "--spec", inside, "--out", desk.out, "--force")


ASKED = {"quasi_identifiers": ["age"], "sensitive": "disease", "beta": 2, "seed": 1, "options": {"effort": 0}}


def test_a_table_that_becomes_part_of_the_folder_meanwhile(desk: Desk) -> None:
    """What is checked at the beginning is checked again right before the move."""
    assert desk.publish().status == 0
    table = desk.table()

    def link() -> None:
        (desk.out / "published.csv").unlink()
        os.link(table, desk.out / "published.csv")

    with pytest.raises(FileError, match="replaced"):
        betalike.publish(table, **ASKED, out=desk.out, force=True, progress=Meanwhile("verify", link))
    assert (desk.out / "published.csv").read_bytes() == table.read_bytes()


@pytest.mark.parametrize("certificate", [None, "{}", "[]", "not json", '{"tool": {"name": "other"}}', '{"tool": 3}'])
def test_only_a_folder_with_a_certificate_of_betalike_is_replaced(desk: Desk, certificate: str | None) -> None:
    desk.write("out/published.csv", "mine")
    desk.write("out/sensitive.csv", "mine too")
    if certificate is not None:
        desk.write("out/certificate.json", certificate)
    assert_untouched(desk, *desk.words(desk.table(), "--force"))


@pytest.mark.some(2)
@pytest.mark.parametrize("scheme", ["seam", "baseline", "perturb"])
def test_only_what_the_certificate_lists_is_replaced(desk: Desk, scheme: str) -> None:
    table = desk.table()
    assert desk.publish(table=table).status == 0
    desk.write("out/sensitive.csv", "mine")
    desk.write("out/notes.txt", "mine too")
    assert_untouched(desk, *desk.words(table, "--force", scheme=scheme))
    (desk.out / "sensitive.csv").unlink()
    assert desk.publish("--force", table=table, scheme=scheme).status == 0
    assert (desk.out / "notes.txt").read_text() == "mine too"


def test_a_certificate_cannot_name_files_elsewhere(desk: Desk) -> None:
    table = desk.table()
    assert desk.publish(table=table).status == 0
    certificate = desk.certificate()
    digest = certificate["files"]["published.csv"]
    for name in ("../people.csv", "notes.txt", str(table), "sub/notes.txt", "..", ".", "", "/"):
        certificate["files"][name] = digest
    (desk.out / "certificate.json").write_text(json.dumps(certificate))
    mine = {desk.write("out/notes.txt", "mine"), desk.write("out/sub/notes.txt", "mine"), table}
    texts = {path: path.read_bytes() for path in mine}
    assert desk.publish("--force", table=table).status == 0
    assert {path: path.read_bytes() for path in mine} == texts


def test_a_file_that_appears_meanwhile_survives(desk: Desk) -> None:
    table = desk.table()
    assert desk.publish(table=table).status == 0
    appearing = Meanwhile("verify", lambda: desk.write("out/README.txt", "mine"))
    betalike.publish(table, **ASKED, out=desk.out, force=True, progress=appearing)
    assert (desk.out / "README.txt").read_text() == "mine"
    assert run("verify", desk.out).status == 0


def test_the_demo_replaces_a_demo_and_nothing_else(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.folder)
    for _ in range(2):
        assert run("demo", "--rows", 300).status == 0
    shutil.rmtree(desk.folder / "betalike-demo")
    desk.write("betalike-demo/published.csv", "mine")
    assert_untouched(desk, "demo", "--rows", 300)


@pytest.mark.parametrize("link", ["itself", "symbolic", "hard", "hierarchy"])
def test_a_description_is_not_written_over_an_input(desk: Desk, link: str) -> None:
    table = desk.table()
    trees = desk.hierarchies()
    output = {"itself": table, "hierarchy": trees / "city.csv"}.get(link, desk.folder / "release.toml")
    if link == "symbolic":
        output.symlink_to(table)
    elif link == "hard":
        os.link(table, output)
    assert_untouched(desk, "describe", table, "--hierarchies", trees, "-o", output, "--force")
    assert_untouched(desk, "describe", table, "--hierarchies", trees, "-o", output)


def test_a_picture_is_not_drawn_over_the_table(desk: Desk) -> None:
    table = desk.table(name="people.svg")
    words = ["--qi", "age", "--sensitive", "disease", "--schemes", "seam", "--queries", 0]
    assert_untouched(desk, "compare", table, *words, "--picture", table)


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", ["csv", "parquet", "union"])
def test_a_lazy_frame_of_a_file_that_would_be_replaced(desk: Desk, kind: str) -> None:
    assert desk.publish(format="csv" if kind == "union" else kind).status == 0
    path = desk.out / f"published.{'csv' if kind == 'union' else kind}"
    frame = pl.scan_parquet(path) if kind == "parquet" else pl.scan_csv(path, infer_schema=False)
    if kind == "union":
        other = desk.write("more.csv", to_csv([row[1:] for row in people()], ["age", "gender", "city", "disease"]))
        frame = pl.concat([pl.scan_csv(other, infer_schema=False).select(frame.collect_schema().names()), frame])
    before = files_under(desk.folder)
    for engine in ("local", "batches", "auto"):
        with pytest.raises(FileError, match="replaced"):
            betalike.publish(
                frame,
                quasi_identifiers=["age"],
                sensitive="disease",
                beta=2,
                out=desk.out,
                force=True,
                engine=engine,
                kinds={"age": "categorical"},
                seed=1,
            )
    assert files_under(desk.folder) == before


def test_a_file_given_as_standard_input_is_not_replaced(desk: Desk) -> None:
    assert desk.publish().status == 0
    inside = desk.out / "published.csv"
    before = files_under(desk.folder)
    for words in (
        desk.words(Path("-"), "--force", "--categorical", "age"),
        ["describe", "-", "-o", inside, "--force"],
    ):
        with inside.open("rb") as given:
            done = subprocess.run(command_line(*words), stdin=given, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 2, done.stderr
        assert "would be replaced" in done.stderr
        assert files_under(desk.folder) == before


def test_a_private_key_is_not_replaced_by_a_signature(desk: Desk) -> None:
    assert desk.publish().status == 0
    key = desk.out / "certificate.sig"
    assert run("keys", "new", key).status == 0
    assert_untouched(desk, *desk.words(desk.table(), "--force", sign=key))
