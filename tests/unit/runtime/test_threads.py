"""Work that is shared out between threads."""

from __future__ import annotations

import threading

import pytest

from betalike.runtime.threads import share_work, split_work


def test_shared_work_comes_back_in_order() -> None:
    assert share_work(lambda a, b: (a, b), range(100), range(100, 200)) == [(n, n + 100) for n in range(100)]


def test_what_fails_in_a_thread_fails_here() -> None:
    with pytest.raises(ZeroDivisionError):
        share_work(lambda n: 1 // n, [1, 0, 1])


@pytest.mark.parametrize(("n_items", "least"), [(0, 1), (1, 1), (7, 3), (1000, 1), (10, 100)])
def test_split_work_covers_every_item_once(n_items: int, least: int) -> None:
    seen: list[int] = []
    lock = threading.Lock()

    def work(first: int, last: int) -> None:
        with lock:
            seen.extend(range(first, last))

    split_work(n_items, work, least)
    assert sorted(seen) == list(range(n_items))
