"""`python -m chaos`, with tests/ on the path: see storm.py."""

import sys

from chaos.storm import main

sys.exit(main())
