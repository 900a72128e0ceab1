"""Rules of `attempts`: their conditions and decisions, and the explanation of both."""
