#!/usr/bin/env python3
"""Kills the attribution job with SIGKILL, restarts it, and holds the result to an independent join.

    kill_attribution.py --weir BIN [--kills 20] [--orders 20000] [--visits 40000] [--users 4000] [--seed S]
                        [--join regular|delta] [--state memory|rocksdb] [--memory SIZE] [--redo-rows N] [--rate ROWS]
                        [--moments any,fold,checkpoint,publication] [--work DIR] [--kafka]

A kill comes after a random time, or then waits until a fold, an unfinished checkpoint or one that is being published is seen in
the state dir.  Each round runs the job from a new state dir: it is killed `--kills` times in all, spread over as many rounds as needed
(a job that ends before its kill is due starts a new round), then runs to its end.  After every round the collapsed
changelog in the sink's folder must equal the join of the same rows computed here with a dictionary, and neither the state
dir nor the sink's folder may hold a file that does not belong there.  Prints a line a round; exit 1 with the seed on failure.

With --kafka both inputs are topics of a broker that the test starts, and so is the output: there rows may come twice, so the
last message of every key counts.  A second query keeps a changing row for every user.
"""
import argparse, glob, json, os, random, re, shutil, signal, subprocess, sys, tempfile, time
from collections import Counter, defaultdict
from decimal import Decimal

from broker import Broker

JOB = """
name: kill
options:
  parallelism: 2
  join: {join}
  state: {state}
  memory: {memory}
  redo_rows: {redo_rows}
  checkpoint: {{interval: {interval}ms}}
sources:
  orders: {{connector: generator, kind: orders, rows: {orders}, users: {users}, seed: 7{rate}, primary_key: [user_id, ds, order_id]}}
  visits: {{connector: generator, kind: visits, rows: {visits}, users: {users}, seed: 7{rate}, primary_key: [user_id, ds, visit_id]}}
sinks:
  attributed: {{connector: file, path: out, format: changelog_json}}
queries:
  - |
    INSERT INTO attributed
    SELECT o.order_id, o.user_id, o.amount, v.visit_id, v.channel, o.ds
    FROM orders o JOIN visits v ON o.user_id = v.user_id AND o.ds = v.ds
"""

KAFKA_JOB = """
name: kill
options:
  parallelism: 2
  join: {join}
  state: {state}
  memory: {memory}
  redo_rows: {redo_rows}
  checkpoint: {{interval: {interval}ms}}
sources:
  orders:
    {{connector: kafka, brokers: "{address}", topic: orders, end: latest,
     columns: {{order_id: bigint, user_id: bigint, amount: "decimal(12,2)", ds: string}}, primary_key: [user_id, ds, order_id]}}
  visits:
    {{connector: kafka, brokers: "{address}", topic: visits, end: latest,
     columns: {{visit_id: bigint, user_id: bigint, channel: string, ds: string}}, primary_key: [user_id, ds, visit_id]}}
sinks:
  attributed: {{connector: kafka, brokers: "{address}", topic: attributed-{round}, key: [order_id, visit_id]}}
  totals: {{connector: kafka, brokers: "{address}", topic: totals-{round}}}
queries:
  - |
    INSERT INTO attributed
    SELECT o.order_id, o.user_id, o.amount, v.visit_id, v.channel, o.ds
    FROM orders o JOIN visits v ON o.user_id = v.user_id AND o.ds = v.ds
  - INSERT INTO totals SELECT user_id, COUNT(*) AS orders, SUM(amount) AS amount FROM orders GROUP BY user_id
"""


def row_of(r):
    return r["order_id"], r["user_id"], f'{float(r["amount"]):.2f}', r["visit_id"], r["channel"], r["ds"]


class Parts:
    """Generators in, a folder of parts out."""

    def __init__(self, args, work):
        self.args, self.want, self.totals = args, *expected(args, work)

    def job(self, number):
        rate = f", rate: {self.args.rate}" if self.args.rate else ""
        return JOB.format(**{**vars(self.args), "rate": rate})

    def check(self, folder, number):
        return difference(collapsed(os.path.join(folder, "out")), self.want), os.path.join(folder, "out")

    def close(self):
        pass


