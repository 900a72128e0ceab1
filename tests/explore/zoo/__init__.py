"""The zoo: a correct client, clients with one bug each, and the tests that their authors would write."""
