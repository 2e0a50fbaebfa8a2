"""From the text of a predicate, or of a whole SELECT COUNT(*), to boxes that do not overlap.

SQL's rule for missing values holds: a comparison with one is neither true nor false, so neither `age < 30` nor
`NOT age < 30` selects a row without an age; `age IS NULL` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from betalike.errors import QueryError, suggestion
from betalike.queries.boxes import Box, intersect, unite
from betalike.queries.columns import Column, Comparison, Literal
from betalike.queries.values import ValueSet

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

SHOWN = 60
SUPPORTED = "=, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, AND, OR and NOT on columns and constants"
_START = "SELECT COUNT(*) FROM release WHERE "
_CLAUSES = {"expressions", "from", "from_", "where"}


def parse(text: str, columns: Mapping[str, Column]) -> list[Box]:
    """The boxes of a predicate; their counts add up to the predicate's."""
    condition = _condition(text)
    if condition is None:
        return [{}]
    try:
        return _Reader(columns).read(condition, is_negated=False)
    except RecursionError as error:
        raise QueryError("the predicate is nested too deeply; ask in several queries.") from error


def _condition(text: str) -> Expr | None:
    """What stands after WHERE; None if nothing does."""
    import sqlglot
    from sqlglot import expressions as sql
    from sqlglot.errors import SqlglotError

    is_whole = re.match(r"\s*select\b", text, flags=re.IGNORECASE) is not None
    if not text.strip():
        raise QueryError("the predicate is empty; write one such as: age BETWEEN 30 AND 40.")
    try:
        statements = sqlglot.parse(text if is_whole else _START + text)
    except (SqlglotError, RecursionError) as error:
        raise QueryError(f"the predicate cannot be read{_place(error)}. Is it SQL, such as: age >= 30?") from None
    if len(statements) != 1 or not isinstance(statements[0], sql.Select):
        raise QueryError(f"'{_shown(text)}' is not one predicate or one SELECT COUNT(*) FROM ... WHERE ....")
    select = statements[0]
    for name, clause in select.args.items():
        if clause and name not in _CLAUSES:
            first = clause[0] if isinstance(clause, list) else clause
            raise QueryError(f"'{_piece(first)}' is not supported: only SELECT COUNT(*) FROM ... WHERE ... is.")
    counted = [item.unalias() for item in select.expressions]
    if len(counted) != 1 or not isinstance(counted[0], sql.Count) or not isinstance(counted[0].this, sql.Star):
        shown = ", ".join(_piece(item) for item in select.expressions)
        raise QueryError(f"'SELECT {shown}' is not supported: only SELECT COUNT(*) is.")
    source = select.args.get("from_") or select.args.get("from")
    if source is not None and not isinstance(source.this, sql.Table):
        raise QueryError(f"'{_piece(source)}' is not supported: name one table; any name stands for the release.")
    where = select.args.get("where")
    return None if where is None else where.this


def _place(error: Exception) -> str:
    """Where the parser stopped, in the words of the text."""
    errors = getattr(error, "errors", None)
    if not errors:
        return ""
    before = str(errors[0].get("start_context", "")).removeprefix(_START)
    return f" near '{_shown(before[-SHOWN // 2 :] + str(errors[0].get('highlight', '')))}'"


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[:SHOWN] + " ..."


def _piece(node: object) -> str:
    from sqlglot.expressions import Expr

    return _shown(node.sql(comments=False) if isinstance(node, Expr) else str(node))


