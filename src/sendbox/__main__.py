"""`python -m sendbox`: the command line."""

from __future__ import annotations

from sendbox.cli.main import main

if __name__ == "__main__":
    main()
