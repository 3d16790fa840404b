# Everything a fresh machine needs for memgrep, from make, cargo, Python 3.11+ and a C compiler.
#
# Python packages go into .venv, Rust ones into target/; nothing is installed elsewhere. Every target does its own
# set-up, and does it once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# One profile for tests, wheel and benches: tantivy and SQLite are compiled once.
CARGO_PROFILE := --release

RUST_SOURCES := $(shell find rust -name '*.rs' 2>/dev/null) Cargo.toml Cargo.lock pyproject.toml
# A model file that appears or changes is read from the source tree: it needs no build.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ Use

.PHONY: demo
demo: install ## index examples/notes and search it, by word and by meaning, offline
	@sh examples/demo.sh

.PHONY: install
install: $(VENV)/.built ## .venv with memgrep built from this tree (editable)

##@ Develop

.PHONY: build
build: install ## a wheel in dist/
	$(BIN)/maturin build --release --out dist

.PHONY: test
test: test-rust test-python ## all tests, Rust and Python

.PHONY: test-rust
test-rust: check-tools
	cargo test $(CARGO_PROFILE) --locked --no-fail-fast

.PHONY: test-python
test-python: install
	$(BIN)/python -m pytest

.PHONY: format
format: $(VENV)/.installed ## lay out all code
	cargo fmt
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: lint
lint: install ## formatters, clippy (pure and with Python), ruff, mypy, the stub against the binary
	cargo fmt --check
	cargo clippy $(CARGO_PROFILE) --locked --all-targets -- -D warnings
	cargo clippy $(CARGO_PROFILE) --locked --features python --lib -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --allowlist tests/stubtest.allow memgrep._core

.PHONY: audit
audit: check-tools ## known vulnerabilities of packages and crates; says what could not be asked
	@test -x $(VENV)-audit/bin/python || $(PYTHON) -m venv $(VENV)-audit
	@test -x $(VENV)-audit/bin/pip-audit || $(VENV)-audit/bin/python -m pip install --quiet \
		--disable-pip-version-check pip-audit==2.10.1 || echo "audit: pip-audit cannot be installed"
	@$(VENV)-audit/bin/python .ci/audit.py

.PHONY: bench
bench: install ## all benches at full size (half an hour); see benches/README.md
	cargo bench --locked
	$(BIN)/python benches/python_api.py
	$(BIN)/python benches/quality.py

.PHONY: bench-smoke
bench-smoke: install ## every bench once, small: do they still run?
	cargo bench --locked -- --test
	$(BIN)/python benches/python_api.py --smoke
	$(BIN)/python benches/quality.py --smoke

.PHONY: docs
docs: install ## rebuild what is generated: docs/cli.md, outputs in README.md, Rust API pages
	$(BIN)/python -c 'from memgrep.arguments import manual; print(manual(), end="")' > docs/cli.md
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --release
	$(BIN)/python tests/test_docs.py
	$(BIN)/python -m pytest tests/test_docs.py

.PHONY: lock
lock: check-tools ## resolve requirements-dev.txt anew (needs the network)
	test -x $(VENV)-lock/bin/uv || ($(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv)
	$(VENV)-lock/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 \
		--extra local --extra plot --extra dev --custom-compile-command "make lock" --output-file requirements-dev.txt pyproject.toml

.PHONY: all
all: lint test bench-smoke build ## what CI runs, and a wheel

.PHONY: clean
clean: ## remove everything made here
	rm -rf target $(VENV) $(VENV)-audit $(VENV)-lock dist .mypy_cache .ruff_cache .pytest_cache .hypothesis python/memgrep/*.so

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# Set-up. The stamps make it happen once; deleting .venv starts over.

.PHONY: check-tools
check-tools:
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.91 or newer" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "cc is missing: install a C compiler (SQLite is compiled from source)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "$(PYTHON) is missing or older than 3.11: make PYTHON=python3.12 ..." >&2; exit 1; }

$(VENV)/.installed: requirements-dev.txt | check-tools
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
		echo "$(PYTHON) has no venv module: install it (Debian: python3-venv)" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

$(VENV)/.built: $(VENV)/.installed $(RUST_SOURCES)
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --locked
	@touch $@
