"""The suite's runner is no part of the package: its tests find it beside the repository's other folders."""

import sys
from pathlib import Path

CONFORMANCE = Path(__file__).resolve().parents[2] / "conformance"
if str(CONFORMANCE) not in sys.path:
    sys.path.insert(0, str(CONFORMANCE))
