"""What can be used and is probably not meant: the warnings of `sendbox check`."""
