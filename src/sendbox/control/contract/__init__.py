"""The contract of control: its OpenAPI document, made of the rows of operations and the types that they name.

No operation lives here, and nothing here is read before someone asks for the document.
"""
