"""Publish microdata so that nobody's secret becomes much likelier than it was, and prove it.

    import betalike
    release = betalike.publish(frame, quasi_identifiers=["age", "gender"], sensitive="salary_class", beta=4)

Everything is imported when it is first used, so that `import betalike` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from betalike import attacks, datasets, errors
    from betalike.api import attack, audit, describe, open_release, publish, query, verify, workload
    from betalike.attacks.result import AttackReport, AttackResult
    from betalike.comparison.compare import Comparison, SchemeResult, compare
    from betalike.comparison.exploration import Exploration, explore
    from betalike.engines.hierarchy_check import HierarchyReport, check_hierarchies
    from betalike.engines.recipes import build_hierarchy
    from betalike.io.description import Description
    from betalike.measures.combining import Combined, combine
    from betalike.promises import (
        Anonymity,
        Closeness,
        Disclosure,
        DisclosureForLikeness,
        Diversity,
        Form,
        Ground,
        Likeness,
        Variety,
    )
    from betalike.queries.answer import Answer
    from betalike.queries.release import Release
    from betalike.queries.risk import RiskReport
    from betalike.queries.utility import UtilityReport
    from betalike.queries.workload import WorkloadResult
    from betalike.release.audit import AuditReport
    from betalike.release.verify_folder import VerifyReport
    from betalike.report.page import ReportPage, make_report
    from betalike.runtime.progress import SILENT
    from betalike.schemes import (
        AttributeRule,
        Baseline,
        Burel,
        Mechanism,
        Mondrian,
        Perturbation,
        Redistribution,
        Retrieval,
        Sabre,
        Seam,
        Whole,
    )
    from betalike.table.hierarchy import Hierarchy

__version__ = "0.3.0.dev"
# fmt: off
__all__ = [
    "SILENT", "Anonymity", "Answer", "AttackReport", "AttackResult", "AttributeRule", "AuditReport", "Baseline",
    "Burel", "Closeness", "Combined", "Comparison", "Description", "Disclosure", "DisclosureForLikeness", "Diversity",
    "Exploration", "Form", "Ground", "Hierarchy", "HierarchyReport", "Likeness", "Mechanism", "Mondrian",
    "Perturbation", "Redistribution", "Release", "ReportPage", "Retrieval", "RiskReport", "Sabre", "SchemeResult",
    "Seam", "UtilityReport", "Variety", "VerifyReport", "Whole",
    "WorkloadResult", "__version__", "attack", "attacks", "audit", "build_hierarchy", "check_hierarchies", "combine",
    "compare", "datasets",
    "describe", "errors", "explore", "make_report", "open_release", "publish", "query", "verify", "workload",
]
_PROMISES = ("Anonymity", "Closeness", "Disclosure", "DisclosureForLikeness", "Diversity", "Form", "Ground", "Likeness",
    "Variety")
_SCHEMES = ("AttributeRule", "Baseline", "Burel", "Mechanism", "Mondrian", "Perturbation", "Redistribution",
    "Retrieval", "Sabre", "Seam", "Whole")
# fmt: on
_HOMES = {
    **dict.fromkeys(_PROMISES, "betalike.promises"),
    **dict.fromkeys(_SCHEMES, "betalike.schemes"),
    **dict.fromkeys(("AttackReport", "AttackResult"), "betalike.attacks.result"),
    **dict.fromkeys(("Comparison", "SchemeResult", "compare"), "betalike.comparison.compare"),
    **dict.fromkeys(("Exploration", "explore"), "betalike.comparison.exploration"),
    "Answer": "betalike.queries.answer",
    "AuditReport": "betalike.release.audit",
    "Description": "betalike.io.description",
    "Hierarchy": "betalike.table.hierarchy",
    **dict.fromkeys(("HierarchyReport", "check_hierarchies"), "betalike.engines.hierarchy_check"),
    "build_hierarchy": "betalike.engines.recipes",
    **dict.fromkeys(("Combined", "combine"), "betalike.measures.combining"),
    "Release": "betalike.queries.release",
    **dict.fromkeys(("ReportPage", "make_report"), "betalike.report.page"),
    "SILENT": "betalike.runtime.progress",
    "VerifyReport": "betalike.release.verify_folder",
    "RiskReport": "betalike.queries.risk",
    "UtilityReport": "betalike.queries.utility",
    "WorkloadResult": "betalike.queries.workload",
}

if not TYPE_CHECKING:

    def __getattr__(name):
        """Import what is first asked for; functions are in `betalike.api`."""
        if name in ("attacks", "datasets", "errors"):
            return importlib.import_module(f"betalike.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'betalike' has no attribute {name!r}")
        return getattr(importlib.import_module(_HOMES.get(name, "betalike.api")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
