#!/usr/bin/env python3
"""Real agents, offline: installs them and gives them a scripted language model instead of a real one.

    lab.py list
    lab.py install NAME ...      into .cache/lab
    lab.py try NAME ...          serves the model until Ctrl-C, prints the acpEditor.agents entries to use it

A prompt says what the model is to do: "SCENARIO:full WS:/absolute/folder", see scenarios.py; `prepare` makes
the folder that the scenarios expect. No agent needs the network, and every key is the word "dummy".
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))

import mock_llm  # noqa: E402
from system import apt_install, root  # noqa: E402

from cached import CACHE, once  # noqa: E402

PATIENT_NPM = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]


@dataclass(frozen=True, slots=True)
class Agent:
    """How to install and run one; {dir} is where it is installed, {home} its home folder, {llm} the model."""

    run: tuple[str, ...]
    npm: str | None = None
    pip: str | None = None
    apt: tuple[str, ...] = ()
    python: tuple[int, int] = (3, 11)
    versions: tuple[Literal[1, 2], ...] = (1,)
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """What has to be in its home folder."""


CODEX_CONFIG = """\
model = "gpt-5.4"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "read-only"
[model_providers.mock]
name = "Mock"
base_url = "{llm}/v1"
wire_api = "responses"
env_key = "MOCK_API_KEY"
stream_max_retries = 0
request_max_retries = 0
[analytics]
enabled = false
"""
OPENCODE_CONFIG = {
    "autoupdate": False,
    "share": "disabled",
    "model": "mock/mock-model",
    "small_model": "mock/mock-model",
    "permission": {"edit": "ask", "bash": "ask"},
    "provider": {
        "mock": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {"baseURL": "{llm}/v1", "apiKey": "dummy"},
            "models": {
                "mock-model": {
                    "name": "Mock Model",
                    "tool_call": True,
                    "reasoning": True,
                    "limit": {"context": 200_000, "output": 8000},
                }
            },
        }
    },
}
OPENCODE_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
GEMINI_CONFIG = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}
KIMI_CONFIG = """\
default_model = "mock"
default_thinking = true
[models.mock]
provider = "mock"
model = "mock-model"
max_context_size = 200000
capabilities = ["thinking"]
[providers.mock]
type = "openai_legacy"
base_url = "{llm}/v1"
api_key = "dummy"
"""
SDK = "@agentclientprotocol/sdk@1.9.0"
SDK_EXAMPLES = "{dir}/node_modules/@agentclientprotocol/sdk/dist/examples"

AGENTS: Mapping[str, Agent] = {
    "sdk-example": Agent(npm=SDK, run=("node", f"{SDK_EXAMPLES}/agent.js")),
    "sdk-dual": Agent(npm=SDK, run=("node", f"{SDK_EXAMPLES}/dual-version-agent.js"), versions=(1, 2)),
    "claude": Agent(
        npm="@agentclientprotocol/claude-agent-acp@0.101.0",
        run=("node", "{dir}/node_modules/.bin/claude-agent-acp"),
        versions=(1, 2),
        env={
            "ANTHROPIC_API_KEY": "dummy",
            "ANTHROPIC_AUTH_TOKEN": "dummy",
            "ANTHROPIC_BASE_URL": "{llm}",
            "ANTHROPIC_MODEL": "claude-sonnet-4-5",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            "ENABLE_TOOL_SEARCH": "false",
        },
    ),
    "codex": Agent(
        npm="@agentclientprotocol/codex-acp@2.6.0",
        apt=("bubblewrap",),
        run=("node", "{dir}/node_modules/@agentclientprotocol/codex-acp/dist/index.js"),
        versions=(1, 2),
        env={"MOCK_API_KEY": "dummy", "CODEX_HOME": "{home}/.codex"},
        files={".codex/config.toml": CODEX_CONFIG},
    ),
    "opencode": Agent(
        npm="opencode-ai@1.18.33",
        run=("{dir}/node_modules/.bin/opencode", "acp"),
        env={f"OPENCODE_DISABLE_{what}": "1" for what in OPENCODE_OFF},
        files={".config/opencode/opencode.json": json.dumps(OPENCODE_CONFIG)},
    ),
    "gemini": Agent(
        npm="@google/gemini-cli@0.61.0",
        run=("node", "{dir}/node_modules/.bin/gemini", "--acp", "--model", "gemini-2.5-pro"),
        env={
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": "{llm}",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        files={".gemini/settings.json": json.dumps(GEMINI_CONFIG)},
    ),
    "kimi": Agent(
        pip="kimi-cli==1.12.0",
        python=(3, 13),
        run=("{dir}/bin/kimi", "acp"),
        env={"KIMI_CLI_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"},
        files={".kimi/config.toml": KIMI_CONFIG},
    ),
    "fast-agent": Agent(
        pip="fast-agent-acp==0.10.48",
        python=(3, 12),
        run=("{dir}/bin/fast-agent", "--no-update-check", "acp", "--model", "generic.mock-model", "--shell"),
        env={"GENERIC_API_KEY": "dummy", "GENERIC_BASE_URL": "{llm}/v1"},
    ),
    "pydantic": Agent(pip="pydantic-acp==1.10.0", run=("{dir}/bin/python", str(HERE / "pydantic_agent.py"))),
}


FOLDERS = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}
"""Below an agent's home folder, also where our own environment has them elsewhere."""


