"""Places in message servers: what is read from there on, and where a `break` leads."""

from __future__ import annotations

from typing import Any

from tests.independent.language import Block

Place = tuple[tuple[int, int], ...]


class Places:
    """The blocks of a model by number. A place is a stack of (block, next statement)."""

    def __init__(self, bodies: list[Block]) -> None:
        self.blocks: dict[int, Block] = {}
        for each in bodies:
            self._number(each)

    def _number(self, block: Block) -> None:
        self.blocks[block.number] = block
        for each in block.statements:
            for part in each:
                if isinstance(part, Block):
                    self._number(part)

    def live(self, place: Place, values: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Keep the local variables that are read, on some way, before they are written."""
        return tuple(sorted(each for each in values.items() if self._is_read(each[0], place)))

    def _is_read(self, name: str, start: Place) -> bool:
        todo, seen = [start], {start}
        while todo:
            place = todo.pop()
            node = self._statement(place)
            if node is not None and name in reads(node):
                return True
            if node is not None and writes(node) == name:
                continue
            for each in self._following(place):
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
        return False

    def comes_back(self, place: Place) -> bool:
        """Whether some way on leads to the statement just before a place again."""
        number, index = place[-1]
        todo, seen = [place], set()
        while todo:
            for each in self._following(todo.pop()):
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
        return (*place[:-1], (number, index - 1)) in seen

    def _statement(self, place: Place) -> tuple | None:
        if not place:
            return None
        number, index = place[-1]
        statements = self.blocks[number].statements
        return statements[index] if index < len(statements) else None

    def _following(self, place: Place) -> list[Place]:
        if not place:
            return []
        node = self._statement(place)
        if node is None:
            return [place[:-1]]
        number, index = place[-1]
        after = (*place[:-1], (number, index + 1))
        match node:
            case ("if", _, then, otherwise):
                return [(*after, (then.number, 0)), (*after, (otherwise.number, 0))]
            case ("while", _, body):
                return [(*place, (body.number, 0)), after]
            case ("switch", _, labels, body, starts):
                following = [(*after, (body.number, each)) for each in starts]
                return following if None in labels else [*following, after]
            case ("break",):
                return [self.left(place)]
            case _:
                return [after]

    def left(self, place: Place) -> Place:
        """Where a `break` leads: behind the innermost switch or loop."""
        stack = list(place)
        while True:
            number, _ = stack.pop()
            if not stack:
                raise AssertionError("break outside")
            outer, index = stack[-1]
            statements = self.blocks[outer].statements
            node = statements[index] if index < len(statements) else ("end",)
            if node[0] == "while" and node[2].number == number:
                stack[-1] = (outer, index + 1)
                return tuple(stack)
            before = statements[index - 1] if index else ("start",)
            if before[0] == "switch" and before[3].number == number:
                return tuple(stack)


def reads(node: tuple) -> set[str]:
    """Give the variables that a statement itself reads; blocks in it are followed apart."""
    if node[0] == "set" and not isinstance(node[1], str):
        return _read(node[1][2]) | _read(node[3])
    if node[0] == "send":
        return set().union(*map(_read, node[4]), _read(node[5]))
    return set().union(*(_read(part) for part in node[1:] if isinstance(part, tuple)))


def _read(node: Any) -> set[str]:
    if not isinstance(node, tuple) or not node:
        return set()
    if node[0] == "variable":
        return {node[1]}
    return set().union(*(_read(part) for part in node[1:]))


def writes(node: tuple) -> str | None:
    """Give the variable that a statement sets in any case."""
    return node[1] if node[0] in ("set", "local", "choose") and isinstance(node[1], str) else None
