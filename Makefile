# Two commands are enough: `make run` and `make test`. Everything else is in CONTRIBUTING.md.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8765
BIN := $(VENV)/bin
EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
PIP := $(BIN)/pip --disable-pip-version-check
# One thread per worker: more threads only wait for each other. Three workers on two cores, because
# the tests of pages and servers wait a lot. Bytecode is written also where the environment forbids
# it: the tests start many processes, which would compile all again.
WORKERS ?= 3
TESTS = OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: run test check lint types quick durations install system guard wheel smoke page bench bench-quick faults busy audit site gallery clean

run: $(VENV)/.core
	$(BIN)/samekind demo --port $(PORT)

test: $(VENV)/.dev system guard
	$(TESTS)

# Types beside the tests: mypy has one thread, and the tests are not always busy with both cores.
check: $(VENV)/.dev lint
	@$(MAKE) --no-print-directory -j2 --output-sync=target types quick

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

quick: WORKERS = 2
quick: $(VENV)/.dev
	$(TESTS) -m "not browser and not slow"

# Measured durations decide which tests are quick: run this on a quiet machine after adding tests.
durations: $(VENV)/.dev system
	$(TESTS) --record-durations

install: $(VENV)/.dev

# torch first and pinned: where a CPU build lies at hand it is taken, and nothing pulls another.
$(VENV)/.torch: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "samekind needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Run: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q "$$(grep '^torch==' constraints.txt)"
	touch $@

$(VENV)/.core: $(VENV)/.torch pyproject.toml hatch_build.py $(shell find page -path page/node_modules -prune -o -type f -print)
	$(PIP) install -q -c constraints.txt -e .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) install -q -c constraints.txt -e '.[dev]'
	touch $@

# Chromium for the browser tests and PostgreSQL for the store tests, where they may be installed.
system:
	@bash .ci/system

# A CUDA build of torch or a stray torchvision breaks other packages: say so before the tests do.
guard: $(VENV)/.dev
	@$(PIP) list --format=freeze | grep -iE '^(nvidia|cuda|torchvision|torchaudio)' \
		&& { echo "These packages must not be in $(VENV). Run: make clean test"; exit 1; } || true

# A wheel that anybody can build again: the same commit gives the same bytes.
wheel: $(VENV)/.dev
	@test -n "$(EPOCH)" || { echo "Set EPOCH, the time of the commit in seconds, where there is no git clone."; exit 1; }
	SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/python -m hatchling build -t wheel -t sdist -d dist
	SOURCE_DATE_EPOCH=$(EPOCH) $(BIN)/python -m hatchling build -t wheel -t sdist -d build/again
	@for made in build/again/*; do cmp "$$made" "dist/$$(basename $$made)" || exit 1; done
	@cd dist && sha256sum samekind-*

# The wheel alone, in a fresh environment of any Python: make smoke PYTHON=python3.13
smoke: wheel
	rm -rf build/smoke && $(PYTHON) -m venv build/smoke
	build/smoke/bin/pip install -q --disable-pip-version-check dist/samekind-*.whl
	build/smoke/bin/python .ci/smoke.py

page:
	cd page && npm ci --no-audit --no-fund && npm run build

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.ledger.speed
	$(BIN)/python -m benchmarks.live.scale --items 60000 1000000

# Every method that needs no GPU, with simulated people: rows that are there are not made again.
bench-quick: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/samekind bench quick --workers 2 --rows benchmarks/rows/quick.jsonl
	$(BIN)/samekind report benchmarks/rows/quick.jsonl --out build/bench-quick

# Attacks on purpose: about 17 minutes. One of them, longer: make faults FAULTS="--only damage --rounds 5000".
faults: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.faults.run $(FAULTS)

# The tests of page, terminal and server beside two busy loops, three times: about half an hour.
SUITES ?= tests/web tests/cli tests/ledger tests/session
busy: $(VENV)/.dev system
	.ci/busy 3 env $(TESTS) $(SUITES)

# Known holes in the installed versions, by the package index where it knows them, else by a dated
# list. The tests compare with the list, without the network (tests/test_audit.py).
audit: $(VENV)/.dev
	$(BIN)/python .ci/audit.py

# The documentation of one version, beside those of others: make site VERSION=0.2.0, then
# python -m http.server -d site. Any warning is an error.
site: $(VENV)/.dev
	$(BIN)/python docs/build_site.py $(VERSION)

# Executes the programs in docs/gallery and writes their pages, notebooks and pictures: some minutes.
gallery: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python docs/build_gallery.py $(NAMES)

clean:
	rm -rf $(VENV) src/samekind/web/page page/node_modules
