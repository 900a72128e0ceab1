"""The contract: schemas, the checks of requests against them, findings, and the OpenAPI document."""
