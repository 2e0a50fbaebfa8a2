"""Hierarchy files in the form of ARX: what is read, and what is refused with file, line and value."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from betalike.errors import FileError, HierarchyError
from betalike.io.hierarchies import read_groups, read_hierarchies, read_hierarchy, warn_about_names, write_hierarchy
from betalike.table.hierarchy import Hierarchy

GOOD = "Ulm;south;*\nBonn;north;*\nKiel;north;*\n"


def written(folder: Path, content: str | bytes, name: str = "city.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.rstrip("\n"),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\n\n"),
        "\ufeff" + GOOD,
        GOOD.replace(";", " ; "),
        GOOD.replace("Bonn", '"Bonn"'),
        GOOD.replace(";", ","),
        GOOD.replace(";", "\t"),
        GOOD.replace("*", "*****"),
        "value;part;country\n" + GOOD,
        "\nvalue,part,country\n" + GOOD.replace(";", ",").replace("*", "Germany"),
    ],
)
def test_files_as_people_have_them(tmp_path: Path, content: str) -> None:
    tree = read_hierarchy(written(tmp_path, content))
    assert tree.leaves == ("Ulm", "Bonn", "Kiel")
    assert set(tree.labels) == {"Ulm", "Bonn", "Kiel", "north", "*"}  # south covers just Ulm
    assert tree.height == 2


def test_lines_keep_their_numbers_behind_a_header(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"line 4 \(leaf 'Ulm'\) has a leaf that is already in line 2"):
        read_hierarchy(written(tmp_path, "value;part;all\nUlm;south;*\nBonn;north;*\nUlm;north;*\n"))


def test_a_first_line_that_shares_a_label_is_no_header(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"line 1 \(leaf 'Ulm'\) ends with 'top'"):
        read_hierarchy(written(tmp_path, "Ulm;north;top\nBonn;north;*\nKiel;north;*\n"))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    tree = Hierarchy.from_rows([["a;b", "c,d", "*"], ["e", "c,d", "*"], ["f\ng", 'h"', "*"]])
    write_hierarchy(tree, tmp_path / "x.csv", force=False)
    assert read_hierarchy(tmp_path / "x.csv").paths == tree.paths
    with pytest.raises(FileError, match="exists already"):
        write_hierarchy(tree, tmp_path / "x.csv", force=False)


@pytest.mark.parametrize("root", ["*", "*****", "Europe"])
@pytest.mark.parametrize(("between", "within"), list(itertools.permutations(";,\t", 2)))
def test_labels_may_hold_more_of_another_delimiter_than_lines_have(
    tmp_path: Path, between: str, within: str, root: str
) -> None:
    cities = f"Ulm{within} Bonn{within} Kiel{within} Rom and 7 more"
    rows = [["Ulm", cities], [f"Paris{within} France", f"West{within} South"], ["Bern", cities]]
    content = "".join(between.join([*row, root]) + "\n" for row in rows)
    tree = read_hierarchy(written(tmp_path, content))
    assert {*tree.leaves} == {"Ulm", f"Paris{within} France", "Bern"}
    assert cities in tree.labels


def test_groups_have_a_label_and_a_value_in_each_line(tmp_path: Path) -> None:
    path = written(tmp_path, "west,CA\nwest,OR\n\neast,MA\n", "groups.csv")
    assert read_groups(path) == {"west": ["CA", "OR"], "east": ["MA"]}
    with pytest.raises(FileError, match="line 2 has 3 cells"):
        read_groups(written(tmp_path, "west,CA\nwest,OR,x\n", "groups.csv"))


def test_quoted_labels_may_hold_the_delimiter_and_line_ends(tmp_path: Path) -> None:
    tree = read_hierarchy(written(tmp_path, '"a;b";*\n"c\nd";*\n'))
    assert tree.leaves == ("a;b", "c\nd")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Ulm;a;south;*\nBonn;a;north;*\n", r"city\.csv, line 2: the node 'a' .*'north'.*'south' in line 1"),
        ("Ulm;south;*\nBonn;*\n", r"city\.csv, line 2 \(leaf 'Bonn'\) has 2 levels, but line 1 has 3"),
        ("Ulm;south;*\nUlm;north;*\n", r"city\.csv, line 2 \(leaf 'Ulm'\) has a leaf that is already in line 1"),
        ("Ulm;south;*\nBonn;north;all\n", r"city\.csv, line 2 \(leaf 'Bonn'\) ends with 'all'"),
        ("\n\nUlm;south;*\n\nBonn;north\n", r"city\.csv, line 5 \(leaf 'Bonn'\) has 2 levels, but line 3"),
        ("Ulm;*\n*;*\n", r"city\.csv, line 2 \(leaf '\*'\) has '\*' as its leaf, but '\*' cannot be a leaf"),
        ("Ulm|south|*\n", r"city\.csv, line 1"),
        ("Ulm;south;all\nBonn;north;all\nKiel;north;any\n", r"city\.csv, line 1 \(leaf 'Ulm'\) ends with 'all'"),
        ("Ulm;south;*\nBonn;;*\nKiel;;*\n", r"city\.csv, line 2"),
        ("", r"city\.csv is empty"),
        ("\n\n", r"city\.csv is empty"),
    ],
)
def test_malformed_files(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(HierarchyError, match=words):
        read_hierarchy(written(tmp_path, content))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_files_are_decoded_as_tables_are(tmp_path: Path, encoding: str) -> None:
    assert read_hierarchy(written(tmp_path, "Köln;*\nUlm;*\n".encode(encoding))).leaves == ("Köln", "Ulm")


def test_a_name_that_differs_little_from_a_column_is_warned_about(tmp_path: Path) -> None:
    for name in ("City", "zip-code", "job", "other"):
        written(tmp_path, GOOD, f"{name}.csv")
    for given in (tmp_path, {"City": GOOD, "zip-code": GOOD, "job": GOOD, "other": GOOD}):
        found = warn_about_names(given, ["city", "zip_code", "job"])
        assert len(found) == 2
        assert "'City' is not used" in found[0]
        assert "'zip_code', rename it" in found[1]
    assert warn_about_names(None, ["city"]) == []


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="UTF-16 text but is damaged"):
        read_hierarchy(written(tmp_path, "Köln;*\n".encode("utf-16")[:-1]))
    with pytest.raises(FileError, match="cannot be the name of a file"):
        read_hierarchy("a\0b")
    with pytest.raises(FileError, match="cannot be read: File name too long"):
        read_hierarchy("a" * 5000)
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_hierarchy(tmp_path / "nowhere.csv")
    with pytest.raises(FileError, match="cannot be read"):
        read_hierarchy(tmp_path)


def test_a_folder_has_some_of_them(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    written(tmp_path, "broken", "unused.csv")
    trees = read_hierarchies(tmp_path, ["city", "age", "a/b", ".."])
    assert set(trees) == {"city"}


def test_no_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", written(tmp_path, GOOD)):
        with pytest.raises(FileError, match="no folder"):
            read_hierarchies(path, ["city"])
