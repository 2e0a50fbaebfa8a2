"""Releases, audits and verifications on a terminal: the promise, the loss, the classes, the files."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from betalike.promises.verdict import wording_of
from betalike.promises.wording import likeness_sentence, surest_guess, times_as_likely
from betalike.report.figures import draw_bar
from betalike.report.headline import Headline

if TYPE_CHECKING:
    from betalike.io.column_types import TypeGuess
    from betalike.queries.release import Release
    from betalike.release.audit import AuditReport
    from betalike.release.verify_folder import VerifyReport

BLOCKS, PLAIN_BLOCKS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
BAR_WIDTH = 24
WIDEST = 88
TEXT_WIDTH = 76  # of sentences, to fit into the frame on a terminal of 80 columns


def print_release(console: Console, release: Release) -> None:
    """Print the summary of a published release."""
    certificate, verified, headline = release.certificate, release.verified, Headline.of(release.facts)
    sizes = None if verified is None or verified.classes is None else verified.classes.sizes
    parts = _summary_parts(certificate, headline, release.worst_value, sizes, console.options.ascii_only)
    if release.types:
        parts += [Text(), _types_text(release.types)]
    if release.folder is not None:
        parts_of = Counter(name.split("/")[0] for name in certificate["files"])
        shown = [name if n == 1 else f"{name} ({n} files)" for name, n in parts_of.items()]
        files = ", ".join([*shown, "certificate.json"])
        parts += [Text(), Text.assemble(("Files    ", "bold"), f"{release.folder}: {files}")]
    if release.engine is not None:
        reason = f"{' ' * 9}{release.engine.name}: {release.engine.reason}"
        filled = textwrap.fill(reason, TEXT_WIDTH, subsequent_indent=" " * 9)
        parts.append(Text.assemble(("Engine   ", "bold"), filled.strip()))
    _print_summary(console, certificate, headline, parts, "published")


def _print_summary(
    console: Console, certificate: Mapping[str, Any], headline: Headline, parts: list[RenderableType], done: str
) -> None:
    """Print the parts of a summary in a frame, and the warnings."""
    warnings = [*certificate["warnings"], *([] if headline.small_classes is None else [headline.small_classes])]
    parts += [Text(f"{warning[0].upper()}{warning[1:]}.", style="yellow") for warning in warnings]
    title = f"{certificate['release']['rows']:,} rows {done} with {certificate['scheme']['name']}"
    style = "green" if certificate["promise"]["holds"] else "red"
    console.print(Panel(Group(*parts), title=Text(title), border_style=style, width=min(console.width, WIDEST)))


def _summary_parts(
    certificate: Mapping[str, Any],
    headline: Headline,
    worst_value: str | None,
    sizes: NDArray[np.int64] | None,
    is_plain: bool,
) -> list[RenderableType]:
    """Return what a release promises, loses and risks, from its certificate."""
    promise, facts, also = certificate["promise"], certificate["release"], certificate["also"]
    has_classes = facts["classes"] is not None
    parts: list[RenderableType] = [_promise_text(promise, worst_value, has_classes, headline.surest_words)]
    if certificate["people"] is not None:
        parts.append(_people_text(certificate["people"]))
    parts.append(Text())
    if not has_classes:
        return [*parts, _exact_text(certificate["scheme"], also)]
    parts += [_loss_table(facts["loss"], facts["average_loss"], is_plain), Text()]
    return [*parts, _class_text(facts, also, sizes, is_plain), _risk_text(facts)]


def _risk_text(release: Mapping[str, Any]) -> Text:
    """Describe how surely a person's row is found."""
    most, average = 1 / release["smallest_class"], release["classes"] / release["rows"]
    return Text.assemble(
        ("Risk     ", "bold"),
        f"of finding a person's row: {100 * average:.2f} % on average, at most {100 * most:.2f} %",
    )


