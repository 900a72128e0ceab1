"""Operations on checkpoints of a world."""

from __future__ import annotations

from sendbox.control.answers import Checkpoint, World
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.replaying import Replay
from sendbox.control.worlds import world_view
from sendbox.engine.answer import JsonObject, moment
from sendbox.engine.commands.command import Restore


@operation("PUT", "/worlds/{id}/checkpoints/{name}", status=201, answers=Checkpoint)
async def checkpoint(call: Call, name: str) -> Checkpoint:
    """Takes a checkpoint."""
    await call.runtime.steady(call.hosted)
    await call.hosted.wait_until_idle()
    call.runtime.take_checkpoint(call.hosted, name)
    return Checkpoint(name=name, at=moment(call.hosted.world.now))


@operation("POST", "/worlds/{id}/checkpoints/{name}", answers=World)
async def restore(call: Call, name: str) -> JsonObject:
    """Restores a checkpoint."""
    if name not in call.hosted.checkpoints:
        have = ", ".join(call.hosted.checkpoints) or "none"
        raise ControlError(404, "no_such_checkpoint", f'"{name}" was never taken in this world; taken: {have}')
    hosted, runtime = call.hosted, call.runtime
    await runtime.steady(hosted)
    await hosted.wait_until_idle()
    runtime.check_not_advancing(hosted)
    restored = Replay(call.control, hosted.checkpoints[name].commands())
    world = await hosted.run_exclusively(restored.work())
    world.enter(Restore(name, hosted.world.epoch + 1))
    runtime.begin_epoch(hosted, world)
    return world_view(call, call.hosted)
