#include "connectors/generator/nexmark_columns.h"

#include <algorithm>

namespace weir {
namespace {

template <class Row>
ColumnPtr TimeColumn(const NexmarkLaw& law, std::span<const Row> rows) {
  return IntColumn(TimestampType(3), rows, [&](const Row& row) { return law.AtMs(row.event) * 1000; });
}

template <class Row, class Value>
ColumnPtr Bigints(std::span<const Row> rows, Value value) {
  return IntColumn(BigintType(), rows, value);
}

template <class Row>
ColumnPtr LettersColumn(const NexmarkLaw& law, std::span<const Row> rows, NexmarkLetters Row::*letters) {
  size_t bytes = 0;
  for (const Row& row : rows) bytes += (row.*letters).size;
  return WrittenColumn(rows, bytes, [&](const Row& row, char* to) { return law.WriteLetters(row.*letters, to); });
}

template <class Row>
ColumnPtr BlankedColumn(const NexmarkLaw& law, std::span<const Row> rows, NexmarkLetters Row::*letters) {
  size_t bytes = 0;
  for (const Row& row : rows) bytes += (row.*letters).size;
  return WrittenColumn(rows, bytes,
                       [&](const Row& row, char* to) { return law.WriteBlankedLetters(row.*letters, to); });
}

char* Write(std::string_view text, char* to) { return std::copy(text.begin(), text.end(), to); }

// A word of a small list, copied: few rows are persons.
template <class List>
ColumnPtr ListColumn(std::span<const NexmarkPerson> rows, const List& list, uint32_t NexmarkPerson::*index) {
  size_t bytes = 0;
  for (const NexmarkPerson& row : rows) bytes += list[row.*index].size();
  return WrittenColumn(rows, bytes, [&](const NexmarkPerson& row, char* to) { return Write(list[row.*index], to); });
}

ColumnPtr NameColumn(std::span<const NexmarkPerson> rows) {
  size_t bytes = 0;
  for (const NexmarkPerson& row : rows) {
    bytes += kNexmarkFirstNames[row.first_name].size() + 1 + kNexmarkLastNames[row.last_name].size();
  }
  return WrittenColumn(rows, bytes, [](const NexmarkPerson& row, char* to) {
    to = Write(kNexmarkFirstNames[row.first_name], to);
    *to++ = ' ';
    return Write(kNexmarkLastNames[row.last_name], to);
  });
}

ColumnPtr MailColumn(const NexmarkLaw& law, std::span<const NexmarkPerson> rows) {
  size_t bytes = 0;
  for (const NexmarkPerson& row : rows) bytes += MailBytes(row);
  return WrittenColumn(rows, bytes, [&](const NexmarkPerson& row, char* to) { return WriteMail(law, row, to); });
}

}  // namespace

char* WriteCard(const NexmarkPerson& person, char* to) {
  for (size_t i = 0; i < person.card.size(); ++i) {
    if (i > 0) *to++ = ' ';
    for (uint32_t power = 1000; power > 0; power /= 10) {
      *to++ = static_cast<char>('0' + person.card[i] / power % 10);
    }
  }
  return to;
}

size_t MailBytes(const NexmarkPerson& person) { return person.mailbox.size + person.mail_host.size + 5; }

char* WriteMail(const NexmarkLaw& law, const NexmarkPerson& person, char* to) {
  to = law.WriteBlankedLetters(person.mailbox, to);
  *to++ = '@';
  to = law.WriteBlankedLetters(person.mail_host, to);
  return Write(".com", to);
}

ColumnPtr MakeNexmarkColumn(const NexmarkLaw& law, int column, std::span<const NexmarkPerson> rows) {
  switch (column) {
    case 0:
      return Bigints(rows, [](const NexmarkPerson& row) { return row.id; });
    case 1:
      return NameColumn(rows);
    case 2:
      return MailColumn(law, rows);
    case 3:
      return WrittenColumn(rows, rows.size() * kCardBytes, WriteCard);
    case 4:
      return ListColumn(rows, kNexmarkCities, &NexmarkPerson::city);
    case 5:
      return ListColumn(rows, kNexmarkStates, &NexmarkPerson::state);
    case 6:
      return TimeColumn(law, rows);
    default:
      return LettersColumn(law, rows, &NexmarkPerson::extra);
  }
}

ColumnPtr MakeNexmarkColumn(const NexmarkLaw& law, int column, std::span<const NexmarkAuction> rows) {
  switch (column) {
    case 0:
      return Bigints(rows, [](const NexmarkAuction& row) { return row.id; });
    case 1:
      return BlankedColumn(law, rows, &NexmarkAuction::item);
    case 2:
      return BlankedColumn(law, rows, &NexmarkAuction::description);
    case 3:
      return Bigints(rows, [](const NexmarkAuction& row) { return row.initial_bid; });
    case 4:
      return Bigints(rows, [](const NexmarkAuction& row) { return row.reserve; });
    case 5:
      return TimeColumn(law, rows);
    case 6:
      return IntColumn(TimestampType(3), rows,
                       [](const NexmarkAuction& row) { return NexmarkLaw::ExpiresMs(row) * 1000; });
    case 7:
      return Bigints(rows, [](const NexmarkAuction& row) { return row.seller; });
    case 8:
      return Bigints(rows, [](const NexmarkAuction& row) { return row.category; });
    default:
      return LettersColumn(law, rows, &NexmarkAuction::extra);
  }
}

ColumnPtr MakeNexmarkColumn(const NexmarkLaw& law, int column, std::span<const NexmarkBid> rows) {
  switch (column) {
    case 0:
      return Bigints(rows, [](const NexmarkBid& row) { return row.auction; });
    case 1:
      return Bigints(rows, [](const NexmarkBid& row) { return row.bidder; });
    case 2:
      return Bigints(rows, [](const NexmarkBid& row) { return row.price; });
    case 3:
      return WordColumn(law.channels(), rows, [](const NexmarkBid& row) { return row.channel; });
    case 4:
      return WordColumn(law.urls(), rows, [](const NexmarkBid& row) { return row.channel; });
    case 5:
      return TimeColumn(law, rows);
    default:
      return LettersColumn(law, rows, &NexmarkBid::extra);
  }
}

}  // namespace weir
