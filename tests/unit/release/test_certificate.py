"""The certificate: the same in memory and in its file, and refused where it is not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pycanon import anonymity

import betalike
from betalike.errors import CertificateError
from betalike.release.certificate import read_certificate

CANARY = "CANARY7731"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "out"
    n_rows = 80
    frame = pl.DataFrame(
        {
            "age": [20 + 7 * i % 50 for i in range(n_rows)],
            "city": [["Ulm", "Bonn", "Kiel"][i % 3] for i in range(n_rows)],
            "disease": [["flu", "cough", "ulcer"][i * i % 7 % 3] for i in range(n_rows)],
        }
    )
    betalike.publish(frame, quasi_identifiers=["age", "city"], sensitive="disease", beta=1.5, out=out)
    return out


def test_file_and_folder_give_the_same(folder: Path) -> None:
    certificate = read_certificate(folder)
    assert certificate == read_certificate(folder / "certificate.json")
    assert certificate.to_json() == (folder / "certificate.json").read_bytes()
    assert certificate.to_dict() == json.loads(certificate.to_json())


def test_it_tells_what_interface_promises(folder: Path) -> None:
    stated: dict[str, Any] = json.loads((folder / "certificate.json").read_text())
    assert stated["tool"] == {"name": "betalike", "version": betalike.__version__}
    assert stated["promise"]["model"] == "enhanced-likeness"
    assert stated["promise"]["beta"] == 1.5
    assert stated["table"]["quasi_identifiers"] == ["age", "city"]
    assert stated["table"]["sensitive"] == "disease"
    assert stated["release"]["rows"] == stated["table"]["rows"] == stated["files"]["published.csv"]["rows"] == 80
    assert set(stated["release"]["loss"]) == {"age", "city"}
    assert sum(stated["prior"].values()) == pytest.approx(1)
    assert sum(stated["prior_counts"].values()) == 80
    assert set(stated["also"]) >= {"k", "l", "t", "delta"}
    assert all(seconds >= 0 for seconds in stated["seconds"].values())


def test_its_risks_are_those_of_the_published_rows(folder: Path) -> None:
    """Risks counted from the file by pandas."""
    stated: dict[str, Any] = json.loads((folder / "certificate.json").read_text())
    frame = pd.read_csv(folder / "published.csv", dtype=str)
    sizes = frame.groupby(["age", "city"])["disease"].transform("size")
    shares = frame.groupby(["age", "city"])["disease"].value_counts(normalize=True)
    risk = stated["risk"]
    assert risk["surest_guess"] == pytest.approx(shares.max())
    assert risk["prosecutor_maximum"] == pytest.approx((1 / sizes).max())
    assert risk["prosecutor_average"] == pytest.approx((1 / sizes).mean())
    assert risk["unique"] == pytest.approx((sizes == 1).mean())
    assert risk["above"] == {f"{t:g}": pytest.approx((1 / sizes > t + 1e-12).mean()) for t in (0.05, 0.09, 0.2)}
    prior = frame["disease"].value_counts(normalize=True)
    caps = prior * (1 + np.minimum(1.5, -np.log(prior)))
    used = (shares / shares.index.get_level_values(-1).map(caps)).groupby(level=[0, 1]).max()
    near = used[used >= 0.9 - 1e-9].index
    assert risk["near_promise"] == frame.set_index(["age", "city"]).index.isin(near).sum()


def test_its_surest_guess_and_smallest_class_are_those_of_pycanon(folder: Path) -> None:
    risk = json.loads((folder / "certificate.json").read_text())["risk"]
    frame = pd.read_csv(folder / "published.csv", dtype=str)
    alpha, k = anonymity.alpha_k_anonymity(frame, ["age", "city"], ["disease"])
    assert risk["surest_guess"] == pytest.approx(alpha)
    assert risk["prosecutor_maximum"] == pytest.approx(1 / k)


def test_short_lists_are_on_one_line_and_the_rest_is_indented(folder: Path) -> None:
    text = (folder / "certificate.json").read_text()
    assert '    "quasi_identifiers": ["age", "city"],\n' in text
    assert '          ["Bonn", "*"],\n' in text or '          ["Kiel", "*"],\n' in text or 'hierarchy": []' in text
    assert max(map(len, text.splitlines())) < 160


def test_it_tells_nothing_of_where_and_how(folder: Path) -> None:
    text = (folder / "certificate.json").read_text()
    assert "seed" not in text
    assert str(folder.parent) not in text


def test_a_reader_may_meet_more_than_it_knows(folder: Path, tmp_path: Path) -> None:
    stated = json.loads((folder / "certificate.json").read_text()) | {"news": [1, 2]}
    (tmp_path / "certificate.json").write_text(json.dumps(stated))
    assert read_certificate(tmp_path) == read_certificate(folder)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"{", f'{{"tool": "{CANARY}"}}'.encode(), CANARY.encode()]
)
def test_what_is_no_certificate(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "certificate.json").write_bytes(content)
    with pytest.raises(CertificateError, match="not a certificate") as refusal:
        read_certificate(tmp_path)
    assert CANARY not in str(refusal.value)


def test_no_certificate(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match="no certificate"):
        read_certificate(tmp_path)
    with pytest.raises(CertificateError, match="no certificate"):
        read_certificate(tmp_path / "nowhere.json")
