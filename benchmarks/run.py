"""Run every benchmark of this folder, one after the other, each in a process of its own.

What `record.py` does is no benchmark: it needs to know what to record.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    for script in sorted(HERE.glob("*.py")):
        if script.name not in (Path(__file__).name, "record.py"):
            print(f"\n## {script.stem}\n", flush=True)
            subprocess.run([sys.executable, str(script)], check=True)


if __name__ == "__main__":
    main()
