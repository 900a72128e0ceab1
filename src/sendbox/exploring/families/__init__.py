"""Families of misfortunes, one module each: where something may go wrong, how, and by what right."""
