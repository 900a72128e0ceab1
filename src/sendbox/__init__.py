"""Sendbox: a deterministic sandbox of a messaging, verification and partner-management service."""

__version__ = "0.1.0"
