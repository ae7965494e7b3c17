// The syntax tree of one query: what a person wrote, without any meaning yet.
//
// Positions are byte offsets into the query's text; SourceText turns them into lines and columns.  A tree holds only
// what weir understands: the parser refuses every other part of PostgreSQL's grammar, so that nothing is dropped.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/types.h"

namespace weir {

struct AstExpression;
struct AstOrdering;
struct AstSelect;
struct AstWindow;
using AstExpressionPtr = std::shared_ptr<const AstExpression>;
using AstSelectPtr = std::shared_ptr<const AstSelect>;

// One item of ORDER BY inside an aggregate call.
struct AstAggregateOrder {
  AstExpressionPtr expression;
  bool descending = false;
  bool nulls_first = false;
};

struct AstExpression {
  enum class Kind {
    kColumn,   // names: [column] or [table, column]
    kInteger,  // text: digits with an optional sign
    kDecimal,  // text: digits with a point or an exponent
    kString,   // text
    kBoolean,  // text: "true" or "false"
    kNull,
    kOperator,  // text: the name MakeCall knows; arguments
    kFunction,  // text: lower-case name; arguments, or star; may be an aggregate
    kCast,      // arguments[0] to `type`
    kSubquery,  // subquery_kind, select; kIn, kAny, kAll: arguments are the values on the left
  };
  enum class SubqueryKind {
    kExists,
    kIn,      // = ANY
    kAny,     // text: the comparison
    kAll,     // text: the comparison
    kScalar,
  };

  Kind kind = Kind::kNull;
  size_t at = 0;
  std::vector<std::string> names;
  std::string text;
  std::vector<AstExpressionPtr> arguments;
  // kFunction
  bool star = false;
  bool distinct = false;
  AstExpressionPtr filter;
  std::shared_ptr<const AstWindow> over;  // ast_window.h; null: no window function
  std::vector<AstAggregateOrder> order;
  // kCast
  DataType type;
  bool bare_numeric = false;  // CAST(x AS numeric): the precision is left to the input
  // kSubquery
  SubqueryKind subquery_kind = SubqueryKind::kExists;
  AstSelectPtr select;
};

struct AstTable;
using AstTablePtr = std::shared_ptr<const AstTable>;

// An item of FROM.
struct AstTable {
  enum class Kind { kName, kSubquery, kJoin, kFunction };
  enum class Join { kInner, kLeft, kRight, kFull };

  Kind kind = Kind::kName;
  size_t at = 0;     // kJoin: of the word JOIN
  std::string name;  // kName; kFunction: lower-case, of the function
  std::string alias;
  std::vector<std::string> column_aliases;
  AstSelectPtr select;                      // kSubquery
  std::vector<AstExpressionPtr> arguments;  // kFunction
  bool ordinality = false;                  // kFunction: WITH ORDINALITY
  bool lateral = false;                     // the word LATERAL was written; functions see the tables before them anyway
  // kJoin
  Join join = Join::kInner;
  AstTablePtr left;
  AstTablePtr right;
  AstExpressionPtr on;
  std::vector<std::string> using_columns;
  bool natural = false;
};

struct AstSelectItem {
  size_t at = 0;
  bool star = false;
  std::string star_table;  // t.*; empty for *
  AstExpressionPtr expression;
  std::string alias;
};

struct AstCte {
  std::string name;
  std::vector<std::string> columns;
  AstSelectPtr select;
  size_t at = 0;
};

struct AstSelect {
  size_t at = 0;
  std::vector<AstCte> ctes;
  enum class SetOperation { kNone, kUnion, kIntersect, kExcept };
  // Of `left` and `right`; kNone: a plain SELECT.
  SetOperation set_operation = SetOperation::kNone;
  bool all = false;  // of the set operation
  AstSelectPtr left;
  AstSelectPtr right;

  // VALUES (...), (...): the rows, and nothing below.
  std::vector<std::vector<AstExpressionPtr>> values;

  bool distinct = false;
  std::vector<AstSelectItem> items;
  std::vector<AstTablePtr> from;  // empty: one row without columns
  AstExpressionPtr where;
  std::vector<AstExpressionPtr> group_by;
  // GROUPING SETS, ROLLUP and CUBE, written out: of each set the items of group_by that it groups by.  Empty: all.
  std::vector<std::vector<size_t>> grouping_sets;
  AstExpressionPtr having;
  std::shared_ptr<const AstOrdering> ordering;  // ast_window.h; null: no ORDER BY, LIMIT, WINDOW or DISTINCT ON
};

struct AstStatement {
  enum class Kind { kInsert, kCreateView };
  Kind kind = Kind::kInsert;
  size_t at = 0;  // of the sink's or view's name
  std::string name;
  std::vector<std::string> columns;
  std::vector<size_t> columns_at;  // of an INSERT's columns
  AstSelectPtr select;
};

}  // namespace weir
