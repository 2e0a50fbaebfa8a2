"""The step Promise: beta and what it means for the values of this table, k, the scheme, and wider promises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from betalike.engines.value_binning import bin_counts
from betalike.errors import BetalikeError, ParameterError
from betalike.io.specification import Specification
from betalike.promises.likeness import posterior_cap
from betalike.promises.parameters import PARAMETERS, check_parameter
from betalike.promises.wording import likeness_sentence
from betalike.schemes import DEFAULT_SCHEME, SCHEMES, promises_of
from betalike.table.schema import Attribute, DateOrder, Kind, Role
from betalike.web.checks import problem_with_columns, problem_with_promise, problem_with_settings, problem_with_size
from betalike.web.curve import BETAS, curve_name, curve_of, draw_curve
from betalike.web.pages import (
    CONFLICT,
    SHOWN,
    SentForm,
    go,
    posted,
    project_of,
    settings_of,
    show,
    show_job,
    show_step,
    step_path,
)
from betalike.web.project import Project, StaleError, copy_spec, spec_text

MOST_VALUES = 12
LONGEST_K = 15  # digits
NO_VALUE = "(no value)"
SLIDER = (0.5, 8)
TYPED = ("beta", "k")  # fields that are answered while somebody types
LEAST_ROWS = 3  # values of fewer rows are counted, not named
WIDER = tuple(name for name, one in PARAMETERS.items() if one.is_in_files and name not in ("beta", "k", "promise"))
SCHEME_WORDS = {
    "seam": "seam: loses least",
    "whole": "whole: reveals least to readers who know the program",
    "burel": "burel: the paper's",
    "burel+split": "burel+split: the paper's, with smaller classes",
    "lmondrian": "lmondrian: fast, cuts at medians",
    "dmondrian": "dmondrian: delta-disclosure",
    "tmondrian": "tmondrian: t-closeness",
    "mondrian": "mondrian: any promise",
    "sabre": "sabre: t-closeness",
    "perturb": "perturb: replaces sensitive values at random, others stay exact",
    "baseline": "baseline: publishes only the distribution of the sensitive column",
}


FORMATS = {"csv": "CSV", "parquet": "Parquet", "xlsx": "Excel", "sav": "SPSS", "dta": "Stata"}


def show_promise(
    request: Request, problem: str | None = None, status: int = 200, form: SentForm | None = None
) -> Response:
    """Show the promise, what it means, and what it costs; after a problem, with what was typed into the form."""
    project = project_of(request)
    spec = project.record.spec
    if spec is None or project.facts is None:
        return go(step_path(project, "open"))
    jobs = settings_of(request).jobs
    promise, typed = msgspec.structs.asdict(spec.promise), form or saved_fields(spec)
    answers = _answers(project, typed)
    with jobs.lock:
        job, known = jobs.last(project, "explore"), curve_of(project)
        is_whole = known is not None and len(known["points"]) == known["of"]
        is_wanted = (
            meaning(project, spec) is not None
            and problem_with_columns(project) is None
            and not settings_of(request).is_read_only
        )
        if is_wanted and not is_whole:
            job = _explore(request, project)
    return show_step(
        request,
        "promise",
        problem,
        status,
        typed=typed,
        slider=SLIDER,
        at=f"{round(min(max(promise['beta'] or 4, SLIDER[0]), SLIDER[1]), 1):g}",  # as a browser writes it
        wider=[(name, PARAMETERS[name].help, PARAMETERS[name].type is bool) for name in WIDER],
        is_wide=any(typed.text(name) for name in WIDER) or typed.text("promise") not in ("", "enhanced"),
        formats=FORMATS,
        promises=PARAMETERS["promise"].range.words,
        schemes={name: SCHEME_WORDS.get(name, name) for name in SCHEMES},
        hint=problem_with_settings(project),
        **answers,
        curve=_curve(project, promise),
        job=show_job(request, job, ""),
    )


def saved_fields(spec: Specification) -> SentForm:
    """Return the fields of the form as they would be sent if nothing was changed."""
    texts = {name: _text(value) for name, value in msgspec.structs.asdict(spec.promise).items()}
    texts |= {"k": texts["k"] or "1", "scheme": spec.release.scheme or DEFAULT_SCHEME}
    texts["format"] = _text(spec.release.format)
    return SentForm({name: [text] for name, text in texts.items()})


def _text(value: Any) -> str:
    if value is None or value is False:
        return ""
    return ", ".join(value) if isinstance(value, list) else f"{value:.15g}" if isinstance(value, float) else str(value)


def _answers(project: Project, form: SentForm) -> dict[str, Any]:
    """Return what a beta that was typed means, and what is wrong with it and with the k, before anything is saved."""
    spec, wrong = copy_spec(project.spec), dict[str, str | None]()
    spec.promise.k, wrong["k"] = _read("k", form)  # type: ignore[attr-defined]  # made from the parameters
    spec.promise.beta, wrong["beta"] = _read("beta", form)  # type: ignore[attr-defined]
    wrong["k"] = wrong["k"] or problem_with_size(project, spec)
    wrong["beta"] = wrong["beta"] or problem_with_promise(project, spec)
    return {"meaning": None if wrong["beta"] else meaning(project, spec), "wrong": wrong}


def _read(name: str, form: SentForm) -> tuple[Any, str | None]:
    """Return a parameter that was typed, or what is wrong with it."""
    try:
        value = _parameter(name, form)
        if value is not None:
            check_parameter(name, value)
    except BetalikeError as error:
        return None, str(error)
    return value, None


def meaning(project: Project, spec: Specification) -> dict[str, Any] | None:
    """Return the sentence of a promise and the caps of the table's own values; None for a promise without a beta."""
    promise = msgspec.structs.asdict(spec.promise)
    beta, form = promise["beta"], promise["promise"] or promises_of(spec.release.scheme or DEFAULT_SCHEME)[0]
    if beta is None or not 0 < beta < math.inf or form not in ("enhanced", "basic"):
        return None
    sensitive = project.spec.with_role(Role.SENSITIVE)
    counts = _counts(project, sensitive[0]) if sensitive else {}
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = [item for item in ranked if item[1] >= LEAST_ROWS]
    shown = named if len(named) <= MOST_VALUES else [*named[: MOST_VALUES // 2], *named[-MOST_VALUES // 2 :]]
    total = max(sum(counts.values()), 1)
    priors = np.array([count / total for _, count in shown])
    caps = np.minimum(posterior_cap(priors, beta, form), 1.0) if shown else priors
    described = {"beta": beta, "model": f"{form}-likeness", "parameters": {"negative_beta": promise["negative_beta"]}}
    return {
        "sentence": likeness_sentence(described, has_classes=True),
        "form": form,
        "reach": beyond_reach(beta, form, _rarest(project, sensitive)),
        "column": sensitive[0] if sensitive else None,
        "bins": project.spec.columns[sensitive[0]].bins if sensitive else None,
        "values": [
            {"value": value, "share": float(prior), "cap": float(cap)}
            for (value, _), prior, cap in zip(shown, priors, caps, strict=True)
        ],
        "others": len(counts) - len(shown),
    }


def _rarest(project: Project, sensitive: Sequence[str]) -> float:
    """Return the share of the rarest sensitive value; that of one row, where values are not counted."""
    known = [_counts(project, name) for name in sensitive]
    shares = [min(counts.values()) / sum(counts.values()) for counts in known if counts]
    rows = 1 if project.facts is None else project.facts.rows
    return min(shares) if shares and all(known) else 1 / rows


def beyond_reach(beta: float, form: str, rarest: float) -> str | None:
    """Say so if a beta is so large that a larger one changes nothing, where the rarest value has this share."""
    reach = -math.log(rarest) if form == "enhanced" else 1 / rarest - 1
    if beta <= reach:
        return None
    most = f"{math.ceil(100 * reach) / 100:,g}"
    if form == "enhanced":
        return f"in this table no value can gain more than {most} anyway, so every beta above that promises the same"
    return f"in this table a beta above {most} limits nothing: every value may fill a whole class"


def _counts(project: Project, name: str) -> dict[str, int]:
    """Return the rows of each value of a column as it is published: of ranges, where it is put into them."""
    counts, column, facts = project.counts.get(name) or {}, project.spec.columns[name], project.facts
    if not counts or facts is None:
        return {}
    n_missing = facts.rows - sum(counts.values()) if column.missing == "value" else 0
    if column.bins is not None and column.type is not None:
        try:
            order = None if project.spec.release.dates is None else DateOrder(project.spec.release.dates)
            kind = Kind(column.type)
            counts = bin_counts(counts, Attribute(name, Role.SENSITIVE, kind=kind, dates=order, bins=column.bins))
        except BetalikeError:  # the page of the columns says what is wrong
            return {}
    return {**counts, NO_VALUE: n_missing} if n_missing > 0 else counts


def show_meaning(request: Request) -> Response:
    """Show what a beta means, and what is wrong with it or with k, while they are typed."""
    project = project_of(request)
    typed = {name: request.query_params.getlist(name) or saved_fields(project.spec).texts(name) for name in TYPED}
    return show(request, "answers.html", project=project, **_answers(project, SentForm(typed)))


def show_curve(request: Request) -> Response:
    """Show the curve as far as it is known."""
    project = project_of(request)
    job = settings_of(request).jobs.last(project, "explore")
    promise = msgspec.structs.asdict(project.spec.promise)
    return show(request, "curve.html", curve=_curve(project, promise), job=show_job(request, job, ""), project=project)


def _curve(project: Project, promise: Mapping[str, Any]) -> dict[str, Any] | None:
    known = curve_of(project)
    return None if known is None else draw_curve(known["points"], promise["beta"], known["of"])


def _explore(request: Request, project: Project) -> Any:
    """Start to measure the loss for several betas, unless a job does that."""
    jobs, name = settings_of(request).jobs, curve_name(project)
    job = jobs.last(project, "explore")
    is_same = job is not None and job.order.arguments["curve"] == name
    if job is not None and is_same and job.outcome.state in ("running", "failed"):
        return job
    if job is not None:
        job.cancel()
    spec = copy_spec(project.spec)
    spec.promise.beta = None  # type: ignore[attr-defined]  # made from the parameters
    spec.release.keep_identifiers = True  # what is measured is published nowhere
    file = name.replace(".json", ".toml")
    project.write(file, spec_text(spec, file).encode())
    return jobs.start(project, "explore", spec=file, betas=list(BETAS), curve=name)


@posted
def change_promise(request: Request, form: SentForm) -> Response:
    """Take the promise of the form."""
    project = project_of(request)
    try:
        project.edit(form.text("version"), lambda spec: _changed(spec, form))
    except StaleError as error:
        return show_promise(request, str(error), CONFLICT)
    except BetalikeError as error:
        return show_promise(request, str(error), form=form)
    has_problem = problem_with_settings(project)
    is_next = form.text("go") == "next" and not has_problem
    return go(step_path(project, "publish" if is_next else "promise"))


def _changed(spec: Specification, form: SentForm) -> Specification:
    values: dict[str, Any] = {name: _parameter(name, form) for name in ("beta", "k", *WIDER)}
    values["name"] = form.text("promise") or None
    spec.promise = msgspec.convert(
        {name: value for name, value in values.items() if value is not None}, type(spec.promise)
    )
    spec.release.scheme = form.text("scheme") or DEFAULT_SCHEME
    spec.release.format = form.text("format") if form.text("format") in FORMATS else None
    return spec


def _parameter(name: str, form: SentForm) -> Any:
    """Return the value of a promise's parameter as a form gives it; None if it does not."""
    parameter, text = PARAMETERS[name], form.text(name)
    if not text:
        return None
    if parameter.type is bool:
        return True
    if parameter.type == list[str]:
        return form.listed(name)
    if parameter.type is str or text in parameter.range.words:
        return text
    if name == "k" and not (text.removeprefix("-").isdecimal() and len(text) <= LONGEST_K):
        raise ParameterError(f"k is '{text[:SHOWN]}'; it must be a whole number, such as 5, of digits alone.")
    return int(text) if name == "k" else form.number(name, name)


ROUTES = [
    Route("/p/{project}/promise", show_promise),
    Route("/p/{project}/promise", change_promise, methods=["POST"]),
    Route("/p/{project}/promise/meaning", show_meaning),
    Route("/p/{project}/promise/curve", show_curve),
]
