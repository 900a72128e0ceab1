"""What the commands do. Each is plain functions without click: `cli` reads arguments, prints errors, and exits."""
