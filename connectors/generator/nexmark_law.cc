// Every draw is a statement of its own, because the order of draws is the law.
#include "connectors/generator/nexmark_law.h"

#include <algorithm>

namespace weir {

const std::array<std::string_view, 11> kNexmarkFirstNames = {"Peter", "Paul",  "Luke",  "John",   "Saul",  "Vicky",
                                                             "Kate",  "Julie", "Sarah", "Deiter", "Walter"};
const std::array<std::string_view, 9> kNexmarkLastNames = {"Shultz", "Abrams", "Spencer", "White", "Bartels",
                                                           "Walton", "Smith",  "Jones",   "Noris"};
const std::array<std::string_view, 10> kNexmarkCities = {
    "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"};
const std::array<std::string_view, 6> kNexmarkStates = {"AZ", "CA", "ID", "OR", "WA", "WY"};

namespace {

constexpr std::array<std::string_view, 4> kHotChannels = {"Google", "Facebook", "Baidu", "Apple"};
constexpr uint64_t kColdChannels = 10'000;
constexpr int64_t kFirstId = 1000;
constexpr int64_t kActivePersons = 1000;  // so many of the newest persons bid and sell
constexpr int64_t kIdsAhead = 10;         // a few bids and sellers refer to what comes later
constexpr int64_t kHotEvery = 100;
constexpr int64_t kOpenAuctions = 100;
constexpr int64_t kEventsPerMs = 10;
constexpr uint64_t kHotAuctionOdds = 2;  // all but one of so many
constexpr uint64_t kHotBidderOdds = 4;
constexpr uint64_t kHotSellerOdds = 4;
constexpr size_t kMeanPersonBytes = 200;
constexpr size_t kMeanAuctionBytes = 500;
constexpr size_t kMeanBidBytes = 100;
constexpr size_t kBidBytes = 32;  // as the benchmark counts them, without the channel

int64_t LastPerson(int64_t event) { return event / kNexmarkEpoch; }

// The newest auction at the time of an event.
int64_t LastAuction(int64_t event) {
  const int64_t epoch = event / kNexmarkEpoch;
  const int64_t offset = event % kNexmarkEpoch;
  if (offset < kNexmarkPersons) return epoch * kNexmarkAuctions - 1;
  return epoch * kNexmarkAuctions + std::min(offset - kNexmarkPersons, kNexmarkAuctions - 1);
}

size_t SizeOf(const auto& words, uint32_t i) { return words[i].size(); }

}  // namespace

std::optional<NexmarkStream> FindNexmarkStream(std::string_view kind) {
  constexpr std::string_view kPrefix = "nexmark.";
  if (!kind.starts_with(kPrefix)) return std::nullopt;
  kind.remove_prefix(kPrefix.size());
  for (size_t i = 0; i < kNexmarkStreams.size(); ++i) {
    if (kNexmarkStreams[i] == kind) return static_cast<NexmarkStream>(i);
  }
  return std::nullopt;
}

NexmarkLaw::NexmarkLaw(const GeneratorOptions& options)
    : draws_(options.seed * 1'000'003 + 3),
      shifts_(options.seed * 1'000'003 + 1003),
      late_ms_(static_cast<uint64_t>(options.out_of_orderness / 1000)) {
  // Ten to the power of i / 10, to the last digit the same on every machine.
  constexpr std::array<double, 10> kTenths = {1.0,
                                              1.2589254117941673,
                                              1.5848931924611136,
                                              1.9952623149688795,
                                              2.51188643150958,
                                              3.1622776601683795,
                                              3.9810717055349722,
                                              5.011872336272722,
                                              6.309573444801933,
                                              7.943282347242815};
  double decade = 1;
  for (size_t i = 0; i < decades_.size(); ++i) {
    if (i > 0 && i % 10 == 0) decade *= 10;
    decades_[i] = decade * kTenths[i % 10];
  }
  MakeUrls();
}

std::string NexmarkLaw::MakeUrl() {
  std::string url = "https://www.nexmark.com";
  for (int part = 0; part < 3; ++part) {
    url += '/';
    for (int i = 0; i < 5; ++i) url += static_cast<char>('a' + draws_.Below(first_draw_++, 26));
  }
  return url + "/item.htm?query=1";
}

void NexmarkLaw::MakeUrls() {
  std::vector<std::string> cold;
  for (uint64_t i = 0; i < kColdChannels; ++i) {
    std::string url = MakeUrl();
    const bool has_id = draws_.Below(first_draw_++, 10) > 0;
    if (has_id) url += "&channel_id=" + std::to_string(draws_.Bits(first_draw_++) >> 33);
    cold.push_back(std::move(url));
  }
  for (const std::string_view channel : kHotChannels) {
    channels_.Add(channel);
    urls_.Add(MakeUrl());
  }
  for (uint64_t i = 0; i < kColdChannels; ++i) {
    channels_.Add("channel-" + std::to_string(i));
    urls_.Add(cold[i]);
  }
}

int64_t NexmarkLaw::RowOf(int64_t event) {
  const int64_t epoch = event / kNexmarkEpoch;
  const int64_t offset = event % kNexmarkEpoch;
  if (offset < kNexmarkPersons) return epoch;
  if (offset < kNexmarkPersons + kNexmarkAuctions) return epoch * kNexmarkAuctions + offset - kNexmarkPersons;
  return epoch * kNexmarkBids + offset - kNexmarkPersons - kNexmarkAuctions;
}

NexmarkLetters NexmarkLaw::TakeBlanked(uint64_t& draw, uint64_t longest) const {
  const uint64_t size = 3 + draws_.Below(draw++, longest - 3);
  const NexmarkLetters letters{draw, static_cast<uint32_t>(size)};
  draw += size;
  return letters;
}

// Dollars are ten to the power of a uniform number in [0, 6); the price is in cents.
inline int64_t NexmarkLaw::TakePrice(uint64_t& draw) const {
  const uint64_t decade = draws_.Below(draw++, 6);
  const uint64_t tenth = draws_.Below(draw++, 10);
  const uint64_t rest = draws_.Below(draw++, 1000);
  const double dollars = decades_[decade * 10 + tenth] * (1 + 0.2589254117941673 * static_cast<double>(rest) / 1000.0);
  return static_cast<int64_t>(dollars * 100);
}

// How many letters bring a record of `size` bytes to `average`, give or take a fifth.
inline uint32_t NexmarkLaw::TakeExtraSize(uint64_t& draw, size_t size, size_t average) const {
  if (size >= average) return 0;
  const uint64_t missing = average - size;
  const uint64_t spread = missing / 5;
  return static_cast<uint32_t>(missing - spread + draws_.Below(draw++, std::max<uint64_t>(2 * spread, 1)));
}

inline int64_t NexmarkLaw::TakeActivePerson(uint64_t& draw, int64_t event) const {
  const int64_t persons = LastPerson(event) + 1;
  const int64_t active = std::min(persons, kActivePersons);
  return persons - active + static_cast<int64_t>(draws_.Below(draw++, static_cast<uint64_t>(active + kIdsAhead)));
}

NexmarkPerson NexmarkLaw::TakePerson(NexmarkPlace& place) const {
  uint64_t draw = place.draw;
  NexmarkPerson person{};
  person.event = place.event;
  person.id = kFirstId + LastPerson(place.event);
  person.first_name = static_cast<uint32_t>(draws_.Below(draw++, kNexmarkFirstNames.size()));
  person.last_name = static_cast<uint32_t>(draws_.Below(draw++, kNexmarkLastNames.size()));
  person.mailbox = TakeBlanked(draw, 7);
  person.mail_host = TakeBlanked(draw, 5);
  person.city = static_cast<uint32_t>(draws_.Below(draw++, kNexmarkCities.size()));
  person.state = static_cast<uint32_t>(draws_.Below(draw++, kNexmarkStates.size()));
  for (uint32_t& digits : person.card) digits = static_cast<uint32_t>(draws_.Below(draw++, 10'000));
  const size_t name = SizeOf(kNexmarkFirstNames, person.first_name) + 1 + SizeOf(kNexmarkLastNames, person.last_name);
  const size_t mail = person.mailbox.size + person.mail_host.size + std::string_view("@.com").size();
  const size_t card = std::string_view("0000 0000 0000 0000").size();
  const size_t home = SizeOf(kNexmarkCities, person.city) + SizeOf(kNexmarkStates, person.state);
  const uint32_t extra = TakeExtraSize(draw, 8 + name + mail + card + home, kMeanPersonBytes);
  person.extra = {draw, extra};
  place = {place.event + 1, draw + extra};
  return person;
}

NexmarkAuction NexmarkLaw::TakeAuction(NexmarkPlace& place) const {
  uint64_t draw = place.draw;
  NexmarkAuction auction{};
  auction.event = place.event;
  auction.id = kFirstId + LastAuction(place.event);
  const bool hot_seller = draws_.Below(draw++, kHotSellerOdds) > 0;
  auction.seller =
      kFirstId + (hot_seller ? LastPerson(place.event) / kHotEvery * kHotEvery : TakeActivePerson(draw, place.event));
  auction.initial_bid = TakePrice(draw);
  auction.reserve = auction.initial_bid + TakePrice(draw);
  auction.category = 10 + static_cast<int64_t>(draws_.Below(draw++, 5));
  auction.item = TakeBlanked(draw, 20);
  auction.description = TakeBlanked(draw, 100);
  // So long on average that kOpenAuctions are open at a time.
  constexpr uint64_t kMeanMs = kOpenAuctions * kNexmarkEpoch / kNexmarkAuctions / kEventsPerMs;
  auction.open_ms = 1 + static_cast<int64_t>(draws_.Below(draw++, 2 * kMeanMs));
  const size_t texts = auction.item.size + auction.description.size;
  const uint32_t extra = TakeExtraSize(draw, 48 + texts, kMeanAuctionBytes);
  auction.extra = {draw, extra};
  place = {place.event + 1, draw + extra};
  return auction;
}

NexmarkBid NexmarkLaw::TakeBid(NexmarkPlace& place) const {
  uint64_t draw = place.draw;
  NexmarkBid bid{};
  bid.event = place.event;
  const int64_t newest = LastAuction(place.event);
  const bool hot_auction = draws_.Below(draw++, kHotAuctionOdds) > 0;
  if (hot_auction) {
    bid.auction = kFirstId + newest / kHotEvery * kHotEvery;
  } else {
    const int64_t oldest = std::max<int64_t>(newest - kOpenAuctions, 0);
    bid.auction = kFirstId + oldest +
                  static_cast<int64_t>(draws_.Below(draw++, static_cast<uint64_t>(newest - oldest + 1 + kIdsAhead)));
  }
  const bool hot_bidder = draws_.Below(draw++, kHotBidderOdds) > 0;
  bid.bidder = kFirstId +
               (hot_bidder ? LastPerson(place.event) / kHotEvery * kHotEvery + 1 : TakeActivePerson(draw, place.event));
  bid.price = TakePrice(draw);
  const uint32_t extra = TakeExtraSize(draw, kBidBytes, kMeanBidBytes);
  const bool hot_channel = draws_.Below(draw++, 2) > 0;
  bid.channel = static_cast<uint32_t>(hot_channel ? draws_.Below(draw++, kHotChannels.size())
                                                  : kHotChannels.size() + draws_.Below(draw++, kColdChannels));
  bid.extra = {draw, extra};
  place = {place.event + 1, draw + extra};
  return bid;
}

void NexmarkLaw::Skip(NexmarkPlace& place) const {
  switch (StreamOf(place.event)) {
    case NexmarkStream::kPerson:
      TakePerson(place);
      return;
    case NexmarkStream::kAuction:
      TakeAuction(place);
      return;
    case NexmarkStream::kBid:
      break;
  }
  // The draws of TakeBid on which the number of draws depends.
  uint64_t draw = place.draw;
  draw += draws_.Below(draw, kHotAuctionOdds) > 0 ? 1 : 2;
  draw += draws_.Below(draw, kHotBidderOdds) > 0 ? 1 : 2;
  draw += 3;  // the price
  const uint32_t extra = TakeExtraSize(draw, kBidBytes, kMeanBidBytes);
  draw += 2;  // the channel
  place = {place.event + 1, draw + extra};
}

char* NexmarkLaw::WriteLetters(NexmarkLetters letters, char* to) const {
  for (uint64_t i = 0; i < letters.size; ++i) to[i] = static_cast<char>('a' + draws_.Below(letters.draw + i, 26));
  return to + letters.size;
}

// One of 13 is a blank, but none at the ends.
char* NexmarkLaw::WriteBlankedLetters(NexmarkLetters letters, char* to) const {
  for (uint64_t i = 0; i < letters.size; ++i) {
    const uint64_t x = draws_.Below(letters.draw + i, 13 * 26);
    to[i] = x % 13 == 0 ? ' ' : static_cast<char>('a' + x / 13);
  }
  if (to[0] == ' ') to[0] = 'x';
  if (to[letters.size - 1] == ' ') to[letters.size - 1] = 'x';
  return to + letters.size;
}

}  // namespace weir
