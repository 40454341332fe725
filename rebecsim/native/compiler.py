# mypy: disable-error-code="untyped-decorator"
"""Make object code of functions with Numba; it runs without Numba.

A function and those that it calls become one module of LLVM's, which is optimised as a whole. Only
public parts of Numba and llvmlite are used: `cfunc`, `numba.extending` and `llvmlite.binding`.

Arrays are `Cells` here: an address and a shape. Numba's own arrays take a negative index from the
end, as Python does, and count who refers to them. Loops over small arrays take twice as long so.

Importing this imports Numba, which takes half a second; `rebecsim.native.cache` does so only for
what is not on disk.
"""

from __future__ import annotations

import ctypes
import operator
import re
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import count
from types import CellType, FunctionType
from typing import Any

from llvmlite import binding, ir
from numba import cfunc, config as numba_config, core, extending

from rebecsim.native.arrays import (
    Fields,
    Kind,
    Leaf,
    Signature,
    call,
    copied,
    pick,
    prefetch,
    room,
    rows,
)
from rebecsim.native.machine import target_machine
from rebecsim.native.operations import real, split_product

_WORD = ir.IntType(64)
_SOMEWHERE = ctypes.cast(ctypes.pythonapi.PyErr_Occurred, ctypes.c_void_p).value
"""An address for what is linked later; LLVM knows names of C only once something was compiled."""

# They have no annotations.
types: Any = core.types
cgutils: Any = core.cgutils
api: Any = extending
config: Any = numba_config
intrinsic: Any = api.intrinsic


class Cells(types.Type):  # type: ignore[misc]
    """The type of an array in compiled code."""

    def __init__(self, element: Any, dimensions: int) -> None:
        self.element, self.dimensions = element, dimensions
        super().__init__(name=f"Cells({element}, {dimensions})")


@api.register_model(Cells)
class _CellsModel(api.models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Cells) -> None:
        shape = types.UniTuple(types.intp, kind.dimensions)
        super().__init__(manager, kind, [("data", types.CPointer(kind.element)), ("shape", shape)])


api.make_attribute_wrapper(Cells, "shape", "shape")


def _typer(context: Any) -> Callable[..., Any]:
    def typer(cells: Any, index: Any) -> Any:
        if not isinstance(cells, Cells):
            return None
        given = index.count if isinstance(index, types.BaseTuple) else 1
        left = cells.dimensions - given
        return Cells(cells.element, left) if left else cells.element

    return typer


api.type_callable(operator.getitem)(_typer)


@api.type_callable(operator.setitem)
def _set_typer(context: Any) -> Callable[..., Any]:
    def typer(cells: Any, index: Any, value: Any) -> Any:
        return types.void if isinstance(cells, Cells) else None

    return typer


@api.type_callable(len)
def _len_typer(context: Any) -> Callable[..., Any]:
    def typer(cells: Any) -> Any:
        return types.intp if isinstance(cells, Cells) else None

    return typer


