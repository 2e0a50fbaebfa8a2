"""Falsified folders: files and links that do not belong there, and files that are not what the certificate lists."""

from __future__ import annotations

from collections.abc import Callable

from falsification import ALL, Falsification, add_to_files, told
from forger import GENERALIZED, Forger


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


FALSE_FILES: dict[str, Falsification] = {
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
}
