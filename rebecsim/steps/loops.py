"""Read the loops of Python classes as loops of Rebeca."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from rebecsim.lang import syntax
from rebecsim.lang.checked import INT, ArrayType
from rebecsim.steps.blocks import breaks, changed, is_stable
from rebecsim.steps.pieces import Piece, literal, type_name
from rebecsim.steps.statements import BodyReader
from rebecsim.steps.values import shown


class LoopReader(BodyReader):
    """Reads the body of one function of a class, loops too."""

    def _for(self, node: ast.For) -> list[syntax.Statement]:
        match node.iter, node.target:
            case ast.Call(ast.Name("range"), bounds, []), ast.Name() as target if bounds:
                return self._over_range(node, target, bounds)
            case ast.Name(), ast.Name() as target if bounds := self._range_named(node.iter):
                return self._over_range(node, target, bounds)
            case ast.Tuple(elements) | ast.List(elements), ast.Name(name):
                return self._over_listed(node, elements, name)
            case ast.Call(ast.Name("enumerate"), [ast.Tuple(elements) | ast.List(elements)], []), (
                ast.Tuple([ast.Name(number), ast.Name(name)])
            ):
                return self._over_listed(node, elements, name, number)
            case ast.Call(ast.Name("enumerate"), [array], []), ast.Tuple(
                [ast.Name() as number, ast.Name() as target]
            ):
                return self._over_array(node, target, array, number)
            case _, ast.Name() as target:
                return self._over_array(node, target, node.iter, None)
        raise self.refused(node, f"a loop over `{shown(node.iter)}` cannot be translated to Rebeca")

    def _range_named(self, node: ast.expr) -> list[ast.expr]:
        """Give the bounds of a constant that is a range; none if it is no such constant."""
        if not isinstance(node, ast.Name) or node.id in self.keys or node.id in self.locals:
            return []
        found = self.outer(node)
        if not isinstance(found, range):
            return []
        values = (found.start, found.stop, found.step)
        return [ast.copy_location(ast.Constant(each), node) for each in values]

    def _over_range(
        self, node: ast.For, target: ast.Name, bounds: list[ast.expr]
    ) -> list[syntax.Statement]:
        span = self.span(node)
        found = [self.fitted(self.read(each), INT, each) for each in bounds]
        start = found[0] if len(found) > 1 else Piece(literal(0, span), INT, 0, (0,))
        stop = found[0] if len(found) == 1 else found[1]
        step = found[2].value[0] if len(found) == 3 and found[2].value else 1
        if len(found) > 3 or step == 0 or (len(found) == 3 and not found[2].value):
            raise self.refused(node, f"the step of `{shown(node.iter)}` must be a literal number")
        before: list[syntax.Statement] = []
        if not (stop.value or is_stable(bounds[min(1, len(bounds) - 1)], node.body)):
            name = self._new_name("stop")
            declared = ((name, stop.tree),)
            before = [syntax.LocalDeclaration(type_name(INT, span), declared, span=span)]
            stop = replace(stop, tree=syntax.Name(name, span=span))
        low = start.low if step > 0 else None if stop.low is None else stop.low + 1
        loop = self._counted(node, target, (start, stop, step), low)
        return [syntax.Block((*before, loop), span=span)] if before else [loop]

    def _counted(
        self,
        node: ast.For,
        target: ast.Name | None,
        bounds: tuple[Piece, Piece, int],
        low: int | None,
        first: Sequence[tuple[ast.Name, Piece]] = (),
    ) -> syntax.For:
        """Write a loop that counts; `first` are locals that get a value at each round."""
        span = self.span(node)
        start, stop, step = bounds
        is_own = target is not None and target.id not in self._homes
        is_own = is_own and target.id not in changed(*node.body)  # type: ignore[union-attr]
        name = self._new_name(target.id if is_own and target is not None else "place")
        counter = Piece(syntax.Name(name, span=span), INT, low)
        rounds = list(first)
        if target is not None and not is_own:
            rounds.insert(0, (target, counter))
        with self._loop():
            if is_own and target is not None:
                self._declared[target.id] = name
                self.locals[target.id] = counter
                self._assigned.add(target.id)
            heads: list[syntax.Statement] = []
            for each, value in rounds:
                heads += self._round(each, value, node)
            block, _ = self._block(node.body)
            for each, _value in [*rounds, *([(target, counter)] if is_own and target else [])]:
                if each.id not in self._homes:
                    self.locals.pop(each.id, None)
                    self._taken.discard(self._declared.pop(each.id))
                    self._assigned.discard(each.id)
        self._taken.discard(name)
        tree = syntax.Name(name, span=span)
        test = syntax.Binary("<" if step > 0 else ">", tree, stop.tree, span=span)
        if abs(step) == 1:
            update: syntax.Expression = syntax.Increment(
                tree, "++" if step > 0 else "--", prefix=False, span=span
            )
        else:
            update = syntax.Assignment(tree, "+=", literal(step, span), span=span)
        init = syntax.LocalDeclaration(type_name(INT, span), ((name, start.tree),), span=span)
        body = syntax.Block((*heads, *block.statements), span=block.span)
        return syntax.For(init, test, (update,), body, span=span)

    def _round(self, target: ast.Name, value: Piece, node: ast.For) -> list[syntax.Statement]:
        """Give a local of a loop its value for a round."""
        if target.id in self._homes:
            return self._set(target, value, node, set())
        self._declared[target.id] = self._new_name(target.id)
        return self._set(target, value, node, {target.id})

    def _over_array(
        self, node: ast.For, target: ast.Name, array: ast.expr, number: ast.Name | None
    ) -> list[syntax.Statement]:
        found = self.read(array)
        if not isinstance(found.type, ArrayType) or isinstance(found.type.element, ArrayType):
            raise self.refused(node, f"`{shown(array)}` is not an array to iterate over")
        span, length = self.span(node), found.type.length
        counter = number.id if number is not None else None
        if number is not None and (counter in self._homes or counter in changed(*node.body)):
            raise self.refused(node, f"`{counter}` is also used elsewhere")
        place = ast.copy_location(ast.Name("$place", ast.Load()), node)
        name = number or ast.copy_location(ast.Name("place", ast.Store()), place)
        shown_name = self._new_name(name.id)
        self._taken.discard(shown_name)
        index = syntax.Index(found.tree, syntax.Name(shown_name, span=span), span=span)
        each = Piece(index, found.type.element, found.low)
        bounds = (
            Piece(literal(0, span), INT, 0, (0,)),
            Piece(literal(length, span), INT, length, (length,)),
            1,
        )
        return [self._counted(node, number, bounds, 0, [(target, each)])]

    def _over_listed(
        self, node: ast.For, elements: list[ast.expr], *names: str
    ) -> list[syntax.Statement]:
        """Write the body once for each of some expressions, as rebecs that are known.

        The first name stands for the expression, the second, if there is one, for its number.
        """
        again = self._homes.keys() | changed(*node.body)
        if not again.isdisjoint(names) or breaks(node, or_continues=True):
            raise self.refused(node, f"the loop over `{shown(node.iter)}` cannot be unrolled")
        statements: list[syntax.Statement] = []
        pieces = [self._kept(each, statements) for each in elements]
        for number, piece in enumerate(pieces):
            place = Piece(literal(number, self.span(node)), INT, number, (number,))
            self.locals |= zip(names, (piece, place), strict=False)
            self._assigned |= set(names)
            statements.append(self._block(node.body)[0])
        for name in names:
            self.locals.pop(name, None)
            self._assigned.discard(name)
        return [syntax.Block(tuple(statements), span=self.span(node))]

    def _kept(self, node: ast.expr, before: list[syntax.Statement]) -> Piece:
        """Read what stands for an item in each round: as it is before the loop."""
        piece = self.read(node)
        name = piece.tree.identifier if isinstance(piece.tree, syntax.Name) else ""
        if piece.value or name in self.facts.known or name == "self":
            return piece
        given = self.given(piece, node)
        before.append(given[0])
        return given[1]
