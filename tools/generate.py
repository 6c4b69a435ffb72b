"""Makes all generated code; each step uses the results of the steps before it. `--check` only compares."""

import sys

import copy_data
import generate_convert
import generate_grpc
import generate_proto
import generate_types

STEPS = (generate_types, generate_proto, generate_grpc, generate_convert, copy_data)


def main(arguments: list[str]) -> int:
    return max([step.main(arguments) for step in STEPS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
