"""Ways to falsify a release, each with the kinds of releases it is for, and what must notice it.

`alone`: the folder shows it. `original`: a comparison with the original shows it. A signature shows all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
from forger import EXACT, GENERALIZED, Forger

ALL = (*GENERALIZED, *EXACT)
KEPT = ("labels", "parquet", "perturb")


@dataclass(frozen=True)
class Falsification:
    """What a forger does, and who must notice."""

    forge: Callable[[Forger], object]
    kinds: tuple[str, ...]
    alone: bool | None = True  # None: it depends on how the rows were put into classes
    original: bool | None = True


def told(edit: Callable[[Any], object]) -> Callable[[Forger], object]:
    """Change the certificate alone."""
    return lambda forger: forger.certify(edit)


def rows(edit: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Forger], object]:
    """Change published rows, and the digest with them."""
    return lambda forger: forger.rows(edit)


def republished(edit: Callable[[pl.DataFrame], pl.DataFrame], **changes: Any) -> Callable[[Forger], object]:
    """Publish a falsified table in the place of the true release."""
    return lambda forger: forger.publish(edit, **changes)


def added(name: str, content: bytes = b"age,disease\n1,flu\n") -> Callable[[Forger], object]:
    """Put one more file into the folder."""

    def forge(forger: Forger) -> None:
        path = forger.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return forge


def linked(name: str, content: bytes = b"age,disease\n1,flu\n") -> Callable[[Forger], object]:
    """Put a link into the folder that leads out of it, to a file or, below a name that ends with /, to a folder."""

    def forge(forger: Forger) -> None:
        path, away = forger.folder / name, forger.folder.parent / "away"
        path.parent.mkdir(parents=True, exist_ok=True)
        away.mkdir(exist_ok=True)
        (away / "people.csv").write_bytes(content)
        path.symlink_to(away if name.endswith("/") else away / "people.csv")

    return forge


def replaced_by_link(forger: Forger) -> None:
    """Move the published table away, and leave a link to it: what it leads to can change."""
    away = forger.folder.parent / forger.published.name
    forger.published.rename(away)
    (forger.folder / away.name).symlink_to(away)


def raw(edit: Callable[[str], str]) -> Callable[[Forger], object]:
    """Change the text of the certificate."""

    def forge(forger: Forger) -> None:
        path = forger.folder / "certificate.json"
        changed = edit(path.read_text(encoding="utf-8"))
        assert changed != path.read_text(encoding="utf-8")
        path.write_text(changed, encoding="utf-8")

    return forge


def lines(edit: Callable[[list[str]], list[str]]) -> Callable[[Forger], object]:
    """Change the lines of a CSV file, and the digest with them."""

    def forge(forger: Forger) -> None:
        path = forger.published
        path.write_text("\n".join(edit(path.read_text(encoding="utf-8").splitlines())) + "\n", encoding="utf-8")
        forger.rehash()

    return forge


def column_of(certificate: Any, name: str) -> Any:
    return next(column for column in certificate["table"]["columns"] if column["name"] == name)


def swapped(column: str, one: str, other: str) -> pl.Expr:
    return pl.col(column).replace({one: other, other: one})


def shuffled(column: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Give each row the next row's value."""
    return lambda frame: frame.with_columns(frame[column].shift(1).fill_null(frame[column][-1]))


def moved_to_kept(certificate: Any) -> None:
    """Say that a quasi-identifier was published as it is."""
    table, release = certificate["table"], certificate["release"]
    table["quasi_identifiers"].remove("city")
    table["columns"] = [column for column in table["columns"] if column["name"] != "city"]
    table["kept"].append("city")
    release["loss"].pop("city")


def add_to_files(certificate: Any, name: str) -> None:
    certificate["files"][name] = dict(next(iter(certificate["files"].values())))


