"""Run every benchmark of this folder, one after the other, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    for script in sorted(HERE.glob("*.py")):
        if script.name != Path(__file__).name:
            print(f"\n## {script.stem}\n", flush=True)
            subprocess.run([sys.executable, str(script)], check=True)


if __name__ == "__main__":
    main()
