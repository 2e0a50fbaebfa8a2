"""Losses of boxes: the same whether ranges are listed or computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from betalike.measures.loss import class_losses
from betalike.schemes.spans import box_loss, joint_loss_up_to, list_spans, span_loss, widen_box
from seam_tables import random_cells, wide_cells


@given(seed=st.integers(0, 10**6), is_listed=st.booleans())
def test_boxes_lose_what_the_axes_say(seed: int, is_listed: bool) -> None:
    cells = random_cells(seed)
    spans = list_spans(cells, most_listed=512 if is_listed else 0)
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, [axis.size for axis in cells.axes], (4, len(cells.axes))).astype(np.int32)
    boxes = [np.sort(corners[pair], axis=0) for pair in ([0, 1], [2, 3])]
    weights = np.array(cells.weights) / sum(cells.weights)
    for low, high in boxes:
        expected = class_losses(cells.axes, low[None], high[None])[0] @ weights
        assert box_loss(spans, low, high) == pytest.approx(expected, abs=1e-12)
    (low, high), (other_low, other_high) = boxes
    lows, highs = np.array([low, other_low]), np.array([high, other_high])
    joint, cut_short = (joint_loss_up_to(spans, lows, highs, 0, 1, most) for most in (2.0, 0.1))
    widen_box(low, high, other_low, other_high)
    assert (low == corners.min(axis=0)).all()
    assert (high == corners.max(axis=0)).all()
    assert joint == pytest.approx(box_loss(spans, low, high), abs=1e-12)
    assert cut_short == joint or 0.1 < cut_short <= joint


def test_only_axes_with_few_codes_are_listed() -> None:
    spans = list_spans(wide_cells(1))
    assert (spans.offset >= 0).tolist() == [False, True]
    assert len(spans.listed) == 401**2
    assert span_loss(spans, 0, 0, 900) == pytest.approx(0.5)  # with a missing value, all is lost
