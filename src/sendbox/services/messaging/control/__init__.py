"""The operations of control on messages and phones, and the export of these operations."""
