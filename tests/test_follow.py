from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_editor.core.follow import JUMP_INTERVAL, Follow, FollowSettings, Sighting, Target, target_of
from acp_editor.core.places import Place

A, B, C = Target("/ws/a.py", 4), Target("/ws/b.py", 5), Target("/ws/c.py", 6)


def saw(
    follow: Follow,
    call: str,
    target: Target | None,
    *,
    active: bool = True,
    kind: str = "read",
    replayed: bool = False,
) -> None:
    follow.saw(Sighting(("s", call), kind, active, target, replayed))


def test_a_place_is_shown_at_once_and_only_once() -> None:
    follow = Follow()
    saw(follow, "c1", A)
    assert follow.due(100) == A
    assert follow.current == A
    saw(follow, "c1", A)
    saw(follow, "c1", A, active=False)
    saw(follow, "c2", A)
    assert follow.next_wake() is None
    assert follow.due(200) is None


def test_the_last_of_a_burst_is_not_lost() -> None:
    follow = Follow()
    saw(follow, "c1", A)
    assert follow.due(0) == A
    saw(follow, "c2", B)
    assert follow.due(0.01) is None
    saw(follow, "c3", C)
    assert follow.next_wake() == pytest.approx(JUMP_INTERVAL)
    assert follow.due(0.1) is None
    assert follow.due(JUMP_INTERVAL) == C
    assert follow.next_wake() is None


def test_a_thousand_calls_are_few_jumps() -> None:
    follow = Follow()
    jumps: list[tuple[float, Target]] = []
    for n in range(1000):
        now = n / 1000
        saw(follow, f"c{n}", Target("/ws/a.py", n))
        if target := follow.due(now):
            jumps.append((now, target))
    wake = follow.next_wake()
    assert wake is not None
    last = follow.due(wake)
    assert last == Target("/ws/a.py", 999)
    assert len(jumps) <= 1 / JUMP_INTERVAL + 1
    assert all(b - a >= JUMP_INTERVAL - 1e-9 for (a, _), (b, _) in pairwise(jumps))


def test_only_the_kinds_of_the_settings_are_followed() -> None:
    follow = Follow(FollowSettings(kinds=frozenset({"edit", "other"})))
    saw(follow, "c1", A, kind="read")
    assert follow.due(0) is None
    saw(follow, "c1", A, kind="edit")
    assert follow.due(1) == A
    saw(follow, "c2", B, kind="something new")
    assert follow.due(2) == B
    saw(follow, "c3", C, kind="think")
    assert follow.due(3) is None


def test_the_newest_active_call_goes_first() -> None:
    follow = Follow()
    saw(follow, "c1", A)
    saw(follow, "c2", B)
    assert follow.due(0) == B
    saw(follow, "c1", C)
    assert follow.due(1) is None
    saw(follow, "c2", B, active=False)
    assert follow.due(2) is None
    saw(follow, "c1", Target("/ws/a.py", 9))
    assert follow.due(3) == Target("/ws/a.py", 9)


def test_a_call_that_is_over_when_first_heard_of_is_followed_if_it_is_the_newest() -> None:
    follow = Follow()
    saw(follow, "c1", None)
    saw(follow, "c2", A, active=False)
    assert follow.due(0) == A
    saw(follow, "c1", B, active=False)
    assert follow.due(1) is None


def test_a_place_that_comes_with_the_end_is_followed() -> None:
    follow = Follow()
    saw(follow, "c1", None)
    saw(follow, "c1", A, active=False)
    assert follow.due(0) == A


def test_history_is_not_followed() -> None:
    follow = Follow()
    saw(follow, "c1", A, replayed=True)
    assert follow.due(0) is None
    assert follow.next_wake() is None


# -- the person's hand -------------------------------------------------------------------------


