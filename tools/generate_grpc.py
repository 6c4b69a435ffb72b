"""Generates `interlingua/v1/` from proto/ with buf: the Protobuf messages and gRPC stubs. `--check` only compares."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from _schema import PACKAGE, ROOT, settle

OUTPUT = PACKAGE / "v1"
INIT = '''\
"""The Protobuf messages and the gRPC stubs, GENERATED from proto/ by buf: do not edit. Needs the extra `server`."""
'''


def main(arguments: list[str]) -> int:
    with TemporaryDirectory() as folder:
        # buf starts `python`, which must be the one with the plugins
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["buf", "generate", "--output", folder],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return done.returncode
        generated = Path(folder, "python", "interlingua", "v1")
        files: dict[Path, str | bytes] = {OUTPUT / path.name: path.read_bytes() for path in sorted(generated.iterdir())}
    return settle({OUTPUT / "__init__.py": INIT, **files}, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
