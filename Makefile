# `make help` lists the targets. The first one that needs it creates .venv and installs the pinned requirements.

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
PY      := .venv/bin/python
PORT    ?= 8000
BUDGET  ?=
ONCE    ?=
SEED    ?= 1
MINUTES ?=
DATABASE ?=
ONLY    ?=
FAST    := not slow and not browser and not sglang
export PORT
# Compiled files are kept beside the sources, whatever the shell says: each process of the system starts in less time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo run sglang test test-fast test-postgres test-sglang test-faults lint bench soak screenshots clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/demo ## Make a drafter from eight sets of real prompts for a small model, live (BUDGET=tokens, PORT=, ONCE=1)
	@$(PY) manage.py demo $(if $(BUDGET),--budget $(BUDGET)) $(if $(filter 1 yes true,$(ONCE)),--once)

run: .venv/run ## Start the system for real use (PORT=); the first start creates an admin
	@$(PY) manage.py start

sglang: .venv-sglang/ready ## Install SGLang into .venv-sglang, for GPUs where there are some, else for this CPU

test: .venv/demo .venv/dev system-packages ## Run the whole test suite
	$(PY) -m pytest -n 3 -m "$(FAST)"
	$(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "slow and not alone"
	$(PY) -m pytest -m "slow and alone"

test-fast: .venv/dev ## Run the tests that need neither a model nor a browser
	$(PY) -m pytest -n 3 -m "$(FAST)"

test-sglang: .venv/demo .venv/dev sglang ## Run generation, serving and measuring against a real SGLang server
	$(PY) -m pytest -m sglang

test-faults: .venv/demo .venv/dev ## Strike a whole system with faults (SEED=, MINUTES=20, DATABASE=postgres, ONLY="kill web")
	@$(PY) -m tests.faults --seed $(SEED) --minutes $(or $(MINUTES),20) $(if $(filter postgres,$(DATABASE)),--postgres) \
	  $(if $(ONLY),--only "$(ONLY)")

test-postgres: .venv/demo .venv/dev system-packages ## Run all tests that use a database on a PostgreSQL server of their own
	$(PY) -m tests.support.postgres $(PY) -m pytest -n 2 -m "$(FAST)" tests/eagle3web tests/stories
	$(PY) -m tests.support.postgres $(PY) -m pytest -n 2 -m "slow and not browser and not alone" --ignore tests/stories/test_postgres.py tests/eagle3web tests/stories
	$(PY) -m tests.support.postgres $(PY) -m pytest -m "slow and alone" tests/eagle3web tests/stories

lint: .venv/dev ## Check style, types, imports, templates and migrations
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/bandit --quiet --recursive --severity-level medium --configfile pyproject.toml eagle3web pipeline manage.py
	.venv/bin/lint-imports
	.venv/bin/djlint --lint --quiet templates
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py check --fail-level WARNING

bench: .venv/demo .venv/dev ## Measure, as ratios within one run
	@for file in bench/*.py; do echo "== $$file"; $(PY) $$file || exit 1; done

soak: .venv/demo .venv/dev ## Let the whole system work (MINUTES=30, SEED=): nothing may grow, and 50 pages must keep up
	@$(PY) -m bench.soak --seed $(SEED) --minutes $(or $(MINUTES),30)

screenshots: .venv/demo .venv/dev system-packages ## Take pictures of every page of a finished demo into docs/screenshots
	@$(PY) -m tests.support.screenshots

clean: ## Remove everything that make made: .venv, var and caches
	rm -rf .venv .venv-sglang var .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps in .venv say which requirements it holds; a changed requirements file installs again.
.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "eagle3web needs Python 3.11 or newer (python3.11 is not on the PATH)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "eagle3web needs Python 3.11 or newer, $(PYTHON) is older"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run: requirements.txt | .venv/bin/python
	@echo "Installing requirements.txt into .venv (about two minutes, 2 GB)"
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/demo: requirements-demo.txt .venv/run
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-demo.txt
	@touch $@

.venv/dev: requirements-dev.txt requirements-s3.txt .venv/run
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# SGLang's wheel is made for CUDA. Without a GPU it is installed over what it imports, and tests/sglang_cpu stands in for the rest: two
# lines in a .pth file, of which the first is a path from the environment's packages to that folder.
SGLANG  := .venv-sglang/bin/python -m pip install --quiet --disable-pip-version-check
GPU     := $(shell nvidia-smi -L >/dev/null 2>&1 && echo yes)

.venv-sglang/bin/python:
	$(PYTHON) -m venv .venv-sglang

ifeq ($(GPU),yes)
.venv-sglang/ready: requirements-sglang.txt | .venv-sglang/bin/python
	@echo "Installing SGLang for CUDA into .venv-sglang (many minutes, about 15 GB)"
	$(SGLANG) -r requirements-sglang.txt
	@touch $@
else
.venv-sglang/ready: requirements-sglang.txt requirements-sglang-cpu.txt | .venv-sglang/bin/python
	@echo "Installing SGLang for this CPU into .venv-sglang (about three minutes, 2 GB)"
	$(SGLANG) -r requirements-sglang-cpu.txt
	$(SGLANG) --no-deps -r requirements-sglang.txt torchvision==0.28.0 xgrammar==0.2.7
	@packages=$$(.venv-sglang/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	printf '%s\n' ../../../../tests/sglang_cpu \
	  'import importlib.util; importlib.util.find_spec("sglang_on_cpu") and importlib.import_module("sglang_on_cpu")' \
	  > "$$packages/eagle3web-cpu.pth"
	@touch $@
endif

# Debian's browser, database server and proxy, for the tests only.
.PHONY: system-packages
system-packages:
	@missing=""; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v nginx >/dev/null || test -x /usr/sbin/nginx || missing="$$missing nginx-light"; \
	test -n "$$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null)" || missing="$$missing postgresql"; \
	if test -n "$$missing"; then \
	  if test "$$(id -u)" = 0; then \
	    echo "Installing$$missing"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	  else echo "The tests need$$missing: apt-get install$$missing"; exit 1; fi; \
	fi