def test_the_persons_hand_pauses_and_then_the_newest_place_is_shown() -> None:
    follow = Follow(FollowSettings(resume_after=3))
    saw(follow, "c1", A)
    assert follow.due(0) == A
    follow.activity(1)
    assert follow.paused(1)
    saw(follow, "c2", B)
    follow.activity(2)
    saw(follow, "c3", C, active=False)
    assert follow.due(3) is None
    assert follow.pause_ends() == 5
    assert follow.next_wake() == 5
    assert follow.due(4.9) is None
    assert not follow.paused(5)
    assert follow.due(5) == C


def test_after_the_turn_the_persons_hand_lets_nothing_be_shown_later() -> None:
    follow = Follow()
    saw(follow, "c1", A)
    assert follow.due(100) == A
    saw(follow, "c2", B)
    saw(follow, "c2", B, active=False)
    follow.rest()
    follow.activity(100.1)  # before the last jump was due
    saw(follow, "c2", C, active=False)
    assert follow.next_wake() is None
    assert follow.due(200) is None
    saw(follow, "c3", C)
    assert follow.due(300) == C


def test_what_the_persons_hand_held_up_is_not_shown_after_the_turn() -> None:
    follow = Follow()
    follow.activity(100)
    saw(follow, "c1", A)
    follow.rest()
    assert follow.due(200) is None


def test_a_pause_may_last_until_the_next_prompt() -> None:
    follow = Follow(FollowSettings(resume_after=None))
    follow.activity(0)
    saw(follow, "c1", A)
    saw(follow, "c1", A, active=False)
    assert follow.paused(1e9)
    assert follow.next_wake() is None
    assert follow.pause_ends() is None
    assert follow.due(1e9) is None
    follow.prompt()
    assert not follow.paused(1e9)
    assert follow.due(1e9) is None, "what is over by then is old"
    saw(follow, "c2", B)
    assert follow.due(1e9) == B


def test_a_prompt_in_mid_turn_shows_where_the_agent_is() -> None:
    follow = Follow()
    follow.activity(0)
    saw(follow, "c1", A)
    follow.prompt()
    assert follow.due(0) == A


def test_nothing_jumps_back_to_where_the_person_left() -> None:
    follow = Follow(FollowSettings(resume_after=1))
    saw(follow, "c1", A)
    assert follow.due(0) == A
    follow.activity(1)
    assert follow.due(10) is None
    saw(follow, "c2", A)
    assert follow.due(10) == A, "a new call at the same place is news to a person who went elsewhere"


# -- the switch --------------------------------------------------------------------------------


def test_following_can_be_switched() -> None:
    follow = Follow()
    assert follow.toggle(False) is False
    saw(follow, "c1", A)
    saw(follow, "c1", A, active=False)
    assert follow.due(0) is None
    assert follow.toggle() is True
    assert follow.due(1) is None, "what is over by then is old"
    saw(follow, "c2", B)
    assert follow.due(2) == B
    assert follow.toggle() is False


def test_switching_on_shows_where_the_agent_is_and_ends_a_pause() -> None:
    follow = Follow(FollowSettings(enabled=False))
    follow.activity(0)
    saw(follow, "c1", A)
    assert follow.toggle(True) is True
    assert not follow.paused(0)
    assert follow.due(0) == A


def test_settings_switch_only_where_they_change() -> None:
    follow = Follow(FollowSettings(enabled=True))
    follow.toggle(False)
    follow.update(FollowSettings(enabled=True, resume_after=1))
    assert not follow.enabled
    follow.update(FollowSettings(enabled=False))
    follow.update(FollowSettings(enabled=True))
    assert follow.enabled


# -- the way back ------------------------------------------------------------------------------


def test_back_shows_the_places_before() -> None:
    follow = Follow()
    for n, target in enumerate((A, B, C)):
        saw(follow, f"c{n}", target)
        assert follow.due(n) == target
    assert follow.back(5) == B
    assert follow.current == B
    assert follow.paused(5)
    assert follow.back(6) == A
    assert follow.back(7) is None


def test_back_goes_to_where_the_person_was() -> None:
    follow = Follow(FollowSettings(resume_after=1))
    saw(follow, "c1", A)
    assert follow.due(0) == A
    mine = Target("/ws/mine.py")
    follow.activity(1, mine)
    saw(follow, "c2", B)
    assert follow.due(2) == B
    assert follow.back(3) == mine
    assert follow.back(3) == A


