"""Scenarios: YAML files (or objects) that say how a world behaves, compiled into a blueprint for the core."""