class _Reader:
    """Walks through a parsed predicate; NOT is pushed down to the comparisons."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        from sqlglot import expressions as sql

        self.columns = columns
        self.comparisons: dict[type[Expr], tuple[Comparison, bool]] = {
            sql.EQ: (Comparison.EQUAL, False),
            sql.NEQ: (Comparison.EQUAL, True),
            sql.LT: (Comparison.LESS, False),
            sql.LTE: (Comparison.AT_MOST, False),
            sql.GT: (Comparison.GREATER, False),
            sql.GTE: (Comparison.AT_LEAST, False),
        }

    def read(self, node: Expr, is_negated: bool) -> list[Box]:
        """The boxes where a predicate is true, or, negated, where it is false."""
        from sqlglot import expressions as sql

        if isinstance(node, sql.Paren):
            return self.read(node.this, is_negated)
        if isinstance(node, sql.Not):
            return self.read(node.this, not is_negated)
        if isinstance(node, sql.And | sql.Or):
            parts = (self.read(part, is_negated) for part in node.flatten())
            return reduce(unite if isinstance(node, sql.Or) is not is_negated else intersect, parts)
        if isinstance(node, sql.Boolean):
            return [{}] if bool(node.this) is not is_negated else []
        name, values = self._read_comparison(node, is_negated)
        return [] if values.is_empty else [{name: values}]

    def _read_comparison(self, node: Expr, is_negated: bool) -> tuple[str, ValueSet]:
        from sqlglot import expressions as sql

        if isinstance(node, sql.Is) and isinstance(node.expression, sql.Null):
            column = self._column(node.this, node)
            present = ValueSet.present(column.is_discrete)
            return column.name, present if is_negated else present.complement()
        if isinstance(node, sql.Between) and not node.args.get("symmetric"):
            column = self._column(node.this, node)
            low, high = (self._literal(node.args[end], node) for end in ("low", "high"))
            values = column.compare(Comparison.AT_LEAST, low) & column.compare(Comparison.AT_MOST, high)
        elif isinstance(node, sql.In) and node.expressions:
            column = self._column(node.this, node)
            sets = [column.compare(Comparison.EQUAL, self._literal(item, node)) for item in node.expressions]
            values = ValueSet.of((span for one in sets for span in one.spans), column.is_discrete)
        elif type(node) in self.comparisons:
            comparison, is_not = self.comparisons[type(node)]
            left, right = node.this, node.expression
            if not isinstance(left, sql.Column) and isinstance(right, sql.Column):
                left, right, comparison = right, left, _TURNED.get(comparison, comparison)
            column = self._column(left, node)
            values = column.compare(comparison, self._literal(right, node))
            is_negated = is_negated is not is_not
        else:
            raise QueryError(f"'{_piece(node)}' is not supported; there is: {SUPPORTED}.")
        present = ValueSet.present(column.is_discrete)
        return column.name, values.complement() & present if is_negated else values

    def _column(self, node: Expr, piece: Expr) -> Column:
        from sqlglot import expressions as sql

        if not isinstance(node, sql.Column):
            raise QueryError(f"in '{_piece(piece)}': '{_piece(node)}' is not a column. There is: {SUPPORTED}.")
        if node.name in self.columns:
            return self.columns[node.name]
        alike = [name for name in self.columns if name.lower() == node.name.lower()]
        if len(alike) == 1:  # SQL does not tell capitals from small letters
            return self.columns[alike[0]]
        raise QueryError(
            f"in '{_piece(piece)}': the release answers for no column '{_shown(node.name)}'. It has: "
            f"{', '.join(self.columns)}.{suggestion(node.name, self.columns)}"
        )

    def _literal(self, node: Expr, piece: Expr) -> Literal:
        from sqlglot import expressions as sql

        sign = ""
        while isinstance(node, sql.Neg | sql.Paren):
            sign = ("" if sign else "-") if isinstance(node, sql.Neg) else sign
            node = node.this
        is_cast_text = isinstance(node, sql.Cast) and isinstance(node.this, sql.Literal) and node.this.is_string
        if is_cast_text and node.args["to"].this.name in ("DATE", "TIMESTAMP", "DATETIME"):
            node = node.this
        if isinstance(node, sql.Literal) and not (sign and node.is_string):
            return Literal(sign + str(node.this), not node.is_string, _piece(piece))
        if isinstance(node, sql.Boolean) and not sign:
            return Literal("true" if node.this else "false", False, _piece(piece))
        hint = " Use IS NULL." if isinstance(node, sql.Null) else ""
        raise QueryError(f"in '{_piece(piece)}': '{_piece(node)}' is not a number or a text.{hint}")


_TURNED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.GREATER: Comparison.LESS,
    Comparison.AT_LEAST: Comparison.AT_MOST,
}
