"""What control does with messages and phones, and how an export repeats it."""
