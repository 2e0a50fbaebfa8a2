"""Falsified certificates: another promise, other figures, another table, other words, another form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from falsification import ALL, KEPT, Falsification, column_of, told
from forger import EXACT, GENERALIZED, Forger


def raw(edit: Callable[[str], str]) -> Callable[[Forger], object]:
    """Change the text of the certificate."""

    def forge(forger: Forger) -> None:
        path = forger.folder / "certificate.json"
        changed = edit(path.read_text(encoding="utf-8"))
        assert changed != path.read_text(encoding="utf-8")
        path.write_text(changed, encoding="utf-8")

    return forge


def moved_to_kept(certificate: Any) -> None:
    """Say that a quasi-identifier was published as it is."""
    table, release = certificate["table"], certificate["release"]
    table["quasi_identifiers"].remove("city")
    table["columns"] = [column for column in table["columns"] if column["name"] != "city"]
    table["kept"].append("city")
    release["loss"].pop("city")


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


def relabelled(forger: Forger) -> None:
    """Publish with a seed, and say that there was none."""
    forger.publish(lambda frame: frame, seed=7)

    def edit(certificate: Any) -> None:
        certificate["randomness"] = "operating system"
        certificate["warnings"] = [text for text in certificate["warnings"] if "seeded" not in text]

    forger.certify(edit)


FALSE_PROMISES: dict[str, Falsification] = {
    # the promise
    "beta lowered": Falsification(told(lambda c: c["promise"].update(beta=0.01)), ALL),
    "beta raised": Falsification(told(lambda c: c["promise"].update(beta=50.0)), GENERALIZED),
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
}

FALSE_FIGURES: dict[str, Falsification] = {
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
    "ranges in two columns": Falsification(told(lambda c: c["release"].update(layout="bounds")), ALL),
    "a layout that does not exist": Falsification(told(lambda c: c["release"].update(layout="boxes")), ALL),
    "a layout in another place": Falsification(told(lambda c: c["table"].update(layout="labels")), ALL),
    # other levels
    "k of the levels": Falsification(told(lambda c: c["also"].update(k=99)), ALL),
    "l": Falsification(told(lambda c: c["also"].update(l=99.0)), ALL),
    "t": Falsification(told(lambda c: c["also"].update(t=0.0)), ("labels", "rounded", "parquet", "perturb")),
    "t along an order that is none": Falsification(
        told(lambda c: c["also"].update(t_ground="ordered", t=0.0001, average_t=0.0)), ("labels", "perturb")
    ),
    "distances that do not exist": Falsification(told(lambda c: c["also"].update(t_ground="near")), ALL),
    "delta": Falsification(told(lambda c: c["also"].update(delta=0.01)), ALL),
    "basic beta": Falsification(told(lambda c: c["also"].update(basic_beta=0.01)), ALL),
    # risks
    "surest guess lowered": Falsification(told(lambda c: c["risk"].update(surest_guess=0.01)), ALL),
    "fewer people near the promise": Falsification(told(lambda c: c["risk"].update(near_promise=-1)), ALL),
    "greatest risk lowered": Falsification(told(lambda c: c["risk"].update(prosecutor_maximum=0.001)), ALL),
    "average risk lowered": Falsification(told(lambda c: c["risk"].update(prosecutor_average=0.001)), ALL),
    "no row above a threshold": Falsification(told(lambda c: c["risk"].update(above={"0.05": 0.0})), ALL),
    "unique rows denied": Falsification(told(lambda c: c["risk"].update(unique=0.5)), ALL),
    "risks removed": Falsification(told(lambda c: c.update(risk=None)), ALL),
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
    "another rule": Falsification(told(lambda c: c["scheme"]["details"].update(rule="best")), ("perturb", "sets")),
    "rows said to show sets": Falsification(told(lambda c: c["scheme"]["details"].update(rule="sets")), ("perturb",)),
    "sets said to be values": Falsification(told(lambda c: c["scheme"]["details"].update(rule="theorem-3")), ("sets",)),
    "more sets": Falsification(told(lambda c: c["scheme"]["details"].update(sets=99)), ("sets",)),
    "true values named more often": Falsification(
        told(lambda c: c["scheme"]["details"].update(named_share=1.0)), ("sets",)
    ),
    "seconds below 0": Falsification(told(lambda c: c["seconds"].update(load=-1.0)), ALL),
}

FALSE_TABLES: dict[str, Falsification] = {
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
        told(lambda c: column_of(c, "age").update(has_missing=False)), ("rounded",), alone=None
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
    # what only the owner knows, with every figure put right; verify lists it as not checked
    "a domain widened, losses put right": Falsification(
        told(widened), ("labels", "rounded", "parquet"), alone=False, original=False
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
}

FALSE_FORMS: dict[str, Falsification] = {
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
        ("labels", "rounded", *EXACT),
    ),
    "a gain that is no number": Falsification(told(lambda c: c["promise"].update(worst_gain=float("nan"))), ALL),
    "an infinite loss": Falsification(told(lambda c: c["release"].update(average_loss=float("inf"))), ALL),
    "a loss beyond numbers": Falsification(
        raw(lambda text: text.replace('"average_loss": ', '"average_loss": 1e999, "_": ', 1)), ALL
    ),
    "a figure as text": Falsification(told(lambda c: c["also"].update(k="7")), ALL),
    "text after the end": Falsification(raw(lambda text: text + "{}"), ALL),
    "an empty certificate": Falsification(raw(lambda text: ""), ALL),
}
