"""`verify` against whoever changes a release after it was published."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from workbench import Desk, assert_not_kept, assert_refused, change, run


@pytest.fixture
def release(desk: Desk) -> Desk:
    assert desk.publish("--beta", "2", hierarchies=desk.hierarchies()).status == 0
    return desk


def rewrite(desk: Desk, edit: Callable[[list[str]], object]) -> None:
    """Change the lines of the published table."""
    path = desk.out / "published.csv"
    lines = path.read_text().splitlines(keepends=True)
    edit(lines)
    path.write_text("".join(lines))


def sign_again(desk: Desk) -> None:
    """Put the digest of the changed file into the certificate, as a clever attacker would."""
    digest = hashlib.sha256((desk.out / "published.csv").read_bytes()).hexdigest()
    change(desk, lambda certificate: certificate["files"]["published.csv"].update(sha256=digest))


@pytest.mark.parametrize("place", [0, 0.3, 0.7, 1])
def test_one_byte_of_the_table_changed(release: Desk, place: float) -> None:
    path = release.out / "published.csv"
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)
    assert_not_kept(release, "published.csv", "digest")


def test_a_row_removed(release: Desk) -> None:
    rewrite(release, lambda lines: lines.pop())
    assert_not_kept(release, "digest", "sensitive values")


def test_a_row_removed_and_the_digest_mended(release: Desk) -> None:
    rewrite(release, lambda lines: lines.pop())
    sign_again(release)
    assert_not_kept(release, "sensitive values")


def test_rows_put_together_anew_and_the_digest_mended(release: Desk) -> None:
    """The same sensitive values, but sorted into classes, which breaks the promise."""

    def sort(lines: list[str]) -> None:
        heads, tails = zip(*(line.rsplit(",", 1) for line in sorted(lines[1:])), strict=True)
        lines[1:] = [f"{head},{tail}" for head, tail in zip(heads, sorted(tails), strict=True)]

    rewrite(release, sort)
    sign_again(release)
    assert_not_kept(release, "promise")


def test_the_table_gone(release: Desk) -> None:
    (release.out / "published.csv").unlink()
    assert_not_kept(release, "missing")


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe", b"age,gender\n1,2\n", b'a,"b\n', b"age,gender,city,disease\n", b"age,age\n1,2\n"]
)
def test_the_table_replaced(release: Desk, content: bytes) -> None:
    (release.out / "published.csv").write_bytes(content)
    assert_not_kept(release, "digest")
    sign_again(release)
    assert_not_kept(release)


CHANGES: dict[str, Callable[[Any], object]] = {
    "beta lowered": lambda c: c["promise"].update(beta=0.1),
    "k raised": lambda c: c["promise"].update(k=c["also"]["k"] + 1),
    "gain lowered": lambda c: c["promise"].update(worst_gain=0.5),
    "ratio lowered": lambda c: c["promise"].update(worst_ratio=0.5),
    "said not to hold": lambda c: c["promise"].update(holds=False),
    "classes": lambda c: c["release"].update(classes=3),
    "smallest class": lambda c: c["release"].update(smallest_class=99),
    "rows of the release": lambda c: c["release"].update(rows=7),
    "rows of the table": lambda c: c["table"].update(rows=7),
    "rows of the file": lambda c: c["files"]["published.csv"].update(rows=7),
    "k": lambda c: c["also"].update(k=99),
    "l": lambda c: c["also"].update(l=99.0),
    "t": lambda c: c["also"].update(t=0.0),
    "delta": lambda c: c["also"].update(delta=0.1),
    "prior": lambda c: c["prior"].update(flu=0.9),
    "prior counts": lambda c: c["prior_counts"].update(flu=1),
    "prior counts of nobody": lambda c: c.update(prior_counts=dict.fromkeys(c["prior_counts"], 0)),
    "no prior counts": lambda c: c.update(prior_counts={}),
    "digest": lambda c: c["files"]["published.csv"].update(sha256="0" * 64),
    "no files": lambda c: c.update(files={}),
    "another sensitive column": lambda c: c["table"].update(sensitive="income"),
    "another quasi-identifier": lambda c: c["table"].update(quasi_identifiers=["height"]),
    "fewer quasi-identifiers": lambda c: c["table"].update(quasi_identifiers=["age"]),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_certificate_that_does_not_tell_the_truth(release: Desk, case: str) -> None:
    change(release, CHANGES[case])
    assert_not_kept(release)


NOT_CERTIFICATES: dict[str, Callable[[Any], object]] = {
    "unknown model": lambda c: c["promise"].update(model="best-likeness"),
    "beta 0": lambda c: c["promise"].update(beta=0),
    "k 0": lambda c: c["promise"].update(k=0),
    "no quasi-identifiers": lambda c: c["table"].update(quasi_identifiers=[]),
    "no promise": lambda c: c.pop("promise"),
    "text for a number": lambda c: c["promise"].update(beta="four"),
    "a path for a file": lambda c: c.update(files={"../people.csv": c["files"]["published.csv"]}),
}


@pytest.mark.parametrize("case", NOT_CERTIFICATES)
def test_what_is_no_certificate_of_ours(release: Desk, case: str) -> None:
    change(release, NOT_CERTIFICATES[case])
    outcome = run("verify", release.out)
    assert outcome.status in (1, 2)
    assert_refused(outcome, status=outcome.status)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1, 2]", b"\xff\xfe\x00", b'{"tool": '])
def test_a_certificate_that_cannot_be_read(release: Desk, content: bytes) -> None:
    (release.out / "certificate.json").write_bytes(content)
    assert_refused(run("verify", release.out), "certificate")


def test_another_original(release: Desk) -> None:
    rows = [line.split(",") for line in (release.folder / "people.csv").read_text().splitlines()[1:]]
    other = release.table(rows[:-1], name="other.csv")
    assert run("verify", release.out, "--original", release.folder / "people.csv").status == 0
    assert_refused(run("verify", release.out, "--original", other), "original", status=1)


def test_an_original_without_the_sensitive_column(release: Desk) -> None:
    other = release.write("other.csv", "age\n1\n2\n")
    assert_refused(run("verify", release.out, "--original", other), "no column")


@pytest.mark.parametrize("name", ["certificate.json", "published.csv"])
def test_a_file_in_the_place_of_the_folder(release: Desk, name: str) -> None:
    assert_refused(run("verify", release.out / name), "name the folder")


def test_an_original_of_another_kind_of_file(release: Desk) -> None:
    path = release.folder / "people.parquet"
    pl.read_csv(release.folder / "people.csv").write_parquet(path)
    assert run("verify", release.out, "--original", path).status == 0


def test_audit_of_a_release_with_a_value_that_the_original_lacks(release: Desk) -> None:
    lines = (release.folder / "people.csv").read_text().splitlines(keepends=True)
    other = release.write("other.csv", "".join(line for line in lines if "flu" not in line))
    audit = ["audit", release.out, "--qi", "age,gender,city", "--sensitive", "disease", "--original", other]
    document = run(*audit, "--json").document
    assert document["basic_beta"] is None
    assert document["enhanced_beta"] is None
    assert document["worst"]["value"] == "flu"
    assert document == run(*audit, "--json").document  # also where several classes are equally bad
    assert run(*audit, "--beta", "5").status == 1
    assert Path(other).exists()
