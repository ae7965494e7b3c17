#!/usr/bin/env python3
"""Random queries over random changes: what weir's changelogs collapse to is what DuckDB says of the rows that are left.

    differential.py --weir BIN [--queries 200] [--seed S] [--per-job 8] [--changes 120] [--keep] [-v]

Each round makes tables, a history of changes for each (append only, full or upsert, NULLs and extreme values, batches
and restores in between) and a job of --per-job queries that all read them, runs weir once and compares every sink.
A query that weir refuses at planning is counted and left out, and so is one that DuckDB cannot answer.  A difference
prints the seed of the round, the query and the rows, keeps the round's folder, and ends with exit 1:

    differential.py --weir BIN --seed S --queries 1      repeats the round with that seed

Needs the duckdb of requirements.txt (pip install -r tests/fuzz/requirements.txt); without it the exit is 77: skipped.
"""
import argparse, collections, datetime, glob, json, math, os, random, re, shutil, subprocess, sys, tempfile
from decimal import Decimal

try:
    import duckdb
except ImportError:
    duckdb = None

from changes import Table, interleaved
from queries import Maker

SKIPPED = 77
# What a weir may or may not have: a query that says so.
FEATURES = {
    "over": "SELECT id AS c0, row_number() OVER (PARTITION BY id ORDER BY id) AS c1 FROM probe",
}


def run(args, folder, timeout=600):
    return subprocess.run(args, cwd=folder, capture_output=True, text=True, timeout=timeout)


def job_text(tables, queries, options=""):
    text = f"name: differential\noptions: {{{options}}}\nsources:\n" + "".join(t.declaration() for t in tables) + "sinks:\n"
    for i in range(len(queries)):
        text += f"  o{i}: {{connector: file, path: out/o{i}, format: changelog_json}}\n"
    text += "queries:\n"
    for i, query in enumerate(queries):
        text += f"  - {{name: q{i}, sql: {json.dumps(f'INSERT INTO o{i} {query.weir()}')}}}\n"
    return text


def features_of(weir, work):
    known = set()
    for name, query in FEATURES.items():
        path = os.path.join(work, "probe.yaml")
        with open(path, "w") as f:
            f.write("name: probe\nsources:\n  probe: {connector: memory, columns: {id: bigint}}\n"
                    "sinks:\n  o: {connector: file, path: o, format: changelog_json}\n"
                    f"queries: [{json.dumps('INSERT INTO o ' + query)}]\n")
        if run([weir, "check", path], work).returncode == 0:
            known.add(name)
    return known


# --- comparing -----------------------------------------------------------------------------------------------------


def canonical(value, kind):
    """One form for a value as weir's JSON has it and as DuckDB gives it."""
    if value is None:
        return None
    if kind == "ts":
        if isinstance(value, datetime.datetime):
            return value.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        text = str(value).replace("T", " ").rstrip("Z")
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction[:3]:0<3}"
    if kind in ("int", "small"):
        return int(value)
    if kind in ("num", "dec", "dbl"):
        number = float(value)
        return repr(number) if math.isnan(number) or math.isinf(number) else f"{number + 0.0:.9e}"
    return value


def row_of(values, kinds):
    return tuple(canonical(v, k) for v, k in zip(values, kinds))


def collapsed(folder, sink, kinds):
    """The multiset of the sink's changelog, and the first thing that is wrong with it."""
    rows = collections.Counter()
    for path in sorted(glob.glob(os.path.join(folder, "out", sink, "part-*.jsonl"))):
        with open(path, encoding="utf-8") as f:
            for line in f:
                change = json.loads(line, parse_float=Decimal)
                row = row_of([change[f"c{i}"] for i in range(len(kinds))], kinds)
                rows[row] += 1 if change["op"] in ("+I", "+U") else -1
    wrong = [row for row, count in rows.items() if count < 0]
    return +rows, f"retracts a row that is not there: {wrong[0]}" if wrong else ""


def difference(got, expected):
    missing, extra = expected - got, got - expected
    text = ""
    for word, rows in (("missing", missing), ("too much", extra)):
        shown = [f"    {count} x {row}" for row, count in list(rows.items())[:5]]
        text += f"  {word}: {sum(rows.values())}\n" + "".join(line + "\n" for line in shown)
    return text if missing or extra else ""


# --- a round -------------------------------------------------------------------------------------------------------


