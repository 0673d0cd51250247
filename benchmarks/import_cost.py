# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""CPU time of ``import haystack_eval_ext`` on top of Haystack, each time in a fresh process."""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

TARGET_MS = 60
IMPORT = """
import time
from haystack import Document, Pipeline, component
start = time.process_time()
import haystack_eval_ext
print(time.process_time() - start)
"""


def import_cost() -> float:
    """
    Import the package once.

    :returns: CPU time in milliseconds.
    """
    # The checkout's own package, installed or not.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run([sys.executable, "-c", IMPORT], env=environment, capture_output=True, text=True, check=True)
    return 1000 * float(done.stdout)


def main() -> None:
    """Print the median of the fresh processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=11, help="fresh processes (default: 11)")
    times = [import_cost() for _ in range(parser.parse_args().repeats)]
    print(
        f"import haystack_eval_ext after haystack: {statistics.median(times):.1f} ms CPU (median of {len(times)}, "
        f"{min(times):.1f} to {max(times):.1f}; target: at most {TARGET_MS})"
    )


if __name__ == "__main__":
    main()
