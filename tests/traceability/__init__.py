"""What the specification says, sentence by sentence, and the proof of each."""
