"""Tests of long lists: their pages, their short forms, and how they are searched."""