class Unavailable(Exception):
    """This machine cannot run that agent; the message says what it lacks."""


DEFAULT = ("sdk-dual", "pydantic", "gemini", "claude")
"""Those that install in seconds, and between them do what the others do."""


def chosen() -> list[str]:
    """The agents to test with: ACP_EDITOR_AGENTS names them, or is `all`."""
    wanted = os.environ.get("ACP_EDITOR_AGENTS", "").split()
    return list(AGENTS) if wanted == ["all"] else wanted or list(DEFAULT)


def python(least: tuple[int, int]) -> str:
    """The oldest Python here that is new enough."""
    folders = [Path(entry) for entry in os.environ["PATH"].split(os.pathsep) if "shims" not in entry]
    folders += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    found = {
        (3, int(path.name.removeprefix("python3."))): str(path)
        for folder in folders
        for path in folder.glob("python3.[0-9]*")
        if path.name.removeprefix("python3.").isdigit()
    }
    found.setdefault(sys.version_info[:2], sys.executable)
    able = [version for version in found if version >= least]
    if not able:
        raise Unavailable(f"it needs Python {least[0]}.{least[1]}")
    return found[min(able)]


def install(name: str) -> Path:
    """Where it is, installed on first use."""
    agent = AGENTS[name]

    def make(folder: Path) -> None:
        if agent.apt and root():
            apt_install(agent.apt)
        if agent.npm:
            (folder / "package.json").write_text('{"private": true}\n')
            subprocess.run([*PATIENT_NPM, agent.npm], cwd=folder, check=True, stdout=sys.stderr)
        elif agent.pip:
            subprocess.run([python(agent.python), "-m", "venv", str(folder)], check=True)
            pip = [str(folder / "bin/pip"), "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, agent.pip], check=True)

    key = f"{agent.npm} {agent.pip} {agent.apt}"
    return once(CACHE / "lab" / name, key, make, f"installing the agent {name}")


def settings(name: str, home: Path, llm: str) -> dict[str, object]:
    """The entry for `acpEditor.agents`. `home` becomes its home folder, `llm` is the model's address."""
    agent = AGENTS[name]
    folder = install(name)

    def fill(text: str) -> str:
        return text.replace("{dir}", str(folder)).replace("{home}", str(home)).replace("{llm}", llm)

    for path, text in agent.files.items():
        target = home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(fill(text))
    command, *arguments = map(fill, agent.run)
    env = {"HOME": str(home), **{key: str(home / path) for key, path in FOLDERS.items()}}
    env |= {key: fill(value) for key, value in agent.env.items()}
    return {"command": command, "args": arguments, "env": env}


def prepare(folder: Path) -> None:
    """The workspace that the scenarios expect: a git repository with app.py and README.md."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.py").write_text(
        'def greet(name):\n    return "Hello, " + name\n\n\n'
        'if __name__ == "__main__":\n    print(greet("world"))\n'
    )
    (folder / "README.md").write_text("# Demo\n\nA tiny demo project.\n\nRun `python3 app.py`.\n")
    git = ["git", "-C", str(folder), "-c", "user.name=demo", "-c", "user.email=demo@localhost"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        subprocess.run([*git, *arguments], check=True)


def try_out(names: list[str]) -> None:
    with mock_llm.serving() as llm, tempfile.TemporaryDirectory(prefix="acp-lab-") as home:
        folder = Path(home) / "workspace"
        prepare(folder)
        entries = {name: settings(name, Path(home) / name, llm) for name in names}
        print(json.dumps({"acpEditor.agents": entries}, indent=2))
        print(f"Prompt: SCENARIO:full WS:{folder}\nCtrl-C ends it.", file=sys.stderr)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


def main(arguments: list[str]) -> int:
    match arguments:
        case ["list"]:
            for name, agent in AGENTS.items():
                print(f"{name:12} ACP {', '.join(map(str, agent.versions)):5} {agent.npm or agent.pip}")
        case ["install", *names] if names:
            for name in names:
                print(install(name))
        case ["try", *names] if names:
            try_out(names)
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
