"""``python -m peers`` in the folder of benchmarks, or ``make peers``: all learners on all sets.

Fits are kept as they are finished, so a run that was ended goes on where it was. At the end the
tables are printed; ``--write`` puts them into ``benchmarks/README.md`` and the pictures into the
documentation. ``--report`` only reports what is there.
"""

import argparse
import time

from parts.environments import PEERS as PEERS_FOLDER
from parts.sets import have_data

from peers.catalog import PEERS, SETS, Peer
from peers.fitting import Limits, outcome
from peers.kept import Store, is_answer, key, results_folder
from peers.ranking import Outcomes
from peers.report import report, write


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=[*SETS])
    parser.add_argument("--peers", nargs="+", metavar="NAME", help="some learners only")
    parser.add_argument("--seconds", type=float, default=900.0, help="processor time of a fit")
    parser.add_argument("--megabytes", type=int, default=3000, help="memory of a fit")
    parser.add_argument("--retry", action="store_true", help="run again what has failed")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--write", action="store_true", help="into README.md and docs")
    return parser.parse_args()


def chosen(names: list[str] | None) -> list[Peer]:
    """The learners of these names, in the order of the catalog."""
    known = [peer.name for peer in PEERS]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise SystemExit(f"there is no learner {unknown[0]!r}; there are {', '.join(known)}")
    return [peer for peer in PEERS if names is None or peer.name in names]


def run(peers: list[Peer], sets: list[str], limits: Limits, retry: bool) -> None:
    """Run what is missing, one fit at a time."""
    store = Store(results_folder())
    for peer in peers:
        for name in sets:
            place = key(peer, name)
            if is_answer(store.get(place), limits, retry):
                continue
            start = time.monotonic()
            found = outcome(peer, name, limits) | {"limits": [*limits]}
            found |= {"peer": peer.name, "set": name}
            store.put(place, found)
            seconds = time.monotonic() - start
            print(f"{peer.name} on {name}: {found['status']} {found['message']} {seconds:.0f} s",
                  flush=True)  # fmt: skip


def kept() -> Outcomes:
    """All outcomes that are there, by learner and data set."""
    store = Store(results_folder())
    pairs = ((peer, name) for peer in PEERS for name in SETS)
    found = {(peer.name, name): store.get(key(peer, name)) for peer, name in pairs}
    return {pair: one for pair, one in found.items() if one is not None}


def main() -> None:
    given = arguments()
    if not have_data():
        return
    if not given.report:
        run(chosen(given.peers), given.sets, Limits(given.seconds, given.megabytes), given.retry)
    found = kept()
    print(f"results: {PEERS_FOLDER / 'results'}\n")
    print(report(found))
    if given.write:
        write(found)


if __name__ == "__main__":
    main()
