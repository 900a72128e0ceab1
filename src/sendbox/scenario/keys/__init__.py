"""The general keys of the language, a module each. A service brings the keys of its own."""
