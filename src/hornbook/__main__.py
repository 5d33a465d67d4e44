"""`python -m hornbook`."""

from hornbook.cli import main

main()
