"""`interlingua` and `python -m interlingua`. The plug is started without loading the rest: it is started often."""

import sys


def main() -> None:
    """Runs the command line."""
    if sys.argv[1:2] == ["plug"] and not {"--help", "-h"} & set(sys.argv):
        from interlingua.plug import serve

        serve()
        return
    from interlingua.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
