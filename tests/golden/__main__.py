"""The command line: `python -m tests.golden` compares, `--renew NAME --why "..."` renews one and keeps the reason."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .comparing import compare, renew
from .digests import make_digests


def main() -> int:
    """Compare, renew, or write the digests of this source; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--renew", nargs="+", metavar="NAME", help="releases that may differ from now on")
    parser.add_argument("--why", help="the reason, which the golden file keeps")
    parser.add_argument("--make", type=Path, metavar="FILE", help="write the digests of this source to a file")
    given = parser.parse_args()
    if given.make is not None:
        given.make.write_text(json.dumps(make_digests()), encoding="utf-8")
        return 0
    if given.renew is not None:
        if not given.why:
            parser.error("say why (--why)")
        print(f"renewed: {', '.join(given.renew)}; {renew(given.renew, given.why)}")
        return 0
    comparison = compare()
    print(comparison)
    return 1 if comparison.differing else 0


if __name__ == "__main__":
    sys.exit(main())
