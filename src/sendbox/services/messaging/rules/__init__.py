"""Rules of `attempts`: their conditions and fates, and the explanation of both."""
