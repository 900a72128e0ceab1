"""Prints the packages of the environment that runs it, as a CycloneDX document (version 1.5, JSON): the image's list.

It has each package with version, licence, address in the registry and what it needs, and the interpreter. It reads what
is installed, so it says what is there and not what was asked for. The same environment gives the same text.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import uuid
from importlib.metadata import Distribution, distributions
from typing import Any, Final

OWN: Final = "sendbox"


def canonical(name: str) -> str:
    """The name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licences(package: Distribution) -> list[dict[str, Any]]:
    """The licence as the package says it: an SPDX expression, or else its words or classifiers."""
    said = package.metadata
    if expression := said.get("License-Expression"):
        return [{"expression": expression}]
    names = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier", ()) if line.startswith("License :: ")]
    word = (said.get("License") or "").strip()
    return [{"license": {"name": name}} for name in names or ([word] if word and "\n" not in word else [])]


def component(package: Distribution) -> dict[str, Any]:
    """One package."""
    name = canonical(package.metadata["Name"])
    purl = f"pkg:pypi/{name}@{package.version}"
    found = {"type": "application" if name == OWN else "library", "bom-ref": purl, "name": name}
    found |= {"version": package.version, "purl": purl}
    return found | ({"licenses": said} if (said := licences(package)) else {})


def document() -> dict[str, Any]:
    """The whole list; the package itself is what it is about."""
    packages = {canonical(each.metadata["Name"]): each for each in distributions()}
    parts = {name: component(packages[name]) for name in sorted(packages)}
    needs = {
        part["bom-ref"]: sorted(
            {
                parts[other]["bom-ref"]
                for line in packages[name].requires or ()
                if (other := canonical(re.split(r"[^A-Za-z0-9._-]", line.strip(), maxsplit=1)[0])) in parts
            }
        )
        for name, part in parts.items()
    }
    python = platform.python_version()
    interpreter = {"type": "platform", "bom-ref": f"pkg:generic/python@{python}", "name": "python", "version": python}
    about = parts.pop(OWN, None)
    found: dict[str, Any] = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1}
    content = {
        "metadata": {"component": about} if about else {},
        "components": [*parts.values(), interpreter],
        "dependencies": [{"ref": ref, "dependsOn": others} for ref, others in needs.items()],
    }
    name = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(content, sort_keys=True))
    return found | {"serialNumber": f"urn:uuid:{name}"} | content


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=2, sort_keys=False)
    sys.stdout.write("\n")
