"""A description of a table on a terminal: guesses with their reasons, and how well columns identify rows."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from betalike.io.description import ColumnGuess, Description
from betalike.io.guesses.identification import EXACT_ROWS, Identification
from betalike.io.guesses.meanings import Meaning
from betalike.report.figures import draw_bar, figure_table, percent, width_of
from betalike.table.schema import Role

BAR_WIDTH = 10


def print_description(console: Console, description: Description) -> None:
    """Print the guesses, the reasons, how well columns identify rows, and what to check."""
    width, is_plain = width_of(console), console.options.ascii_only
    console.print(Text(f"{description.rows:,} rows, {len(description.columns)} columns", style="bold"))
    has_missing = any(column.missing for column in description.columns)
    headings = ["distinct", *(["missing"] if has_missing else []), "unique %", "separates %", ""]
    table = figure_table(["column", "type", "guess"], headings)
    for column in description.columns:
        guess = Text(str(column.meaning), style="bold" if column.role is Role.SENSITIVE else "")
        counts = [column.distinct, *([column.missing] if has_missing else [])]
        shares = (
            percent(_unique(column)),
            percent(column.separation),
            draw_bar(column.separation, BAR_WIDTH, is_plain),
        )
        table.add_row(Text(column.name), str(column.kind), guess, *(f"{count:,}" for count in counts), *shares)
    console.print(table, width=width)
    for column in description.columns:
        reasons = f"{column.role_reason}; {column.kind_reason.partition(';')[0]}"
        console.print(Text.assemble((column.name, "bold"), f" ({column.role}): {reasons}"), width=width)
    if description.combinations:
        console.print(Text("\nColumns that identify rows together", style="bold"))
        table = figure_table(["columns"], ["distinct", "separates %", "unique %", ""])
        for found in description.combinations:
            names = (
                ", ".join(found.columns) if len(found.columns) <= 3 else f"all {len(found.columns)} that others know"
            )
            figures = (f"{found.distinct:,}", percent(found.separation), percent(_unique(found)))
            table.add_row(Text(names), *figures, draw_bar(_unique(found), BAR_WIDTH, is_plain))
        console.print(table, width=width)
    for sentence in _notes(description):
        console.print(Text(sentence), width=width)


def _unique(found: ColumnGuess | Identification) -> float:
    """Return the share of people who are unique; of rows, unless people were counted."""
    return found.unique if found.unique_people is None else found.unique_people


def _notes(description: Description) -> Iterator[str]:
    are_people = any(column.unique_people is not None for column in description.columns)
    unique = "people who have values that nobody else has" if are_people else "rows that no other row equals"
    yield f"Unique: share of {unique}. Separates: share of pairs of rows that differ."
    if description.is_estimated:
        yield f"Figures are estimates: the table has more than {EXACT_ROWS:,} rows."
    private = [column.name for column in description.columns if column.meaning is Meaning.COULD_BE_SENSITIVE]
    if len(private) > 1:
        main = [column.name for column in description.columns if column.role is Role.SENSITIVE]
        yield f"Could be sensitive: {', '.join(private)}. Only {', '.join(main)} gets the role; check this."
    for column in description.columns:
        if column.cost is not None and column.role is Role.SENSITIVE:
            yield f"{column.name}: {column.cost.wording}."
