"""The simulated survey of wages has the effects that it was made with."""

from __future__ import annotations

import numpy as np

from experiments.wages import cps_like


def test_wages_follow_the_effects_they_were_made_with() -> None:
    table = cps_like(20_000, seed=2)
    assert table.columns == ["age", "education", "sex", "race", "region", "union", "hours", "weight", "wage"]
    assert table.equals(cps_like(20_000, seed=2))
    assert (table["age"] >= table["education"] + 6).all()
    experience = (table["age"] - table["education"] - 6).to_numpy()
    design = np.column_stack(
        [
            np.ones(table.height),
            table["education"],
            experience,
            experience**2,
            table["sex"] == "female",
            table["union"] == "yes",
        ]
    ).astype(float)
    found = np.linalg.lstsq(design, np.log(table["wage"].to_numpy()), rcond=None)[0]
    for effect, wanted in zip(found[1:], (0.098, 0.034, -0.00058, -0.19, 0.14), strict=True):
        assert abs(effect - wanted) < 0.15 * abs(wanted) + 0.005
