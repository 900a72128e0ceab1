"""Families of misfortunes: where something may go wrong, how, and by what right; `table` has all kinds."""
