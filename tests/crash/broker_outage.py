#!/usr/bin/env python3
"""A running job outlives its broker: the broker is stopped, started again, frozen and thawed, and the result is right.

    broker_outage.py --weir BIN [--rows 100000] [--users 5000] [--outage SECONDS] [--work DIR]

Orders come in three parts: before the broker stops, after it is back, after it was frozen.  The job counts and sums them by
user into an upsert topic, whose last message of every key must equal the same computed here.  The job must not end by itself.
"""
import argparse, json, os, shutil, signal, subprocess, sys, tempfile, time
from collections import Counter, defaultdict
from decimal import Decimal

from broker import Broker

JOB = """
name: outage
options: {{parallelism: 2, checkpoint: {{interval: 500ms}}}}
sources:
  orders: {{connector: kafka, brokers: "{address}", topic: orders, columns: {{user_id: bigint, amount: "decimal(12,2)"}}}}
sinks:
  totals: {{connector: kafka, brokers: "{address}", topic: totals}}
queries:
  - INSERT INTO totals SELECT user_id, COUNT(*) AS orders, SUM(amount) AS amount FROM orders GROUP BY user_id
"""
PATIENCE_S = 120


def generated(args, seed, *target):
    subprocess.run([args.weir, "generate", "orders", "--rows", str(args.rows), "--users", str(args.users), "--seed", str(seed),
                    *target], check=True, stderr=subprocess.DEVNULL)


def expected(args, work, seeds):
    orders, amounts = Counter(), defaultdict(Decimal)
    for seed in seeds:
        folder = os.path.join(work, f"data-{seed}")
        generated(args, seed, "--out", folder)
        for line in open(os.path.join(folder, "orders.jsonl"), encoding="utf-8"):
            o = json.loads(line, parse_float=Decimal)
            orders[o["user_id"]] += 1
            amounts[o["user_id"]] += Decimal(o["amount"])
    return {user: (count, f"{amounts[user]:.2f}") for user, count in orders.items()}


def totals(broker):
    return {r["user_id"]: (r["orders"], f'{float(r["amount"]):.2f}') for r in broker.read("totals")}


def run(args, work, broker):
    broker.start()
    broker.topic("orders", 4)
    broker.topic("totals", 2)
    with open(os.path.join(work, "job.yaml"), "w", encoding="utf-8") as f:
        f.write(JOB.format(address=broker.address))
    log = open(os.path.join(work, "weir.log"), "w", encoding="utf-8")
    job = subprocess.Popen([args.weir, "run", "job.yaml", "--state-dir", "state"], cwd=work, stdout=log, stderr=log)

    def until(seeds, what):
        want, end = expected(args, work, seeds), time.monotonic() + PATIENCE_S
        while (got := totals(broker)) != want:
            if job.poll() is not None:
                sys.exit(f"the job ended by itself after {what}: exit {job.returncode}; see {log.name}")
            if time.monotonic() > end:
                wrong = [u for u in want if got.get(u) != want[u]]
                sys.exit(f"after {what}: {len(wrong)} of {len(want)} users wrong, e.g. {wrong[0]}: {got.get(wrong[0])} "
                         f"and not {want[wrong[0]]}; see {log.name}")
        print(f"right after {what}", flush=True)

    try:
        generated(args, 1, "--kafka", broker.address)
        until([1], "the start")
        generated(args, 2, "--kafka", broker.address)
        broker.stop()  # while the second part is being read
        time.sleep(args.outage)
        broker.start()
        until([1, 2], "a stop")
        generated(args, 3, "--kafka", broker.address)
        broker.freeze()
        time.sleep(args.outage)
        broker.thaw()
        until([1, 2, 3], "a freeze")
        job.send_signal(signal.SIGINT)
        if job.wait(timeout=60) != 130:
            sys.exit(f"exit {job.returncode} after SIGINT; see {log.name}")
    finally:
        if job.poll() is None:
            job.kill()
            job.wait()
        log.close()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--weir", required=True)
    ap.add_argument("--rows", type=int, default=100000)
    ap.add_argument("--users", type=int, default=5000)
    ap.add_argument("--outage", type=float, default=10)
    ap.add_argument("--work", default="")
    args = ap.parse_args()
    args.weir = os.path.abspath(args.weir)
    work = os.path.abspath(args.work or tempfile.mkdtemp(prefix="weir-outage-"))
    os.makedirs(work, exist_ok=True)
    broker = Broker(os.path.join(work, "kafka"))
    try:
        run(args, work, broker)
    finally:
        try:
            broker.thaw()
        except (OSError, ValueError):
            pass  # it does not run
        broker.stop()  # its data stay for whoever looks into a failure
    if not args.work:
        shutil.rmtree(work)


main()
