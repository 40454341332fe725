"""Object code in this process: for which processor it is, and how it is loaded."""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import binding

_kept: list[Any] = []  # what the loaded code lives in


@cache
def processor() -> tuple[str, str]:
    """Name the processor, and what it can do beyond the least of its kind."""
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


@cache
def target_machine() -> Any:
    """Give LLVM's description of this machine."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    name, features = processor()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=name, features=features, opt=3, codemodel="jitdefault", jit=True
    )


def loaded(code: bytes, name: str) -> int:
    """Load object code, and give the address of the function of this name.

    Raises LookupError where something that it calls is not there; LLVM would end the process.
    """
    symbols, _, objects = code.partition(b"\n")
    machine = target_machine()
    missing = [each for each in symbols.decode().split() if binding.address_of_symbol(each) is None]
    if missing:
        raise LookupError(f"{name}: not found: {', '.join(missing)}")
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(objects))
    engine.finalize_object()
    _kept.append(engine)
    address: int = engine.get_function_address(name)
    if not address:
        raise LookupError(f"{name}: not in the object code")
    return address
