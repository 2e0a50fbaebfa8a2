"""The campaign's checker is not blind: each of many planted faults is caught, and by the check that should catch it."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from campaign import publishing
from campaign.bounds import is_entropy_at_least, least, likeness_cap
from campaign.checker import check_release
from campaign.jobs import Column, Job, truth_of
from campaign.matching import unmatched
from campaign.outcome import Outcome
from campaign.promises import Promise, Secret, judge

AGES = [20, 21, 22, 23, 30, 31, 32, 33, 40, 41, 42, 43]
TREE = [["Ash", "north", "*"], ["Brix", "north", "*"], ["Cor", "south", "*"], ["Dun", "south", "*"]]


def job_of(scheme: str = "seam", **changes) -> Job:
    """A small job whose release has several classes."""
    cities = ["Ash", "Brix", "Cor", "Dun"] * 6
    secrets = [Column("secret", "text", ["flu", "gout", "hiv"] * 8)]
    columns = [Column("age", "integer", AGES * 2, False), Column("city", "text", cities, tree=TREE)]
    kept = [Column("row", "integer", list(range(24)))]
    promise = Promise("enhanced", 1.0)
    return Job(5, columns, secrets, kept, [], scheme, promise, truth_of(secrets, False), **changes)


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A release of each scheme that is right."""
    found = {}
    jobs = {scheme: job_of(scheme) for scheme in ("seam", "perturb", "baseline")}
    sets = job_of("perturb", options={"mechanism": "sets"})
    jobs["sets"] = replace(sets, promise=Promise("enhanced", 0.4))  # labels name two values
    for name, job in jobs.items():
        found[name] = (job, publishing.publish(job, tmp_path_factory.mktemp(name))[0])
    return found


def kinds_of(job: Job, folder: Path) -> set[str]:
    outcome = Outcome(0, "release", "")
    check_release(job, folder, outcome)
    return {kind for kind, _ in outcome.failures}


