"""The content of a message: texts and their segments, short links, templates, buttons, tags (§2.1, §2.2)."""
