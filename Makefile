# One command for each of: set up and see, test, format.

.PHONY: demo test ci format

demo: ## set everything up and check the example crate
	sh scripts/demo.sh

test: ## set up and pass the tests
	sh scripts/test.sh

ci: ## what the gate runs
	.ci/run

format: ## format and fix what can be fixed
	.venv/bin/ruff format . && .venv/bin/ruff check --fix .
