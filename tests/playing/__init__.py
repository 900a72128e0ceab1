"""What `sendbox play` does, and its golden files, which `python -m tests.playing` writes anew."""
