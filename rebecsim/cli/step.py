"""The command step: choose each message of a run by hand."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from rebecsim.cli.app import Core, Tts, app, complain, console, grouped, say
from rebecsim.cli.endings import ending_of
from rebecsim.cli.small_clusters import CutOptions, ModelOrScenario
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode, UserError
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.live import Alternative, Stepper, Stop, Turn

_MOST_STEPS = 10_000  # of a run that finds no reason to stop
_SHOWN_STEPS = 10  # of a longer run, the last ones
_SHOWN_ALTERNATIVES = 12

_HELP = (
    ("N", "let message N be served; N.K: with alternative K of its choices"),
    ("undo [N]", "take the last step back, or the last N"),
    ("run [N]", "go on at random to a breakpoint or the end, at most N steps"),
    ("time T", "go to the first state of time T or later, forward or back"),
    ("break REBEC.MESSAGE", "stop a run when this message becomes enabled; REBEC. may be left out"),
    ("break if CONDITION", "stop a run when this becomes true, such as `office.left == 0`"),
    ("break", "show the breakpoints"),
    ("clear [N]", "remove breakpoint N, or all of them"),
    ("show", "show the rebecs and what may happen next; so does an empty line"),
    ("path", "show all steps so far"),
    ("save FILE", "write the run, to be done again by `rebecsim replay` or `simulate --replay`"),
    ("restart", "go back to the beginning"),
    ("help", "show this"),
    ("quit", "end; so does the end of the input"),
)


class CommandError(UserError):
    """A command that cannot be done; the session goes on."""


@app.command()
@grouped
def step(
    model: ModelOrScenario,
    cut: CutOptions,
    tts: Tts = False,
    seed: int = option("Seed of the choices of `run`.", 0, min=0),
    core: Core = False,
) -> None:
    """Choose each message of a run yourself, and take it back.

    Reads commands from the terminal, or from a pipe; `help` shows them. An invalid command
    never ends the session; in a pipe, it makes the exit code 2.
    """
    from rebecsim.actors import Violation
    from rebecsim.interface import step as begin

    try:
        stepper = begin(cut.open(model, core), tts=tts, seed=seed)
    except Violation as violation:
        say(f"{violation.verdict}: {violation}, in a constructor")
        raise typer.Exit(ExitCode.VIOLATED) from violation
    session = _Session(stepper, model)
    try:
        session.go(_lines(session.interactive))
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if session.failed is not None and not session.interactive:
        raise typer.Exit(session.failed)


def _lines(interactive: bool) -> Iterator[str]:
    """Read commands up to the end of the input."""
    if interactive:
        import contextlib

        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - makes the line editable, with a history
    while True:
        try:
            line = input("> ") if interactive else input()
        except EOFError:
            if interactive:
                say("")
            return
        if not interactive:
            say(f"> {line}")
        yield line


class _Session:
    """Carries out commands."""

    def __init__(self, stepper: Stepper, file: Path) -> None:
        self.failed: ExitCode | None = None
        self.interactive = sys.stdin.isatty()
        self._stepper = stepper
        self._file = file
        self._over = False
        self._hinted: set[str] = set()
        self._commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo,
            "run": self._run,
            "time": self._time,
            "break": self._break,
            "clear": self._clear,
            "show": self._show,
            "path": self._path,
            "save": self._save,
            "restart": self._restart,
            "help": self._help,
            "quit": self._quit,
        }

    def go(self, lines: Iterator[str]) -> None:
        """Do every command, until one of them ends the session."""
        show_state(self._stepper)
        if self.interactive:
            say("`help` shows the commands")
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("#") or not (line.strip() or self.interactive):
                continue
            try:
                self._do(line.strip())
            except (UserError, OSError) as error:
                text, code = ending_of(error)
                self.failed = max(code, self.failed or code)
                complain(f"{'' if self.interactive else f'line {number}: '}{text}")
            if self._over:
                return

    def _do(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word[:1].isdigit():
            self._take(line)
            return
        command = self._commands.get(word or "show")
        if command is None:
            known = [name for name in self._commands if name.startswith(word)]
            if len(known) != 1:
                hint = self._once("; `help` shows all")
                raise CommandError(f"there is no command {word!r}{hint}")
            command = self._commands[known[0]]
        command(rest.strip())

    def _once(self, hint: str) -> str:
        """Give a hint where it comes up first in a session, and nothing later."""
        if hint in self._hinted:
            return ""
        self._hinted.add(hint)
        return hint

    # --- commands ------------------------------------------------------------------------------

    def _take(self, text: str) -> None:
        alternative = _find(self._stepper.turns(), text)
        say(str(alternative.step).strip())
        self._stepper.take(alternative)
        show_state(self._stepper)

    def _undo(self, text: str) -> None:
        wanted = _number(text, "undo") if text else 1
        taken = self._stepper.undo(wanted)
        if not taken:
            raise CommandError("this is the beginning; there is no step to take back")
        say(f"{counted(taken, 'step')} taken back")
        show_state(self._stepper)

    def _run(self, text: str) -> None:
        steps = _number(text, "run") if text else _MOST_STEPS
        self._forward(lambda asked: self._stepper.run(steps=steps, interrupted=asked))

    def _time(self, text: str) -> None:
        time = _number(text, "time")
        self._forward(lambda asked: self._stepper.go_to(time, steps=_MOST_STEPS, interrupted=asked))

    def _forward(self, move: Callable[[Callable[[], bool]], Stop]) -> None:
        """Let the run go on by itself, and print how far it came and why it stopped."""
        from rebecsim.actors.watchdog import noting_interrupts

        before = len(self._stepper)
        with noting_interrupts() as interrupt:
            stop = move(lambda: interrupt.seen)
        if interrupt.seen and not self.interactive:
            raise KeyboardInterrupt
        after = len(self._stepper)
        if after > before:
            hidden = max(after - before - _SHOWN_STEPS, 0)
            if hidden:
                say(f"... {counted(hidden, 'step')}")
            for each in self._stepper.path().steps[before + hidden :]:
                say(str(each).strip())
        if stop.reason == "interrupted":
            say(f"stopped by Ctrl-C after {counted(after - before, 'step')}")
        elif stop.breakpoint is not None:
            say(f"breakpoint: {stop.breakpoint}")
        elif after < before:
            say(f"{counted(before - after, 'step')} taken back")
        show_state(self._stepper)

    def _break(self, text: str) -> None:
        from rebecsim.live import Breakpoint

        word, _, condition = text.partition(" ")
        if word == "if":
            if not condition.strip():
                raise CommandError("`break if` needs a condition, such as `office.left == 0`")
            self._stepper.stop_at(Breakpoint("condition", condition.strip()))
        elif text:
            self._stepper.stop_at(Breakpoint("message", text))
        self._show_breakpoints()

    def _show_breakpoints(self) -> None:
        if not self._stepper.breakpoints:
            say("no breakpoints")
        for number, each in enumerate(self._stepper.breakpoints, 1):
            say(f"{number}  {each}")

    def _clear(self, text: str) -> None:
        breakpoints = self._stepper.breakpoints
        if text:
            number = _number(text, "clear")
            if not 1 <= number <= len(breakpoints):
                hint = self._once("; `break` shows them")
                raise CommandError(f"there is no breakpoint {number}{hint}")
            breakpoints = [breakpoints[number - 1]]
        for each in breakpoints:
            self._stepper.clear(each)
        self._show_breakpoints()

    def _show(self, text: str) -> None:
        show_state(self._stepper)

    def _path(self, text: str) -> None:
        from rebecsim.report.verdicts import path_table

        path = self._stepper.path()
        if not path.steps:
            say("no steps so far")
            return
        console().print(path_table(path))

    def _save(self, text: str) -> None:
        from rebecsim.files import write_json

        if not text:
            raise CommandError("`save` needs the name of a file")
        data, command = self._stepper.to_json()
        write_json(Path(text), data)
        option = " --core" if self._stepper.model.core else ""
        if command == "replay":
            say(f"run in {text}; `rebecsim replay {text} {self._file}` replays it")
        else:
            say(
                f"run in {text}; "
                f"`rebecsim simulate {self._file}{option} --replay {text}` replays it"
            )

    def _restart(self, text: str) -> None:
        self._stepper.undo(len(self._stepper))
        show_state(self._stepper)

    def _help(self, text: str) -> None:
        table = Table(box=None, pad_edge=False, show_header=False)
        for command, meaning in _HELP:
            table.add_row(Text(command, style="bold"), Text(meaning))
        console().print(table)
        say("You can shorten a command while it stays unique: `u` is `undo`.")

    def _quit(self, text: str) -> None:
        self._over = True


def _number(text: str, command: str) -> int:
    if not _is_number(text):
        raise CommandError(f"`{command}` takes a number, not {text!r}")
    return int(text)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d{1,15}", text) is not None


def _find(turns: list[Turn], text: str) -> Alternative:
    """Find what `2` or `2.1` stands for."""
    first, point, second = text.partition(".")
    if not _is_number(first) or (point and not _is_number(second)):
        raise CommandError(f"{text!r} is not a choice; write 2, or 2.1 for its first alternative")
    if not turns:
        raise CommandError("the run has ended; there is nothing to pick")
    if not 1 <= int(first) <= len(turns):
        raise CommandError(f"there is no {int(first)}; pick one from 1 to {len(turns)}")
    alternatives = turns[int(first) - 1].alternatives
    if not point and len(alternatives) > 1:
        raise CommandError(
            f"{first} makes choices: pick one from {first}.1 to {first}.{len(alternatives)}"
        )
    if point and not 1 <= int(second) <= len(alternatives):
        raise CommandError(f"there is no {text}; {first} has {len(alternatives)}")
    return alternatives[int(second or 1) - 1]


# --- what is shown -------------------------------------------------------------------------------


def show_state(stepper: Stepper) -> None:
    """Show the rebecs with their variables and bags, and what may happen next."""
    time = "" if stepper.model.core else f", time {stepper.time}"
    say("")
    name = f"[bold]{escape(stepper.model.name)}[/bold]"
    console().print(f"{name}{time}, {counted(len(stepper), 'step')} so far")
    console().print(_rebec_table(stepper))
    say("")
    breach = stepper.breach
    if breach is not None:
        console().print(Text(f"{breach.verdict}: {breach.text}", style="bold red"))
        return
    if stepper.has_ended:
        say("the run has ended: no message is left")
        return
    first, deadline = (Column(each, justify="right") for each in ("Next", "Deadline"))
    table = Table(first, "From", "To: message", deadline, "Then", box=None, pad_edge=False)
    for number, turn in enumerate(stepper.turns(), 1):
        for row in _turn_rows(number, turn, not stepper.model.core):
            table.add_row(*map(Text, row))
    console().print(table)


def _rebec_table(stepper: Stepper) -> Table:
    from rebecsim.report.messages import bag_texts, busy_text, variables_text

    table = Table("Rebec", "Variables", "Bag", box=None, pad_edge=False)
    for each in stepper.rebecs():
        table.add_row(
            Text(f"{each.rebec}{busy_text(each, stepper.time)}"),
            Text(variables_text(each)),
            Text("\n".join(bag_texts(each, stepper.time, timed=not stepper.model.core)) or "empty"),
        )
    return table


def _turn_rows(number: int, turn: Turn, timed: bool) -> Iterator[tuple[str, ...]]:
    """Give a row for what may happen, and with several alternatives one more for each."""
    from rebecsim.report.messages import effect_text

    several = len(turn.alternatives) > 1
    step = turn.step
    if step.kind == "time":
        yield str(number), "", "(time passes)", "", ""
        return
    goes_on = " (goes on)" if step.kind == "resume" else ""
    yield (
        "" if several else str(number),
        step.sender,
        f"{step.rebec}: {step.call}{goes_on}",
        "" if step.deadline is None else str(step.deadline),
        "" if several else effect_text(turn.alternatives[0], timed),
    )
    if several:
        for place, each in enumerate(turn.alternatives[:_SHOWN_ALTERNATIVES], 1):
            drawn = each.step.drawn_text
            yield f"{number}.{place}", "", f"  chooses {drawn}", "", effect_text(each, timed)
        if len(turn.alternatives) > _SHOWN_ALTERNATIVES:
            yield "", "", f"  ... up to {number}.{len(turn.alternatives)}", "", ""
