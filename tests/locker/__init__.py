"""A parcel locker: a service on the shipped rooms, and the example of `docs/your-own-service.md`."""
