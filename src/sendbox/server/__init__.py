"""The server: HTTP connections, the gateway to the interfaces, faults on the wire, uploads, TLS, and their thread."""
