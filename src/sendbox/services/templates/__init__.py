"""Message templates (§2.5): what a record means, and whether the parameters of a step fit it. It needs no world."""
