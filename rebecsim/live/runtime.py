"""Run a model live from start to end: start its threads, watch them and stop them.

Every rebec is a pykka actor, in a thread of its own.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pykka

from rebecsim.actors import Message, Model, RandomValues, Streams, Violation, serve
from rebecsim.actors.randomness import ORDER_STREAM, key_of
from rebecsim.actors.watchdog import ServerStopped, Watchdog, noting_interrupts, raise_in
from rebecsim.errors import UserError
from rebecsim.live.conductor import Conductor, LiveLimits
from rebecsim.live.log import Ending, Log, Served
from rebecsim.live.view import View, served


class RebecActor(pykka.ThreadingActor):
    """Serves the messages that the conductor gives it, one after the other.

    The thread is a daemon: a message server that waits for something outside of Python cannot be
    stopped, and must not keep the program from ending.
    """

    use_daemon_thread = True

    def __init__(self, view: View, conductor: Conductor) -> None:
        super().__init__()
        self.thread: threading.Thread | None = None
        self.view = view
        self._conductor = conductor

    @staticmethod
    def _create_actor_inbox() -> queue.SimpleQueue[Any]:
        """Give the mailbox; called by pykka. It never holds more than one message and the end."""
        return queue.SimpleQueue()

    def on_start(self) -> None:
        """Remember the thread; called by pykka in it."""
        self.thread = threading.current_thread()
        self.thread.name = f"rebec {self.view.owner}"
        self.view.use_in_this_thread()

    def on_receive(self, message: Message) -> None:
        """Serve a message; called by pykka in the thread of the actor."""
        with suppress(ServerStopped):  # the run has ended
            self._serve(message)

    def _serve(self, message: Message) -> None:
        """Serve a message, and those after it for which the rebec keeps its turn."""
        view, conductor = self.view, self._conductor
        rebec = view.owner
        following: Message | None = message
        while following is not None:
            message = following
            late = conductor.late(rebec, message) if conductor.paced else 0.0
            failure = None
            view.prepare()
            try:
                serve(view, rebec, message)
                view.attributes.check()
            except Exception as error:  # a violation, or whatever a model in Python raises
                failure = error
            following = conductor.commit(view, message, late, failure)

    def stop_server(self) -> None:
        """Make the message server end, at the next instruction of Python that its thread executes.

        It must be running: the thread has to be in `on_receive` when this comes.
        """
        assert self.thread is not None
        raise_in(self.thread.ident or 0, ServerStopped)


_LOOK_EVERY = 0.02  # seconds between two looks at what has happened
_LOOK_UNWATCHED = 0.1  # the same without a watcher, which leaves the threads more time
_GRACE = 1.0  # seconds for a thread to end before it is stopped, and again after that

_INTERRUPTED = Ending("interrupted")


@dataclass(frozen=True)
class LiveRun:
    """What came of a live run.

    `seconds` is the real time from the first turn to the end. `error` is what an actor raised.
    `unstopped` names the rebecs whose threads could not be ended.
    """

    log: Log
    seconds: float
    error: Exception | None
    unstopped: tuple[str, ...]


def run_live(
    model: Model,
    limits: LiveLimits | None = None,
    *,
    seed: int = 0,
    patience: float = 10.0,
    watch: Callable[[Served], None] | None = None,
) -> LiveRun:
    """Run a model for real: every rebec is a pykka actor with a thread of its own.

    `seed` starts the streams from which `?(...)` and the order of messages in a bag are drawn; who
    of several threads comes first is up to the operating system. A message server that runs longer
    than `patience` (seconds) ends the run. `watch` is called in this thread with every message
    served, soon after; what it raises ends the run and is raised again.

    Ctrl-C ends the run with the outcome `interrupted`. Violations are outcomes, not raised. Raises
    EndlessError for a constructor that takes as long; ValueError for a speed that is no finite
    number from 0, and for a core model with a speed, since it has no time; UserError when the
    system has no threads for so many rebecs.
    """
    bounds = limits or LiveLimits()
    if not 0.0 <= bounds.speed < math.inf:
        raise ValueError(f"the speed must be a finite number, 0 or more, not {bounds.speed}")
    if model.core and bounds.speed:
        raise ValueError("a core model has no time, so it has no speed")
    streams = Streams(key_of(seed), replication=0)
    try:
        with Watchdog(patience=patience):
            system = model.start()
    except Violation as violation:
        ending = Ending(violation.verdict, f"{violation}, in a constructor")
        return LiveRun(_log(model, bounds, seed, (), ending), 0.0, None, ())
    draw = RandomValues(streams).choose
    conductor = Conductor(system, streams[ORDER_STREAM], bounds)
    actors = _Actors([View(system, rebec, draw) for rebec in system.rebecs], conductor)
    watcher = _Watcher(conductor, watch)
    started = time.monotonic()
    try:
        with noting_interrupts() as interrupt:
            actors.start()
            started = time.monotonic()
            conductor.begin()
            while not conductor.ended.wait(_LOOK_EVERY if watch else _LOOK_UNWATCHED):
                if watch is not None:
                    watcher.look()
                actors.look_for_endless(patience)
                if interrupt.seen:
                    conductor.finish(_INTERRUPTED)
                    conductor.ended.wait(_GRACE)
                    break
    finally:
        conductor.end(_INTERRUPTED)
        seconds = time.monotonic() - started
        unstopped = actors.stop()
    watcher.look()
    assert conductor.ending is not None
    log = _log(model, bounds, seed, tuple(watcher.seen), conductor.ending)
    return LiveRun(log, seconds, conductor.error, unstopped)


def _log(
    model: Model, limits: LiveLimits, seed: int, entries: tuple[Served, ...], ending: Ending
) -> Log:
    return Log(
        model.name, model.core, limits.speed, seed, limits.until, limits.steps, entries, ending
    )


class _Watcher:
    """Reads what has happened as it happens."""

    def __init__(self, conductor: Conductor, watch: Callable[[Served], None] | None) -> None:
        self.seen: list[Served] = []
        self._records = conductor.records
        self._watch = watch

    def look(self) -> None:
        """Read what is new."""
        for number in range(len(self.seen), len(self._records)):
            entry = served(self._records[number], number)
            self.seen.append(entry)
            if self._watch is not None:
                self._watch(entry)


class _Actors:
    """The actors of a run and their threads."""

    def __init__(self, views: list[View], conductor: Conductor) -> None:
        self._views = views
        self._conductor = conductor
        self._actors: list[RebecActor] = []
        self._timekeeper: threading.Thread | None = None
        for view in views:
            view.owner._system = view

    def start(self) -> None:
        """Start the threads, and one that keeps the time, if the run is paced."""
        for view in self._views:
            reference = self._started(view)
            actor = reference._actor_weakref()
            assert actor is not None
            self._actors.append(actor)
            self._conductor.tell.append(reference.tell)
        if self._conductor.paced:
            self._timekeeper = threading.Thread(
                target=self._conductor.keep_time, name="timekeeper", daemon=True
            )
            self._timekeeper.start()

    def _started(self, view: View) -> pykka.ActorRef[RebecActor]:
        try:
            return RebecActor.start(view, self._conductor)
        except RuntimeError as error:  # from `threading`
            raise UserError(
                f"{view.model.name}: each of its {len(self._views)} rebecs needs a thread, after "
                f"{len(self._actors)} there are no more: {error}"
            ) from error

    def look_for_endless(self, patience: float) -> None:
        """End the run if a message server has been running for too long."""
        now = time.monotonic()
        for rebec, message, since in self._conductor.serving():
            if now - since > patience:
                detail = f"the message server has been running for more than {patience:g} s"
                self._conductor.end(Ending("not answering", detail, str(rebec), str(message)))

    def stop(self) -> tuple[str, ...]:
        """Stop every actor, and give the names of the rebecs whose threads go on all the same."""
        for actor in self._actors:
            actor.stop()
        alive = self._wait(self._actors)
        for actor in alive:
            self._conductor.if_serving(actor.view, actor.stop_server)
        alive = self._wait(alive)
        if self._timekeeper is not None:
            self._timekeeper.join()
        return tuple(str(actor.view.owner) for actor in alive)

    def _wait(self, actors: list[RebecActor]) -> list[RebecActor]:
        """Wait for threads to end, and give those that do not."""
        until = time.monotonic() + _GRACE
        for actor in actors:
            if actor.thread is not None:
                actor.thread.join(max(until - time.monotonic(), 0.0))
        return [each for each in actors if each.thread is not None and each.thread.is_alive()]
