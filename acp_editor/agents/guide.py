"""The guided tour: what the built-in agent does with any prompt that is no command of its own."""

from __future__ import annotations

import os
from functools import partial

from acp_editor.agents import tools, tour
from acp_editor.agents.improve import improvement
from acp_editor.agents.prompt import Prompt
from acp_editor.agents.turn import Turn
from acp_editor.agents.workspace import File, Walk, first_change, walk


async def guided_tour(turn: Turn, prompt: Prompt) -> None:
    """Reads a few files, plans, proposes one edit, asks, edits, and runs a command that changes nothing."""
    await turn.think("Let me see what is here, then look at a few files before I touch anything.")
    found = await tools.in_thread(partial(walk, turn.cwd))
    chosen = {subject.path: subject for subject in prompt.subjects}
    stops = tour.stops(found.files, list(chosen), prompt.text)
    plan = turn.plan(*(f"Read {stop.name}" for stop in stops), "Propose one edit", "Run a check")
    if not stops:
        await turn.say("There is nothing to read here yet.\n\n")
    read: list[File] = []
    for index, stop in enumerate(stops):
        plan.start(index)
        subject = chosen.get(stop.path)
        points = tour.waypoints(stop, subject.first, subject.last) if subject else tour.waypoints(stop)
        text = await tools.read(turn, stop.path, stop.name, points)
        if text is not None:
            stop = File(stop.path, stop.name, text)
            read.append(stop)
            await turn.say(f"**{stop.name}**: {tour.summary(stop)}.\n\n")
        plan.done(index)
        await turn.look()
    step = len(stops)
    plan.start(step)
    touched = await _propose(turn, read, found, prompt.text)
    plan.done(step)
    plan.start(step + 1)
    command = tour.check_command(turn.cwd, touched or next((f for f in read if f.name.endswith(".py")), None))
    if turn.plan_only:
        await turn.say(
            f"Then I would run `{command}`. The mode is “Plan only”, so nothing was changed or run."
        )
    else:
        await turn.say("Now a quick check that changes nothing.\n\n")
        await tools.run_and_tell(turn, command)
    plan.done(step + 1)
    await turn.say(f"\n\nThat was the tour. {_next_steps(found)}")


async def _propose(turn: Turn, read: list[File], found: Walk, text: str) -> File | None:
    """The file that the proposal is about, whatever became of the proposal."""
    known = {file.path for file in read}
    files = [*read, *(file for file in found.files if file.path not in known)]
    names = ", ".join(file.name for file in read) or "an empty folder"
    asked = " ".join(text.split())[:80]
    note = f"Toured {names}" + (f" (“{asked}”)" if asked else "")
    made = await tools.in_thread(partial(improvement, files, turn.cwd, note))
    current = await tools.text_of(turn, made.path)
    if current is not None and current != made.old:  # it is open with changes that are not saved
        name = os.path.relpath(made.path, turn.cwd)
        files = [File(made.path, name, current), *(file for file in files if file.path != made.path)]
        made = await tools.in_thread(partial(improvement, files, turn.cwd, note))
    await turn.say(
        f"One thing that I would do: {made.title[0].lower()}{made.title[1:]}, since {made.reason}.\n\n"
    )
    file = next((file for file in files if file.path == made.path), None)
    if file is not None and made.old is not None and file.path not in known:
        await tools.read(turn, file.path, file.name, (first_change(made.old, made.new),))
    if turn.plan_only:
        return file
    outcome = await tools.edit(turn, made.path, made.old, made.new, made.title, {})
    match outcome:
        case "applied":
            await turn.say("Done. ")
        case "rejected":
            await turn.say("As you wish, I leave it as it is. ")
        case "failed":
            await turn.say("That did not work, so the file is as it was. ")
    return file


def _next_steps(found: Walk) -> str:
    name = tour.package(found.files)
    show = f"`/run python3 -m {name}`" if name else "`/run` with a command"
    return f"Try `/todo`, `/rename OLD NEW` or {show} next."
