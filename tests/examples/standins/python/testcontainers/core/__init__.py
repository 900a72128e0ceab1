"""Stands for Testcontainers for Python."""
