"""The chooser: every draw is asked of it by a stable name (rule, subject, ordinal, purpose), never of a stream.

`draws` has the ordinary one, a keyed hash; `plan` what can be laid over it; `forms` how a plan writes what is drawn.
No service is imported here, and nothing else in the product draws.
"""
