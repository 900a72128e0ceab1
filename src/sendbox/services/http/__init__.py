"""What the HTTP sides of the services share: a call, its answer, findings and advice on the way in."""
