"""Tests of the partner management interface."""
