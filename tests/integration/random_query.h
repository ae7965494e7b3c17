// Queries of random jobs, and what they answer by nested loops over the rows of their sources.
#pragma once

#include <functional>
#include <set>

#include "tests/integration/random_source.h"

namespace weir::testing {

enum class Matching { kInner, kLeft, kRight, kFull, kSemi, kAnti };

inline const char* Words(Matching matching) {
  return std::array<const char*, 4>{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"}[static_cast<size_t>(matching)];
}

inline bool Equal(const std::string& a, const std::string& b) { return a != "NULL" && a == b; }
inline bool Less(const std::string& a, const std::string& b) {
  return a != "NULL" && b != "NULL" && std::stoll(a) < std::stoll(b);
}

using On = std::function<bool(const Cells&, const Cells&)>;

inline Cells Concat(Cells left, const Cells& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Rows Join(const Rows& left, size_t left_width, const Rows& right, size_t right_width, Matching matching,
                 const On& on) {
  Rows rows;
  std::vector<bool> right_matched(right.size(), false);
  const bool half = matching == Matching::kSemi || matching == Matching::kAnti;
  for (const Cells& a : left) {
    bool matched = false;
    for (size_t i = 0; i < right.size(); ++i) {
      if (!on(a, right[i])) continue;
      matched = right_matched[i] = true;
      if (!half) rows.push_back(Concat(a, right[i]));
    }
    if (half && matched == (matching == Matching::kSemi)) rows.push_back(a);
    if (!matched && (matching == Matching::kLeft || matching == Matching::kFull)) {
      rows.push_back(Concat(a, Cells(right_width, "NULL")));
    }
  }
  for (size_t i = 0; i < right.size(); ++i) {
    if (right_matched[i] || (matching != Matching::kRight && matching != Matching::kFull)) continue;
    rows.push_back(Concat(Cells(left_width, "NULL"), right[i]));
  }
  return rows;
}

inline Rows Where(const Rows& rows, const std::function<bool(const Cells&)>& condition) {
  Rows kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), condition);
  return kept;
}

inline Rows Select(const Rows& rows, const std::vector<size_t>& columns) {
  Rows out;
  for (const Cells& row : rows) {
    Cells& cells = out.emplace_back();
    for (const size_t column : columns) cells.push_back(row[column]);
  }
  return out;
}

inline std::string Plus(const std::string& number, int64_t add) {
  return number == "NULL" ? number : std::to_string(std::stoll(number) + add);
}

// (group, count, sum of a number column) by a column; sums of NULLs alone are NULL.
inline Rows CountAndSum(const Rows& rows, size_t by, size_t of) {
  std::map<std::string, std::pair<int64_t, std::string>> groups;
  for (const Cells& row : rows) {
    auto& [count, sum] = groups.try_emplace(row[by], 0, "NULL").first->second;
    ++count;
    if (row[of] != "NULL") sum = Plus(sum == "NULL" ? "0" : sum, std::stoll(row[of]));
  }
  Rows out;
  for (const auto& [group, values] : groups) out.push_back({group, std::to_string(values.first), values.second});
  return out;
}

using Data = std::map<std::string, Rows>;  // by source or sink

struct RandomQuery {
  std::string name;
  std::string tables;  // of the job file, without the word
  std::vector<std::string> queries;
  std::set<std::string> sources;            // of a, b and c, those it reads
  std::function<Data(const Data&)> answer;  // by sink
  std::set<std::string> by_id = {};         // of the sources, those that must have the key id
};

// One of the queries below with random types of join and conditions.
class QueryMaker {
 public:
  static constexpr int kQueries = 11;

  explicit QueryMaker(std::mt19937_64& random) : random_(random) {}

  RandomQuery Make(int which) {
    switch (which) {
      case 0:
        return Pair();
      case 1:
        return Half();
      case 2:
        return SelfJoin();
      case 3:
        return Chain();
      case 4:
        return OfAggregate();
      case 5:
        return DeclaredTables();
      case 6:
        return TableReadTwice();
      case 7:
        return FilteredSide();
      case 8:
        return TwoQueries();
      case 9:
        return TwoColumns();
      default:
        return AggregateBehind();
    }
  }

 private:
  static constexpr size_t kWidth = 4;  // id, k, n, v
  static constexpr size_t kId = 0, kK = 1, kN = 2, kV = 3;

  Matching AnyJoin() { return static_cast<Matching>(random_() % 4); }
  bool Coin() { return random_() % 2 == 0; }
  static On EqualColumns(size_t left, size_t right) {
    return [=](const Cells& a, const Cells& b) { return Equal(a[left], b[right]); };
  }
  static On And(On first, On second) {
    return [=](const Cells& a, const Cells& b) { return first(a, b) && second(a, b); };
  }
  static On LessN() {
    return [](const Cells& a, const Cells& b) { return Less(a[kN], b[kN]); };
  }
  static Rows JoinSources(const Rows& a, const Rows& b, Matching matching, const On& on) {
    return Join(a, kWidth, b, kWidth, matching, on);
  }
  static std::string Into(const std::string& sink, const std::string& select) {
    return "INSERT INTO " + sink + " " + select;
  }

