"""Slow and obvious twins of the query estimators: row by row, value by value, with fractions where nothing rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

Value = int | str | None
Labels = Sequence[str | None]


class Numbers:
    """A column of whole numbers of a domain; `*` stands for all of them and for missing ones."""

    def __init__(self, low: int, high: int) -> None:
        self.domain = range(low, high + 1)

    def covered(self, label: str | None) -> set[Value]:
        if label is None:
            return {None}
        if label == "*":
            return {None, *self.domain}
        ends = [int(end) for end in label.strip("[]").split(", ")]
        return set(range(ends[0], ends[-1] + 1))

    def uniform(self, label: str | None) -> dict[Value, Fraction]:
        present = self.covered(label) - {None}
        missing = Fraction(int(None in self.covered(label)), 2 if present else 1)
        shares: dict[Value, Fraction] = {value: (1 - missing) / len(present) for value in present}
        return shares | ({None: missing} if missing else {})

    def ends(self, label: str | None) -> list[Value]:
        """Values that a class with this label surely has: the two ends of a range."""
        covered = self.covered(label)
        return sorted(covered)[:: len(covered) - 1] if None not in covered and len(covered) > 1 else []  # type: ignore[type-var]

    def density(self, labels: Labels, rounds: int, classes: Labels) -> dict[str | None, dict[Value, float]]:
        shares = {label: {v: float(s) for v, s in self.uniform(label).items()} for label in set(labels)}
        n_rows, n_classes = Counter(labels), Counter(classes)
        for _ in range(rounds):
            mass: Counter[Value] = Counter()
            for label, share in shares.items():
                at_ends = min(n_classes[label], n_rows[label] / 2) if self.ends(label) else 0
                for value in self.ends(label):
                    mass[value] += at_ends  # type: ignore[assignment]
                for value, part in share.items():
                    mass[value] += part * (n_rows[label] - 2 * at_ends)  # type: ignore[assignment]
            for share in shares.values():
                present = [value for value in share if value is not None]
                total = sum(mass[value] for value in present)
                for value in present:
                    share[value] = (1 - share.get(None, 0.0)) * mass[value] / total
        return shares


class Tree:
    """A column of names: `paths` has a row for each leaf, from the leaf up to `*`."""

    def __init__(self, paths: Sequence[Sequence[str]], has_missing: bool) -> None:
        self.paths, self.has_missing = paths, has_missing

    def covered(self, label: str | None) -> set[Value]:
        if label is None:
            return {None}
        leaves: set[Value] = {path[0] for path in self.paths if label in path}
        return leaves | ({None} if label == "*" and self.has_missing else set())

    def uniform(self, label: str | None) -> dict[Value, Fraction]:
        return {value: Fraction(1, len(self.covered(label))) for value in self.covered(label)}

    def child(self, label: str | None, leaf: Value) -> set[Value]:
        """What lies under the same child of a node as a leaf: the largest set of leaves below the node's own."""
        path = next((path for path in self.paths if path[0] == leaf), [leaf])
        below = [self.covered(node) for node in path if node != "*"]
        return max((leaves for leaves in below if leaves < self.covered(label)), key=len, default={leaf})

    def ends(self, label: str | None) -> list[Value]:
        """Values that a class with this label surely has: none is known."""
        return []

    def density(self, labels: Labels, rounds: int, classes: Labels) -> dict[str | None, dict[Value, float]]:
        shares = {label: {v: float(s) for v, s in self.uniform(label).items()} for label in set(labels)}
        for _ in range(rounds):
            mass: Counter[Value] = Counter()
            for label in labels:
                mass.update(shares[label])
            for label, share in shares.items():
                if len(share) < 2:
                    continue
                total = sum(mass[value] for value in share)
                pairs = {
                    value: mass[value] * (total - sum(mass[other] for other in self.child(label, value)))
                    for value in share
                }
                shares[label] = {value: pair / sum(pairs.values()) for value, pair in pairs.items()}
        return shares


Column = Numbers | Tree
Query = Mapping[str, set[Value]]


def count(
    rows: Sequence[Mapping[str, str | None]],
    columns: Mapping[str, Column],
    sensitive: str,
    query: Query,
    rounds: int | None = None,
) -> tuple[float | Fraction, int, int]:
    """The estimate, and how many rows are surely and possibly meant; uniform shares without `rounds`."""
    shares: dict[str, Mapping[str | None, Mapping[Value, float | Fraction]]] = {}
    sizes = Counter(tuple(row[name] for name in columns) for row in rows)  # rows with the same labels are a class
    for axis, (name, column) in enumerate(columns.items()):
        labels = [row[name] for row in rows]
        shares[name] = (
            {label: column.uniform(label) for label in set(labels)}
            if rounds is None
            else column.density(labels, rounds, [ec[axis] for ec in sizes])
        )
    estimate: float | Fraction = Fraction(0)
    surely = possibly = 0
    for row in rows:
        if sensitive in query and row[sensitive] not in query[sensitive]:
            continue
        asked = [name for name in columns if name in query]
        covered = {name: columns[name].covered(row[name]) for name in asked}
        surely += all(covered[name] <= query[name] for name in asked)
        possibly += all(covered[name] & query[name] for name in asked)
        part: float | Fraction = Fraction(1)
        size = sizes[tuple(row[name] for name in columns)]
        for name in asked:
            share = sum((s for v, s in shares[name][row[name]].items() if v in query[name]), Fraction(0))
            ends = columns[name].ends(row[name]) if rounds is not None else []
            if ends:
                at_ends = 2 / max(size, 2)
                share = (1 - at_ends) * share + at_ends * sum(value in query[name] for value in ends) / 2
            part *= share
        estimate += part
    return estimate, surely, possibly


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """The solution x of `matrix` x = `right`, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def reconstruct(transition: Sequence[Sequence[Fraction]], observed: Sequence[int]) -> list[Fraction]:
    """The paper's N' = PM^-1 E'; row i of the transition tells what the original value i becomes."""
    published = [list(column) for column in zip(*transition, strict=True)]
    return solve(published, [Fraction(n) for n in observed])
