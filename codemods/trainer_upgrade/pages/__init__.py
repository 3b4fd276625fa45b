"""What there is to say about a code: its page in the docs, and what ``--explain`` prints."""
