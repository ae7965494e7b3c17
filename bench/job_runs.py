"""What the benchmarks of whole jobs share: a job file with other sources and a black hole, a run, and its figures."""
import json, os, re, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))


def section(job, name):
    """The lines of a top-level key of a job file, without the key."""
    found = re.search(rf"^{name}:[^\n]*\n((?:[ #][^\n]*\n|\n)*)", job, re.M)
    return found.group(1) if found else ""


def with_section(job, name, lines):
    return re.sub(rf"^{name}:[^\n]*\n(?:[ #][^\n]*\n|\n)*", lambda _: f"{name}:\n{lines}", job, flags=re.M)


def entries(job, name):
    """Names of the sources or sinks of a job file."""
    return re.findall(r"^  (\w+):", section(job, name), re.M)


def source(job, name):
    """The lines of one source of a job file."""
    return re.search(rf"^  {name}:[^\n]*\n(?:    [^\n]*\n)*", section(job, "sources"), re.M).group(0)


def run(weir, job_text, folder, label, settings=(), environment=None):
    """Runs the job once in a new state dir; returns its summary with the wall time of the process."""
    with tempfile.TemporaryDirectory(prefix=f"{label}-", dir=folder) as work:
        job, summary = os.path.join(work, "job.yaml"), os.path.join(work, "summary.json")
        with open(job, "w", encoding="utf-8") as f:
            f.write(job_text)
        command = [weir, "run", job, "--state-dir", os.path.join(work, "state"), "--summary", summary]
        command += [x for s in settings for x in ("--set", s)]
        begin = time.monotonic()
        done = subprocess.run(command, env={**os.environ, **(environment or {})}, stderr=subprocess.PIPE, text=True)
        wall = time.monotonic() - begin
        if done.returncode:
            return {"error": done.stderr.strip().split("\n")[0].replace(job, label)}
        with open(summary, encoding="utf-8") as f:
            return {**json.load(f), "wall_s": wall}


def figures(summary):
    """The figures of a run that the tables print."""
    events = max(summary["records_in"], 1)
    return {
        "events": summary["records_in"], "cpu_us": summary["cpu_s"] * 1e6 / events, "wall_s": summary["wall_s"],
        "per_s": events / summary["elapsed_s"], "rss_mb": summary["max_rss_bytes"] / 1e6,
        "state_mb": sum(o.get("state_bytes", 0) for o in summary["operators"]) / 1e6,
        "checkpoint_mb": max((c["full_bytes"] for c in summary["checkpoints"]), default=0) / 1e6,
    }


def medians(runs):
    return {key: statistics.median(r[key] for r in runs) for key in runs[0]}


def load():
    return f"load {os.getloadavg()[0]:.1f}"


def default_weir():
    return os.path.join(HERE, "..", "build", "release", "weir")


def note(text):
    print(text, file=sys.stderr, flush=True)
