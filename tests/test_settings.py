from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from acp_editor.core.model import McpServer
from acp_editor.settings import AgentSettings, Settings, parse, parse_mcp_file

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 99) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def test_nothing_given_means_the_defaults() -> None:
    settings, problems = parse({})
    assert problems == []
    assert parse(None) == (settings, [])
    assert settings.agent == "demo"
    demo = settings.agents["demo"]
    assert (demo.command, demo.args) == (sys.executable, ("-m", "acp_editor", "demo-agent"))
    assert settings.follow.enabled
    assert settings.follow.resume_after == 10
    assert settings.follow.kinds == {"read", "edit", "delete", "move", "search", "execute", "other"}
    assert (settings.decorations.enabled, settings.decorations.fade_after) == (True, 10)
    assert settings.permissions.rules == {}
    assert (settings.review.enabled, settings.review.tell_agent) == (True, True)
    assert (settings.log.level, settings.log.protocol) == ("info", False)
    assert settings.cancel_grace == 5
    assert settings.mcp_servers == {}


def test_every_key_is_read() -> None:
    settings, problems = parse(
        {
            "agents": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}, "cwd": "/w", "protocol": 2}},
            "agent": "a",
            "follow": {"enabled": False, "kinds": ["edit", "think"], "resumeAfter": 2.5},
            "decorations": {"enabled": False, "fadeAfter": 0},
            "permissions": {"allow": ["read"], "ask": [], "deny": ["execute(rm:*)"], "readInside": True},
            "review": {"enabled": False, "maxFileSize": 5, "maxFiles": 6, "tellAgent": False},
            "log": {"level": "DEBUG", "protocol": True},
            "mcpServers": {"m": {"command": "mcp", "args": ["-v"]}},
            "cancelGrace": 1,
            "maxMessageSize": 1000,
        }
    )
    assert problems == []
    assert settings.max_message_size == 1000
    assert settings.agents["a"] == AgentSettings(
        command="x", args=("y",), env={"K": "v"}, cwd="/w", protocol=2
    )
    assert settings.agent == "a"
    assert (settings.follow.enabled, settings.follow.resume_after) == (False, 2.5)
    assert settings.follow.kinds == {"edit", "think"}
    assert (settings.decorations.enabled, settings.decorations.fade_after) == (False, 0)
    assert settings.permissions.rules["deny"] == ["execute(rm:*)"]
    assert settings.permissions.read_inside
    assert (settings.review.max_file_size, settings.review.max_files) == (5, 6)
    assert not settings.review.tell_agent
    assert (settings.log.level, settings.log.protocol) == ("debug", True)
    assert settings.mcp_servers["m"].server("m") == McpServer("m", "stdio", "mcp", ("-v",))
    assert settings.cancel_grace == 1


def test_following_may_never_resume_by_itself() -> None:
    settings, problems = parse({"follow": {"resumeAfter": None}})
    assert settings.follow.resume_after is None
    assert problems == []


def test_null_is_no_value_elsewhere() -> None:
    settings, problems = parse({"follow": {"enabled": None, "kinds": None}, "log": None, "agent": None})
    assert problems == []
    assert settings == parse({})[0]


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"decorations": {"fadeAfter": "soon"}}, "acpEditor.decorations.fadeAfter"),
        ({"decorations": {"fadeAfter": -1}}, "acpEditor.decorations.fadeAfter"),
        ({"decorations": {"fadeAfter": float("inf")}}, "acpEditor.decorations.fadeAfter"),
        ({"decorations": {"enabled": "yes"}}, "acpEditor.decorations.enabled"),
        ({"follow": {"enabled": 1}}, "acpEditor.follow.enabled"),
        ({"follow": "on"}, "acpEditor.follow"),
        ({"log": {"level": "loud"}}, "acpEditor.log.level"),
        ({"review": {"maxFiles": 0}}, "acpEditor.review.maxFiles"),
        ({"agent": ""}, "acpEditor.agent"),
        ({"agent": "nobody"}, "acpEditor.agent"),
        ({"agents": []}, "acpEditor.agents"),
        ({"agents": {"a": {"args": []}}}, "acpEditor.agents.a"),
        ({"agents": {"a": "claude"}}, "acpEditor.agents.a"),
        ({"cancelGrace": [1]}, "acpEditor.cancelGrace"),
        ({"mcpServers": {"m": {"type": "http"}}}, "acpEditor.mcpServers.m"),
        ("on", "acpEditor"),
    ],
)
def test_a_bad_key_is_named_and_its_default_holds(raw: Any, key: str) -> None:
    settings, problems = parse(raw)
    assert len(problems) == 1
    assert problems[0].startswith(key + " ") or problems[0].startswith(key + ":")
    assert settings == parse({})[0]


