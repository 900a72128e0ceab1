"""The documentation as data: its code blocks, its links, and the parts of it that are generated from the code.

`python -m tests.documentation` (or `scripts/docs`) writes the generated parts; `tests/test_docs.py` fails while one of
them is stale, and `tests/examples/` runs the blocks.
"""

from __future__ import annotations
