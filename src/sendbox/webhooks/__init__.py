"""Deliveries: what goes out, when it is tried again, and the one door through which it leaves."""
