"""Compare several schemes on one table before anything is published. Paper: Section 6."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Unpack

from betalike.comparison.search import match
from betalike.engines.local import LocalEngine
from betalike.engines.recipes import with_built
from betalike.errors import InfeasibleError, InputError, ParameterError, short_traceback, suggestion
from betalike.io.arguments import check_one_sensitive, make_schema, missing_is_value
from betalike.io.foreign_tables import SourceOptions, takes_tables
from betalike.io.needed_columns import published_columns
from betalike.io.specification import takes_specification
from betalike.io.tables import Frame, read
from betalike.measures.loss import plan_loss
from betalike.promises import Closeness, Disclosure, DisclosureForLikeness, Form, Likeness, Model, fit
from betalike.promises.distances import earth_movers_distances, natural_ground
from betalike.promises.parameters import choose
from betalike.queries.boxes import Box
from betalike.queries.count_estimate import ClassIndex
from betalike.queries.estimator import open_frame
from betalike.queries.workload import draw_queries, exact_index, run_workload
from betalike.release.publish import Job, Published, publish
from betalike.release.routes import route_of
from betalike.runtime.compilation import watched_compilation
from betalike.runtime.display import Row, Shown
from betalike.runtime.notebook import shows_progress
from betalike.runtime.progress import SILENT, Progress, Stopwatch
from betalike.runtime.randomness import randomness
from betalike.schemes import GENERALIZING, PROMISES, SCHEMES, Scheme, choose_scheme
from betalike.table.axis import HierarchyAxis

DEFAULT_SCHEMES = tuple(scheme for scheme in SCHEMES if scheme != "mondrian")  # with likeness, that is lmondrian
MATCHED_SCHEMES = tuple(scheme for scheme in DEFAULT_SCHEMES if scheme in GENERALIZING)
PARAMETERS = {"t-closeness": "t", "delta-disclosure": "delta"}  # of the others: beta
# Where to search for a parameter that makes two schemes equal.
RANGES = {"beta": (1e-3, 1e3), "delta": (1e-3, 50.0), "t": (1e-4, 1.0)}


class Equal(StrEnum):
    """The figure in which schemes are made equal, to compare the others. Paper: 6.1."""

    T = "t"
    LOSS = "loss"


@dataclass(frozen=True)
class Contest:
    """Which schemes are compared, and how."""

    schemes: tuple[str, ...] = DEFAULT_SCHEMES
    betas: tuple[float, ...] = (4.0,)
    t: float | None = None
    form: Form = Form.ENHANCED
    k: int = 1
    equal: Equal | None = None
    n_queries: int = 1000
    n_predicates: int = 3
    selectivity: float = 0.1
    seed: int | None = None
    made: Mapping[str, Scheme] = field(default_factory=dict)  # by name, the schemes that were given as objects

    def __post_init__(self) -> None:
        for scheme in self.schemes:
            if scheme not in SCHEMES:
                raise ParameterError(
                    f"there is no scheme '{scheme}'. There are: {', '.join(SCHEMES)}.{suggestion(scheme, SCHEMES)}"
                )
        if not self.schemes or not self.betas:
            raise ParameterError("name at least one scheme and one beta.")
        for beta in self.betas:
            Likeness(beta, self.form, self.k)  # refuses an impossible promise
        if self.t is not None:
            Closeness(self.t)
        if parameter_of(self.schemes[0]) == "t" and self.t is None:
            raise ParameterError(
                f"the first scheme is '{self.schemes[0]}', which keeps t-closeness: give its t, such as 0.2, or name a "
                "scheme first that keeps beta-likeness."
            )
        exact = [scheme for scheme in self.schemes if scheme not in GENERALIZING]
        if self.equal is not None and exact:
            raise ParameterError(
                f"'{exact[0]}' publishes quasi-identifiers exactly, so it cannot be made equal in {self.equal} to the "
                "others. Leave it out."
            )


@dataclass(frozen=True)
class SchemeResult:
    """The result of one scheme: `beta` and `t` are the levels reached, `asked` is the parameter it was given.

    If a scheme cannot publish this table as asked, only `refusal` is set and says why.
    """

    scheme: str
    parameter: str
    asked: float | None
    loss: float | None = None
    classes: int | None = None
    smallest_class: int | None = None
    smallest_in_people: int | None = None
    risk_in_people: float | None = None
    guess_in_people: float | None = None
    beta: float | None = None
    enhanced_beta: float | None = None
    t: float | None = None
    l: float | None = None  # noqa: E741 - the name that everybody uses
    delta: float | None = None
    count_error: float | None = None
    seconds: float | None = None
    refusal: str | None = None


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The results: one group for each beta that the first scheme was given."""

    contest: Contest
    n_rows: int
    groups: list[list[SchemeResult]]

    @property
    def results(self) -> list[SchemeResult]:
        """All results in one list."""
        return [compared for group in self.groups for compared in group]

    def _summary(self) -> Row:
        return {"rows": self.n_rows, "reference": self.contest.schemes[0], "releases": len(self.results)}

    def _parts(self) -> list[Row]:
        shown = ("scheme", "parameter", "asked", "loss", "classes", "beta", "t", "count_error", "seconds", "refusal")
        return [{name: getattr(result, name) for name in shown} for result in self.results]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `compare --json`."""
        contest = self.contest
        return {
            "rows": self.n_rows,
            "match": contest.equal,
            "reference": contest.schemes[0],
            "queries": contest.n_queries,
            "predicates": contest.n_predicates,
            "selectivity": contest.selectivity,
            "schemes": [asdict(compared) for compared in self.results],
        }


def name_schemes(given: Sequence[str | Scheme]) -> tuple[tuple[str, ...], dict[str, Scheme]]:
    """Return the names of schemes, and by name those that are given as objects."""
    made = {scheme.name: scheme for scheme in (choose_scheme(s, None, {}) for s in given if not isinstance(s, str))}
    names = tuple(scheme if isinstance(scheme, str) else scheme.name for scheme in given)
    for name in made:
        if names.count(name) > 1:
            raise ParameterError(f"two schemes have the name '{name}'. Compare them one after the other.")
    return names, made


def read_promise(promise: object, beta: float | Sequence[float] | None, k: int, t: float | None) -> dict[str, Any]:
    """Return the betas, form, k and t of a contest, from a promise or from these numbers."""
    if promise is None or isinstance(promise, str):
        betas = (4.0,) if beta is None else tuple(beta) if isinstance(beta, Sequence) else (beta,)
        return {"betas": betas, "form": choose(Form, promise or Form.ENHANCED, "promise"), "k": k, "t": t}
    if beta is not None or t is not None or k != 1:
        name = type(promise).__name__
        raise ParameterError(f"promise is a {name}, and beta, k or t is given as well. Give them to it: {name}(...).")
    if isinstance(promise, Closeness) and promise.ground is None:
        return {"t": promise.t, "k": promise.k}
    if isinstance(promise, Likeness) and promise.is_plain and promise.beta is not None:
        return {"betas": (promise.beta,), "form": Form(promise.form), "k": promise.k}
    raise ParameterError(
        "schemes are compared under Likeness(beta=...), without groups, a width, a cap or a negative_beta, or under "
        "Closeness(t=...) with its natural distances."
    )


def parameter_of(scheme: str) -> str:
    """Return the parameter that a scheme takes: beta, t or delta."""
    return PARAMETERS.get(PROMISES.get(scheme, ("",))[0], "beta")


@short_traceback
@takes_specification()
@shows_progress
@takes_tables("table", needs=published_columns)
def compare(
    table: Frame = None,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: str | None = None,
    spec: str | Path | None = None,
    beta: float | Sequence[float] | None = None,
    schemes: Sequence[str | Scheme] | None = None,
    match: str | None = None,
    promise: str | Model | None = None,
    k: int = 1,
    t: float | None = None,
    hierarchies: str | Path | Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    round: Mapping[str, Any] | None = None,
    bottom: Mapping[str, Any] | None = None,
    top: Mapping[str, Any] | None = None,
    person: str | None = None,
    missing: Sequence[str] = (),
    missing_sensitive: str = "error",
    dates: str | None = None,
    bins: Mapping[str, int] | None = None,
    queries: int = 1000,
    predicates: int | None = None,
    selectivity: float = 0.1,
    delimiter: str | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
    **source: Unpack[SourceOptions],
) -> Comparison:
    """Publish a table with several schemes, in memory, and measure each: loss, classes, what is reached, errors, time.

    Args:
        table: as for `publish`, and so are the other arguments that `publish` has.
        quasi_identifiers: columns that others may know.
        sensitive: the column to protect.
        beta: one, or several to try in turn; 4 by default.
        spec: a specification, as for `publish`.
        schemes: names, or schemes such as Seam(effort=4); by default all but "mondrian". The first is the reference.
        match: "t" or "loss": the other schemes get the parameter with which they come to the reference's t, or loss.
        promise: "enhanced" (by default) or "basic", for the schemes that keep likeness; or a Likeness or
            a Closeness in place of beta, k and t.
        k: least number of rows in a class.
        t: for "tmondrian" and "sabre"; by default what the reference reaches.
        hierarchies: as for `publish`.
        kinds: types of columns where the guess is wrong.
        domains: least and greatest value of a column.
        weights: how much the loss on each quasi-identifier counts.
        round: as for `publish`; "perturb" and "baseline" refuse it.
        bottom: as for `publish`, and so is `top`.
        top: as for `publish`.
        person: as for `publish`; "perturb" and "baseline" refuse it.
        missing: codes that stand for a missing value.
        missing_sensitive: "error", or "value".
        dates: "dmy" or "mdy".
        bins: as for `publish`.
        queries: how many random COUNT queries each release is asked; 0 for none.
        predicates: quasi-identifiers that each query names; by default 3, or all if there are fewer.
        selectivity: expected share of the rows that a query selects.
        delimiter: of a CSV file, where it is not recognized.
        seed: repeatable choices, for experiments only.
        progress: a listener for the progress of the work; by default a bar in notebooks once it takes long.
    """
    check_one_sensitive(sensitive, "compared")
    assert isinstance(sensitive, str)
    equal = None if match is None else choose(Equal, match, "match")
    default = DEFAULT_SCHEMES if equal is None else MATCHED_SCHEMES
    names, made = name_schemes(default if schemes is None else schemes)
    contest = Contest(
        schemes=names,
        **read_promise(promise, beta, k, t),
        equal=equal,
        n_queries=queries,
        n_predicates=min(3, len(quasi_identifiers)) if predicates is None else predicates,
        selectivity=selectivity,
        seed=seed,
        made=made,
    )
    is_value, ends = missing_is_value(missing_sensitive), {"round": round, "bottom": bottom, "top": top}
    hierarchies = with_built(hierarchies, table, quasi_identifiers, sensitive or (), missing, delimiter)
    schema = make_schema(
        quasi_identifiers, sensitive, hierarchies, kinds, domains, weights, (), is_value, ends, person, dates, bins
    )
    return compare_schemes(LocalEngine(read(table, schema, missing, delimiter), schema), contest, progress)


def compare_schemes(engine: LocalEngine, contest: Contest, progress: Progress = SILENT) -> Comparison:
    """Compare schemes on a table; the others are made equal to the first one."""
    comparing = Comparing(engine, contest, Questions(engine, contest))
    turns = [(beta, scheme) for beta in contest.betas for scheme in contest.schemes]
    groups: list[list[SchemeResult]] = []
    for beta, scheme in progress.track(turns, "comparing"):
        if scheme == contest.schemes[0]:
            groups.append([comparing.publish(scheme, comparing.promise(scheme, beta))])
        elif len(groups) == 1 or comparing.depends_on_beta(scheme):
            groups[-1].append(comparing.try_to_publish(scheme, beta, reference=groups[-1][0]))
    return Comparison(contest, engine.count_cells().n_rows, groups)


@dataclass(frozen=True)
class Comparing:
    """A table, and the contest between schemes on it."""

    engine: LocalEngine
    contest: Contest
    questions: Questions

    def depends_on_beta(self, scheme: str) -> bool:
        """Whether another beta gives another release."""
        has_own_t = parameter_of(scheme) == "t" and self.contest.t is not None
        return self.contest.equal is not None or not (scheme == "baseline" or has_own_t)

    def try_to_publish(self, scheme: str, beta: float, reference: SchemeResult) -> SchemeResult:
        """Return the result of a scheme, or why it refuses."""
        try:
            wanted = self.contest.equal
            promise = self.promise(scheme, beta, reference) if wanted is None else self._equal(scheme, reference)
            return self.publish(scheme, promise)
        except (InputError, InfeasibleError) as error:
            return SchemeResult(scheme, parameter_of(scheme), None, refusal=str(error))

    def promise(self, scheme: str, beta: float, reference: SchemeResult | None = None) -> Model:
        """Return the promise that a scheme is given; a t that is not given is the one that the reference reached."""
        contest, parameter = self.contest, parameter_of(scheme)
        if parameter == "t":
            reached = reference.t if reference is not None else None
            return Closeness(contest.t or min(max(reached or 0.0, RANGES["t"][0]), 1.0), k=contest.k)
        if parameter == "delta":
            return DisclosureForLikeness(beta, contest.k)
        return Likeness(beta, contest.form, contest.k)

    def publish(self, scheme: str, promise: Model) -> SchemeResult:
        """Publish in memory, verify and measure; repeat if kernels were compiled, to time the work alone."""
        made = choose_scheme(self.contest.made.get(scheme, scheme), self.contest.seed, {})
        job = Job(made, promise, is_rounded=self.engine.schema.is_rounded)
        compiled: list[bool] = []
        with watched_compilation(lambda progress: compiled.append(True)):
            published, seconds = self._timed(job)
        if compiled:
            published, seconds = self._timed(job)
        promised, audit = published.certificate.promise, published.verified.audit
        people = published.verified.people
        parameter = parameter_of(scheme)
        return SchemeResult(
            scheme=scheme,
            parameter=parameter,
            asked=promised.beta if parameter == "beta" else float(str(promised.parameters[parameter])),
            loss=published.verified.loss.average,
            classes=audit.classes,
            smallest_class=audit.k,
            smallest_in_people=None if people is None else people.verdict.smallest_class,
            risk_in_people=None if people is None else people.risk.prosecutor_average,
            guess_in_people=None if people is None else people.risk.surest_guess,
            beta=audit.basic_beta,
            enhanced_beta=audit.enhanced_beta,
            t=audit.t,
            l=audit.l,
            delta=audit.delta,
            count_error=self.questions.median_error(published),
            seconds=seconds,
        )

    def _timed(self, job: Job) -> tuple[Published, float]:
        watch = Stopwatch()
        published = publish(self.engine, job, watch)
        return published, sum(watch.seconds.values())

    def _equal(self, scheme: str, reference: SchemeResult) -> Model:
        """Find the promise with which a scheme reaches the same t, or the same loss, as the reference. Paper: 6.1."""
        contest, cells = self.contest, self.engine.count_cells()
        makers: dict[str, Callable[[float], Model]] = {
            "beta": lambda beta: Likeness(beta, contest.form, contest.k),
            "delta": lambda delta: Disclosure(delta, contest.k),
            "t": lambda t: Closeness(t, k=contest.k),
        }
        make = makers[parameter_of(scheme)]

        def evaluate(parameter: float) -> tuple[float, Model]:
            model = fit(make(parameter), cells.value_counts, cells.sensitive)
            job = Job(GENERALIZING[scheme](randomness=randomness(contest.seed)), model)
            plan = route_of(self.engine, job).plan(cells, model, SILENT)
            if contest.equal is Equal.LOSS:
                return plan_loss(plan).average, model
            prior, ground = cells.value_counts / cells.n_rows, natural_ground(cells.sensitive)
            return float(earth_movers_distances(plan.class_counts, prior, ground, cells.sensitive).max()), model

        target = reference.loss if contest.equal is Equal.LOSS else reference.t
        return match(target or 0.0, evaluate, *RANGES[parameter_of(scheme)]).result


class Questions:
    """Random COUNT queries, the same for every release of a table. Paper: 6.2."""

    def __init__(self, engine: LocalEngine, contest: Contest) -> None:
        self._engine, self._contest = engine, contest
        cells = engine.count_cells()
        # With the hierarchies, every release has the same columns, and so the same queries.
        self._trees = {axis.name: axis.hierarchy for axis in cells.axes if isinstance(axis, HierarchyAxis)}
        self._queries: list[Box] = []
        self._index: ClassIndex | None = None

    def median_error(self, published: Published) -> float | None:
        """Return the median relative error of a release's answers; None without queries, or if all select nothing."""
        if not self._contest.n_queries:
            return None
        matrix, counts = published.perturbing, published.certificate.prior_counts
        transition = None if matrix is None else matrix.by_label(counts)
        release = open_frame(published.rows, published.certificate, self._trees, transition)
        n_predicates, selectivity = self._contest.n_predicates, self._contest.selectivity
        if self._index is None:
            chance = randomness(self._contest.seed)
            columns, n_queries = release.quasi_identifiers, self._contest.n_queries
            self._queries = draw_queries(columns, release.sensitive, n_queries, n_predicates, selectivity, chance)
            self._index = exact_index(release, self._engine.count_cells(), self._engine.sensitive_labels)
        method = release.choose_method(None)
        result = run_workload(release, self._index, self._queries, method, n_predicates, selectivity)
        return result.median_relative_error
