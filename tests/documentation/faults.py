"""What the documentation says of the faults, from their tables."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from sendbox.engine.faults.table import CALLS, DELIVERIES, F
from tests.documentation import language
from tests.documentation.markdown import code, table
from tests.scenarios import compile_rule


def faults_of_calls() -> str:
    """Each form in which a fault may be written, what the client gets, and whether the call had its effect."""
    rows = []
    for form, gets in _forms(CALLS):
        effect = compile_rule("api", {"fault": yaml.safe_load(form)}).has_effect
        rows.append((code(form), gets, "yes" if effect else "no"))
    return _faults("api", CALLS, table(("fault", "what the client gets", "had its effect"), rows))


def faults_of_deliveries() -> str:
    """Each form in which a fault may be written, and what happens."""
    rows = [(code(form), happens) for form, happens in _forms(DELIVERIES)]
    return _faults("webhooks", DELIVERIES, table(("fault", "what happens"), rows))


def _forms(faults: Mapping[str, type[F]]) -> list[tuple[str, str]]:
    return [form for fault in faults.values() for form in fault.examples.items()]


def _faults(rules: str, faults: Mapping[str, type[F]], listed: str) -> str:
    """An example with all forms, their table, and the keys that some of them have."""
    lines = (
        f'  - {{when: {{phone: "4207770000{number:02}"}}, fault: {form}}}'
        for number, (form, _) in enumerate(_forms(faults), 70)
    )
    example = "\n".join(("```yaml", "sendbox: 1", f"{rules}:", *lines, "```"))
    tables = (f"Keys of `{title}`:\n\n{language.keys(title)}" for title in language.of_faults(faults))
    return "\n\n".join((example, listed, *tables))
