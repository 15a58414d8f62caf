"""Where the agents are: marks come, move, fade and are forgotten."""

from __future__ import annotations

from acp_editor.app.sessions import Entry, Sessions
from acp_editor.app.whereabouts import MOST, Whereabouts
from acp_editor.core.model import Location, Replay, StateUpdate, ToolCallUpsert


class Scene:
    def __init__(self) -> None:
        self.changed: list[str] = []
        self.where = Whereabouts(
            lambda path: "1\n2\n3\n4\n" if path != "/ws/none" else None, self.changed.append
        )
        self.sessions = Sessions()
        self.entry = self.sessions.seen("agent", "s1", "/ws")
        self.entry.session.apply(StateUpdate("running"))

    def update(self, status: str, *places: tuple[str, int], entry: Entry | None = None) -> None:
        entry = entry or self.entry
        locations = tuple(Location(path, line) for path, line in places)
        entry.session.apply(
            ToolCallUpsert("c1", title="t", kind="edit", status=status, locations=locations, announces=None)
        )
        self.where.touch(entry, "c1")

    def lines(self, path: str) -> list[int | None]:
        return [place.line for spot in self.where.at(path) for place in spot.places if place.path == path]


def test_a_call_that_moves_leaves_its_old_place() -> None:
    scene = Scene()
    scene.update("in_progress", ("a", 2))
    scene.update("in_progress", ("a", 3))
    assert len(scene.where.refresh(0)) == 1  # one look for many changes
    assert scene.lines("/ws/a") == [2]
    scene.update("in_progress", ("b", 1))
    scene.where.refresh(0)
    assert (scene.lines("/ws/a"), scene.lines("/ws/b")) == ([], [0])
    assert scene.changed[-2:] == ["/ws/a", "/ws/b"]


def test_a_change_that_no_mark_shows_changes_no_mark() -> None:
    scene = Scene()
    scene.update("in_progress", ("a", 2))
    scene.where.refresh(0)
    (before,) = scene.where.at("/ws/a")
    marks = before.drawn("/ws/a", None)
    scene.changed.clear()
    scene.entry.session.apply(ToolCallUpsert("c1", content=({"type": "content"},)))
    scene.where.touch(scene.entry, "c1")
    (spot,) = scene.where.refresh(0)
    assert (scene.changed, scene.where.at("/ws/a")) == ([], [spot])
    assert spot.call.content
    assert spot.drawn("/ws/a", None) is marks
    scene.update("completed", ("a", 2))
    scene.where.refresh(0)
    assert set(scene.changed) == {"/ws/a"}
    assert "completed" in scene.where.at("/ws/a")[0].drawn("/ws/a", None)[0]["hover"]


def test_a_mark_fades_so_long_after_its_call_has_ended() -> None:
    scene = Scene()
    scene.update("in_progress", ("a", 2))
    scene.where.refresh(0)
    assert scene.where.fade(100, after=10) is None  # still going
    scene.update("completed", ("a", 2))
    scene.where.refresh(100)
    assert scene.where.fade(105, after=10) == 110
    scene.update("completed", ("a", 3))  # a late word does not keep it longer
    scene.where.refresh(108)
    assert scene.where.fade(109, after=10) == 110
    assert scene.where.fade(110, after=10) is None
    assert scene.lines("/ws/a") == []
    assert scene.where.of(scene.entry, "c1", 111)  # the call still knows where it was


def test_a_closed_session_is_forgotten() -> None:
    scene = Scene()
    scene.update("in_progress", ("a", 2))
    scene.where.refresh(0)
    scene.sessions.remove(scene.entry)
    scene.where.forget(scene.entry)
    scene.where.touch(scene.entry, "c1")
    assert scene.where.refresh(1) == []
    assert list(scene.where.paths()) == []
    assert scene.changed[-1] == "/ws/a"


def test_history_and_what_is_not_there_leave_no_mark() -> None:
    scene = Scene()
    scene.update("in_progress", ("none", 2))
    scene.where.refresh(0)
    old = scene.sessions.seen("agent", "old", "/ws")
    old.session.apply(Replay(True))
    scene.update("in_progress", ("a", 2), entry=old)
    assert len(scene.where.refresh(0)) == 1
    assert list(scene.where.paths()) == []


def test_a_call_is_where_it_is_also_before_the_next_look() -> None:
    scene = Scene()
    scene.update("in_progress", ("a", 4))
    assert [place.line for place in scene.where.of(scene.entry, "c1", 0)] == [3]


def test_a_mark_that_has_faded_does_not_come_back_for_a_late_word() -> None:
    scene = Scene()
    scene.update("completed", ("a", 2))
    scene.where.refresh(0)
    scene.where.fade(10, after=10)
    scene.update("completed", ("a", 3))
    assert len(scene.where.refresh(11)) == 1
    assert scene.lines("/ws/a") == []
    scene.update("in_progress", ("a", 4))  # at work again
    scene.where.refresh(12)
    assert scene.lines("/ws/a") == [3]
    scene.update("completed", ("a", 4))
    scene.where.refresh(13)
    assert scene.where.fade(14, after=10) == 23


def test_only_the_newest_marks_of_a_file_are_shown() -> None:
    scene = Scene()
    for number in range(MOST + 50):
        call = ToolCallUpsert(f"c{number}", title="t", status="pending", locations=(Location("a", 1),))
        scene.entry.session.apply(call)
        scene.where.touch(scene.entry, f"c{number}")
    scene.where.refresh(0)
    assert [spot.call.tool_call_id for spot in scene.where.at("/ws/a")] == [
        f"c{number}" for number in range(50, MOST + 50)
    ]


def test_of_many_changed_calls_so_many_are_looked_at_in_one_go_the_oldest_change_first() -> None:
    scene = Scene()
    for number in range(5):
        scene.entry.session.apply(ToolCallUpsert(f"c{number}", title="t", status="pending"))
        scene.where.touch(scene.entry, f"c{number}")
    scene.where.touch(scene.entry, "c0")
    found = [[spot.call.tool_call_id for spot in scene.where.refresh(0, most=2)] for _ in range(3)]
    assert found == [["c1", "c2"], ["c3", "c4"], ["c0"]]
    assert not scene.where.stale
