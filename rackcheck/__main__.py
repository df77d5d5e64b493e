"""`python -m rackcheck`."""

from rackcheck.cli import main

if __name__ == "__main__":
    main()
