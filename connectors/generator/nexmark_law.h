// The law of the Nexmark benchmark's events: persons, auctions and bids, 1 : 3 : 46 of every 50.
//
// The proportions, hot keys, id ranges, prices and sizes are those of the benchmark (Tucker, Tufte, Papadimos, Maier:
// NEXMark - A Benchmark for Queries over Data Streams, 2008, as Beam's generator has it): half of the bids go to the
// newest hot auction, three quarters come from the newest hot bidder, three quarters of the auctions are of the newest
// hot seller; 10,000 events a second of event time; a person is 200 bytes on average, an auction 500, a bid 100 and its
// channel and URL.  The random numbers are one sequence of splitmix64 that the events take in their order, so an
// event is known only with the number of draws before it: NexmarkPlace.  Finding the end of an event costs a few of its
// draws, not all, so walking over events that nobody reads is cheap.
//
// Immutable, any thread.
#pragma once

#include <array>

#include "connectors/generator/draws.h"
#include "connectors/generator/options.h"
#include "connectors/generator/words.h"

namespace weir {

enum class NexmarkStream : uint8_t { kPerson, kAuction, kBid };
inline constexpr std::array<std::string_view, 3> kNexmarkStreams = {"person", "auction", "bid"};
// Of a kind `nexmark.person`.
std::optional<NexmarkStream> FindNexmarkStream(std::string_view kind);

inline constexpr int64_t kNexmarkPersons = 1;  // of an epoch, in the order of the streams
inline constexpr int64_t kNexmarkAuctions = 3;
inline constexpr int64_t kNexmarkBids = 46;
inline constexpr int64_t kNexmarkEpoch = kNexmarkPersons + kNexmarkAuctions + kNexmarkBids;

// Between two events: the number of the next one, and of its first draw.
struct NexmarkPlace {
  int64_t event = 0;
  uint64_t draw = 0;
};

// `size` random letters; their draws begin at `draw`.
struct NexmarkLetters {
  uint64_t draw = 0;
  uint32_t size = 0;
};

struct NexmarkPerson {
  int64_t event;
  int64_t id;
  uint32_t first_name, last_name, city, state;
  std::array<uint32_t, 4> card;
  NexmarkLetters mailbox, mail_host;  // with blanks
  NexmarkLetters extra;
};

struct NexmarkAuction {
  int64_t event;
  int64_t id, initial_bid, reserve, seller, category;
  int64_t open_ms;                   // expires so long after it begins
  NexmarkLetters item, description;  // with blanks
  NexmarkLetters extra;
};

struct NexmarkBid {
  int64_t event;
  int64_t auction, bidder, price;
  uint32_t channel;  // in NexmarkLaw::channels and urls
  NexmarkLetters extra;
};

class NexmarkLaw {
 public:
  explicit NexmarkLaw(const GeneratorOptions& options);

  // Before the first event.
  NexmarkPlace Start() const { return {0, first_draw_}; }
  static NexmarkStream StreamOf(int64_t event) {
    const int64_t offset = event % kNexmarkEpoch;
    if (offset < kNexmarkPersons) return NexmarkStream::kPerson;
    return offset < kNexmarkPersons + kNexmarkAuctions ? NexmarkStream::kAuction : NexmarkStream::kBid;
  }
  // The number of the event among those of its stream.
  static int64_t RowOf(int64_t event);
  // The event at the place, which moves behind it.  REQUIRES: StreamOf(place.event) is that of the function.
  NexmarkPerson TakePerson(NexmarkPlace& place) const;
  NexmarkAuction TakeAuction(NexmarkPlace& place) const;
  NexmarkBid TakeBid(NexmarkPlace& place) const;
  void Skip(NexmarkPlace& place) const;

  // Milliseconds since 1970, moved by the options' out_of_orderness.
  int64_t AtMs(int64_t event) const {
    const int64_t at = kGeneratorStartMs + event / 10;
    return late_ms_ == 0 ? at : at - static_cast<int64_t>(shifts_.Below(static_cast<uint64_t>(event), late_ms_ + 1));
  }
  // When an auction ends; the benchmark draws it from its time in order.
  static int64_t ExpiresMs(const NexmarkAuction& auction) {
    return kGeneratorStartMs + auction.event / 10 + auction.open_ms;
  }

  // Write the letters and return their end.
  char* WriteLetters(NexmarkLetters letters, char* to) const;
  char* WriteBlankedLetters(NexmarkLetters letters, char* to) const;

  const Words& channels() const { return channels_; }
  const Words& urls() const { return urls_; }

 private:
  void MakeUrls();
  std::string MakeUrl();
  NexmarkLetters TakeBlanked(uint64_t& draw, uint64_t longest) const;
  int64_t TakePrice(uint64_t& draw) const;
  uint32_t TakeExtraSize(uint64_t& draw, size_t size, size_t average) const;
  int64_t TakeActivePerson(uint64_t& draw, int64_t event) const;

  RandomDraws draws_;
  RandomDraws shifts_;
  uint64_t late_ms_;
  uint64_t first_draw_ = 0;
  std::array<double, 60> decades_;  // the price in dollars at each tenth of a decade
  Words channels_;                  // the hot ones, then the others
  Words urls_;
};

extern const std::array<std::string_view, 11> kNexmarkFirstNames;
extern const std::array<std::string_view, 9> kNexmarkLastNames;
extern const std::array<std::string_view, 10> kNexmarkCities;
extern const std::array<std::string_view, 6> kNexmarkStates;

}  // namespace weir
