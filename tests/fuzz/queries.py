"""Random queries that weir and DuckDB give the same meaning.

A query is one text for both; the sign ~/~ stands for the division of integers, which DuckDB writes //,
and ~<A~|B~> for A here and B there.
Every item of SELECT has an alias, so that results are compared by name.
"""

import re

NUMBERS = ("int", "small", "dec", "dbl")
WHOLE = ("int", "small")


def alternative(text, number):
    """The text with each ~<weir's form~|DuckDB's form~> replaced by one of the two."""
    pattern = re.compile(r"~<((?:(?!~<).)*?)~\|((?:(?!~<).)*?)~>", re.S)
    while pattern.search(text):
        text = pattern.sub(lambda match: match.group(number), text)
    return text


class Query:
    def __init__(self, text, kinds):
        self.text, self.kinds = text, kinds  # kinds: of the output columns c0, c1, ...

    def weir(self):
        return alternative(self.text, 1).replace("~/~", "/")

    def duckdb(self):
        return alternative(self.text, 2).replace("~/~", "//")


class Maker:
    """Makes queries over the tables; `features` are words that the weir at hand understands beyond the basics."""

    def __init__(self, rng, tables, features):
        self.rng, self.tables, self.features = rng, tables, features
        self.aliases = 0

    def make(self):
        forms = [self.plain, self.plain, self.grouped, self.grouped, self.set_operation, self.with_subquery,
                 self.with_subquery, self.value_subquery, self.derived, self.distinct, self.lateral, self.unnested]
        if "over" in self.features:
            forms += [self.ranked]
        return self.rng.choice(forms)()

    # --- FROM ------------------------------------------------------------------------------------------------------
    def alias(self):
        self.aliases += 1
        return f"a{self.aliases}"

    def table(self):
        """A table of the job with an alias, and its columns: [(sql, kind)]."""
        table, alias = self.rng.choice(self.tables), self.alias()
        return f"{table.name} AS {alias}", [(f"{alias}.{name}", kind) for name, kind in table.columns]

    def item(self):
        roll = self.rng.random()
        if roll < 0.8:
            return self.table()
        alias = self.alias()
        inner = self.grouped() if roll < 0.9 else self.plain(tables=1)
        return f"({inner.text}) AS {alias}", [(f"{alias}.c{i}", kind) for i, kind in enumerate(inner.kinds)]

    def source(self, most=3):
        """FROM with up to `most` tables joined."""
        text, columns = self.item() if most > 1 else self.table()
        for _ in range(self.rng.choice([0, 0, 1, 1, 2][: most + 2]) if most > 1 else 0):
            right, right_columns = self.item()
            pair = self.pair(columns, right_columns)
            if pair is None:
                continue
            kind = self.rng.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
            condition = f"{pair[0]} = {pair[1]}"
            if self.rng.random() < 0.3 and kind != "FULL JOIN":
                condition += f" AND {self.condition(columns + right_columns, 1)}"
            text = f"{text} {kind} {right} ON {condition}"
            columns = columns + right_columns
        return text, columns

    def pair(self, left, right, kinds=("int", "small", "str", "bool")):
        """Columns of both sides that can be compared."""
        for _ in range(20):
            a, b = self.rng.choice(left), self.rng.choice(right)
            if a[1] in kinds and (a[1] == b[1] or (a[1] in WHOLE and b[1] in WHOLE)):
                return a[0], b[0]
        return None

    # --- expressions -----------------------------------------------------------------------------------------------
    def columns_of(self, columns, kinds):
        return [sql for sql, kind in columns if kind in kinds]

    def literal(self, kind):
        if kind in WHOLE:
            return str(self.rng.randint(-2, 5))
        if kind == "dec":
            return f"{self.rng.randint(-300, 300) / 100:.2f}"
        if kind == "dbl":
            return f"CAST({self.rng.randint(-8, 8) / 4} AS double precision)"
        if kind == "str":
            return "'" + self.rng.choice(["a", "b", "ab", "", "10"]) + "'"
        if kind == "bool":
            return self.rng.choice(["true", "false"])
        return "1" if kind == "num" else "TIMESTAMP '2020-09-13 12:30:00'"

    def expression(self, columns, depth=2):
        """A value over the columns: (sql, kind)."""
        roll = self.rng.random()
        if depth == 0 or roll < 0.45:
            sql, kind = self.rng.choice([c for c in columns if c[1] != "arr"])
            return sql, kind
        if roll < 0.55:
            whole = self.columns_of(columns, ("small",))
            if whole:
                a, b = self.rng.choice(whole), self.rng.choice(whole)
                return self.rng.choice([
                    (f"({a} + {b})", "small"), (f"({a} - {b})", "small"), (f"({a} * {b})", "small"),
                    (f"({a} ~/~ NULLIF({b}, 0))", "small"), (f"({a} % NULLIF({b}, 0))", "small"), (f"(- {a})", "small"),
                    (f"abs({a})", "small")])
        if roll < 0.65:
            sql, kind = self.expression(columns, depth - 1)
            return f"CASE WHEN {self.condition(columns, depth - 1)} THEN {sql} ELSE {self.literal(kind)} END", kind
        if roll < 0.75:
            sql, kind = self.expression(columns, depth - 1)
            return f"COALESCE({sql}, {self.literal(kind)})", kind
        if roll < 0.8:
            sql, kind = self.expression(columns, depth - 1)
            return f"NULLIF({sql}, {self.literal(kind)})", kind
        if roll < 0.9:
            texts = self.columns_of(columns, ("str",))
            if texts:
                a, b = self.rng.choice(texts), self.rng.choice(texts)
                return self.rng.choice([
                    (f"({a} || {b})", "str"), (f"upper({a})", "str"), (f"length({a})", "int"),
                    (f"substring({a}, 1, 1)", "str"), (f"replace({a}, 'a', 'xy')", "str"), (f"trim({a})", "str")])
        if roll < 0.95:
            times = self.columns_of(columns, ("ts",))
            if times:
                a = self.rng.choice(times)
                return self.rng.choice([(f"date_trunc('minute', {a})", "ts"), (f"extract(minute FROM {a})", "int")])
        if roll < 0.98:
            sql = self.condition(columns, depth - 1)
            return f"({sql})", "bool"
        sql, kind = self.rng.choice(columns[:3])
        return f"GREATEST({sql}, {self.literal(kind)})", kind

    def condition(self, columns, depth=2):
        roll = self.rng.random()
        if depth > 0 and roll < 0.15:
            return f"({self.condition(columns, depth - 1)} AND {self.condition(columns, depth - 1)})"
        if depth > 0 and roll < 0.3:
            return f"({self.condition(columns, depth - 1)} OR {self.condition(columns, depth - 1)})"
        if depth > 0 and roll < 0.37:
            return f"NOT ({self.condition(columns, depth - 1)})"
        sql, kind = self.rng.choice([c for c in columns if c[1] != "arr"])
        if roll < 0.5:
            return f"{sql} IS {self.rng.choice(['', 'NOT '])}NULL"
        if roll < 0.6 and kind in WHOLE:
            return f"{sql} {self.rng.choice(['IN', 'NOT IN'])} ({', '.join(self.literal(kind) for _ in range(3))})"
        if roll < 0.7 and kind in WHOLE:
            return f"{sql} BETWEEN {self.literal(kind)} AND {self.literal(kind)}"
        if roll < 0.75 and kind == "str":
            return f"{sql} {self.rng.choice(['LIKE', 'NOT LIKE'])} '{self.rng.choice(['a%', '%b', '%', '_', 'x%%y'])}'"
        if roll < 0.85:
            pair = self.pair(columns, columns, ("int", "small", "dec", "dbl", "str", "ts"))
            if pair:
                return f"{pair[0]} {self.comparison()} {pair[1]}"
        return f"{sql} {self.comparison()} {self.literal(kind)}"

    def comparison(self):
        return self.rng.choice(["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])

    def aggregate(self, columns):
        """An aggregate call: (sql, kind)."""
        usable = [c for c in columns if c[1] != "arr"]
        sql, kind = self.rng.choice(usable)
        filtered = f" FILTER (WHERE {self.condition(columns, 1)})" if self.rng.random() < 0.2 else ""
        roll = self.rng.random()
        if roll < 0.2:
            return "count(*)" + filtered, "int"
        if roll < 0.3:
            return f"count({sql}){filtered}", "int"
        if roll < 0.4:
            return f"count(DISTINCT {sql}){filtered}", "int"
        if roll < 0.6 and kind != "bool":
            return f"{self.rng.choice(['min', 'max'])}({sql}){filtered}", kind
        # Sums of doubles would depend on the order of the rows.
        summable = self.columns_of(columns, ("small", "dec"))
        if not summable:
            return "count(*)" + filtered, "int"
        distinct = self.rng.choice(["", "", "DISTINCT "])
        return f"{self.rng.choice(['sum', 'avg'])}({distinct}{self.rng.choice(summable)}){filtered}", "num"

    # --- queries ---------------------------------------------------------------------------------------------------
    @staticmethod
    def select(items, rest, distinct=False):
        listed = ", ".join(f"{sql} AS c{i}" for i, (sql, _) in enumerate(items))
        return Query(f"SELECT {'DISTINCT ' if distinct else ''}{listed} {rest}", [kind for _, kind in items])

    def where(self, columns, often=0.5):
        return f" WHERE {self.condition(columns)}" if self.rng.random() < often else ""

    def items(self, columns, least=1):
        return [self.expression(columns) for _ in range(self.rng.randint(least, 4))]

    def plain(self, tables=3):
        text, columns = self.source(tables)
        return self.select(self.items(columns), f"FROM {text}{self.where(columns)}")

    def distinct(self):
        text, columns = self.source(2)
        return self.select(self.items(columns), f"FROM {text}{self.where(columns)}", distinct=True)

    def grouped(self):
        text, columns = self.source(2)
        keys = [self.rng.choice([c for c in columns if c[1] != "arr"]) for _ in range(self.rng.randint(0, 2))]
        calls = [self.aggregate(columns) for _ in range(self.rng.randint(1, 3))]
        rest = f"FROM {text}{self.where(columns, 0.3)}"
        if keys:
            rest += " GROUP BY " + ", ".join(sql for sql, _ in keys)
            if self.rng.random() < 0.3:
                rest += f" HAVING count(*) {self.rng.choice(['>', '<='])} {self.rng.randint(1, 3)}"
        return self.select(keys + calls, rest)

    def derived(self):
        """A CTE that is read twice."""
        name = self.alias()
        inner = self.grouped()
        columns = [(f"x.c{i}", kind) for i, kind in enumerate(inner.kinds)]
        others = [(f"y.c{i}", kind) for i, kind in enumerate(inner.kinds)]
        pair = self.pair(columns, others)
        if pair is None:
            return inner
        outer = self.select(self.items(columns + others), f"FROM {name} AS x JOIN {name} AS y ON {pair[0]} = {pair[1]}")
        return Query(f"WITH {name} AS ({inner.text}) {outer.text}", outer.kinds)

    def set_operation(self):
        def arm(kinds):
            for _ in range(20):
                text, columns = self.table()
                chosen = []
                for kind in kinds:
                    usable = self.columns_of(columns, (kind,))
                    if not usable:
                        break
                    chosen.append((self.rng.choice(usable), kind))
                else:
                    return self.select(chosen, f"FROM {text}{self.where(columns)}")
            return None
        kinds = [self.rng.choice(["int", "small", "str", "bool"]) for _ in range(self.rng.randint(1, 2))]
        left, right = arm(kinds), arm(kinds)
        if left is None or right is None:
            return self.plain()
        word = self.rng.choice(["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
        return Query(f"{left.text} {word} {right.text}", kinds)

    def correlated(self, outer, columns):
        """The WHERE of a subquery over `columns`."""
        roll = self.rng.random()
        pair = self.pair(columns, outer)
        conditions = []
        if roll < 0.7 and pair:
            conditions.append(f"{pair[0]} = {pair[1]}")
        if roll > 0.55:
            other = self.pair(columns, outer, ("int", "small"))
            if other:
                conditions.append(f"{other[0]} {self.rng.choice(['<', '>', '<=', '<>'])} {other[1]}")
        if self.rng.random() < 0.4:
            conditions.append(self.condition(columns, 1))
        return " WHERE " + " AND ".join(conditions) if conditions else ""

    def test(self, outer):
        """A condition with a subquery."""
        text, columns = self.table()
        where = self.correlated(outer, columns)
        roll = self.rng.random()
        if roll < 0.35:
            return f"{self.rng.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM {text}{where})"
        pair = self.pair(outer, columns)
        number = self.pair(outer, columns, WHOLE)
        if roll < 0.65 and pair:
            comparison, quantifier, word = self.rng.choice([("=", "ANY", "IN"), ("<>", "ALL", "NOT IN")])
            return (f"~<{pair[0]} {word} (SELECT {pair[1]} FROM {text}{where})"
                    f"~|{self.quantified(pair, comparison, quantifier, text, where)}~>")
        if roll < 0.8 and number:
            comparison = self.rng.choice(["=", "<>", "<", "<=", ">", ">="])
            quantifier = self.rng.choice(["ANY", "ALL"])
            return (f"~<{number[0]} {comparison} {quantifier} (SELECT {number[1]} FROM {text}{where})"
                    f"~|{self.quantified(number, comparison, quantifier, text, where)}~>")
        call = self.rng.choice(["min", "max", "count"])
        if number:
            return f"{number[0]} {self.rng.choice(['=', '<', '>='])} (SELECT {call}({number[1]}) FROM {text}{where})"
        return f"(SELECT count(*) FROM {text}{where}) > 1"

    def quantified(self, pair, comparison, quantifier, text, where):
        """pair[0] comparison ANY or ALL (SELECT pair[1] ..), by EXISTS: DuckDB 1.1.3 answers IN, NOT IN, ANY and ALL
        wrongly where the subquery compares with an outer column by < or >."""
        compared = f"{pair[0]} {comparison} {pair[1]}"

        def some(condition):
            return f"EXISTS (SELECT 1 FROM {text}{where}{' AND' if where else ' WHERE'} {condition})"

        any_of = quantifier == "ANY"
        decided = some(f"({compared})" if any_of else f"NOT ({compared})")
        return (f"(CASE WHEN {decided} THEN {str(any_of).lower()} WHEN {some(f'({compared}) IS NULL')} THEN NULL "
                f"ELSE {str(not any_of).lower()} END)")

    def with_subquery(self):
        text, columns = self.source(2)
        test = self.test(columns)
        roll = self.rng.random()
        if roll < 0.3:
            test = f"({test} OR {self.condition(columns, 1)})"
        elif roll < 0.5:
            test = f"{test} AND {self.test(columns)}"
        return self.select(self.items(columns), f"FROM {text} WHERE {test}")

    def value_subquery(self):
        text, columns = self.source(1)
        inner, inner_columns = self.table()
        where = self.correlated(columns, inner_columns)
        if self.rng.random() < 0.5:
            sql, kind = self.aggregate(inner_columns)
            value = (f"(SELECT {sql} FROM {inner}{where})", kind)
        else:
            value = (f"({self.test(columns)})", "bool")
        return self.select(self.items(columns) + [value], f"FROM {text}{self.where(columns, 0.3)}")

    def lateral(self):
        text, columns = self.table()
        inner, inner_columns = self.table()
        alias = self.alias()
        where = self.correlated(columns, inner_columns)
        if self.rng.random() < 0.5:
            items = [self.aggregate(inner_columns) for _ in range(2)]
        else:
            items = self.items(inner_columns)
        body = self.select(items, f"FROM {inner}{where}")
        kind = self.rng.choice(["JOIN", "LEFT JOIN"])
        added = [(f"{alias}.c{i}", k) for i, k in enumerate(body.kinds)]
        return self.select(self.items(columns) + added, f"FROM {text} {kind} LATERAL ({body.text}) AS {alias} ON true")

    def unnested(self):
        for _ in range(5):
            text, columns = self.table()
            arrays = self.columns_of(columns, ("arr",))
            if not arrays:
                continue
            alias = self.alias()
            others = [(sql, kind) for sql, kind in columns if kind != "arr"]
            item = (f"{alias}.x", "int")
            return self.select(self.items(others) + [item],
                               f"FROM {text}, unnest({self.rng.choice(arrays)}) AS {alias}(x){self.where(others + [item])}")
        return self.plain()

    def ranked(self):
        text, columns = self.table()
        columns = [c for c in columns if c[1] != "arr"]
        key = self.rng.choice(columns)[0]
        order = self.rng.choice(self.columns_of(columns, WHOLE))
        # Rows that tie are equal in all that is selected: ids repeat in tables without a key.
        shown = ", ".join(sql for sql, _ in columns[:3])
        way = self.rng.choice(["ASC NULLS LAST", "DESC NULLS LAST", "ASC NULLS FIRST"])
        number = f"row_number() OVER (PARTITION BY {key} ORDER BY {order} {way}, {shown})"
        items = [(sql, kind) for sql, kind in columns[:3]]
        inner = self.select(items + [(number, "int")], f"FROM {text}")
        last = len(items)
        return self.select([(f"r.c{i}", kind) for i, (_, kind) in enumerate(items)],
                           f"FROM ({inner.text}) AS r WHERE r.c{last} <= {self.rng.randint(1, 2)}")
