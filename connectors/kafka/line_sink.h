// A Kafka sink for ready messages: the rows have one text column, which is the message as it stands.  No keys; the
// partitions take turns, so that row i of a task is in partition i % partitions.
#pragma once

#include "connectors/kafka/options.h"

namespace weir {

// Format, changelog and key of the options mean nothing.
Result<std::unique_ptr<Operator>> MakeKafkaLineSink(const KafkaSinkOptions& options);

}  // namespace weir
