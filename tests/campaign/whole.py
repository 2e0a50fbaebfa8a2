"""The whole campaign, `make campaign HOURS=8`: plans and releases for half of the time, then every parser fuzzed.

Every run tries other seeds; they are printed, so that a part can be repeated. Ctrl-C ends it with what was counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import secrets
import signal
import subprocess
import sys

CAMPAIGN, FUZZING = "tests.campaign", "tests.fuzzing"


def commands(hours: float, seed: int, has_atheris: bool) -> list[list[str]]:
    """The runs that make up a campaign, with the arguments of each; their hours add up."""
    fuzzing = [[], ["--atheris"]] if has_atheris else [[]]
    shares = [(CAMPAIGN, 0.5, [])] + [(FUZZING, 0.5 / len(fuzzing), more) for more in fuzzing]
    return [[name, "--hours", f"{hours * share:.4f}", "--first-seed", str(seed), *more] for name, share, more in shares]


def main() -> int:
    """Run every part, also after findings; 1 if any part found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.whole", description=__doc__.split("\n")[0])
    parser.add_argument("--hours", type=float, default=1.0, help="how long to run, all parts together (1)")
    parser.add_argument("--first-seed", type=int, default=secrets.randbelow(2**31), help="where the seeds begin")
    given = parser.parse_args()
    has_atheris = importlib.util.find_spec("atheris") is not None
    if not has_atheris:
        print("atheris is not installed, or not there for this Python: the fuzzing goes on without it.")
    subprocess.run([sys.executable, "-m", "experiments.warming"], check=True)
    statuses: list[int] = []
    interruptions: list[int] = []
    signal.signal(
        signal.SIGINT, lambda number, frame: interruptions.append(number)
    )  # the part that runs ends by itself
    for words in commands(given.hours, given.first_seed, has_atheris):
        if interruptions:
            break
        print("python -m", *words, flush=True)
        statuses.append(subprocess.run([sys.executable, "-m", *words], check=False).returncode)
    return int(any(statuses))


if __name__ == "__main__":
    sys.exit(main())
