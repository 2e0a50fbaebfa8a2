"""Make the sample report of the documentation again: `python -m experiments.sample_report`.

It is the officer's report on 20,000 rows of the built-in table, with attacks. The picture of its first screen is taken
with Chromium, driven by Playwright; without them only the page is written.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import betalike
from betalike import datasets

DOCS = Path(__file__).resolve().parent.parent / "docs"
QUASI_IDENTIFIERS = ["age", "gender", "education", "marital_status", "work_class"]
WIDTH, HEIGHT = 900, 1140


def make_page(path: Path, rows: int, quick: bool = False) -> None:
    """Publish rows of the built-in table into a folder that is removed again, and report on them."""
    people = datasets.census_like(rows, seed=1)
    trees = datasets.census_like_hierarchies()
    with tempfile.TemporaryDirectory() as folder:
        release = betalike.publish(
            people,
            out=Path(folder) / "release",
            quasi_identifiers=QUASI_IDENTIFIERS,
            sensitive="salary_class",
            beta=4,
            hierarchies={name: tree for name, tree in trees.items() if name in QUASI_IDENTIFIERS},
        )
        release.report(path, original=people, quick=quick, force=True)


def take_picture(page: Path, path: Path) -> bool:
    """Take a picture of the first screen; return whether there is a browser to take it with."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return False
    chromium = shutil.which("chromium")
    if chromium is None:
        return False
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        window = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        window.goto(page.resolve().as_uri())
        window.screenshot(path=path)
        browser.close()
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page and its picture."""
    parser = argparse.ArgumentParser(prog="python -m experiments.sample_report", description=__doc__)
    parser.add_argument("--out", type=Path, default=DOCS, help="folder for sample-report.html and sample-report.png")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="without attacks")
    options = parser.parse_args(arguments)
    page, picture = options.out / "sample-report.html", options.out / "sample-report.png"
    make_page(page, options.rows, options.quick)
    print(f"wrote {page}")
    print(f"wrote {picture}" if take_picture(page, picture) else "no picture: Chromium or Playwright is not installed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
