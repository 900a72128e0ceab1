"""The contract: schemas, what holds requests against them, findings, and the OpenAPI document."""
