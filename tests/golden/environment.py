"""What digests depend on beside the source: the processor, Python, and the libraries that compute or write files."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

from llvmlite import binding

LIBRARIES = ("numpy", "numba", "llvmlite", "polars", "xlsxwriter", "pyreadstat", "pyspark")


def environment() -> dict[str, str]:
    """Return the environment that digests are made in. Kernels that sum floats may choose otherwise in another one."""
    features = sorted(name for name, is_there in binding.get_host_cpu_features().items() if is_there)
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {
        "processor": f"{platform.machine()} {binding.get_host_cpu_name()}",
        "features": " ".join(features),
        "python": ".".join(map(str, sys.version_info[:2])),
        **versions,
    }
