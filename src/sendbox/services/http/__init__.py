"""Code shared by the HTTP parts of the services: a call, its answer, and findings and advice on incoming requests."""
