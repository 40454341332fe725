"""A rebec as a pykka actor, in a thread of its own."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import Any

import pykka

from rebecsim.actors import Message, serve
from rebecsim.actors.watchdog import ServerStopped, raise_in
from rebecsim.live.conductor import Conductor
from rebecsim.live.view import View


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
            following = conductor.take_over(view, message, late, failure)

    def stop_server(self) -> None:
        """Make the message server end, at the next instruction of Python that its thread executes.

        It must be running: the thread has to be in `on_receive` when this comes.
        """
        assert self.thread is not None
        raise_in(self.thread.ident or 0, ServerStopped)