  RandomQuery Pair() {
    const Matching matching = AnyJoin();
    const bool condition = Coin();
    const On on = condition ? And(EqualColumns(kK, kK), LessN()) : EqualColumns(kK, kK);
    return {"pair",
            "",
            {Into("o", std::string("SELECT a.id, a.k, a.v, b.id AS bid, b.v AS bv FROM a ") + Words(matching) +
                           " b ON a.k = b.k" + (condition ? " AND a.n < b.n" : ""))},
            {"a", "b"},
            [=](const Data& data) {
              return Data{{"o", Select(JoinSources(data.at("a"), data.at("b"), matching, on), {0, 1, 3, 4, 7})}};
            }};
  }

  RandomQuery Half() {
    const Matching matching = Coin() ? Matching::kSemi : Matching::kAnti;
    const bool condition = Coin();
    const On on = condition ? And(EqualColumns(kK, kK), LessN()) : EqualColumns(kK, kK);
    return {"half",
            "",
            {Into("o", std::string("SELECT id, k, v FROM a WHERE ") + (matching == Matching::kAnti ? "NOT " : "") +
                           "EXISTS (SELECT 1 FROM b WHERE b.k = a.k" + (condition ? " AND a.n < b.n" : "") + ")")},
            {"a", "b"},
            [=](const Data& data) {
              return Data{{"o", Select(JoinSources(data.at("a"), data.at("b"), matching, on), {kId, kK, kV})}};
            }};
  }

  RandomQuery SelfJoin() {
    const Matching matching = AnyJoin();
    const bool same = Coin();
    return {"self join",
            "",
            {Into("o", std::string("SELECT x.id, x.n, y.id AS yid, y.v FROM a x ") + Words(matching) +
                           " a y ON x.k = y." + (same ? "k" : "n"))},
            {"a"},
            [=](const Data& data) {
              const Rows joined = JoinSources(data.at("a"), data.at("a"), matching, EqualColumns(kK, same ? kK : kN));
              return Data{{"o", Select(joined, {kId, kN, kWidth + kId, kWidth + kV})}};
            }};
  }

  RandomQuery Chain() {
    const Matching first = AnyJoin();
    const Matching second = AnyJoin();
    return {"chain",
            "",
            {Into("o", std::string("SELECT a.id, b.id AS bid, c.id AS cid, c.v FROM a ") + Words(first) +
                           " b ON a.k = b.k " + Words(second) + " c ON b.n = c.k")},
            {"a", "b", "c"},
            [=](const Data& data) {
              const Rows pairs = JoinSources(data.at("a"), data.at("b"), first, EqualColumns(kK, kK));
              const Rows all = Join(pairs, 2 * kWidth, data.at("c"), kWidth, second, EqualColumns(kWidth + kN, kK));
              return Data{{"o", Select(all, {kId, kWidth + kId, 2 * kWidth + kId, 2 * kWidth + kV})}};
            }};
  }

  RandomQuery OfAggregate() {
    const Matching matching = AnyJoin();
    return {
        "of an aggregate",
        "",
        {Into("o", std::string("SELECT a.id, s.k, s.c, s.t FROM a ") + Words(matching) +
                       " (SELECT k, count(*) AS c, sum(n) AS t FROM b GROUP BY k) AS s ON a.k = s.k")},
        {"a", "b"},
        [=](const Data& data) {
          const Rows sums = CountAndSum(data.at("b"), kK, kN);
          return Data{{"o", Select(Join(data.at("a"), kWidth, sums, 3, matching, EqualColumns(kK, 0)), {0, 4, 5, 6})}};
        }};
  }

  static const char* DeclaredT() {
    return "  t: {columns: {id: bigint, k: bigint, n: bigint, v: string}, primary_key: [id]}\n";
  }
  static const char* DeclaredU() {
    return "  u: {columns: {k: bigint, id: bigint, n: bigint}, primary_key: [k, id], bucket: {key: [k]}}\n";
  }
  static const char* FillT() { return "INSERT INTO t SELECT id, k, n, v FROM a"; }
  static const char* FillTAgain() { return "INSERT INTO t SELECT id + 1000000, k, n, v FROM c WHERE n > 2"; }
  static const char* FillU() { return "INSERT INTO u SELECT k, id, n FROM b WHERE k IS NOT NULL"; }
  static Rows RowsOfT(const Data& data) {
    Rows rows = data.at("a");
    for (Cells row : data.at("c")) {
      if (std::stoll(row[kN]) <= 2) continue;
      row[kId] = Plus(row[kId], 1000000);
      rows.push_back(std::move(row));
    }
    return rows;
  }
  static Rows RowsOfU(const Data& data) {
    return Select(Where(data.at("b"), [](const Cells& row) { return row[kK] != "NULL"; }), {kK, kId, kN});
  }

