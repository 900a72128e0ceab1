"""The part of the scenario language for messaging: rules of `attempts`, `phones`, acts of phones and operators."""