def test_a_bad_key_takes_no_other_along() -> None:
    settings, problems = parse(
        {
            "follow": {"enabled": False, "kinds": ["edit", "dance"]},
            "decorations": {"fadeAfter": "soon"},
            "agents": {
                "a": {"command": "x", "args": "y", "env": {"GOOD": "1", "BAD": []}, "protocol": 3},
                "b": {"command": 5},
                "c": {"command": "z"},
            },
            "review": 3,
            "cancelGrace": 2,
        }
    )
    assert sorted(problem.split(" ")[0] for problem in problems) == [
        "acpEditor.agents.a.args",
        "acpEditor.agents.a.env.BAD",
        "acpEditor.agents.a.protocol",
        "acpEditor.agents.b",
        "acpEditor.agents.b.command",
        "acpEditor.decorations.fadeAfter",
        "acpEditor.follow.kinds[1]",
        "acpEditor.review",
    ]
    assert not settings.follow.enabled
    assert settings.follow.kinds == {"edit"}
    assert set(settings.agents) == {"a", "c", "demo"}
    assert settings.agents["a"].env == {"GOOD": "1"}
    assert settings.cancel_grace == 2


def test_numbers_are_texts_where_only_texts_make_sense() -> None:
    settings, problems = parse({"agents": {"a": {"command": "x", "args": ["--port", 80], "env": {"N": 1}}}})
    assert problems == []
    assert settings.agents["a"].args == ("--port", "80")
    assert settings.agents["a"].env == {"N": "1"}


def test_an_older_shape_of_an_agent_is_read_too() -> None:
    settings, problems = parse({"agents": {"a": {"command": {"path": "x", "args": ["y"]}}}})
    assert problems == []
    assert (settings.agents["a"].command, settings.agents["a"].args) == ("x", ("y",))


def test_the_built_in_agent_can_be_replaced() -> None:
    settings, _ = parse({"agents": {"demo": {"command": "mine"}}})
    assert settings.agents["demo"].command == "mine"


def test_secrets_are_not_quoted() -> None:
    settings, problems = parse(
        {"agents": {"a": {"command": "x", "env": {"KEY": ["sk-secret"], "B": "sk-secret"}}}}
    )
    assert problems
    assert "sk-secret" not in problems[0] + repr(settings)


def test_broken_rules_reach_the_policy() -> None:
    assert parse({"permissions": {"deny": "rm"}})[0].permissions.rules == {"deny": "rm"}
    assert parse({"permissions": "none"})[0].permissions.rules == "none"


def test_half_a_character_does_no_harm() -> None:
    settings, problems = parse({"agents": {"\ud800": {"command": "x"}}, "cancelGrace": 1})
    assert problems == []
    assert settings.cancel_grace == 1


def test_an_mcp_file() -> None:
    servers, problems = parse_mcp_file(
        {
            "inputs": [],
            "servers": {
                "fs": {"command": "npx", "args": ["-y", "fs"], "env": {"K": "${env:K}"}},
                "web": {"url": "https://example.com/mcp", "headers": {"Authorization": "x"}},
                "old": {"type": "sse", "url": "https://example.com/sse"},
                "bad": {"type": "carrier pigeon"},
            },
        }
    )
    assert [(server.name, server.kind) for server in servers] == [
        ("fs", "stdio"),
        ("web", "http"),
        ("old", "sse"),
    ]
    assert servers[0].env == {"K": "${env:K}"}
    assert [problem.split(" ")[0] for problem in problems] == [
        "mcp.json.servers.bad.type",
        "mcp.json.servers.bad",
    ]


@hypothesis(deadline=None)
@given(
    st.dictionaries(st.sampled_from([*(f.alias or n for n, f in Settings.model_fields.items()), "x"]), JSON)
)
def test_nothing_that_is_sent_raises(raw: Any) -> None:
    settings, problems = parse(raw)
    assert settings.agent in settings.agents
    again, repeated = parse({**raw, "cancelGrace": 7})
    assert again.cancel_grace == 7
    assert again.follow == settings.follow
    assert len(problems) <= len(repeated) + 1