def rows_of(folder: Path, name: str = "published.csv") -> list[list[str]]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def write(folder: Path, rows: list[list[str]], name: str = "published.csv") -> None:
    """Write rows and put the digest right, so that nothing but the fault itself can be noticed."""
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    certificate = json.loads((folder / "certificate.json").read_text())
    certificate["files"][name]["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(certificate))


def copied(released, scheme: str, tmp_path: Path) -> tuple[Job, Path]:
    job, folder = released[scheme]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return job, tmp_path


@pytest.mark.parametrize("scheme", ["seam", "perturb", "baseline", "sets"])
def test_a_right_release_has_no_fault(released, scheme):
    assert kinds_of(*released[scheme]) == set()


def drop_a_row(rows):
    del rows[3]


def double_a_row(rows):
    rows[3] = list(rows[4])


def swap_two_secrets(rows):
    other = next(i for i, row in enumerate(rows[2:], 2) if row[2] != rows[1][2])
    rows[1][2], rows[other][2] = rows[other][2], rows[1][2]


def change_a_secret(rows):
    rows[1][2] = "gout" if rows[1][2] != "gout" else "flu"


def lose_a_secret(rows):
    rows[1][2] = ""


def swap_kept_cells(rows):
    other = next(i for i, row in enumerate(rows[2:], 2) if row[2] != rows[1][2])
    rows[1][3], rows[other][3] = rows[other][3], rows[1][3]


def mirror_the_ages(rows):
    for row in rows[1:]:
        row[0] = "20"


def swap_north_and_south(rows):
    swapped = {"north": "south", "south": "north", "Ash": "Cor", "Cor": "Ash", "Brix": "Dun", "Dun": "Brix"}
    for row in rows[1:]:
        row[1] = swapped.get(row[1], row[1])


def turn_a_range_round(rows):
    for row in rows[1:]:
        row[0] = "[43, 20]"


def name_an_unknown_node(rows):
    rows[1][1] = "west"


def widen_beyond_the_values(rows):
    for row in rows[1:]:
        row[0] = "[0, 99]"


def add_a_column(rows):
    for number, row in enumerate(rows):
        row.append("name" if number == 0 else f"person {number}")


FAULTS = {
    drop_a_row: "rows",
    double_a_row: "rows",
    swap_two_secrets: "rows",  # the kept row number shows it
    change_a_secret: "rows",
    lose_a_secret: "rows",
    swap_kept_cells: "rows",
    mirror_the_ages: "label",
    swap_north_and_south: "label",
    turn_a_range_round: "label",
    name_an_unknown_node: "label",
    widen_beyond_the_values: "label",
    add_a_column: "file",
}


@pytest.mark.parametrize(("fault", "kind"), FAULTS.items(), ids=lambda x: getattr(x, "__name__", x))
def test_a_fault_in_the_rows_is_caught(released, tmp_path, fault, kind):
    job, folder = copied(released, "seam", tmp_path)
    rows = rows_of(folder)
    fault(rows)
    write(folder, rows)
    assert kind in kinds_of(job, folder)


@pytest.mark.parametrize(
    "path",
    [
        *("promise.worst_gain", "promise.worst_ratio", "promise.beta", "promise.k"),
        *("release.rows", "release.classes", "release.smallest_class", "release.average_loss", "release.loss.age"),
        *("also.k", "also.distinct_l", "also.l", "also.average_l", "also.t", "also.average_t", "also.basic_beta"),
        *("prior.hiv", "prior_counts.flu", "table.rows", "files.published.csv", "table.columns.0.weight"),
    ],
)
def test_a_wrong_figure_is_caught(released, tmp_path, path):
    job, folder = copied(released, "seam", tmp_path)
    certificate = json.loads((folder / "certificate.json").read_text())
    *steps, last = ["files", "published.csv", "rows"] if path.startswith("files") else path.split(".")
    place = certificate
    for step in steps:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[last] = place[last] + 1 if isinstance(place[last], int) else place[last] + 1e-6
    (folder / "certificate.json").write_text(json.dumps(certificate))
    assert "figure" in kinds_of(job, folder)


def test_a_file_too_many_and_a_wrong_digest_are_caught(released, tmp_path):
    job, folder = copied(released, "seam", tmp_path)
    (folder / "original.csv").write_text("age\n1\n")
    assert "file" in kinds_of(job, folder)
    (folder / "original.csv").unlink()
    with (folder / "published.csv").open("a") as file:
        file.write("\n")
    assert "figure" in kinds_of(job, folder)


def test_a_matrix_that_keeps_more_than_promised_is_caught(released, tmp_path):
    job, folder = copied(released, "perturb", tmp_path)
    rows = rows_of(folder, "transition.csv")
    for i in (1, 2, 3):
        rows[i][1:] = ["0.9" if j == i else "0.05" for j in (1, 2, 3)]
    write(folder, rows, "transition.csv")
    assert "promise" in kinds_of(job, folder)


def sure_sets(rows):
    for i in (1, 2, 3):
        rows[i][1:] = ["0.9" if j == i else "0.1" if j == i % 3 + 1 else "0" for j in range(1, len(rows[0]))]


def exchange_two_labels(rows):
    rows[0][1], rows[0][2] = rows[0][2], rows[0][1]


def name_one_value_less(rows):
    wide = next(i for i, label in enumerate(rows[0]) if "|" in label)
    rows[0][wide] = rows[0][wide].rpartition("|")[0]


@pytest.mark.parametrize(
    ("fault", "kind"), [(sure_sets, "promise"), (exchange_two_labels, "label"), (name_one_value_less, "label")]
)
def test_false_sets_are_caught(released, tmp_path, fault, kind):
    job, folder = copied(released, "sets", tmp_path)
    rows = rows_of(folder, "transition.csv")
    fault(rows)
    write(folder, rows, "transition.csv")
    assert kind in kinds_of(job, folder)


def test_a_published_set_that_the_matrix_does_not_have_is_caught(released, tmp_path):
    job, folder = copied(released, "sets", tmp_path)
    rows = rows_of(folder)
    rows[1][2] = "flu|gout|hiv"
    write(folder, rows)
    assert "rows" in kinds_of(job, folder)


def test_a_changed_exact_row_and_a_false_distribution_are_caught(released, tmp_path):
    job, folder = copied(released, "baseline", tmp_path)
    rows = rows_of(folder, "sensitive.csv")
    rows[1][1], rows[2][1] = "9", "7"
    write(folder, rows, "sensitive.csv")
    assert "rows" in kinds_of(job, folder)
    job, folder = copied(released, "baseline", tmp_path)
    rows = rows_of(folder)
    rows[1][0] = "99"
    write(folder, rows)
    assert "rows" in kinds_of(job, folder)


# --- promises: the last class that keeps it, and one row more ---

TABLE = Secret(np.array([10, 30, 60]), numbers=[0, 1, 5], paths=[["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
BORDERS = [
    # promise, a class that it just allows, one that it just does not
    (Promise("basic", 1.0), [2, 3, 5], [3, 4, 7]),
    (Promise("enhanced", 4.0), [0, 94, 906], [0, 93, 907]),  # 0.6 * (1 - ln 0.6) = 0.9065
    (Promise("basic", 1.0, k=10), [2, 3, 5], [1, 3, 5]),
    (Promise("basic", 9.0, 1, {"negative_beta": 0.5}), [1, 3, 6], [0, 3, 7]),
    (Promise("basic", 0.5, 1, {"groups": ["x"]}), [3, 3, 4], [4, 3, 4]),
    (Promise("basic", 0.5, 1, {"width": 1}), [3, 3, 4], [4, 3, 4]),
    (Promise("t-closeness", None, 1, {"t": 0.1, "ground": "equal"}), [2, 3, 5], [3, 3, 5]),
    (Promise("t-closeness", None, 1, {"t": 0.2, "ground": "ordered"}), [3, 3, 4], [4, 3, 4]),
    (Promise("t-closeness", None, 1, {"t": 0.1, "ground": "hierarchical"}), [2, 3, 5], [3, 3, 5]),
    (Promise("delta-disclosure", None, 1, {"delta": 0.7}), [2, 3, 5], [3, 3, 5]),
    (Promise("distinct-l-diversity", None, 1, {"l": 3}), [1, 1, 9], [0, 5, 5]),
    (Promise("entropy-l-diversity", None, 1, {"l": 2}), [0, 5, 5], [0, 4, 5]),
    (Promise("recursive-l-diversity", None, 1, {"l": 2, "c": 2}), [3, 3, 11], [3, 3, 12]),
    (Promise("k-anonymity", None, 4), [0, 0, 4], [0, 0, 3]),
    (Promise("capped", None, 1, {}, lambda share: min(1.0, 2 * share)), [2, 3, 5], [3, 4, 7]),
]


@pytest.mark.parametrize(("promise", "allowed", "broken"), BORDERS)
def test_one_row_too_many_breaks_a_promise(promise, allowed, broken):
    assert judge(np.array([allowed]), TABLE, promise).broken == 0
    assert judge(np.array([allowed, broken]), TABLE, promise).broken > 0


def test_a_share_that_equals_its_cap_is_allowed_and_the_next_fraction_is_not():
    cap = likeness_cap(1, 10, 0.1, False)
    assert cap.is_exact
    assert cap.compare(11, 100) == 0
    assert cap.compare(1100001, 10**7) > 0


def test_entropy_is_decided_exactly_where_logarithms_are_too_close():
    assert is_entropy_at_least([4, 1, 1, 1, 1], least(4))
    assert not is_entropy_at_least([5, 1, 1, 1, 1], least(4))


@pytest.mark.parametrize("seed", range(200))
def test_the_flow_finds_as_much_as_scipy(seed):
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    numbers = np.random.default_rng(seed)
    n, m = numbers.integers(1, 7, 2)
    supply, demand = numbers.integers(0, 4, n), numbers.integers(0, 4, m)
    edges = numbers.random((m, n)) < 0.4
    graph = np.zeros((n + m + 2, n + m + 2), dtype=np.int32)
    graph[0, 2 : n + 2], graph[n + 2 :, 1] = supply, demand
    for d, s in zip(*np.nonzero(edges), strict=True):
        graph[s + 2, n + 2 + d] = 100
    allowed = [sum(1 << int(s) for s in np.flatnonzero(row)) for row in edges]
    flow = maximum_flow(csr_matrix(graph), 0, 1).flow_value
    assert unmatched(supply.tolist(), demand.tolist(), allowed) == demand.sum() - flow
