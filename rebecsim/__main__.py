"""`python -m rebecsim` is the command `rebecsim`."""

from rebecsim.cli import main

if __name__ == "__main__":
    main()