def print_rows(console: Console, title: str, columns: Mapping[str, Sequence[object]]) -> None:
    """Print a few rows of a table."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for name in columns:
        table.add_column(Text(name))
    for row in zip(*columns.values(), strict=True):
        table.add_row(*("" if cell is None else Text(str(cell)) for cell in row))
    console.print(table)


def _promise_text(promise: Mapping[str, Any], worst_value: str | None, has_classes: bool, guess: str) -> Text:
    worst = "worst class" if has_classes else "worst case"
    kept = ("kept", "bold green") if promise["holds"] else ("NOT KEPT", "bold red")
    words = wording_of(*(promise[name] for name in ("model", "beta", "k", "parameters")))
    text = Text.assemble(("Promise  ", "bold"), words, ": ", kept)
    sentence = likeness_sentence(promise, has_classes)
    if sentence is not None:
        text.append("\n" + textwrap.fill(sentence, TEXT_WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 9))
    is_named = worst_value is not None and promise["beta"] is not None and not promise["parameters"]
    about = f"limit for the value {worst_value}" if is_named else "limit"
    text.append(f"\n         {worst}: {100 * promise['worst_ratio']:.1f} % of the {about}")
    gain = promise["worst_gain"]
    text.append(f"\n         largest gain {gain:.3f}, which is {times_as_likely(gain)}")
    return text.append(f"\n         {guess}")


def _people_text(people: Mapping[str, Any]) -> Text:
    """Describe what was counted in people."""
    least, gain = people["smallest_class"], people["worst_gain"]
    words = f"{people['people']:,}; the smallest class has {least:,} people; largest gain {gain:.3f}"
    text = Text.assemble(("People   ", "bold"), words)
    if (risk := people["risk"]) is not None:
        average, greatest = (f"{100 * risk[f'prosecutor_{name}']:.2f} %" for name in ("average", "maximum"))
        text.append(f"\n         risk of finding a person: {average} on average, at most {greatest}")
    return text


def _exact_text(scheme: Mapping[str, Any], also: Mapping[str, Any]) -> Text:
    """Describe the columns of a release without classes."""
    details = scheme["details"]
    text = Text.assemble(("Columns  ", "bold"), "quasi-identifiers as they are, without loss\n         ")
    if "rule" not in details:
        return text.append("the sensitive column left out, its distribution in a separate file")
    if details["rule"] == "sets":
        text.append(f"each row names {details['fewest_values']} to {details['most_values']} sensitive values,\n")
        text.append(f"         the true one among them in {100 * details['named_share']:.1f} % of rows\n")
        return text.append(f"         also: l = {also['l']:.1f}, t = {also['t']:.3f} ({also['t_ground']})")
    low, high = (100 * details[name] for name in ("least_retention", "greatest_retention"))
    text.append(f"sensitive values kept in {100 * details['kept_share']:.1f} % of rows, else replaced at random\n")
    text.append(f"         (each in {low:.1f} to {high:.1f} % of its rows; rule: {details['rule']})\n")
    return text.append(f"         also: l = {also['l']:.1f}, t = {also['t']:.3f} ({also['t_ground']})")


def _loss_table(loss: Mapping[str, float], average: float, is_plain: bool) -> Table:
    table = Table.grid(padding=(0, 1))
    for name, value in loss.items():
        head = "" if table.row_count else "Loss"
        table.add_row(
            Text(head, style="bold"), "   ", Text(name), draw_bar(value, BAR_WIDTH, is_plain), f"{100 * value:5.1f} %"
        )
    percent = Text(f"{100 * average:5.1f} %", style="bold")
    table.add_row("", "", Text("average", style="bold"), draw_bar(average, BAR_WIDTH, is_plain), percent)
    return table


def _types_text(types: Mapping[str, TypeGuess]) -> Text:
    """Say what each quasi-identifier was taken for, and why."""
    taken: dict[str, list[str]] = {}
    for name, guess in types.items():
        is_named = guess.reason in ("declared", "it has a hierarchy")
        taken.setdefault(f"{guess.kind}, {guess.reason}" if is_named else guess.reason, []).append(name)
    lines = [textwrap.fill(f"{', '.join(names)}: {words}", TEXT_WIDTH - 9) for words, names in taken.items()]
    shown = textwrap.indent("\n".join(lines), " " * 9)
    return Text.assemble(("Types    ", "bold"), shown.lstrip())


def _class_text(
    release: Mapping[str, Any], also: Mapping[str, Any], sizes: NDArray[np.int64] | None, is_plain: bool
) -> Text:
    text = Text.assemble(("Classes  ", "bold"), f"{release['classes']:,}")
    if sizes is not None:
        median = f"{np.median(sizes):,.1f}".removesuffix(".0")
        text.append(f", of {sizes.min():,} to {sizes.max():,} rows (median {median})  ")
        text.append(_histogram(sizes, PLAIN_BLOCKS if is_plain else BLOCKS), style="cyan")
    text.append(f"\n         also: k = {also['k']:,}, l = {also['l']:.1f}, t = {also['t']:.3f} ({also['t_ground']})")
    return text


def _histogram(sizes: NDArray[np.int64], blocks: str, bins: int = 16) -> str:
    """Draw how many classes have which size, on a logarithmic axis, as a line of blocks."""
    if sizes.min() == sizes.max():
        return ""
    counts, _ = np.histogram(np.log(sizes), bins=bins)
    heights = np.ceil(counts / counts.max() * (len(blocks) - 1)).astype(int)
    return "".join(blocks[height] for height in heights)


def print_audit(console: Console, report: AuditReport) -> None:
    """Print the measures of a published table."""
    audited = report.to_dict()
    table = Table(show_header=False, box=None, padding=(0, 2))

    def line(name: str, value: str, meaning: str) -> None:
        table.add_row(Text(name, style="bold"), value, Text(meaning, style="bright_black"))

    def level(value: float | None, none: str) -> str:
        return none if value is None else f"{value:.4g}"

    line("rows", f"{audited['rows']:,}", f"in {audited['classes']:,} classes")
    line("k", f"{audited['k']:,}", "rows in the smallest class")
    line("distinct l", f"{audited['distinct_l']:,}", "fewest sensitive values in a class")
    guess = surest_guess(audited["l"], has_classes=True)
    line("l", f"{audited['l']:.3g}", f"{guess} (average l {audited['average_l']:.3g})")
    grounds = ", ".join(f"{ground} {value:.3f}" for ground, value in audited["t_by_ground"].items())
    line("t", f"{audited['t']:.3f}", f"farthest class from the table ({grounds})")
    divergence = f"{audited['jensen_shannon']:.3f} / {level(audited['kullback_leibler'], 'infinite')}"
    line("JS / KL", divergence, "greatest divergence of a class from the table, in bits")
    gain = audited["basic_beta"]
    times = "" if gain is None else f": {times_as_likely(gain)}"
    line("basic beta", level(gain, "none holds"), f"largest relative gain on a value{times}")
    line("enhanced beta", level(audited["enhanced_beta"], "none holds"), "the same, if every gain is below -ln p")
    line("delta", level(audited["delta"], "infinite"), "delta-disclosure; infinite where a class lacks a value")
    recursive = level(audited["recursive_c"], "no")
    line(
        "entropy l",
        f"{audited['entropy_l']:.3g}",
        f"recursive: any c above {recursive} with l {audited['distinct_l']:,}",
    )
    risk = audited["risk"]
    line(
        "prosecutor risk",
        f"{risk['prosecutor_maximum']:.2%}",
        f"the greatest; {risk['prosecutor_average']:.2%} on average",
    )
    if risk["journalist_maximum"] is not None:
        average = f"{risk['journalist_average']:.2%} on average"
        line("journalist risk", f"{risk['journalist_maximum']:.2%}", f"the greatest; {average}")
    above = ", ".join(f"{share:.1%} above {threshold}" for threshold, share in risk["above"].items())
    line("rows at risk", f"{risk['unique']:.1%}", f"alone in their class; {above}")
    if (people := audited["people"]) is not None:
        counted = f"k is {people['k']:,} people; largest gain {level(people['basic_beta'], 'infinite')}"
        line("people", f"{people['people']:,}", counted)
        found = people["risk"]
        average = f"the greatest; {found['prosecutor_average']:.2%} on average; {found['unique']:.1%} alone in a class"
        line("risk in people", f"{found['prosecutor_maximum']:.2%}", average)
    worst = audited["worst"]
    shares = f"{worst['p']:.3%} -> {worst['q']:.3%}"
    line("worst", shares, f"value {worst['value']} in a class of {worst['size']:,} rows")
    console.print(table)
    for warning in audited["warnings"]:
        console.print(f"Warning: {warning}", style="yellow", markup=False)
    if audited["promise"] is not None:
        verdict = Text("kept", style="bold green") if audited["holds"] else Text("NOT KEPT", style="bold red")
        console.print(Text(f"Promise {audited['promise']}: ").append(verdict))


def print_checks(console: Console, report: VerifyReport) -> None:
    """Print each check of a release folder, and what was verified."""
    checked = report.to_dict()
    for name, passed in checked["checks"].items():
        mark = Text("ok    ", style="green") if passed else Text("FAILED", style="bold red")
        console.print(mark.append(f"  {name}", style="default"))
    for explanation in checked["explanations"]:
        console.print(explanation, style="red", markup=False)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, words in _verified_lines(checked["verified"], bool(checked["holds"])):
        table.add_row(Text(name, style="bold"), Text(words))
    if checked["not_checked"]:
        table.add_row(Text("not checked", style="bold"), Text(", ".join(checked["not_checked"])))
    if not checked["holds"] or report.certificate is None:
        console.print(Text("\nThe certificate says, but it could NOT be verified:", style="bold red"))
        console.print(table)
        return
    certificate, headline = report.certificate.to_dict(), Headline.of(report.certificate)
    parts = _summary_parts(certificate, headline, None, None, console.options.ascii_only)
    _print_summary(console, certificate, headline, [*parts, Text(), table], "verified, published")


def _verified_lines(verified: Mapping[str, Any], is_summarized: bool) -> Iterator[tuple[str, str]]:
    """Yield what a receiver should know about a release, line by line; less if a summary says the rest."""
    if not is_summarized:
        classes = "no classes" if verified["classes"] is None else f"{verified['classes']:,} classes"
        yield "promise", verified["promise"]
        yield "scheme", f"{verified['scheme']}: {verified['rows']:,} rows, {classes}"
        yield "average loss", f"{100 * verified['average_loss']:.2f} %"
    yield "quasi-identifiers", ", ".join(verified["quasi_identifiers"])
    yield "sensitive", ", ".join(verified["sensitive"])
    yield "kept, unprotected", ", ".join(verified["kept"]) or "none"
    yield "randomness", "SEEDED: for experiments, not for release" if verified["seeded"] else "operating system"
    yield "signature", verified["signature"]
