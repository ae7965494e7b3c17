// Window functions in FROM: TUMBLE(table, time, size), HOP(table, time, slide, size), CUMULATE(table, time, step, size)
// and SESSION(table, time, gap, key...).

#include <map>

#include "sql/expr/types.h"
#include "sql/plan/binder.h"
#include "sql/plan/event_time.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

struct WindowForm {
  WindowFunction function;
  const char* name;
  const char* example;  // its arguments behind the table
};

const std::map<std::string, WindowForm>& WindowForms() {
  static const std::map<std::string, WindowForm> forms = {
      {"tumble", {WindowFunction::kTumble, "TUMBLE", "time, INTERVAL '10' SECOND"}},
      {"hop", {WindowFunction::kHop, "HOP", "time, INTERVAL '5' SECOND, INTERVAL '10' SECOND"}},
      {"cumulate", {WindowFunction::kCumulate, "CUMULATE", "time, INTERVAL '1' HOUR, INTERVAL '24' HOUR"}},
      {"session", {WindowFunction::kSession, "SESSION", "time, INTERVAL '30' MINUTE, key"}}};
  return forms;
}

// Later rules point at the window when they refuse it.
void Place(PlanNode& node, size_t query, const TextPlace& place) {
  node.query = query;
  node.line = place.line;
  node.column = place.column;
}

}  // namespace

bool IsWindowCall(const AstExpression& expression) {
  return expression.kind == Kind::kFunction && WindowForms().count(expression.text) > 0;
}

std::optional<BoundTable> Binder::BindFunctionTable(const AstTable& table, const CteScope* ctes) {
  const auto form = WindowForms().find(table.name);
  if (form == WindowForms().end()) {
    Fail(table.at, "function " + table.name + " cannot stand in FROM; there are unnest, generate_series, TUMBLE, HOP, " +
                       "CUMULATE and SESSION");
    return std::nullopt;
  }
  const std::string name = form->second.name;
  const std::string usage = "write " + name + "(table, " + form->second.example + ")";
  if (table.arguments.empty()) {
    Fail(table.at, name + " needs a table; " + usage);
    return std::nullopt;
  }
  std::optional<BoundTable> input = BindTableArgument(*table.arguments[0], name, ctes);
  if (!input) return std::nullopt;
  PlanPtr window = BindWindow(table.name, table.at, table.arguments, 1, *input);
  if (window == nullptr) return std::nullopt;
  const size_t width = input->plan->schema->size();
  std::optional<BoundTable> bound = WithAlias(std::move(window), table);
  if (!bound) return bound;
  std::vector<ScopeColumn>& columns = bound->scope.columns;
  columns[width + 2].not_in_star = true;
  // The window's own columns go before those of that name that its table has.
  const std::vector<std::string> names = ColumnNames(*bound->plan->schema);
  std::erase_if(columns, [&](const ScopeColumn& column) {
    const auto index = static_cast<size_t>(column.index);
    return index < width && std::find(names.begin() + static_cast<std::ptrdiff_t>(width), names.end(), column.name) !=
                                names.end();
  });
  return bound;
}

std::optional<BoundTable> Binder::BindTableArgument(const AstExpression& argument, const std::string& function,
                                                    const CteScope* ctes) {
  AstTable table;
  table.at = argument.at;
  if (argument.kind == Kind::kColumn && argument.names.size() == 1) {
    table.kind = AstTable::Kind::kName;
    table.name = argument.names[0];
  } else if (argument.kind == Kind::kSubquery && argument.subquery_kind == AstExpression::SubqueryKind::kScalar) {
    table.kind = AstTable::Kind::kSubquery;
    table.select = argument.select;
  } else {
    Fail(argument.at, "the first argument of " + function + " is the name of a table, view or WITH query");
    return std::nullopt;
  }
  table.alias = table.name;
  return BindTable(table, ctes, nullptr);
}

