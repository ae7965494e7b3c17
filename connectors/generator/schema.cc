// The columns of every kind, and what options must hold.
#include "connectors/generator/columns.h"

namespace weir {
namespace {

Field NotNull(const char* name, DataType type) { return {name, type, false}; }

Schema PersonSchema() {
  return Schema({NotNull("id", BigintType()), NotNull("name", StringType()), NotNull("email_address", StringType()),
                 NotNull("credit_card", StringType()), NotNull("city", StringType()), NotNull("state", StringType()),
                 NotNull("date_time", TimestampType(3)), NotNull("extra", StringType())});
}

Schema AuctionSchema() {
  return Schema({NotNull("id", BigintType()), NotNull("item_name", StringType()), NotNull("description", StringType()),
                 NotNull("initial_bid", BigintType()), NotNull("reserve", BigintType()),
                 NotNull("date_time", TimestampType(3)), NotNull("expires", TimestampType(3)),
                 NotNull("seller", BigintType()), NotNull("category", BigintType()), NotNull("extra", StringType())});
}

Schema BidSchema() {
  return Schema({NotNull("auction", BigintType()), NotNull("bidder", BigintType()), NotNull("price", BigintType()),
                 NotNull("channel", StringType()), NotNull("url", StringType()), NotNull("date_time", TimestampType(3)),
                 NotNull("extra", StringType())});
}

}  // namespace

std::optional<Schema> GeneratorSchema(const std::string& kind) {
  if (kind == "orders") {
    return Schema({NotNull("order_id", BigintType()), NotNull("user_id", BigintType()),
                   NotNull("amount", DecimalType(12, 2)), NotNull("ts", TimestampType(3)),
                   NotNull("ds", StringType())});
  }
  if (kind == "visits") {
    return Schema({NotNull("visit_id", BigintType()), NotNull("user_id", BigintType()),
                   NotNull("channel", StringType()), NotNull("page", StringType()), NotNull("ts", TimestampType(3)),
                   NotNull("ds", StringType())});
  }
  if (kind == "behaviour") {
    return Schema(
        {NotNull("event_id", BigintType()), NotNull("user_id", StringType()), NotNull("item_id", BigintType()),
         NotNull("store_id", BigintType()), NotNull("behaviour", StringType()), NotNull("page", StringType()),
         NotNull("amount", DecimalType(12, 2)), NotNull("ts", TimestampType(3)), NotNull("ds", StringType())});
  }
  if (kind == "nexmark.person") return PersonSchema();
  if (kind == "nexmark.auction") return AuctionSchema();
  if (kind == "nexmark.bid") return BidSchema();
  return std::nullopt;
}

Result<SchemaPtr> ReadSchema(const GeneratorOptions& options) {
  const std::optional<Schema> all = GeneratorSchema(options.kind);
  WEIR_CHECK(all.has_value());
  std::vector<Field> fields;
  for (const int column : options.read) {
    if (column < 0 || static_cast<size_t>(column) >= all->size()) {
      return ConfigError("there is no column " + std::to_string(column), options.name);
    }
    fields.push_back((*all)[static_cast<size_t>(column)]);
  }
  return std::make_shared<const Schema>(std::move(fields));
}

Status CheckGeneratorOptions(const GeneratorOptions& options) {
  if (options.rows < 0) return ConfigError("rows must not be negative", options.name);
  if (options.users < 1) return ConfigError("users must be at least 1", options.name);
  if (options.days < 1 || options.days > 36'500) return ConfigError("days must be between 1 and 36500", options.name);
  if (options.out_of_orderness < 0) return ConfigError("out_of_orderness must not be negative", options.name);
  if (options.partitions < 1) return ConfigError("partitions must be at least 1", options.name);
  if (options.rate && *options.rate < 1) return ConfigError("rate must be at least 1 row a second", options.name);
  return {};
}

}  // namespace weir
