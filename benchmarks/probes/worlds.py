"""A new isolated world, empty and with the default scenario."""

from __future__ import annotations

from benchmarks.probes.timing import seconds, tell
from sendbox.app import SERVED
from sendbox.engine.world import World
from sendbox.language import LANGUAGE


def main() -> None:
    """Measures and prints."""
    default, least = LANGUAGE.load("default"), LANGUAGE.load({"sendbox": 1})
    tell(
        seconds(
            {
                "empty": lambda: World("w", least, start=0, services=SERVED.parts),
                "default": lambda: World("w", default, start=0, services=SERVED.parts),
            },
            2_000,
        )
    )


if __name__ == "__main__":
    main()