class Topics:
    """Topics in, topics out."""

    def __init__(self, args, work):
        self.args, self.want, self.totals = args, *expected(args, work)
        self.broker = Broker(os.path.join(work, "kafka"))
        self.broker.start()
        for kind, rows in (("orders", args.orders), ("visits", args.visits)):
            self.broker.topic(kind, 4)
            generate(args, kind, rows, "--kafka", self.broker.address)

    def job(self, number):
        self.broker.topic(f"attributed-{number}", 2)
        self.broker.topic(f"totals-{number}", 2)
        return KAFKA_JOB.format(**vars(self.args), address=self.broker.address, round=number)

    def check(self, folder, number):
        rows = Counter(row_of(r) for r in self.broker.read(f"attributed-{number}"))
        totals = Counter((r["user_id"], r["orders"], f'{float(r["amount"]):.2f}') for r in self.broker.read(f"totals-{number}"))
        return difference(rows, self.want) or difference(totals, self.totals), None

    def close(self):
        self.broker.stop()  # its data stay for whoever looks into a failure


def difference(got, want):
    lost, extra = want - got, got - want
    return got != want and (f"{sum(lost.values())} rows lost, {sum(extra.values())} too many, e.g. {list(lost)[:2]} "
                            f"{list(extra)[:2]}")


def generate(args, kind, rows, *target):
    subprocess.run([args.weir, "generate", kind, "--rows", str(rows), "--users", str(args.users), "--seed", "7", *target],
                   check=True, stderr=subprocess.DEVNULL)


def expected(args, work):
    data = os.path.join(work, "data")
    for kind, rows in (("orders", args.orders), ("visits", args.visits)):
        generate(args, kind, rows, "--out", data)
    visits = defaultdict(list)
    for line in open(os.path.join(data, "visits.jsonl"), encoding="utf-8"):
        v = json.loads(line)
        visits[v["user_id"], v["ds"]].append(v)
    want, orders, amounts = Counter(), Counter(), defaultdict(Decimal)
    for line in open(os.path.join(data, "orders.jsonl"), encoding="utf-8"):
        o = json.loads(line, parse_float=Decimal)
        orders[o["user_id"]] += 1
        amounts[o["user_id"]] += Decimal(o["amount"])
        for v in visits[o["user_id"], o["ds"]]:
            want[o["order_id"], o["user_id"], f'{o["amount"]:.2f}', v["visit_id"], v["channel"], o["ds"]] += 1
    return want, Counter((user, count, f"{amounts[user]:.2f}") for user, count in orders.items())


def collapsed(folder):
    rows = Counter()
    for name in sorted(os.listdir(folder)):
        if name.startswith("."):
            continue
        for line in open(os.path.join(folder, name), encoding="utf-8"):
            r = json.loads(line)
            rows[row_of(r)] += 1 if r["op"] in ("+I", "+U") else -1
    return +rows


STATE = [r"lock", r"uuid", r"job\.json", r"epochs", r"socket", r"checkpoints", r"checkpoints/chk-\d+",
         r"checkpoints/chk-\d+/(manifest|complete)\.json", r"checkpoints/chk-\d+/[\w.-]+\.state",
         r"tables", r"tables/[^/]+(/base(/folding)?|/\d+(/log(/\d+\.seg)?)?)?", r"state",
         r"state/[^/]+(/base(/folding)?|/chk-\d+)?",
         r"(tables|state)/[^/]+/(base|chk-\d+)/(CURRENT|IDENTITY|LOCK|(MANIFEST|OPTIONS)-\d+|\d+\.(sst|log))"]


def strangers(state, out):
    found = [os.path.relpath(os.path.join(d, f), state) for d, folders, files in os.walk(state) for f in folders + files]
    bad = [f for f in found if not any(re.fullmatch(p, f) for p in STATE)]
    bad += [f for f in (os.listdir(out) if out else []) if not re.fullmatch(r"part-\d{12}-\d{4}\.jsonl", f)]
    chks = [f for f in found if re.fullmatch(r"checkpoints/chk-\d+", f)]
    links = Counter(os.path.dirname(f) for f in found if re.fullmatch(r"state/[^/]+/chk-\d+", f))
    return bad + (chks if len(chks) > 2 else []) + [f for f, n in links.items() if n > 2]


