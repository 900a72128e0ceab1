"""The general keys of the language, a module for each. Services add keys of their own."""
