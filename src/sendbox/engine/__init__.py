"""The engine: a world, its clock and timeline, its journal, its names and draws. Pure: no I/O, no clock of the machine.

What comes in is a command or the passing of time; what goes out is an effect that the runtime carries out. No service
is imported here: the engine's word for what things are about is a case, never a message or a phone.
"""

from typing import Final

#: Version of our rules; raised whenever an equal input has another outcome.
ENGINE: Final = 7
