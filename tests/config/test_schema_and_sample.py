"""The schema and the sample say the same about gpusafe.toml as the reader of the file."""

from __future__ import annotations

import re
import tomllib

import pytest

from gpusafe.config import from_table, sample, schema, settings
from gpusafe.errors import UsageError


def _uncommented() -> str:
    return "\n".join(line.removeprefix("# ") for line in sample().splitlines()[1:] if not line.startswith("##"))


def test_the_sample_sets_nothing() -> None:
    assert tomllib.loads(sample()) == {}


def test_the_sample_shows_every_setting_and_each_can_be_read() -> None:
    shown = tomllib.loads(_uncommented())
    assert set(shown) == {option.name.replace("_", "-") for option, setting in settings() if setting.in_file}
    assert set(from_table(shown, "gpusafe.toml")) == {name.replace("-", "_") for name in shown}


def test_the_schema_accepts_the_sample() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft7Validator.check_schema(schema())
    jsonschema.Draft7Validator(schema()).validate(tomllib.loads(_uncommented()))


@pytest.mark.parametrize(
    "text",
    [
        "colour = true",
        'fail-on = "never ever"',
        "strict = 1",
        'lints = { GS101 = "maybe" }',
        '[per-path."a"]\nselect = ["GS1"]',
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(text: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    table = tomllib.loads(text)
    assert not jsonschema.Draft7Validator(schema()).is_valid(table)
    with pytest.raises(UsageError):
        from_table(table, "gpusafe.toml")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("fail_on = 'error'", "did you mean `fail-on`?"),
        ("igonre = []", "did you mean `ignore`?"),
        ("jobs = 4", "only the command line sets it: --jobs"),
        ("xyzzy = 4", "known: "),
        ("fail-on = 'warnings'", "did you mean 'warning'?"),
        ("[per-path.benches]\nskip = true", "unknown key `skip` for `benches`"),
        ("[lints]\nGS101 = 3", "the level of `GS101` must be one of allow, warn, deny, forbid"),
    ],
)
def test_what_is_unknown_comes_with_what_was_meant(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(hint)):
        from_table(tomllib.loads(text), "gpusafe.toml")