def unfinished(state, missing, present=None):
    """A checkpoint's folder that has the one file already, and not yet the other."""
    for folder in glob.glob(os.path.join(state, "checkpoints", "chk-*")):
        if not os.path.exists(os.path.join(folder, missing)):
            return present is None or os.path.exists(os.path.join(folder, present))
    return False


# What a kill waits for, seen in the state dir; a kill at "any" moment waits for none of them.
MOMENTS = {
    "any": lambda state: True,
    "fold": lambda state: glob.glob(os.path.join(state, "*", "*", "base", "folding", "*")),
    "checkpoint": lambda state: unfinished(state, "manifest.json"),
    "publication": lambda state: unfinished(state, "complete.json", "manifest.json"),
}


def wait_for(process, state, moment, due):
    """Whether the job still runs at the first such moment after so many seconds."""
    try:
        process.wait(timeout=due)
    except subprocess.TimeoutExpired:
        while process.poll() is None and not MOMENTS[moment](state):
            time.sleep(0.0002)
    return process.poll() is None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--weir", required=True)
    for name, value in (("kills", 20), ("orders", 20000), ("visits", 40000), ("users", 4000), ("rate", 0), ("interval", 50)):
        ap.add_argument(f"--{name}", type=int, default=value)
    ap.add_argument("--seed", type=int, default=int(time.time()))
    ap.add_argument("--join", default="regular")
    ap.add_argument("--state", default="memory")
    ap.add_argument("--memory", default="1GiB")
    ap.add_argument("--redo-rows", default="6000000")
    ap.add_argument("--moments", default=",".join(MOMENTS), help="of these one is drawn for each kill")
    ap.add_argument("--work", default="")
    ap.add_argument("--kafka", action="store_true")
    args = ap.parse_args()
    args.weir = os.path.abspath(args.weir)
    work = args.work or tempfile.mkdtemp(prefix="weir-kill-")
    os.makedirs(work, exist_ok=True)
    print(f"seed {args.seed}", flush=True)
    setting = (Topics if args.kafka else Parts)(args, work)
    try:
        kill(args, work, setting)
    finally:
        setting.close()
    if not args.work:
        shutil.rmtree(work)


def kill(args, work, setting):
    rng = random.Random(args.seed)
    kills = rounds = 0
    length = 0.0
    while kills < args.kills:
        folder = os.path.join(work, f"round-{rounds}")
        os.makedirs(folder)
        with open(os.path.join(folder, "job.yaml"), "w", encoding="utf-8") as f:
            f.write(setting.job(rounds))
        command, killed, start = [args.weir, "run", "job.yaml", "--state-dir", "state", "--summary", "s.json"], [], time.monotonic()
        while True:
            # The first round tells how long a run takes; kills fall anywhere in it.
            due = rng.uniform(0.01, max(length, 0.3)) if length and kills < args.kills else None
            moment = rng.choice(args.moments.split(","))
            began = time.time()
            p = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if due and wait_for(p, os.path.join(folder, "state"), moment, due):
                time.sleep(rng.uniform(0, 0.003) if moment != "any" else 0)
                p.send_signal(signal.SIGKILL)
                p.communicate()
                kills += 1
                killed.append(f"{time.time() - began:.2f}s" + (f" {moment}" if moment != "any" else ""))
                continue
            _, err = p.communicate()
            if p.returncode:
                sys.exit(f"seed {args.seed}, {folder}: exit {p.returncode}: {err.decode()}")
            break
        length = length or time.monotonic() - start
        wrong, out = setting.check(folder, rounds)
        if wrong:
            sys.exit(f"seed {args.seed}, {folder}: {wrong}")
        bad = strangers(os.path.join(folder, "state"), out)
        if bad:
            sys.exit(f"seed {args.seed}, {folder}: left behind: {bad}")
        with open(os.path.join(folder, "s.json"), encoding="utf-8") as f:
            summary = json.load(f)
        first = summary.get("first_row_out_time")
        recovery = f", first row {first - began * 1000:.0f} ms after the last start" if first and killed else ""
        folds = sum(t.get("folds", 0) for t in summary["tables"])
        print(f"round {rounds}: {len(killed)} kills ({', '.join(killed)}), {sum(setting.want.values())} rows right, nothing left "
              f"behind, {folds} folds in the last run{recovery}", flush=True)
        shutil.rmtree(folder)
        rounds += 1
    print(f"{kills} kills in {rounds} rounds: right each time")


main()
