"""Random tables and the changes that make them: what weir is fed and the rows that are left in the end."""
import datetime, json

# SQL type in weir, in DuckDB.
TYPES = {
    "int": ("bigint", "BIGINT"),
    "small": ("int", "INTEGER"),
    "dec": ('"decimal(12,2)"', "DECIMAL(12,2)"),
    "dbl": ("double", "DOUBLE"),
    "str": ("string", "VARCHAR"),
    "bool": ("boolean", "BOOLEAN"),
    "ts": ("timestamp(3)", "TIMESTAMP_MS"),
    "arr": ("array<bigint>", "BIGINT[]"),
}
WORDS = ["", "a", "b", "ab", "Ab", "zebra", "ä", "x%y", "10", " a "]
EXTREMES = [0, 1, -1, 2**31 - 1, -(2**31), 2**62, -(2**62), 2**63 - 1, -(2**63)]
EPOCH = datetime.datetime(1970, 1, 1)


def random_value(rng, kind, extreme):
    if kind == "int":
        return rng.choice(EXTREMES) if extreme and rng.random() < 0.3 else rng.randint(-3, 6)
    if kind == "small":
        return rng.randint(-2, 5)
    if kind == "dec":
        return rng.choice([-9999999999_99, 9999999999_99]) / 100 if extreme and rng.random() < 0.1 else rng.randint(-400, 400) / 100
    if kind == "dbl":
        return rng.choice([1e300, -1e-300, 0.1]) if extreme and rng.random() < 0.2 else rng.randint(-8, 8) / 4
    if kind == "str":
        return rng.choice(WORDS)
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "ts":
        return 1_600_000_000_000 + rng.randint(0, 40) * 15_500
    return [None if rng.random() < 0.1 else rng.randint(0, 3) for _ in range(rng.randint(0, 3))]


def for_duckdb(kind, value):
    return EPOCH + datetime.timedelta(milliseconds=value) if kind == "ts" and value is not None else value


class Table:
    """Columns, how its changes are written, and the rows that it has now."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.mode = rng.choice(["append", "full", "full", "upsert", "bag"])
        self.extreme = rng.random() < 0.3
        self.nulls = rng.choice([0, 0.1, 0.4])
        kinds = ["int", "small"] + [rng.choice(list(TYPES)) for _ in range(rng.randint(2, 5))]
        # id first: it makes rows of keyed and of append-only tables differ.
        self.columns = [("id", "int")] + [(f"{kind}{i}", kind) for i, kind in enumerate(kinds)]
        self.partitions = rng.choice([1, 1, 2])
        self.rows = []
        self.next_id = 1

    def declaration(self):
        columns = ", ".join(f"{name}: {TYPES[kind][0]}" for name, kind in self.columns)
        text = f"connector: memory, partitions: {self.partitions}, changelog: {'full' if self.mode == 'bag' else self.mode}"
        if self.mode in ("full", "upsert"):
            text += ", primary_key: [id]"
        return f"  {self.name}: {{{text}, columns: {{{columns}}}}}\n"

    def create(self, connection):
        columns = ", ".join(f"{name} {TYPES[kind][1]}" for name, kind in self.columns)
        connection.execute(f"CREATE TABLE {self.name} ({columns})")
        rows = [[for_duckdb(kind, value) for (_, kind), value in zip(self.columns, row)] for row in self.rows]
        if rows:
            connection.executemany(f"INSERT INTO {self.name} VALUES ({', '.join('?' * len(self.columns))})", rows)

    def change(self):
        """The lines of one change, after which `rows` is what the table holds."""
        roll = self.rng.random()
        if self.mode == "append" or roll < 0.6 or not self.rows:
            row = self._new_row(self.next_id)
            self.next_id += 1
            self.rows.append(row)
            return [self._line("+I", row)]
        at = self.rng.randrange(len(self.rows))
        old = self.rows[at]
        if self.mode == "bag" or roll > 0.8:
            self.rows.pop(at)
            if self.mode == "upsert" and self.rng.random() < 0.5:
                return [self._line("-D", [old[0]] + [None] * (len(old) - 1))]
            return [self._line("-D", old)]
        new = self._new_row(old[0]) if self.rng.random() < 0.7 else self._touched(old)
        self.rows[at] = new
        return [self._line("-U", old), self._line("+U", new)] if self.mode == "full" else [self._line("+U", new)]

    def _new_row(self, key):
        # Rows of a bag may be equal.
        key = self.rng.randint(1, 6) if self.mode == "bag" else key
        return [key] + [self._value(kind) for _, kind in self.columns[1:]]

    def _touched(self, row):
        at = self.rng.randrange(1, len(row))
        return row[:at] + [self._value(self.columns[at][1])] + row[at + 1:]

    def _value(self, kind):
        return None if self.rng.random() < self.nulls else random_value(self.rng, kind, self.extreme)

    def _line(self, op, row):
        values = [f"{value:.2f}" if kind == "dec" and value is not None else value
                  for (_, kind), value in zip(self.columns, row)]
        # All changes of a key, and all equal rows, come in one partition: that is what orders them.
        partition = row[0] % self.partitions
        source = f"{self.name}@{partition}" if self.partitions > 1 else self.name
        return json.dumps([source, op] + values)


def interleaved(rng, tables, count):
    """Lines of a replay file: `count` changes of the tables, with ends of batches and restores among them."""
    lines = []
    for _ in range(count):
        lines += rng.choice(tables).change()
        roll = rng.random()
        if roll < 0.03:
            lines.append('["*","batch"]')
        elif roll < 0.04:
            lines.append('["*","checkpoint"]')
    return lines
