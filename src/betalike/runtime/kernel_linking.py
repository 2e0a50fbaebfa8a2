"""Large kernels are linked to the kernels that call them, instead of being copied into them.

Numba copies the code of every called kernel into its caller, so that it may be inlined, and optimizes it all again, at
each level of calls. A kernel that is too large to be inlined gains nothing from that. It is compiled once, and its
callers refer to it by name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import binding

Key = tuple[str, str, bool]  # the module, the name, and whether it can be called from Python
LARGEST_COPIED = 200  # instructions; LLVM inlines functions up to about this size


class Linked(NamedTuple):
    """A compiled kernel that callers refer to. Holding it keeps its code in memory for as long as they may call it."""

    kernel: Any
    signature: Any
    compiled: Any


class Need(NamedTuple):
    """What a stored kernel refers to: the name of the code, and how to get it."""

    symbol: str
    kernel: Key
    signature: Any


_kernels: dict[Key, Any] = {}
_linked: dict[str, Linked] = {}


def register(kernel: Any) -> None:
    """Remember a kernel by its name, so that stored callers find it."""
    _kernels[_key(kernel)] = kernel


def _key(kernel: Any) -> Key:
    return kernel.__module__, kernel.__qualname__, "no_cpython_wrapper" not in kernel.targetoptions


def is_large(compiled: Any) -> bool:
    """Whether a compiled kernel is too large to be inlined."""
    lines = str(compiled.library.get_function(compiled.fndesc.llvm_func_name)).splitlines()
    return sum(line.startswith("  ") for line in lines) > LARGEST_COPIED  # one line for each instruction


def leave_nothing_to_copy(compiled: Any) -> None:
    """Give callers of a compiled kernel an empty module in place of its code; they have its declaration already."""
    module = compiled.library._final_module
    header = f'target datalayout = "{module.data_layout}"\ntarget triple = "{module.triple}"\n'
    compiled.library._shared_module = binding.parse_assembly(header)


def offer(kernel: Any, signature: Any, compiled: Any) -> None:
    """Let callers that are compiled or loaded from now on refer to this kernel."""
    _linked[compiled.fndesc.llvm_func_name] = Linked(kernel, signature, compiled)


def find_defined(compiled: Any) -> tuple[str, ...]:
    """List the functions and values that the code of a compiled kernel defines."""
    module = compiled.library._final_module
    values = (*module.functions, *module.global_variables)
    return tuple(value.name for value in values if not value.is_declaration)


def declare_defined(names: tuple[str, ...], target_context: Any) -> None:
    """Let Numba know what stored code will define; it would otherwise look into the module that was left empty."""
    target_context.codegen()._engine._defined_symbols.update(names)


def find_needs(compiled: Any) -> tuple[Need, ...]:
    """List the linked kernels that a compiled kernel refers to."""
    names = [function.name for function in compiled.library._final_module.functions if function.is_declaration]
    found = [(name, _linked[name]) for name in names if name in _linked]
    return tuple(Need(name, _key(linked.kernel), linked.signature) for name, linked in found)


def provide(needs: tuple[Need, ...]) -> bool:
    """Load all that a stored kernel refers to; False if one of them now has another name, as it was compiled again."""
    for need in needs:
        kernel = _kernels.get(need.kernel)
        if kernel is None:
            return False
        kernel.compile(need.signature)
        if need.symbol not in _linked:
            return False
    return True


def find_outside(compiled: Any) -> tuple[str, ...]:
    """List the functions and values of Numba, Python and C that a compiled kernel refers to."""
    module = compiled.library._final_module
    names = [value.name for value in (*module.functions, *module.global_variables) if value.is_declaration]
    return tuple(name for name in names if name not in _linked and not name.startswith("llvm."))


def is_there(names: tuple[str, ...]) -> bool:
    """Return whether this process knows all of these functions and values."""
    return all(binding.address_of_symbol(name) for name in names)
