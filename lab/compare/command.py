"""Holds what the benches share as commands of a shell."""

import os
import sys


def say(text):
    print(text, flush=True)


def end_with(main):
    """Ends the process with what main(arguments) returns; quietly where a person or the output's
    reader has seen enough."""
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
