"""Published tables beside figures of this package, as a plug-in: the command `reproduce`."""

from rebecsim.clusters import Command, Plugin
from reproductions.command import reproduce

plugin = Plugin(
    commands=(Command(name="reproduce", run=reproduce, example="reproduce against_mdf"),)
)
