"""The page at /_sandbox/: it reads and acts through control only."""
