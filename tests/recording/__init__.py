"""Tests of the proxy that records calls."""
