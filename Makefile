# One command for each of: set up and see, test, format.

.PHONY: demo test ci package docs mutants figures format

demo: ## set everything up and check the example crate
	sh scripts/demo.sh

test: ## set up and pass the tests
	sh scripts/test.sh

ci: ## what the gate runs
	.ci/run

package: ## wheel and source distribution, each tried in an environment of its own
	sh scripts/package.sh

docs: ## the site, in site/
	sh scripts/docs.sh

mutants: ## how many broken kernels lose `proved`
	.venv/bin/python scripts/mutants.py

figures: ## how long kernels take to prove, how many are proved, and whether two runs agree
	.venv/bin/python scripts/figures.py

format: ## format and fix what can be fixed
	.venv/bin/ruff format . && .venv/bin/ruff check --fix .
