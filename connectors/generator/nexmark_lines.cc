#include <fmt/format.h>

#include <iterator>

#include "connectors/generator/columns.h"
#include "connectors/generator/lines.h"
#include "connectors/generator/nexmark_columns.h"
#include "engine/data/text.h"

namespace weir {
namespace {

// 2026-01-01 00:00:00.000
class TimeText {
 public:
  std::string_view Write(int64_t at_ms) {
    const int64_t second = at_ms / 1000;
    if (second != second_) {
      second_ = second;
      day_.clear();
      AppendDate(second / 86'400, day_);
      const int64_t of_day = second % 86'400;
      fmt::format_to(std::back_inserter(day_), " {:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
    }
    text_ = day_;
    fmt::format_to(std::back_inserter(text_), ".{:03}", at_ms % 1000);
    return text_;
  }

 private:
  int64_t second_ = -1;
  std::string day_;  // up to the second
  std::string text_;
};

class NexmarkLines final : public GeneratedLines {
 public:
  NexmarkLines(const GeneratorOptions& options, NexmarkStream stream)
      : law_(options), stream_(stream), events_(options.rows), place_(law_.Start()) {}

  bool Append(std::string& out) override {
    while (place_.event < events_ && NexmarkLaw::StreamOf(place_.event) != stream_) law_.Skip(place_);
    if (place_.event >= events_) return false;
    switch (stream_) {
      case NexmarkStream::kPerson:
        AppendPerson(law_.TakePerson(place_), out);
        break;
      case NexmarkStream::kAuction:
        AppendAuction(law_.TakeAuction(place_), out);
        break;
      case NexmarkStream::kBid:
        AppendBid(law_.TakeBid(place_), out);
        break;
    }
    return true;
  }

 private:
  void AppendPerson(const NexmarkPerson& person, std::string& out) {
    std::string mail(MailBytes(person), ' ');
    WriteMail(law_, person, mail.data());
    std::string card(kCardBytes, ' ');
    WriteCard(person, card.data());
    fmt::format_to(std::back_inserter(out),
                   R"({{"id":{},"name":"{} {}","emailAddress":"{}","creditCard":"{}","city":"{}","state":"{}",)"
                   R"("dateTime":"{}","extra":"{}"}})",
                   person.id, kNexmarkFirstNames[person.first_name], kNexmarkLastNames[person.last_name], mail, card,
                   kNexmarkCities[person.city], kNexmarkStates[person.state], date_time_.Write(law_.AtMs(person.event)),
                   Letters(person.extra));
  }
  void AppendAuction(const NexmarkAuction& auction, std::string& out) {
    fmt::format_to(std::back_inserter(out),
                   R"({{"id":{},"itemName":"{}","description":"{}","initialBid":{},"reserve":{},"dateTime":"{}",)"
                   R"("expires":"{}","seller":{},"category":{},"extra":"{}"}})",
                   auction.id, Blanked(auction.item), Blanked(auction.description), auction.initial_bid,
                   auction.reserve, date_time_.Write(law_.AtMs(auction.event)),
                   expires_.Write(NexmarkLaw::ExpiresMs(auction)), auction.seller, auction.category,
                   Letters(auction.extra));
  }
  void AppendBid(const NexmarkBid& bid, std::string& out) {
    fmt::format_to(std::back_inserter(out),
                   R"({{"auction":{},"bidder":{},"price":{},"channel":"{}","url":"{}","dateTime":"{}","extra":"{}"}})",
                   bid.auction, bid.bidder, bid.price, law_.channels().text(bid.channel), law_.urls().text(bid.channel),
                   date_time_.Write(law_.AtMs(bid.event)), Letters(bid.extra));
  }
  std::string Letters(NexmarkLetters letters) const {
    std::string text(letters.size, ' ');
    law_.WriteLetters(letters, text.data());
    return text;
  }
  std::string Blanked(NexmarkLetters letters) const {
    std::string text(letters.size, ' ');
    law_.WriteBlankedLetters(letters, text.data());
    return text;
  }

  const NexmarkLaw law_;
  const NexmarkStream stream_;
  const int64_t events_;
  NexmarkPlace place_;
  TimeText date_time_;
  TimeText expires_;
};

}  // namespace

Result<std::unique_ptr<GeneratedLines>> MakeNexmarkLines(const GeneratorOptions& options) {
  WEIR_TRY(CheckGeneratorOptions(options));
  const auto stream = FindNexmarkStream(options.kind);
  if (!stream) return ConfigError("there is no kind '" + options.kind + "'", options.name);
  return std::make_unique<NexmarkLines>(options, *stream);
}

}  // namespace weir