PlanPtr Binder::BindWindow(const std::string& function, size_t at, const std::vector<AstExpressionPtr>& arguments,
                           size_t first, const BoundTable& input) {
  const WindowForm& form = WindowForms().at(function);
  const std::string name = form.name;
  const bool two_lengths = form.function == WindowFunction::kHop || form.function == WindowFunction::kCumulate;
  const size_t wanted = first + (two_lengths ? 3 : 2);
  const bool session = form.function == WindowFunction::kSession;
  if (arguments.size() < wanted || (arguments.size() > wanted && !session)) {
    return Fail(at, name + " takes other arguments; write " + name + "(" + (first > 0 ? "table, " : "") + form.example +
                        ")");
  }
  const AstExpression& time = *arguments[first];
  const std::optional<int> column = WindowColumn(time, input, "the time column of " + name);
  WindowSpec window;
  window.function = form.function;
  const char* last_name = session ? "gap" : "size";
  const std::optional<Micros> last = WindowLength(*arguments[wanted - 1], input, "the " + std::string(last_name) + " of " + name);
  std::optional<Micros> step = last;
  if (two_lengths) {
    const std::string what = form.function == WindowFunction::kHop ? "the slide of HOP" : "the step of CUMULATE";
    step = WindowLength(*arguments[first + 1], input, what);
  }
  std::vector<int> keys;
  bool complete = column && last && step && CheckTimeColumn(time, input, name, *column);
  for (size_t i = wanted; i < arguments.size(); ++i) {
    const std::optional<int> key = WindowColumn(*arguments[i], input, "a key of SESSION");
    complete = complete && key.has_value();
    if (key) keys.push_back(*key);
  }
  if (!complete) return nullptr;
  window.size = *last;
  window.slide = *step;
  if (form.function == WindowFunction::kCumulate && (window.size % window.slide != 0 || window.slide > window.size)) {
    return Fail(arguments[first + 1]->at, "the size of CUMULATE has to be a multiple of its step: " +
                                              IntervalText(0, window.size) + " is none of " +
                                              IntervalText(0, window.slide));
  }
  PlanPtr node = NewWindow(input.plan, window, *column, std::move(keys));
  Place(*node, query_, source_->Locate(at));
  return node;
}

std::optional<Micros> Binder::WindowLength(const AstExpression& argument, const BoundTable& input,
                                           const std::string& what) {
  ExpressionContext context;
  context.table = &input;
  context.place = "a window function";
  const ExpressionPtr bound = BindExpression(argument, context);
  if (bound == nullptr) return std::nullopt;
  const ExpressionPtr length = FoldConstants(bound);
  if (AsMonthInterval(*length)) {
    Fail(argument.at, what + " has months, which are not of one length; write it in days");
    return std::nullopt;
  }
  const ColumnPtr literal = length->Literal();
  if (length->type().kind != TypeKind::kInterval || literal == nullptr || literal->IsNull(0)) {
    Fail(argument.at, what + " is an interval, written as INTERVAL '10' SECOND");
    return std::nullopt;
  }
  const Micros micros = literal->ints()[0];
  if (micros <= 0 || micros > kMaxWindowSize) {
    Fail(argument.at, what + (micros <= 0 ? " has to be more than 0" : " is too long"));
    return std::nullopt;
  }
  return micros;
}

std::optional<int> Binder::WindowColumn(const AstExpression& argument, const BoundTable& input,
                                        const std::string& what) {
  if (argument.kind != Kind::kColumn) {
    Fail(argument.at, what + " has to be a column; compute it in a subquery or a view");
    return std::nullopt;
  }
  ExpressionContext context;
  context.table = &input;
  context.place = "a window function";
  const ExpressionPtr bound = BindExpression(argument, context);
  if (bound == nullptr) return std::nullopt;
  return bound->ColumnIndex();
}

bool Binder::CheckTimeColumn(const AstExpression& argument, const BoundTable& input, const std::string& function,
                             int column) {
  const Field& field = (*input.plan->schema)[static_cast<size_t>(column)];
  const std::string name = QuotedIfNeeded(argument.names.back());
  if (!field.type.IsTimestamp()) {
    Fail(argument.at, "the time column of " + function + " has to be a timestamp; " + name + " is " + field.type.ToString());
    return false;
  }
  const EventTimes times = EventTimesOf(*input.plan, catalog_);
  if (Contains(times.times, column)) return true;
  if (Contains(times.window_ends, column)) {
    Fail(argument.at, name + " is the end of a window, which is not in it; use window_time of the inner window");
  } else {
    Fail(argument.at, function + " needs a column that the watermark speaks of: " + name +
                          " is not the event_time of its source, or has come through a join or a group (the results of "
                          "windows have their window_time); declare event_time: {column: " +
                          name + ", watermark: 5s} at the source");
  }
  return false;
}

}  // namespace weir
