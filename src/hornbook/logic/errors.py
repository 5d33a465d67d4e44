"""The one exception for input that a user can mend."""


class HornbookError(ValueError):
    """Bad input: the message says what was wrong, where, and what to do."""
