"""``trainer-upgrade --verify COMMAND``: run the old code and the new, and compare what they compute."""
