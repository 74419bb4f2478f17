"""``python -m peers`` in the folder of benchmarks, or ``make peers``: all learners on all sets.

Fits are kept as they are finished, so a run that was ended goes on where it was. At the end the
tables are printed; ``--write`` puts them into ``benchmarks/figures/peers.md``, the short one into
``benchmarks/README.md``, and the pictures into the documentation. ``--report`` only reports what is
there.
"""

import argparse
import time
from typing import Any

from parts.environments import PEERS as PEERS_FOLDER
from parts.sets import have_data

from peers.catalog import BY_SIZE, PEERS, SETS, Peer
from peers.fitting import Limits, outcome
from peers.kept import NOT_TRIED, TIMED_OUT, Store, is_answer, key, results_folder
from peers.ranking import Outcomes
from peers.report import report, write


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=[*SETS])
    parser.add_argument("--peers", nargs="+", metavar="NAME", help="some learners only")
    parser.add_argument("--seconds", type=float, default=900.0, help="processor time of a fit")
    parser.add_argument("--megabytes", type=int, default=3000, help="memory of a fit")
    parser.add_argument(
        "--give-up", type=int, default=2, metavar="N",
        help="try no larger data sets after N time-outs of a learner; 0: try all",
    )  # fmt: skip
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


def run(
    peers: list[Peer], sets: list[str], limits: Limits, retry: bool, give_up: int | None
) -> None:
    """Run what is missing, one fit at a time, small data sets first."""
    store = Store(results_folder())
    for peer in peers:
        late: list[str] = []
        for name in sorted(sets, key=BY_SIZE.index):
            place = key(peer, name)
            known = store.get(place)
            if known is None or not is_answer(known, limits, retry):
                known = new_outcome(peer, name, limits, late if len(late) == give_up else [])
                store.put(place, known)
            if known["status"] == TIMED_OUT:
                late.append(name)


def new_outcome(peer: Peer, name: str, limits: Limits, late: list[str]) -> dict[str, Any]:
    """Run a fit, unless there are smaller data sets on which that took too long."""
    start = time.monotonic()
    if late:
        found = {"status": NOT_TRIED, "message": f"timed out on {' and '.join(late)}"}
    else:
        found = outcome(peer, name, limits)
    seconds = time.monotonic() - start
    said = f"{found['status']} {found['message']}".strip()
    print(f"{peer.name} on {name}: {said}, {seconds:.0f} s", flush=True)
    return found | {"limits": [*limits], "peer": peer.name, "set": name}


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
        limits = Limits(given.seconds, given.megabytes)
        run(chosen(given.peers), given.sets, limits, given.retry, given.give_up or None)
    found = kept()
    print(f"results: {PEERS_FOLDER / 'results'}\n")
    print(report(found))
    if given.write:
        write(found)


if __name__ == "__main__":
    main()
