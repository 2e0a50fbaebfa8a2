"""The steps Publish, Look and Take away: the job, the verdict and the figures, and what to carry off."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from betalike.attacks.catalogue import ATTACKS
from betalike.errors import BetalikeError, CertificateError, FileError
from betalike.promises.verdict import wording_of
from betalike.promises.wording import likeness_sentence
from betalike.release.certificate import read_certificate
from betalike.report.headline import Headline
from betalike.schemes import DEFAULT_SCHEME
from betalike.table.schema import Role
from betalike.web.checks import names_published, problem_with_promise, problem_with_settings
from betalike.web.jobs import MOST_JOBS, PageJob
from betalike.web.pages import (
    CONFLICT,
    SentForm,
    go,
    posted,
    project_of,
    release_folder,
    settings_of,
    show,
    show_job,
    show_step,
    step_path,
)
from betalike.web.project import Project, StaleError, copy_spec, spec_text
from betalike.web.views.made_with import made_with

AUDIENCES = {
    "officer": "for a data protection officer",
    "analyst": "for an analyst who will use it",
    "public": "for the public",
}
ATTACK_WORDS = {
    "naive-bayes": "guesses everybody's value from what the release says about people like them",
    "definetti": "learns from the classes which values go with which people",
    "skewness": "guesses the value that became most likely in a class",
    "similarity": "guesses a group of similar values; needs a hierarchy of the column to protect",
    "minimality": "argues from what the scheme would have done otherwise",
    "corruption": "knows the values of some people in a class already",
    "composition": "combines this release with another one of the same people",
}
QUICK_ATTACKS = ("naive-bayes", "skewness", "composition")
WANTS_NAMES = (
    "nothing is published yet, because this identifies people and would be published as it is: {}. Leave it out in the "
    "step Columns, or tick “I want to publish names”."
)
MOST_GROUPS = 25  # of a distribution
SMALL = 2_000_000  # rows up to which the risk is measured without asking


def show_publish(request: Request, problem: str | None = None, status: int = 200) -> Response:
    """Show what will be published, and the job that does it."""
    project = project_of(request)
    if project.record.spec is None or project.facts is None:
        return go(step_path(project, "open"))
    spec = project.spec
    job = settings_of(request).jobs.last(project, "publish")
    made = None if job is None else made_with(project, job.order.arguments["release"])
    state = "" if job is None else job.outcome.state
    is_past = made is None or bool(made.changes)  # what it says is not of the present settings
    promise = problem_with_promise(project)
    return show_step(
        request,
        "publish",
        problem,
        status,
        scheme=spec.release.scheme or DEFAULT_SCHEME,
        facts=project.facts,
        known=spec.with_role(Role.QUASI_IDENTIFIER),
        sensitive=spec.with_role(Role.SENSITIVE),
        kept=spec.with_role(Role.KEPT),
        person=", ".join(spec.with_role(Role.PERSON)),
        bins=next((spec.columns[name].bins for name in spec.with_role(Role.SENSITIVE)), None),
        k=spec.promise.k or 1,  # type: ignore[attr-defined]  # made from the parameters
        promise="" if promise else _promise_words(project),
        hint=problem_with_settings(project),
        names=names_published(project),
        made=made if state in ("running", "done") else None,
        job=show_job(request, None if is_past and state != "running" else job, _after(project, job)),
        after=_after(project, job),
    )


def _after(project: Project, job: PageJob | None) -> str:
    number = "" if job is None else job.order.arguments["release"]
    return f"{step_path(project, 'look')}?release={number}"


def _promise_words(project: Project) -> str:
    from betalike.web.checks import check_promise

    made = check_promise(project.spec.arguments(project.folder))
    beta = getattr(made, "beta", None)
    sentence = likeness_sentence({"model": made.name, "beta": beta, "parameters": made.parameters}, has_classes=True)
    return sentence or wording_of(made.name, beta, made.k, made.parameters)


@posted
def publish(request: Request, form: SentForm) -> Response:
    """Start to publish, in a process of its own."""
    project, jobs = project_of(request), settings_of(request).jobs
    try:
        with project.changed(form.text("version")) as record:
            running = jobs.last(project, "publish")
            if running is not None and running.outcome.state == "running":
                return go(step_path(project, "publish"))
            problem = problem_with_settings(project)
            names = names_published(project)
            if not problem and names and not form.text("names"):
                problem = WANTS_NAMES.format(", ".join(names))
            if problem:
                raise FileError(problem)
            number = 1 + max((job.order.arguments["release"] for job in jobs.of(project, "publish")), default=0)
            spec = f"release-{number}.toml"
            asked = copy_spec(project.spec)
            asked.release.keep_identifiers = bool(names)  # which was asked for this release alone
            project.write(spec, spec_text(asked, spec).encode())
            (project.folder / "releases").mkdir(mode=0o700, exist_ok=True)
            out = f"releases/{number}"
            exploring = jobs.last(project, "explore")
            if exploring is not None:
                exploring.cancel()  # publishing comes first; the curve goes on at the next visit
            jobs.start(project, "publish", spec=spec, out=out, release=number, writes=[out], names=names)
            record.chosen = number
    except StaleError as error:
        return show_publish(request, str(error), CONFLICT)
    except BetalikeError as error:
        return show_publish(request, str(error))
    return go(step_path(project, "publish"))


def show_running(request: Request) -> Response:
    """Show how far a job is, for the page that asks again and again."""
    project = project_of(request)
    job = settings_of(request).jobs.find(project, request.path_params["number"])
    if job is None:
        raise FileError("there is no such job. Load the page again.")
    asked = request.query_params.get("next", "")
    following = asked if asked.startswith(f"/p/{project.id}/") else ""  # no way to another site
    following = _after(project, job) if job.order.task == "publish" else following
    return show(request, "job.html", project=project, job=show_job(request, job, following))


@posted
def cancel(request: Request, form: SentForm) -> Response:
    """Ask a job to stop."""
    project = project_of(request)
    job = settings_of(request).jobs.find(project, request.path_params["number"])
    if job is not None:
        job.cancel()
    return go(step_path(project, form.text("step") or "publish"))


def releases_of(project: Project, jobs: list[PageJob]) -> list[dict[str, Any]]:
    """Return the releases of a project with their figures, the last first."""
    found = []
    for job in jobs:
        number = job.order.arguments["release"]
        if job.outcome.state != "done":
            continue
        try:
            facts = read_certificate(release_folder(project, number))
        except CertificateError:
            continue
        certificate, headline = facts.to_dict(), Headline.of(facts)
        promise, has_classes = certificate["promise"], facts.release.classes is not None
        found.append(
            {
                "number": number,
                "certificate": certificate,
                "words": wording_of(*(promise[name] for name in ("model", "beta", "k", "parameters"))),
                "sentence": likeness_sentence(promise, has_classes),
                "headline": headline,
                "warnings": [*facts.warnings, *([] if headline.small_classes is None else [headline.small_classes])],
                "result": job.outcome.result,
                "names": job.order.arguments.get("names", []),
            }
        )
    return found


def show_look(request: Request, problem: str | None = None) -> Response:
    """Show a release: verdict, loss, classes, risk, attacks, and the other releases beside it."""
    project, settings = project_of(request), settings_of(request)
    releases = releases_of(project, settings.jobs.of(project, "publish"))
    release = _chosen(request, project, releases)
    if release is None:
        return show_step(request, "look", problem, releases=[], release=None, job=None)
    out = f"releases/{release['number']}"
    rows = release["certificate"]["table"]["rows"]
    has_classes = release["certificate"]["release"]["classes"] is not None
    is_small = has_classes and rows <= SMALL and project.has_table and not settings.is_read_only
    with settings.jobs.lock:
        measuring = _last_for(settings.jobs.of(project, "measure"), out)
        if measuring is None and is_small:
            measuring = settings.jobs.start(project, "measure", out=out)
    attacking = _last_for(settings.jobs.of(project, "attack"), out)
    here = f"{step_path(project, 'look')}?release={release['number']}"
    return show_step(
        request,
        "look",
        problem,
        releases=releases,
        release=release,
        sizes=release["result"].get("sizes", []),
        unit=release["result"].get("unit", "rows"),
        attacks=[*QUICK_ATTACKS, *(name for name in ATTACKS if name not in QUICK_ATTACKS)],
        attack_words=ATTACK_WORDS,
        quick=QUICK_ATTACKS,
        most_groups=MOST_GROUPS,
        measuring=show_job(request, measuring, here),
        attacking=show_job(request, attacking, here),
        made=made_with(project, release["number"]),
        job=None,
    )


def _chosen(request: Request, project: Project, releases: list[dict[str, Any]]) -> dict[str, Any] | None:
    wanted = request.query_params.get("release") or str(project.record.chosen)
    return next((one for one in releases if str(one["number"]) == wanted), releases[0] if releases else None)


def _last_for(jobs: list[PageJob], out: str) -> PageJob | None:
    return next((job for job in jobs if job.order.arguments["out"] == out), None)


@posted
def attack(request: Request, form: SentForm) -> Response:
    """Start the attacks that were chosen."""
    project = project_of(request)
    number = _number(project, form)
    names = [name for name in form.texts("attack") if name in ATTACKS]
    if not names:
        return show_look(request, "no attack is chosen. Choose at least one.")
    settings_of(request).jobs.start(project, "attack", out=f"releases/{number}", attacks=names)
    return go(f"{step_path(project, 'look')}?release={number}#attacks")


def _number(project: Project, form: SentForm) -> int:
    """Return the number of the release that a form names."""
    number = form.whole("release")
    if number is None or not release_folder(project, number).is_dir():
        raise FileError("there is no such release. Load the page again.")
    return number


@posted
def choose(request: Request, form: SentForm) -> Response:
    """Keep one of the releases, to take it away."""
    project = project_of(request)
    number = _number(project, form)
    with project.changed() as record:
        record.chosen = number
    return go(step_path(project, "take-away"))


@posted
def drop(request: Request, form: SentForm) -> Response:
    """Delete one of the releases, with its reports and its specification."""
    project = project_of(request)
    number = _number(project, form)
    shutil.rmtree(release_folder(project, number))
    for path in (project.folder / f"release-{number}.toml", *project.folder.glob(f"report-{number}-*.html")):
        path.unlink(missing_ok=True)
    return go(step_path(project, "look"))


def show_take_away(request: Request) -> Response:
    """Show the files of a release, and how to make it without the page."""
    project = project_of(request)
    releases = releases_of(project, settings_of(request).jobs.of(project, "publish"))
    release = _chosen(request, project, releases)
    if release is None:
        return show_step(request, "take-away", release=None)
    number = release["number"]
    folder = release_folder(project, number)
    here = f"{step_path(project, 'take-away')}?release={number}"
    reports = [
        job for job in settings_of(request).jobs.of(project, "report") if job.order.arguments["release"] == number
    ]
    spec = f"release-{number}.toml"
    names = ("betalike", "publish", "--spec", str(project.folder / spec), "--out", "DIR")
    return show_step(
        request,
        "take-away",
        release=release,
        made=made_with(project, number),
        folder=folder,
        audiences=AUDIENCES,
        reports={job.order.arguments["audience"]: show_job(request, job, here) for job in reversed(reports)},
        files=[(path.name, path.stat().st_size) for path in sorted(folder.iterdir()) if path.is_file()],
        spec_text=(project.folder / spec).read_text(encoding="utf-8"),
        command=" ".join(map(shlex.quote, names)),
        is_on_server=project.is_on_server,
        code=f'import betalike\n\nrelease = betalike.publish(spec={str(project.folder / spec)!r}, out="DIR")\n',
    )


@posted
def report(request: Request, form: SentForm) -> Response:
    """Start to write a report for an audience."""
    project, audience = project_of(request), form.text("audience")
    number = _number(project, form)
    if audience not in AUDIENCES:
        raise FileError("there is no such audience.")
    asked = {"out": f"releases/{number}", "file": f"report-{number}-{audience}.html", "audience": audience}
    settings_of(request).jobs.start(project, "report", release=number, **asked)
    return go(f"{step_path(project, 'take-away')}?release={number}")


def download(request: Request) -> Response:
    """Send a file of a release, its specification, or everything as a zip file."""
    project, number, name = project_of(request), request.path_params["number"], request.path_params["name"]
    folder = release_folder(project, number)
    if number > MOST_JOBS or not folder.is_dir():
        raise FileError("there is no such release.")
    written = project.folder / f"report-{number}-{name.removeprefix('report-').removesuffix('.html')}.html"
    if name.removeprefix("report-").removesuffix(".html") in AUDIENCES and written.is_file():
        return FileResponse(written, filename=name, media_type="application/octet-stream")
    if name == "release.toml":
        text = project.portable_spec(number, has_hierarchies=False)
        return Response(
            text, media_type="application/toml", headers={"content-disposition": f"attachment; filename={name}"}
        )
    files = {path.name: path for path in folder.rglob("*") if path.is_file()}
    if name == "release.zip":
        named = {f"release/{path.relative_to(folder)}": path for path in files.values()}
        trees = {file: project.folder / file for file in project.hierarchy_files(number)}
        packed = _pack(project.folder, {**named, **trees}, project.portable_spec(number, has_hierarchies=True))
        return FileResponse(packed, filename=f"{project.id}-{number}.zip", background=BackgroundTask(packed.unlink))
    if name not in files:
        raise FileError("there is no such file in the release.")
    return FileResponse(files[name], filename=name, media_type="application/octet-stream")


def _pack(folder: Path, files: dict[str, Path], spec: str) -> Path:
    """Write a zip file of files and a specification into the private folder of the project."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".zip", delete=False) as staged:
        try:
            with zipfile.ZipFile(staged, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
                for name, path in files.items():
                    packed.write(path, name)
                packed.writestr("release.toml", spec)
        except BaseException:
            Path(staged.name).unlink()
            raise
        return Path(staged.name)


ROUTES = [
    Route("/p/{project}/publish", show_publish),
    Route("/p/{project}/publish", publish, methods=["POST"]),
    Route("/p/{project}/jobs/{number:int}", show_running),
    Route("/p/{project}/jobs/{number:int}/cancel", cancel, methods=["POST"]),
    Route("/p/{project}/look", show_look),
    Route("/p/{project}/look/attack", attack, methods=["POST"]),
    Route("/p/{project}/look/choose", choose, methods=["POST"]),
    Route("/p/{project}/look/drop", drop, methods=["POST"]),
    Route("/p/{project}/take-away", show_take_away),
    Route("/p/{project}/take-away/report", report, methods=["POST"]),
    Route("/p/{project}/download/{number:int}/{name}", download),
]