def mirrored(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(frame["age"].max() + frame["age"].min() - frame["age"])


def one_cell(column: str, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Another value for the person in the fourth row."""
    return lambda frame: frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    )


def widened(certificate: Any) -> None:
    """Claim a domain twice as wide, so that the loss looks half as large, and put the losses right."""
    column, release = column_of(certificate, "weight"), certificate["release"]
    low, high = map(float, column["domain"])
    column["domain"] = [str(low), str(high + (high - low))]
    release["loss"]["weight"] /= 2
    release["average_loss"] = sum(release["loss"].values()) / len(release["loss"])


def weighted(certificate: Any) -> None:
    """Let the column with the least loss count most, and put the average right."""
    columns, release = certificate["table"]["columns"], certificate["release"]
    least = min(columns, key=lambda column: release["loss"][column["name"]])
    least["weight"] = 96.0
    release["average_loss"] = sum(c["weight"] * release["loss"][c["name"]] for c in columns) / 100


def leaves_made_up(forger: Forger) -> None:
    """Claim a hierarchy twice as large, so that the loss looks half as large, and put the losses right."""
    form = pl.read_parquet if forger.published.suffix == ".parquet" else pl.read_csv
    frame = form(forger.published)
    at_root = (frame["city"].cast(pl.String) == "*").mean()

    def edit(certificate: Any) -> None:
        column, release = column_of(certificate, "city"), certificate["release"]
        column["hierarchy"] += [[f"nowhere {number}", "west", "*"] for number in range(6)]
        column["leaves"] *= 2
        release["loss"]["city"] = at_root + (release["loss"]["city"] - at_root) / 2
        release["average_loss"] = sum(release["loss"].values()) / len(release["loss"])

    forger.certify(edit)


def classes_exchanged(frame: pl.DataFrame) -> pl.DataFrame:
    """Give each of two classes with as many rows the labels of the other, in all columns."""
    labels = [name for name in frame.columns if name not in ("disease", "note")]
    sizes = frame.group_by(labels, maintain_order=True).len().sort("len", maintain_order=True)
    pairs = ((sizes.row(i), sizes.row(i + 1)) for i in range(sizes.height - 1))
    one, other = next((a[:-1], b[:-1]) for a, b in pairs if a[-1] == b[-1])
    exchange = {one: other, other: one}
    changed = [exchange.get(row, row) for row in frame.select(labels).iter_rows()]
    return frame.with_columns(
        pl.Series(name, [row[i] for row in changed], frame[name].dtype) for i, name in enumerate(labels)
    )


def two_people(frame: pl.DataFrame) -> pl.DataFrame:
    """Exchange the diseases of the first person and the next one with another disease, gender and city."""
    first = frame.row(0, named=True)
    rows = enumerate(frame.iter_rows(named=True))
    other = next(i for i, row in rows if all(row[name] != first[name] for name in ("disease", "gender", "city")))
    diseases = frame["disease"].to_list()
    diseases[0], diseases[other] = diseases[other], diseases[0]
    return frame.with_columns(pl.Series("disease", diseases))


def relabelled(forger: Forger) -> None:
    """Publish with a seed, and say that there was none."""
    forger.publish(lambda frame: frame, seed=7)

    def edit(certificate: Any) -> None:
        certificate["randomness"] = "operating system"
        certificate["warnings"] = [text for text in certificate["warnings"] if "seeded" not in text]

    forger.certify(edit)


def first_class_label(frame: pl.DataFrame) -> pl.DataFrame:
    """One row moves into the class of another row with another label."""
    first, other = frame["city"][0], next(label for label in frame["city"] if label != frame["city"][0])
    assert first != other
    return one_cell("city", other if frame["city"][3] != other else first)(frame)


FALSIFICATIONS: dict[str, Falsification] = {
    # the promise
    "beta lowered": Falsification(told(lambda c: c["promise"].update(beta=0.01)), ALL),
    "beta raised": Falsification(told(lambda c: c["promise"].update(beta=50.0)), GENERALIZED),
    "beta raised, all recomputed": Falsification(republished(lambda f: f, beta=50), ALL, alone=False, original=False),
    "a promise of another kind": Falsification(told(lambda c: c["promise"].update(model="t-closeness")), ALL),
    "k raised": Falsification(told(lambda c: c["promise"].update(k=149)), GENERALIZED),
    "k of exact rows": Falsification(told(lambda c: c["promise"].update(k=5)), EXACT),
    "gain lowered": Falsification(told(lambda c: c["promise"].update(worst_gain=0.01)), ALL),
    "ratio lowered": Falsification(told(lambda c: c["promise"].update(worst_ratio=0.01)), ALL),
    "ratio a whole number": Falsification(told(lambda c: c["promise"].update(worst_ratio=0)), ALL),
    "said not to hold": Falsification(told(lambda c: c["promise"].update(holds=False)), ALL),
    "caps added": Falsification(told(lambda c: c["promise"].update(caps={"30": "1/2"})), ALL),
    "a hierarchy of the promise added": Falsification(
        told(lambda c: c["promise"].update(hierarchy=[["flu", "*"]])), ALL
    ),
    "a parameter added": Falsification(told(lambda c: c["promise"]["parameters"].update(negative_beta=0.5)), ALL),
    "t lowered": Falsification(told(lambda c: c["promise"]["parameters"].update(t=0.001)), ("closeness",)),
    "t raised": Falsification(told(lambda c: c["promise"]["parameters"].update(t=0.9)), ("closeness",)),
    "distances of the promise": Falsification(
        told(lambda c: c["promise"]["parameters"].update(ground="ordered")), ("closeness",)
    ),
    "l raised": Falsification(told(lambda c: c["promise"]["parameters"].update(l=5)), ("diversity",)),
    "c raised": Falsification(told(lambda c: c["promise"]["parameters"].update(c=50.0)), ("diversity",)),
    # a weaker promise in the place of the one that was made: seen only if the worst class comes nearest to that part
    "k lowered": Falsification(told(lambda c: c["promise"].update(k=1)), ("diversity",), alone=None, original=None),
    "delta raised": Falsification(told(lambda c: c["promise"]["parameters"].update(delta=9.0)), ("disclosure",)),
    "delta lowered": Falsification(told(lambda c: c["promise"]["parameters"].update(delta=0.01)), ("disclosure",)),
    "a floor dropped": Falsification(
        told(lambda c: c["promise"].update(model="enhanced-likeness", parameters={})),
        ("two-sided",),
        alone=None,
        original=None,
    ),
    "a floor raised": Falsification(
        told(lambda c: c["promise"]["parameters"].update(negative_beta=0.01)), ("two-sided",)
    ),
    # figures of the release
    "losses removed": Falsification(told(lambda c: c["release"].update(loss={})), ALL),
    "one loss removed": Falsification(told(lambda c: c["release"]["loss"].pop("age")), ALL),
    "the field of losses removed": Falsification(told(lambda c: c["release"].pop("loss")), ALL),
    "losses zeroed": Falsification(
        told(lambda c: c["release"].update(loss=dict.fromkeys(c["release"]["loss"], 0.0), average_loss=0.0)),
        GENERALIZED,
    ),
    "loss of exact rows": Falsification(told(lambda c: c["release"].update(average_loss=0.3)), EXACT),
    "average loss lowered": Falsification(told(lambda c: c["release"].update(average_loss=0.001)), GENERALIZED),
    "loss of another column": Falsification(told(lambda c: c["release"]["loss"].update(height=0.1)), ALL),
    "weights changed": Falsification(told(lambda c: column_of(c, "age").update(weight=9.0)), GENERALIZED),
    "a negative weight": Falsification(told(lambda c: column_of(c, "age").update(weight=-1.0)), ALL),
    "more classes": Falsification(told(lambda c: c["release"].update(classes=99)), GENERALIZED),
    "classes of exact rows": Falsification(told(lambda c: c["release"].update(classes=9)), EXACT),
    "fewer classes formed than there are": Falsification(
        told(lambda c: c["release"].update(formed_classes=0)), GENERALIZED
    ),
    "more classes formed than rows": Falsification(
        told(lambda c: c["release"].update(formed_classes=10**6)), GENERALIZED
    ),
    "smallest class": Falsification(told(lambda c: c["release"].update(smallest_class=99)), ALL),
    "rows of the release": Falsification(told(lambda c: c["release"].update(rows=7)), ALL),
    "rows of the table": Falsification(told(lambda c: c["table"].update(rows=7)), ALL),
    "rows of a file": Falsification(told(lambda c: next(iter(c["files"].values())).update(rows=7)), ALL),
    "another layout": Falsification(
        told(lambda c: c["release"].update(layout={"labels": "bounds", "bounds": "labels"}[c["release"]["layout"]])),
        GENERALIZED,
    ),
    "a layout that does not exist": Falsification(told(lambda c: c["release"].update(layout="boxes")), ALL),
    # what the table was
    "a domain widened to look exact": Falsification(
        told(lambda c: column_of(c, "weight").update(domain=["0.0", "100000.0"])), GENERALIZED
    ),
    "a domain narrower than the labels": Falsification(
        told(lambda c: column_of(c, "weight").update(domain=["60.0", "61.0"])), ALL
    ),
    "a domain removed": Falsification(told(lambda c: column_of(c, "weight").update(domain=None)), ALL),
    "a domain that is none": Falsification(told(lambda c: column_of(c, "weight").update(domain=["a", "b"])), ALL),
    "another kind": Falsification(told(lambda c: column_of(c, "weight").update(kind="date")), ALL),
    "leaves added": Falsification(told(lambda c: column_of(c, "city").update(leaves=60)), ALL),
    "leaves of a flat column": Falsification(told(lambda c: column_of(c, "gender").update(leaves=60000)), ALL),
    "leaves under a node": Falsification(told(lambda c: column_of(c, "city").update(leaves_under={"north": 1})), ALL),
    "another hierarchy": Falsification(
        told(lambda c: column_of(c, "city").update(hierarchy=[["Ulm", "north", "*"]])), ALL
    ),
    "missing values denied": Falsification(
        told(lambda c: column_of(c, "age").update(has_missing=False)), ("labels", "parquet", *EXACT)
    ),
    "missing values denied, where a range may hide them": Falsification(
        told(lambda c: column_of(c, "age").update(has_missing=False)), ("bounds",), alone=None
    ),
    "missing values claimed": Falsification(told(lambda c: column_of(c, "weight").update(has_missing=True)), ALL),
    "a quasi-identifier moved to kept": Falsification(told(moved_to_kept), ALL),
    "quasi-identifiers in another order": Falsification(told(lambda c: c["table"]["quasi_identifiers"].reverse()), ALL),
    "columns left out": Falsification(told(lambda c: c["table"].update(columns=[])), ALL),
    "kept columns denied": Falsification(told(lambda c: c["table"].update(kept=[])), KEPT),
    "another sensitive column": Falsification(
        told(lambda c: c["table"].update(sensitive="note")), (*GENERALIZED, "perturb")
    ),
    "another sensitive column, which is not published": Falsification(
        told(lambda c: c["table"].update(sensitive="note")), ("baseline",), alone=False
    ),
    "a name that several columns do not have": Falsification(
        told(lambda c: c["table"].update(sensitive="34, flu")), ("several",)
    ),
    "several columns in another order": Falsification(
        told(lambda c: c["table"]["sensitive_columns"].reverse()), ("several",)
    ),
    "one of several columns left out": Falsification(
        told(lambda c: c["table"].update(sensitive_columns=["disease"])), ("several",)
    ),
    # other levels
    "k of the levels": Falsification(told(lambda c: c["also"].update(k=99)), ALL),
    "l": Falsification(told(lambda c: c["also"].update(l=99.0)), ALL),
    "t": Falsification(told(lambda c: c["also"].update(t=0.0)), ("labels", "bounds", "parquet", "perturb")),
    "t along an order that is none": Falsification(
        told(lambda c: c["also"].update(t_ground="ordered", t=0.0001, average_t=0.0)), ("labels", "perturb")
    ),
    "distances that do not exist": Falsification(told(lambda c: c["also"].update(t_ground="near")), ALL),
    "delta": Falsification(told(lambda c: c["also"].update(delta=0.01)), ALL),
    "basic beta": Falsification(told(lambda c: c["also"].update(basic_beta=0.01)), ALL),
    # prior, randomness, warnings
    "prior": Falsification(told(lambda c: c["prior"].update(flu=0.9)), ALL),
    "prior counts": Falsification(told(lambda c: c["prior_counts"].update(flu=1)), ALL),
    "a value added to the prior": Falsification(told(lambda c: c["prior_counts"].update(plague=0)), ALL),
    "a warning removed": Falsification(told(lambda c: c["warnings"].pop()), ALL),
    "a warning added": Falsification(told(lambda c: c["warnings"].append("approved")), ALL),
    "all warnings removed": Falsification(told(lambda c: c.pop("warnings")), ALL),
    "randomness in other words": Falsification(told(lambda c: c.update(randomness="true randomness")), ALL),
    "said to be seeded": Falsification(told(lambda c: c.update(randomness="seeded: for experiments")), ALL),
    "a seeded release relabelled": Falsification(relabelled, ALL, alone=False, original=False),
    "another tool": Falsification(told(lambda c: c["tool"].update(name="arx")), ALL),
    "a scheme that does not exist": Falsification(told(lambda c: c["scheme"].update(name="best")), GENERALIZED),
    "retention raised": Falsification(
        told(lambda c: c["scheme"]["details"].update(least_retention=0.99)), ("perturb",)
    ),
    "another rule": Falsification(told(lambda c: c["scheme"]["details"].update(rule="best")), ("perturb",)),
    "seconds below 0": Falsification(told(lambda c: c["seconds"].update(load=-1.0)), ALL),
    # files
    "the original beside": Falsification(added("original.csv"), ALL),
    "a published table beside": Falsification(added("published.arrow"), ALL),
    "another published table": Falsification(added("published.xlsx", b"PK"), ALL),
    "a compressed table": Falsification(added("data.csv.zst"), ALL),
    "a database": Falsification(added("people.db"), ALL),
    "a file without an ending": Falsification(added("people"), ALL),
    "a hidden file": Falsification(added(".people"), ALL),
    "a table as a note": Falsification(added("README.csv"), ALL),
    "a table in a subfolder": Falsification(added("more/deep/people.txt"), ALL),
    "a companion that is not listed": Falsification(added("sensitive.csv"), GENERALIZED),
    "a companion that is listed": Falsification(
        lambda f: (added("sensitive.csv")(f), f.certify(lambda c: add_to_files(c, "sensitive.csv")), f.rehash()),
        GENERALIZED,
    ),
    "a listed file outside": Falsification(told(lambda c: add_to_files(c, "../people.csv")), ALL),
    "no files listed": Falsification(told(lambda c: c.update(files={})), ALL),
    "a byte changed": Falsification(
        lambda f: f.published.write_bytes(f.published.read_bytes().replace(b"M", b"F", 1)), ALL
    ),
    "the table gone": Falsification(lambda f: f.published.unlink(), ALL),
    "a backup copy": Falsification(added("published.csv~"), ALL),
    "an editor's copy": Falsification(added(".published.csv.swp"), ALL),
    "a notebook": Falsification(added("analysis.ipynb", b"{}"), ALL),
    "a serialized frame": Falsification(added("frame.pkl", b"x"), ALL),
    "an archive": Falsification(added("all.zip", b"PK"), ALL),
    "a certificate's copy": Falsification(added("certificate.json.bak", b"{}"), ALL),
    "a certificate in a subfolder": Falsification(added("old/certificate.json", b"{}"), ALL),
    "a hidden subfolder": Falsification(added(".cache/people.csv"), ALL),
    "a note in a subfolder": Falsification(added("more/README.md"), ALL),
    "rows in what an interrupted publication left": Falsification(
        added(".out.betalike-0123abcd-1-0123abcd/original.csv"), ALL
    ),
    "a link to a table": Falsification(linked("people.csv"), ALL),
    "a link that looks like a note": Falsification(linked("README.md"), ALL),
    "a link to a folder": Falsification(linked("more/"), ALL),
    "a link to a folder in a subfolder": Falsification(linked("more/deep/"), ALL),
    "a link in the place of the table": Falsification(replaced_by_link, ALL),
    "a listed file at an absolute path": Falsification(told(lambda c: add_to_files(c, "/etc/passwd")), ALL),
    "a listed file below the table": Falsification(told(lambda c: add_to_files(c, "published.csv/x.csv")), ALL),
    "two published tables": Falsification(
        lambda f: (
            added("published.parquet")(f) if f.published.suffix == ".csv" else added("published.csv")(f),
            f.certify(lambda c: [add_to_files(c, f"published.{form}") for form in ("csv", "parquet")]),
            f.rehash(),
        ),
        ALL,
    ),
    "a digest in capitals": Falsification(
        told(lambda c: [facts.update(sha256=facts["sha256"].upper()) for facts in c["files"].values()]), ALL
    ),
    "a digest of another kind": Falsification(
        told(lambda c: [facts.update(md5=facts.pop("sha256")[:32]) for facts in c["files"].values()]), ALL
    ),
    "a digest cut short": Falsification(
        told(lambda c: [facts.update(sha256=facts["sha256"][:8]) for facts in c["files"].values()]), ALL
    ),
    # the form of the certificate
    "a field that nobody knows": Falsification(told(lambda c: c.update(approved="by the data protection office")), ALL),
    "people in the promise": Falsification(told(lambda c: c["promise"].update(people=[["34", "flu"]])), ALL),
    "people in a file's facts": Falsification(
        told(lambda c: next(iter(c["files"].values())).update(people=[["34", "flu"]])), ALL
    ),
    "people in the scheme's details": Falsification(
        told(lambda c: c["scheme"]["details"].update(people=[["34", "flu"]])), ALL
    ),
    "people in the times": Falsification(told(lambda c: c["seconds"].update({"34 flu": 1.0})), ALL),
    "people in the version": Falsification(told(lambda c: c["tool"].update(version="34, flu")), ALL),
    "a name twice": Falsification(raw(lambda text: text.replace("{", '{"promise": {"beta": 0.1}, ', 1)), ALL),
    "a name twice, deep": Falsification(raw(lambda text: text.replace('"holds"', '"holds": false, "holds"', 1)), ALL),
    "a file listed twice": Falsification(
        raw(lambda text: text.replace('"published.', '"published.csv": {"sha256": "", "rows": 1}, "published.', 1)),
        ("labels", "bounds", *EXACT),
    ),
    "a gain that is no number": Falsification(told(lambda c: c["promise"].update(worst_gain=float("nan"))), ALL),
    "an infinite loss": Falsification(told(lambda c: c["release"].update(average_loss=float("inf"))), ALL),
    "a loss beyond numbers": Falsification(
        raw(lambda text: text.replace('"average_loss": ', '"average_loss": 1e999, "_": ', 1)), ALL
    ),
    "a figure as text": Falsification(told(lambda c: c["also"].update(k="7")), ALL),
    "text after the end": Falsification(raw(lambda text: text + "{}"), ALL),
    "an empty certificate": Falsification(raw(lambda text: ""), ALL),
    # what only the owner knows, with every figure put right; verify lists it as not checked
    "a domain widened, losses put right": Falsification(
        told(widened), ("labels", "bounds", "parquet"), alone=False, original=False
    ),
    "a hierarchy made larger, losses put right": Falsification(
        leaves_made_up, GENERALIZED, alone=False, original=False
    ),
    "weights changed, the average put right": Falsification(told(weighted), GENERALIZED, alone=False, original=False),
    "weights below 0": Falsification(told(lambda c: column_of(c, "age").update(weight=-1.0)), ALL),
    "weights of nothing": Falsification(
        told(lambda c: [column.update(weight=0.0) for column in c["table"]["columns"]]), ALL
    ),
    "another scheme of the same kind": Falsification(told(lambda c: c["scheme"].update(name="mondrian")), GENERALIZED),
    "a scheme without classes": Falsification(told(lambda c: c["scheme"].update(name="baseline")), GENERALIZED),
    "exact rows said to be in classes": Falsification(told(lambda c: c["scheme"].update(name="seam")), EXACT),
    # rows, with digests put right
    "a cell too many": Falsification(lines(lambda rows: [*rows[:-1], rows[-1] + ",Miller"]), ("labels", "perturb")),
    "a cell too few": Falsification(
        lines(lambda rows: [*rows[:-1], rows[-1].rpartition(",")[0]]), ("labels", "bounds", "perturb")
    ),
    "a line of notes": Falsification(lines(lambda rows: ["# Miller has flu", *rows]), ("labels", *EXACT)),
    "a line of notes at the end": Falsification(lines(lambda rows: [*rows, "# Miller has flu"]), ("labels", *EXACT)),
    "the header twice": Falsification(lines(lambda rows: [rows[0], *rows]), ("labels", *EXACT)),
    "no header": Falsification(lines(lambda rows: rows[1:]), ("labels", *EXACT)),
    "a column without a name": Falsification(lines(lambda rows: [row + "," for row in rows]), ("labels", *EXACT)),
    "a column named twice": Falsification(
        lines(lambda rows: [f"{row},{row.partition(',')[0]}" for row in rows]), ("labels", *EXACT)
    ),
    "a number with a separator": Falsification(rows(one_cell("age", "3_7")), ("labels", "parquet")),
    "a range written in another way": Falsification(
        rows(lambda f: f.with_columns(pl.col("weight").str.replace(", ", ",  ", literal=True))), ("labels", "parquet")
    ),
    "the labels of two classes exchanged": Falsification(rows(classes_exchanged), GENERALIZED, alone=False),
    "a row removed": Falsification(rows(lambda f: f.head(-1)), ALL),
    "a row doubled": Falsification(rows(lambda f: pl.concat([f, f.head(1)])), ALL),
    "sensitive values exchanged between classes": Falsification(
        rows(lambda f: f.with_columns(f["disease"].sort())), GENERALIZED
    ),
    "labels exchanged between rows": Falsification(rows(first_class_label), GENERALIZED),
    "columns in another order": Falsification(rows(lambda f: f.select(reversed(f.columns))), ALL),
    "a label that is none": Falsification(rows(one_cell("city", "Atlantis")), GENERALIZED),
    "a range that ends before it begins": Falsification(
        rows(one_cell("weight", "[70.0, 60.0]")), ("labels", "parquet")
    ),
    "M and F exchanged in the rows": Falsification(
        rows(lambda f: f.with_columns(swapped("gender", "M", "F"))), ALL, alone=False
    ),
    "a kept cell changed": Falsification(rows(one_cell("note", "n9")), KEPT, alone=False),
    "kept cells exchanged": Falsification(rows(shuffled("note")), KEPT, alone=False),
    "exact values exchanged": Falsification(rows(shuffled("weight")), EXACT, alone=False),
    "M and F exchanged beside several sensitive columns": Falsification(
        rows(lambda f: f.with_columns(swapped("gender", "M", "F"))), ("several",), alone=False
    ),
    "one of several sensitive columns exchanged": Falsification(
        republished(shuffled("note")), ("several",), alone=False
    ),
    # a false table, published by betalike: nothing in the folder is wrong
    "M and F exchanged everywhere": Falsification(
        republished(lambda f: f.with_columns(swapped("gender", "M", "F"))), ALL, alone=False
    ),
    "ages mirrored": Falsification(republished(mirrored), ALL, alone=False),
    "cities exchanged": Falsification(
        republished(lambda f: f.with_columns(swapped("city", "Ulm", "Rom"))), ALL, alone=False
    ),
    "everybody a day younger": Falsification(
        republished(lambda f: f.with_columns(pl.col("born") + pl.duration(days=1))), ALL, alone=False
    ),
    "everybody a little heavier": Falsification(
        republished(lambda f: f.with_columns(pl.col("weight") + 1e-9)), ALL, alone=False
    ),
    "everybody a year older": Falsification(republished(lambda f: f.with_columns(pl.col("age") + 1)), ALL, alone=False),
    "one person a year older": Falsification(
        republished(
            lambda f: f.with_columns(
                pl.when(pl.int_range(pl.len()) == 5).then(pl.col("age") + 1).otherwise(pl.col("age")).alias("age")
            )
        ),
        EXACT,
        alone=False,
    ),
    "two people's diseases exchanged": Falsification(republished(two_people), GENERALIZED, alone=False),
    "all ages made missing": Falsification(
        republished(lambda f: f.with_columns(pl.lit(None, dtype=pl.Int64).alias("age"))), ALL, alone=False
    ),
    "missing ages filled in": Falsification(
        republished(lambda f: f.with_columns(pl.col("age").fill_null(20))), ALL, alone=False
    ),
    "another person's disease": Falsification(republished(one_cell("disease", "gout")), ALL, alone=False),
    "diseases exchanged between people": Falsification(republished(shuffled("disease")), GENERALIZED, alone=False),
    "a person left out": Falsification(republished(lambda f: f.tail(-1)), ALL, alone=False),
    "a person made up": Falsification(republished(lambda f: pl.concat([f, f.tail(1)])), ALL, alone=False),
    "kept notes changed everywhere": Falsification(republished(shuffled("note")), KEPT, alone=False),
    "a column kept that was protected": Falsification(
        republished(lambda f: f, qis=["age", "weight", "born", "gender"], keep=["city"]),
        ("labels",),
        alone=False,
        original=False,
    ),
}