class Round:
    def __init__(self, options, seed, features, folder, counts):
        self.options, self.seed, self.folder, self.counts = options, seed, folder, counts
        self.rng = random.Random(seed)
        self.tables = [Table(self.rng, f"t{i}") for i in range(self.rng.randint(2, 3))]
        self.lines = interleaved(self.rng, self.tables, self.options.changes)
        maker = Maker(self.rng, self.tables, features)
        self.queries = [maker.make() for _ in range(options.per_job)]
        joins = self.rng.choice(["auto", "auto", "regular"])
        state = self.rng.choice(["memory", "memory", "memory", "rocksdb"])
        self.job_options = f"parallelism: {self.rng.choice([1, 2, 4])}, join: {joins}, state: {state}"
        self.batch = self.rng.choice([1, 3, 20, 1000])

    def answers(self):
        """What DuckDB says; queries without an answer are left out."""
        connection = duckdb.connect()
        connection.execute("SET threads = 1")
        for table in self.tables:
            table.create(connection)
        kept, expected = [], []
        for query in self.queries:
            try:
                rows = connection.execute(query.duckdb()).fetchall()
            except Exception as error:  # not implemented there, or a value out of range
                self.counts["duckdb refused"] += 1
                self.note("DuckDB", query, str(error).splitlines()[0])
                continue
            kept.append(query)
            expected.append(collections.Counter(row_of(row, query.kinds) for row in rows))
        self.queries = kept
        return expected

    def note(self, who, query, message):
        if self.options.verbose:
            print(f"{who}: {message}\n    {query.weir()}")

    def write(self):
        with open(os.path.join(self.folder, "job.yaml"), "w", encoding="utf-8") as f:
            f.write(job_text(self.tables, self.queries, self.job_options))
        with open(os.path.join(self.folder, "replay.jsonl"), "w", encoding="utf-8") as f:
            f.write("".join(line + "\n" for line in self.lines))

    def drop_refused(self, expected):
        """Leaves out the queries that weir does not plan."""
        self.write()
        checked = run([self.options.weir, "check", "job.yaml"], self.folder)
        if checked.returncode == 0:
            return expected
        first = next(i for i, line in enumerate(job_text(self.tables, self.queries, self.job_options).splitlines(), 1)
                     if line.startswith("  - {name: q0,"))
        refused = {}
        for line in checked.stderr.splitlines():
            place = re.match(r".*job\.yaml:(\d+):\d+: (.*)", line)
            if place:
                refused[int(place.group(1)) - first] = place.group(2)
        if not refused or any(not 0 <= i < len(self.queries) for i in refused):
            raise RuntimeError(f"weir check: {checked.stderr}")
        for i, message in refused.items():
            self.counts["weir refused"] += 1
            self.counts["refused: " + re.sub(r"[a-z]+\d[\w.]*|\(.*\)", "..", message)[:90]] += 1
            self.note("weir", self.queries[i], message)
        keep = [i for i in range(len(self.queries)) if i not in refused]
        self.queries = [self.queries[i] for i in keep]
        self.write()
        return [expected[i] for i in keep]

    def run(self):
        """The description of what is wrong; empty when nothing is."""
        expected = self.drop_refused(self.answers())
        if not self.queries:
            return ""
        args = [self.options.weir, "run", "job.yaml", "--replay", "replay.jsonl", "--replay-batch", str(self.batch),
                "--state-dir", "state"]
        try:
            done = run(args, self.folder)
        except subprocess.TimeoutExpired:
            return "weir run does not come to an end"
        if done.returncode != 0:
            return f"weir run: exit {done.returncode}\n{done.stderr[-1500:]}"
        text = ""
        for i, (query, rows) in enumerate(zip(self.queries, expected)):
            got, wrong = collapsed(self.folder, f"o{i}", query.kinds)
            wrong = wrong or difference(got, rows)
            self.counts["compared"] += 1
            self.counts["rows"] += sum(rows.values())
            if wrong:
                text += f"o{i}: {query.weir()}\n{wrong}\n"
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", required=True)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--per-job", type=int, default=8)
    parser.add_argument("--changes", type=int, default=120)
    parser.add_argument("--rounds-after-failure", type=int, default=0, help="go on after so many failed rounds")
    parser.add_argument("--keep", action="store_true", help="keep the folder of every round")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is refused")
    options = parser.parse_args()
    if duckdb is None:
        print("skipped: no module duckdb; pip install -r tests/fuzz/requirements.txt")
        return SKIPPED
    options.weir = os.path.abspath(options.weir)
    seed = random.SystemRandom().randrange(1 << 40) if options.seed is None else options.seed
    work = tempfile.mkdtemp(prefix="weir-differential-")
    features = features_of(options.weir, work)
    counts = collections.Counter()
    failed = 0
    while counts["queries"] < options.queries:
        folder = os.path.join(work, str(seed))
        os.mkdir(folder)
        this = Round(options, seed, features, folder, counts)
        counts["queries"] += options.per_job
        wrong = this.run()
        if wrong:
            failed += 1
            print(f"FAILED, --seed {seed} --per-job {options.per_job} --changes {options.changes}; {folder}\n"
                  f"{this.job_options}, replay batch {this.batch}\n{wrong}", flush=True)
            if failed > options.rounds_after_failure:
                break
        elif not options.keep:
            shutil.rmtree(folder)
        seed += 1
    for name, count in sorted(counts.items(), key=lambda entry: (entry[0].startswith("refused"), -entry[1]))[:30]:
        print(f"{count:7} {name}")
    if not failed and not options.keep:
        shutil.rmtree(work)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
