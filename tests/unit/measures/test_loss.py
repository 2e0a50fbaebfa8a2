"""Information loss of classes and of a whole release. Paper: Eq. 2 to 5."""

from __future__ import annotations

import numpy as np
import pytest

from betalike.measures.loss import average_loss, class_losses
from betalike.table.axis import HierarchyAxis, OrderedAxis
from betalike.table.hierarchy import Hierarchy
from betalike.table.schema import Kind

AXES = (
    OrderedAxis("age", Kind.INTEGER, np.array([20, 25, 40]), (20.0, 40.0)),
    HierarchyAxis("work", Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])),
)


def test_each_class_loses_eq_2_or_eq_3_on_each_attribute() -> None:
    low = np.array([[0, 0], [0, 1], [1, 2]], dtype=np.int32)
    high = np.array([[1, 1], [2, 2], [1, 2]], dtype=np.int32)
    assert class_losses(AXES, low, high).tolist() == [[0.25, 0.5], [1.0, 1.0], [0.0, 0.0]]


def test_the_average_weighs_classes_by_their_tuples_and_attributes_by_their_weight() -> None:
    losses = np.array([[0.25, 0.5], [1.0, 1.0], [0.0, 0.0]])
    loss = average_loss(["age", "work"], losses, np.array([6, 1, 3]), [3.0, 1.0])
    assert loss.per_attribute == pytest.approx({"age": 0.25, "work": 0.4})
    assert loss.average == pytest.approx(0.75 * 0.25 + 0.25 * 0.4)


def test_weights_count_by_their_share_alone() -> None:
    losses, sizes = np.array([[0.2, 0.6], [0.4, 0.0]]), np.array([5, 5])
    one = average_loss(["a", "b"], losses, sizes, [1.0, 2.0])
    assert average_loss(["a", "b"], losses, sizes, [10.0, 20.0]).average == pytest.approx(one.average)
    assert average_loss(["a", "b"], losses, sizes, [0.0, 1.0]).average == pytest.approx(0.3)
