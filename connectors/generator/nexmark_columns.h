// Columns of the rows of one Nexmark stream, in the order of GeneratorSchema.
#pragma once

#include <span>

#include "connectors/generator/nexmark_law.h"

namespace weir {

ColumnPtr MakeNexmarkColumn(const NexmarkLaw& law, int column, std::span<const NexmarkPerson> rows);
ColumnPtr MakeNexmarkColumn(const NexmarkLaw& law, int column, std::span<const NexmarkAuction> rows);
ColumnPtr MakeNexmarkColumn(const NexmarkLaw& law, int column, std::span<const NexmarkBid> rows);

// Their texts, as columns and JSON lines have them; each returns the end of what it wrote.
inline constexpr size_t kCardBytes = 19;
char* WriteCard(const NexmarkPerson& person, char* to);  // 0000 0000 0000 0000
size_t MailBytes(const NexmarkPerson& person);
char* WriteMail(const NexmarkLaw& law, const NexmarkPerson& person, char* to);  // abc@def.com

}  // namespace weir
