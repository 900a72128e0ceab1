"""The account: keys and sub-keys, credit, orders, lists, devices. A port for the other services."""