def test_there_is_no_way_back_from_the_first_place() -> None:
    follow = Follow()
    assert follow.back(0) is None
    saw(follow, "c1", A)
    assert follow.due(0) == A
    assert follow.back(1) is None
    assert not follow.paused(1)


def test_a_closed_session_is_forgotten() -> None:
    follow = Follow()
    saw(follow, "c1", A)
    follow.forget("s")
    assert follow.due(0) is None
    saw(follow, "c1", B)
    assert follow.due(1) == B


# -- which place of a call ---------------------------------------------------------------------


def test_the_first_place_with_a_line_is_looked_at() -> None:
    assert target_of(
        [Place("/a"), Place("/gone", 1, exists=False), Place("/b", 3), Place("/c", 4)]
    ) == Target("/b", 3)
    assert target_of([Place("/a"), Place("/b")]) == Target("/a")
    assert target_of([Place("/gone", 1, exists=False)]) is None
    assert target_of([]) is None


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["saw", "end", "activity", "prompt", "back", "toggle"]),
        st.integers(0, 5),
        st.sampled_from([A, B, C, None]),
        st.floats(0, 0.5),
    ),
    max_size=40,
)


@settings(deadline=None)
@given(EVENTS, st.sampled_from([None, 0, 1.0]))
def test_jumps_keep_their_distance_and_never_repeat(
    events: list[tuple[str, int, Target | None, float]], resume_after: float | None
) -> None:
    follow = Follow(FollowSettings(resume_after=resume_after))
    now, last = 0.0, -1.0
    shown: list[Target | str] = []
    for what, call, target, step in events:
        now += step
        match what:
            case "activity":
                follow.activity(now)
                shown.append("the person")
            case "prompt":
                follow.prompt()
            case "toggle":
                follow.toggle()
            case "back":
                if follow.back(now):
                    shown.append("the person")
            case _:
                saw(follow, str(call), target, active=what == "saw")
        paused = follow.paused(now)
        wake = follow.next_wake()
        if jump := follow.due(now):
            assert follow.enabled
            assert not paused
            assert wake is not None
            assert wake <= now
            assert now - last >= JUMP_INTERVAL - 1e-9
            assert not shown or shown[-1] != jump
            shown.append(jump)
            last = now
        elif wake is not None:
            assert wake > now


def test_of_many_calls_at_work_the_newest_is_known_without_asking_all() -> None:
    policy = Follow(FollowSettings())
    count = 10_000
    for number in range(count):
        policy.saw(Sighting(("s", f"c{number}"), "read", True, Target("/ws/a", number)))
    looked = len(policy._by_order)
    for number in range(count):
        policy.saw(Sighting(("s", f"c{number}"), "read", True, Target("/ws/b", number)))
    assert looked == len(policy._by_order) == count
    for number in range(count - 1, 0, -1):
        policy.saw(Sighting(("s", f"c{number}"), "read", False, Target("/ws/b", number)))
    policy.saw(Sighting(("s", "c0"), "read", True, Target("/ws/c", 0)))
    assert policy.due(0.0) == Target("/ws/c", 0)
    assert len(policy._by_order) == 1


def test_calls_of_long_ago_are_forgotten() -> None:
    follow = Follow()
    for number in range(50_000):
        saw(follow, f"c{number}", A, active=number % 2 == 0)
    assert max(map(len, (follow._order, follow._targets, follow._active, follow._by_order))) <= 20_200
    saw(follow, "newest", B)
    assert follow.due(100) == B
    follow.forget("s")
    assert (follow._order, follow._targets, follow._active) == ({}, {}, {})


def test_a_call_that_stops_and_goes_on_again_and_again_counts_once() -> None:
    follow = Follow()
    saw(follow, "old", A)
    saw(follow, "newest", B)
    for number in range(10_000):
        saw(follow, "old", A, active=number % 2 == 0)
    assert len(follow._by_order) < 200
