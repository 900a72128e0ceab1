"""The command line: arguments, and a module for each command."""
