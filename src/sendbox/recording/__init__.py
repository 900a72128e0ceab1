"""A proxy in front of the real service, which records the calls that it hands on.

`proxy` hands calls and webhooks on, `callbacks` has the addresses that it gives out for those of a client, `exchange`
is a call with its answer, `recorder` writes them beside the calls, `har` is the file, `standins` masks what is written,
`checking` finds the differences from the contract.
"""
