"""The command that builds, checks and shows hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import betalike
from betalike.cli import options
from betalike.cli.options import Texts, input_argument, input_option, option
from betalike.cli.outcome import print_json, run
from betalike.cli.streams import write_utf8

BUILDERS = ("prefix", "dates", "intervals", "frequency", "groups", "auto")
ACTIONS = (*BUILDERS, "show", "check")


def hierarchy(
    action: Annotated[str, typer.Argument(help=f"A builder ({', '.join(BUILDERS)}), or show, or check.")],
    source: Annotated[str, input_argument("The table; with show and check, a hierarchy file or a folder of them.")],
    column: Annotated[str | None, option("The column to build a hierarchy for.")] = None,
    lengths: Annotated[str | None, option("prefix: how many first characters each level keeps, 3,1.")] = None,
    levels: Annotated[
        str | None, option("dates: some of day, month, quarter, year, decade; by default month,year,decade.")
    ] = None,
    widths: Annotated[str | None, option("intervals: width of the intervals of each level, 5,10.")] = None,
    bottom: Annotated[float | None, option("intervals: numbers up to this one form one group.")] = None,
    top: Annotated[float | None, option("intervals: numbers from this one form one group.")] = None,
    least: Annotated[float | None, option("frequency: fewer rows than this make a value rare; or a share.")] = None,
    groups: Annotated[Path | None, input_option("groups: a CSV file with a label and a value in each line.")] = None,
    by: Annotated[Texts, option("auto: columns to compare rows by, never the sensitive one, a,b.")] = None,
    output: options.Output = None,
    table: Annotated[str | None, input_option("show, check: the table to count rows in, or to check against.")] = None,
    dates: options.Dates = None,
    missing: options.Missing = None,
    sheet: options.Sheet = None,
    labels: options.Labels = False,
    query: options.Query = None,
    table_name: options.TableNameInFull = None,
    delimiter: options.Delimiter = None,
    force: options.ForceFile = False,
    json: options.Json = False,
) -> None:
    """Build the hierarchy of a column from its values, check hierarchy files against a table, or draw one."""
    given = dict(locals())

    def command() -> int:
        from betalike.errors import ParameterError, suggestion

        if action not in ACTIONS:
            raise ParameterError(
                f"the action is '{action}'; it must be one of: {', '.join(ACTIONS)}.{suggestion(action, ACTIONS)}"
            )
        if action == "check":
            return _check(given)
        return _show(given) if action == "show" else _build(given)

    run(command, json, done=None if output is None else f"'{output}' is written")


def _build(given: Mapping[str, Any]) -> int:
    from betalike.errors import ParameterError
    from betalike.io.hierarchies import write_hierarchy
    from betalike.io.input_files import check_not_replaced, input_files

    if given["column"] is None:
        raise ParameterError("--column is missing; name the column to build a hierarchy for.")
    output = given["output"]
    if output is not None:
        check_not_replaced(output, [*input_files(given["source"]), *([given["groups"]] if given["groups"] else [])])
    built = betalike.build_hierarchy(
        given["source"],
        given["column"],
        _recipe(given),
        dates=given["dates"],
        **_reading(given),
    )
    if given["json"]:
        print_json({"column": given["column"], "paths": [list(path) for path in built.paths]})
    if output is not None:
        write_hierarchy(built, output, given["force"])
    elif not given["json"]:
        from betalike.io.hierarchies import hierarchy_text

        write_utf8(hierarchy_text(built))
    return 0


def _reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to read the table."""
    from betalike.cli.arguments import split_list

    named = ("sheet", "labels", "query", "table_name", "delimiter")
    return {"missing": split_list(given["missing"]), **{name: given[name] for name in named}}


def _recipe(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe that the options describe; refuse options of other builders."""
    from betalike.cli.arguments import split_list
    from betalike.errors import ParameterError
    from betalike.io.hierarchies import read_groups
    from betalike.table.hierarchy_recipes import Dates

    action = given["action"]
    options = {
        "prefix": ("lengths",),
        "dates": ("levels",),
        "intervals": ("widths", "bottom", "top"),
        "frequency": ("least",),
        "groups": ("groups",),
        "auto": ("by",),
    }
    for builder, names in options.items():
        for name in names:
            if builder != action and given[name] not in (None, []):
                raise ParameterError(f"--{name} is for the builder '{builder}', not for '{action}'. Leave it out.")
    main = options[action][0]
    if action == "dates" and given[main] is None:
        return {"dates": [level.value for level in Dates().levels]}
    if given[main] in (None, []):
        raise ParameterError(f"--{main} is missing; the builder '{action}' needs it.")
    if action == "groups":
        return {"groups": read_groups(given["groups"])}
    if action == "frequency":
        return {"frequency": given["least"]}
    items = split_list(given["by"] if action == "auto" else [given[main]])
    if action in ("dates", "auto"):
        return {action: items}
    numbers = [_number(f"--{main}", item, int if action == "prefix" else float) for item in items]
    ends = {name: given[name] for name in options[action][1:] if given[name] is not None}
    return {action: numbers, **ends}


def _number(option: str, text: str, kind: type[int] | type[float]) -> int | float:
    from betalike.errors import ParameterError

    try:
        return kind(text)
    except ValueError:
        raise ParameterError(f"{option} has '{text}', which is not a{' whole' * (kind is int)} number.") from None


def _check(given: Mapping[str, Any]) -> int:
    from betalike.errors import ParameterError
    from betalike.report.terminal import show
    from betalike.report.trees import print_check

    if given["table"] is None:
        raise ParameterError("--table is missing; name the table to check the hierarchies against.")
    report = betalike.check_hierarchies(given["source"], given["table"], **_reading(given))
    if given["json"]:
        print_json(report.to_dict())
    else:
        show(print_check, report, is_wide=True)
    return 0 if report.holds else 2


def _show(given: Mapping[str, Any]) -> int:
    from betalike.engines.recipes import count_column
    from betalike.io.hierarchies import read_hierarchy
    from betalike.report.terminal import show
    from betalike.report.trees import print_tree, tree_figures

    file = Path(given["source"])
    shown, counts = read_hierarchy(file), None
    if given["table"] is not None:
        counts = count_column(given["table"], given["column"] or file.stem, **_reading(given))
    if given["json"]:
        print_json(tree_figures(shown, counts))
    else:
        show(print_tree, shown, counts)
    return 0
