"""Rules: lists of them, what they count, and when they apply.

What a rule decides is the business of the list it stands in.
"""