@api.lower_builtin(len, Cells)
def _len(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    made = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
    return builder.extract_value(made.shape, 0)


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> tuple[Any, list[Any]]:
    """Give the address that indices lead to, and the dimensions that they leave."""
    kind, index = signature.args[:2]
    made = cgutils.create_struct_proxy(kind)(context, builder, arguments[0])
    indices = [arguments[1]]
    kinds = [index]
    if isinstance(index, types.BaseTuple):
        indices, kinds = cgutils.unpack_tuple(builder, arguments[1]), list(index.types)
    shape = cgutils.unpack_tuple(builder, made.shape)
    place = None
    for dimension, size in enumerate(shape):
        if dimension:
            place = builder.mul(place, size)
        if dimension < len(indices):
            own = context.cast(builder, indices[dimension], kinds[dimension], types.intp)
            place = own if place is None else builder.add(place, own)
    return builder.gep(made.data, [place]), shape[len(indices) :]


@api.lower_builtin(operator.getitem, Cells, types.Integer)
@api.lower_builtin(operator.getitem, Cells, types.BaseTuple)
def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    pointer, left = _place(context, builder, signature, arguments)
    if left:
        return _made(context, builder, signature.return_type, pointer, left)
    return context.unpack_value(builder, signature.return_type, pointer)


@api.lower_builtin(operator.setitem, Cells, types.Integer, types.Any)
@api.lower_builtin(operator.setitem, Cells, types.BaseTuple, types.Any)
def _set(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    pointer, _ = _place(context, builder, signature, arguments)
    cells, _, kind = signature.args
    value = context.cast(builder, arguments[2], kind, cells.element)
    context.pack_value(builder, cells.element, value, pointer)
    return context.get_dummy_value()


def _made(context: Any, builder: Any, kind: Cells, pointer: Any, shape: list[Any]) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.data = pointer
    made.shape = cgutils.pack_array(builder, shape)
    return made._getvalue()


@intrinsic
def _view(typing: Any, element: Any, address: Any, shape: Any) -> Any:
    """Give the array of this shape at an address."""
    kind = Cells(element.instance_type, shape.count)

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.get_value_type(types.CPointer(kind.element))
        sizes = cgutils.unpack_tuple(builder, arguments[2])
        return _made(context, builder, kind, builder.inttoptr(arguments[1], data), sizes)

    return kind(element, address, shape), lower


@intrinsic(prefer_literal=True)
def _room(typing: Any, element: Any, shape: Any) -> Any:
    """Make an array of zeros that lasts until the function ends."""
    kind = Cells(element.instance_type, getattr(shape, "count", 1))

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.get_data_type(kind.element)
        if isinstance(shape, types.IntegerLiteral):  # also in a loop there is one then
            sizes = [_WORD(shape.literal_value)]
            pointer = cgutils.alloca_once(builder, data, size=sizes[0])
        else:
            sizes = [arguments[1]]
            kinds = [shape]
            if isinstance(shape, types.BaseTuple):
                sizes, kinds = cgutils.unpack_tuple(builder, arguments[1]), list(shape.types)
            sizes = [
                context.cast(builder, size, own, types.intp)
                for size, own in zip(sizes, kinds, strict=True)
            ]
            pointer = builder.alloca(data, size=_product(builder, sizes))
        width = _WORD(context.get_abi_sizeof(data))
        cgutils.memset(builder, pointer, _product(builder, [*sizes, width]), 0)
        return _made(context, builder, kind, pointer, sizes)

    return kind(element, shape), lower


def _product(builder: Any, sizes: list[Any]) -> Any:
    return reduce(builder.mul, sizes)


@intrinsic(prefer_literal=True)
def _copied(typing: Any, cells: Any, first: Any, length: Any) -> Any:
    """Copy a part of an array; also in a loop there is one copy, as its length is written."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, _ = _place(context, builder, signature, arguments)
        data = context.get_data_type(cells.element)
        size = _WORD(length.literal_value)
        made = cgutils.alloca_once(builder, data, size=size)
        cgutils.raw_memcpy(builder, made, pointer, size, context.get_abi_sizeof(data))
        return _made(context, builder, cells, made, [size])

    return cells(cells, first, length), lower


@intrinsic
def _rows(typing: Any, table: Any, first: Any, count: Any) -> Any:
    """Give so many rows of an array, from the first on."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, left = _place(context, builder, signature, arguments)
        return _made(context, builder, table, pointer, [arguments[2], *left])

    return table(table, types.intp, types.intp), lower


@intrinsic
def _prefetch(typing: Any, table: Any, row: Any) -> Any:
    """Let the processor fetch the begin of a row; a row that is not there does no harm."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, _ = _place(context, builder, signature, arguments)
        byte, flag = cgutils.voidptr_t, ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, near, data = flag(0), flag(3), flag(1)
        builder.call(function, [builder.bitcast(pointer, byte), to_read, near, data])
        return context.get_dummy_value()

    return types.void(table, row), lower


@intrinsic
def _pick(typing: Any, values: Any, place: Any) -> Any:
    """Give one of some values; Numba would raise an error for a place that is none of theirs."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = cgutils.pack_array(builder, cgutils.unpack_tuple(builder, arguments[0]))
        made = cgutils.alloca_once_value(builder, array)
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)
        return builder.load(cgutils.gep(builder, made, 0, place))

    return values.dtype(values, place), lower


@intrinsic
def _call(typing: Any, step: Any, given: Any) -> Any:
    """Call the object code at an address; it reads the words of its arguments from an array."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = []
        values = cgutils.unpack_tuple(builder, arguments[1])
        for kind, value in zip(given.types, values, strict=True):
            if isinstance(kind, Cells):
                made = cgutils.create_struct_proxy(kind)(context, builder, value)
                words.append(builder.ptrtoint(made.data, _WORD))
                words += cgutils.unpack_tuple(builder, made.shape)
            else:
                words.append(context.cast(builder, value, kind, types.int64))
        array = cgutils.alloca_once(builder, _WORD, size=_WORD(len(words)))
        for place, word in enumerate(words):
            builder.store(word, builder.gep(array, [_WORD(place)]))
        called = ir.FunctionType(ir.VoidType(), [_WORD])
        function = builder.inttoptr(arguments[0], called.as_pointer())
        builder.call(function, [builder.ptrtoint(array, _WORD)])
        return context.get_dummy_value()

    return types.void(step, given), lower


@intrinsic
def _wide_product(typing: Any, a: Any, b: Any) -> Any:
    """Multiply by the one instruction that processors have for it, as `split_product` does."""
    signature = types.UniTuple(types.uint64, 2)(types.uint64, types.uint64)

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        a, b = (builder.zext(each, wide) for each in arguments)
        both = builder.mul(a, b)
        high = builder.lshr(both, ir.Constant(wide, 64))
        words = [builder.trunc(each, _WORD) for each in (high, both)]
        return cgutils.pack_array(builder, words)

    return signature, lower


_IN_PLACE: dict[Any, Any] = {
    room: _room,
    rows: _rows,
    copied: _copied,
    pick: _pick,
    prefetch: _prefetch,
    call: _call,
    split_product: _wide_product,
}
"""What stands in compiled code in the place of functions of Python."""


def _numba_type(kind: Kind | None) -> Any:
    if kind is None:
        return types.void
    if isinstance(kind, Fields):
        return types.BaseTuple.from_types([_numba_type(each) for each in kind.parts], kind.owner)
    if kind.element == "step":
        return types.int64
    element = types.boolean if kind.element == "bool" else getattr(types, kind.element)
    return Cells(element, kind.dimensions) if kind.dimensions else element


def _part(made: Any) -> Any:
    """Give what stands for a function in those that call it; compile it by itself if need be."""
    if made.part is None:
        made.part = made  # an attribute may have the name of the function, which is no call
        kind = _numba_type(made.signature.result)(*map(_numba_type, made.signature.arguments))
        made.code = made.kept_code()
        if made.code is None or not _is_code(made.code):
            function = made.function
            copy = FunctionType(
                function.__code__,
                function.__globals__ | {name: _for_numba(each) for name, each in made.referred()},
                function.__name__,
                function.__defaults__,
                tuple(
                    CellType(_for_numba(each.cell_contents)) for each in function.__closure__ or ()
                ),
            )
            made.code = _module(kind, copy, made.symbol)
            made.keep_code(made.code)
        # Numba makes machine code of each caller, which is not used; this is enough for it.
        binding.add_symbol(made.symbol, _SOMEWHERE)
        made.part = _external(kind, made.symbol)
    return made.part


def _is_code(found: bytes) -> bool:
    try:
        binding.parse_bitcode(found)
    except RuntimeError:
        return False
    return True


def _module(kind: Any, function: Any, symbol: str) -> bytes:
    """Give LLVM's code of a function, in which only this symbol can be called."""
    usual = config.OPT
    # What it becomes a part of is optimised as a whole; doing so with each part costs much more.
    config.OPT = type(usual)(1)
    try:
        callback = cfunc(kind, error_model="numpy")(function)
    finally:
        config.OPT = usual
    # Numba keeps apart the function and the shell in which it catches what the function raises.
    module = binding.parse_assembly(re.sub(r"\bnoinline\b", "nounwind", callback.inspect_llvm()))
    for each in (*module.functions, *module.global_variables):
        if each.name == callback.native_name:
            each.name = symbol
        elif not each.is_declaration:
            each.linkage = "internal"
            if each.is_function:
                each.add_function_attribute("alwaysinline")
    code: bytes = module.as_bitcode()
    return code


def _external(kind: Any, name: str) -> Any:
    """Give an intrinsic that calls a function of this name, in another module of LLVM's."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result, *taken = map(context.get_value_type, (kind.return_type, *kind.args))
        called = ir.FunctionType(result, taken)
        return builder.call(cgutils.get_or_insert_function(builder.module, called, name), arguments)

    names = ", ".join(f"a{place}" for place in range(len(kind.args)))
    made: dict[str, Any] = {"found": (kind, lower)}
    exec(f"def external(typing, {names}): return found", made)  # noqa: S102
    return intrinsic(made["external"])


def _for_numba(value: Any) -> Any:
    if hasattr(type(value), "part"):
        return _part(value)
    return _IN_PLACE.get(value, value) if isinstance(value, FunctionType) else value


def object_code(made: Any, symbol: str) -> bytes:
    """Give the object code of a function, to be called at a symbol.

    Raises what Numba raises when it cannot compile it.
    """
    signature: Signature = made.signature
    places = count()
    given = ", ".join(_expression(each, places) for each in signature.arguments)
    text = (
        "def entry(address):\n"
        f"    words = view(types.int64, address, ({next(places)},))\n"
        f"    return function({given})"
    )
    names = {each.__name__: each for each in _owners(signature.arguments)}
    names |= {"function": _part(made), "view": _view, "types": types}
    parts: list[Any] = [made]
    if "real(" in given:
        names["real"] = _part(real)
        parts.append(real)
    exec(text, names)  # noqa: S102 - written from types
    result: Any = types.void
    if signature.result is not None:
        result = types.float64 if signature.result == Leaf("float64") else types.int64
    module = binding.parse_bitcode(_module(result(types.int64), names["entry"], symbol))
    linked = set()
    while parts:
        each = parts.pop()
        if each not in linked:
            linked.add(each)
            _part(each)
            module.link_in(binding.parse_bitcode(each.code))
            parts += [inner for _, inner in each.referred() if hasattr(type(inner), "part")]
    for each in linked:
        function = module.get_function(each.symbol)
        function.linkage = "internal"
        if each.inline:
            function.add_function_attribute("alwaysinline")
    machine = target_machine()
    passes = binding.create_pass_builder(machine, binding.PipelineTuningOptions(3))
    manager = passes.getModulePassManager()
    manager.run(module, passes)
    outside = [each.name for each in module.functions if each.is_declaration]
    symbols = " ".join(sorted(each for each in outside if not each.startswith("llvm.")))
    return symbols.encode() + b"\n" + machine.emit_object(module)


def _expression(kind: Kind, places: Iterator[int]) -> str:
    """Write how an argument is read from the words at these places."""
    if isinstance(kind, Fields):
        inner = ", ".join(_expression(each, places) for each in kind.parts)
        return f"{kind.owner.__name__}({inner})"
    address, *sizes = (f"words[{next(places)}]" for _ in range(1 + kind.dimensions))
    if kind.dimensions:
        element = "boolean" if kind.element == "bool" else kind.element
        return f"view(types.{element}, {address}, ({', '.join(sizes)},))"
    if kind.element == "float64":
        return f"real({address})"
    return f"{address} != 0" if kind.element == "bool" else address


def _owners(kinds: tuple[Kind, ...]) -> list[Any]:
    found = []
    for each in kinds:
        if isinstance(each, Fields):
            found += [each.owner, *_owners(each.parts)]
    return found
