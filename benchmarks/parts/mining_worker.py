"""Find frequent itemsets with PyFIM or mlxtend, in an environment of its own; see `peer_miners.py`.

The arguments are the peer and a file with transactions. Each line on standard input is a request
as JSON, each line on standard output its answer: CPU seconds, the number of sets and,
if asked for, the sets in a file.
"""

import importlib.metadata
import json
import sys
import time


def pyfim(transactions):
    import fim

    targets = {"all": "s", "closed": "c", "maximal": "m"}

    def mine(support, longest, kind, how):
        search = getattr(fim, how or "eclat")
        limits = {"zmax": longest} if longest else {}
        return search(transactions, target=targets[kind], supp=-support, zmin=1, **limits)

    return mine, lambda found: [[sorted(items), n] for items, n in found]


def mlxtend(transactions):
    import pandas as pd
    from mlxtend import frequent_patterns
    from mlxtend.preprocessing import TransactionEncoder

    encoder = TransactionEncoder()
    table = pd.DataFrame(
        encoder.fit(transactions).transform(transactions), columns=encoder.columns_
    )

    def mine(support, longest, kind, how):
        search = getattr(frequent_patterns, "fpmax" if kind == "maximal" else how or "fpgrowth")
        share = (support - 0.5) / len(table)  # half a row less, against rounding
        return search(table, min_support=share, max_len=longest, use_colnames=True)

    def as_lists(found):
        rows = (found["support"] * len(table)).round().astype(int)
        return [
            [sorted(items), n] for items, n in zip(found["itemsets"], rows.tolist(), strict=True)
        ]

    return mine, as_lists


def main():
    peer, path = sys.argv[1:]
    with open(path) as file:
        transactions = [tuple(row) for row in json.load(file)]
    mine, as_lists = {"pyfim": pyfim, "mlxtend": mlxtend}[peer](transactions)
    for line in sys.stdin:
        request = json.loads(line)
        if request == "version":
            print(json.dumps(importlib.metadata.version(peer)), flush=True)
            continue
        start = time.process_time()
        found = mine(*(request[key] for key in ("support", "longest", "kind", "how")))
        answer = {"cpu": time.process_time() - start, "n": len(found)}
        if request["save"]:
            with open(request["save"], "w") as file:
                json.dump(as_lists(found), file)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
