"""What messaging brings to the language of scenarios: rules of `attempts`, `phones`, what phones and operators do."""