  RandomQuery DeclaredTables() {
    const Matching matching = AnyJoin();
    return {"declared tables",
            std::string(DeclaredT()) + DeclaredU(),
            {FillT(), FillTAgain(), FillU(),
             Into("o", std::string("SELECT t.id, t.v, u.k, u.id AS uid FROM t ") + Words(matching) + " u ON t.k = u.k"),
             Into("p", "SELECT id, k, v FROM t")},
            {"a", "b", "c"},
            [=](const Data& data) {
              const Rows joined = Join(RowsOfT(data), kWidth, RowsOfU(data), 3, matching, EqualColumns(kK, 0));
              return Data{{"o", Select(joined, {kId, kV, kWidth, kWidth + 1})},
                          {"p", Select(RowsOfT(data), {kId, kK, kV})}};
            },
            {"a", "c"}};
  }

  RandomQuery TableReadTwice() {
    const Matching first = AnyJoin();
    const Matching second = AnyJoin();
    return {"a table of two joins",
            std::string(DeclaredT()) + DeclaredU(),
            {FillT(), FillTAgain(), FillU(),
             Into("o", std::string("SELECT t.id, t.v, u.k, u.id AS uid FROM t ") + Words(first) + " u ON t.k = u.k"),
             Into("p", std::string("SELECT u.k, u.id, t.id AS tid FROM u ") + Words(second) + " t ON u.n = t.n")},
            {"a", "b", "c"},
            [=](const Data& data) {
              const Rows t = RowsOfT(data), u = RowsOfU(data);
              return Data{
                  {"o", Select(Join(t, kWidth, u, 3, first, EqualColumns(kK, 0)), {kId, kV, kWidth, kWidth + 1})},
                  {"p", Select(Join(u, 3, t, kWidth, second, EqualColumns(2, kN)), {0, 1, 3})}};
            },
            {"a", "c"}};
  }

  RandomQuery FilteredSide() {
    const Matching matching = AnyJoin();
    return {"a filtered side",
            "",
            {Into("o", std::string("SELECT a.id, b.id AS bid, b.w FROM a ") + Words(matching) +
                           " (SELECT id, k, n * 2 + 1 AS w FROM b WHERE n > 3) AS b ON a.k = b.k")},
            {"a", "b"},
            [=](const Data& data) {
              Rows b = Where(data.at("b"), [](const Cells& row) { return std::stoll(row[kN]) > 3; });
              for (Cells& row : b) row[kN] = std::to_string(std::stoll(row[kN]) * 2 + 1);
              return Data{{"o", Select(JoinSources(data.at("a"), b, matching, EqualColumns(kK, kK)), {0, 4, 6})}};
            }};
  }

  RandomQuery TwoQueries() {
    const Matching first = AnyJoin();
    const Matching second = AnyJoin();
    return {"two queries of the same sources",
            "",
            {Into("o", std::string("SELECT a.id, b.id AS bid FROM a ") + Words(first) + " b ON a.k = b.k"),
             Into("p", std::string("SELECT a.id, b.id AS bid FROM a ") + Words(second) + " b ON a.n = b.n")},
            {"a", "b"},
            [=](const Data& data) {
              const Rows &a = data.at("a"), &b = data.at("b");
              return Data{{"o", Select(JoinSources(a, b, first, EqualColumns(kK, kK)), {0, 4})},
                          {"p", Select(JoinSources(a, b, second, EqualColumns(kN, kN)), {0, 4})}};
            }};
  }

  RandomQuery TwoColumns() {
    const Matching matching = AnyJoin();
    return {"two columns",
            "",
            {Into("o", std::string("SELECT a.id, a.v, b.id AS bid, b.k FROM a ") + Words(matching) +
                           " b ON a.k = b.k AND b.n = a.n")},
            {"a", "b"},
            [=](const Data& data) {
              const On on = And(EqualColumns(kK, kK), EqualColumns(kN, kN));
              return Data{{"o", Select(JoinSources(data.at("a"), data.at("b"), matching, on), {0, 3, 4, 5})}};
            }};
  }

  RandomQuery AggregateBehind() {
    const Matching matching = AnyJoin();
    return {"an aggregate behind",
            "",
            {Into("o", std::string("SELECT a.n, count(*) AS c, sum(b.n) AS t FROM a ") + Words(matching) +
                           " b ON a.k = b.k GROUP BY a.n")},
            {"a", "b"},
            [=](const Data& data) {
              const Rows joined = JoinSources(data.at("a"), data.at("b"), matching, EqualColumns(kK, kK));
              return Data{{"o", CountAndSum(joined, kN, kWidth + kN)}};
            }};
  }

  std::mt19937_64& random_;
};

}  // namespace weir::testing
