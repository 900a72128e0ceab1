"""Tokens in control: who may call an operation, who calls, and who changed what."""
