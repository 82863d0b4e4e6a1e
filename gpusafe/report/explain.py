"""A rule as Markdown: for ``gpusafe explain``, the docs and the SARIF help."""

from __future__ import annotations

from gpusafe.rules import Rule

NOT_YET = "**Not checked yet**: the code is reserved, and no finding carries it in this version (docs/limits.md)."


def markdown(rule: Rule, *, title: bool = True) -> str:
    """The rule's whole explanation with its examples."""
    state = rule.level.value if rule.enabled else f"{rule.level.value}, off unless selected"
    parts = [f"# {rule.code} {rule.name}", f"*{rule.family}; {state}*"] if title else []
    parts += [_sentence(rule.summary), "" if rule.checked else NOT_YET, rule.explanation]
    parts += ["## Example", _block(rule, rule.racy), "Use instead:", _block(rule, rule.fixed)]
    parts += ["## Accept it", "```rust\n" + f"// gpusafe: allow({rule.code}): the reason" + "\n```"]
    return "\n\n".join(part for part in parts if part)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _block(rule: Rule, code: str) -> str:
    return f"```{rule.language}\n{code}\n```"
