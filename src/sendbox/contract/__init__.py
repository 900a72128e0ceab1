"""The contract: schemas, the validators made from them, the findings they lead to, and the OpenAPI document."""
