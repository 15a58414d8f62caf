# Everything here works from a bare clone: what is missing is installed into .venv/ and .cache/ the first time.
# Needs make, git, Python 3.11 or newer, Node.js with npm, and a C++ compiler.

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
export npm_config_update_notifier := false

.DEFAULT_GOAL := help
.PHONY: help demo test lint format unit client audit vscode-test screenshots test-agents fuzz soak bench package lock clean bootstrap system \
	needs-client needs-demo needs-test
.NOTPARALLEL:

help:
	@echo "make demo         try it: a sample workspace in VS Code with the built-in agent"
	@echo "make test         everything that has to hold: lint, types, all tests, a real VS Code"
	@echo "make lint         ruff and pyright alone"
	@echo "make client       the VS Code client's types, linter and unit tests alone"
	@echo "make audit        known vulnerabilities in what is locked"
	@echo "make unit         the Python tests without VS Code and without real agents"
	@echo "make vscode-test  the tests in a real VS Code alone"
	@echo "make test-agents  real agents (Claude, Codex, Gemini, ...) with a scripted language model"
	@echo "make fuzz         the parsers with inputs that lead further into them, a minute each (SECONDS=60)"
	@echo "make soak         sessions where everything goes wrong, for an hour (MINUTES=60), drawn in .cache/soak/"
	@echo "make screenshots  the pictures of the README anew"
	@echo "make bench        how fast it is, against its peers; writes docs/performance.md, wants an idle machine"
	@echo "make package      the wheel and the extension"
	@echo "make format       formats the sources"
	@echo "make lock         the locked requirements anew, from pyproject.toml"
	@echo "make clean        away with all that was installed and built here"

# Asked before anything is installed, so that all that is missing is told at once.
needs-client needs-demo needs-test:
	@python=$$(scripts/find-python) && "$$python" scripts/needs.py $(@:needs-%=%)

bootstrap:
	@python=$$(scripts/find-python) && "$$python" scripts/bootstrap.py

# What only tests in VS Code need.
system: needs-test bootstrap
	@$(BIN)/python scripts/browser.py >/dev/null
	@$(BIN)/python scripts/workbench.py install >/dev/null

demo: needs-demo bootstrap
	@$(BIN)/python scripts/demo.py

lint: bootstrap
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/pyright --pythonplatform Darwin acp_editor
	$(BIN)/pyright --pythonplatform Windows acp_editor

# Known vulnerabilities in what is locked; says so where it cannot look.
audit: system
	@$(BIN)/python scripts/audit.py

client: needs-client bootstrap
	@$(BIN)/python scripts/package.py check

# pytest comes last and runs all there is in one go, so that its closing line is the summary.
test: system lint client audit
	$(PYTEST)

unit: bootstrap
	$(PYTEST) -m "not browser and not live"

vscode-test: system
	$(PYTEST) tests/vscode

test-agents: system
	ACP_EDITOR_AGENTS=all ACP_EDITOR_AGENTS_RESULTS=tests/live/results.json $(PYTEST) -m live; \
		code=$$?; $(BIN)/python scripts/agents_table.py && exit $$code

fuzz: bootstrap
	@for target in lines version1 version2 patches commands rules; do \
		$(BIN)/python tests/fuzz/run.py $$target $(or $(SECONDS),60) || exit 1; done

soak: bootstrap
	@$(BIN)/python scripts/soak.py $(or $(MINUTES),60)

screenshots: system
	ACP_EDITOR_SCREENSHOTS=docs/images $(PYTEST) tests/vscode -m browser -k picture

# Needs the TypeScript SDK, which the client's packages bring, and VS Code.
bench: system client
	$(BIN)/python benchmarks/review.py
	$(BIN)/python -m benchmarks --write

package: needs-client bootstrap
	@$(BIN)/python scripts/package.py

format: bootstrap
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: bootstrap
	@$(BIN)/python scripts/bootstrap.py lock

clean:
	rm -rf .venv .cache .pytest_cache .ruff_cache .hypothesis client-vscode/node_modules client-vscode/dist \
		client-vscode/out client-vscode/bundled
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
