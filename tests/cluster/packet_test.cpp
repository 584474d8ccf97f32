// Notes beside a message's array: typed, and without weight.
#include "cluster/ranks/packet.h"

#include <memory>
#include <vector>

#include "base/errors.h"
#include "catch.h"

namespace packet_test {

using simgrad::cluster::Note;
using simgrad::cluster::Packet;

namespace {

struct Version {
  std::int64_t step = 0;
};
struct Weight {
  double omega = 0.0;
};
struct Question {};
using Keys = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a note is read as the type that was written, and as no other") {
  const Packet packet({}, Version{7});
  CHECK(packet.note<Version>().step == 7);
  CHECK(packet.find_note<Weight>() == nullptr);
  CHECK_THROWS_AS(packet.note<Weight>(), simgrad::base::InvariantError);
  CHECK(Packet().find_note<Version>() == nullptr);
  CHECK(Packet({}, Question()).find_note<Question>() != nullptr);
}

TEST_CASE("a small note is copied with its packet, a larger one is shared") {
  const Packet weight({}, Weight{0.25});
  const Packet copy = weight;
  CHECK(copy.note<Weight>().omega == 0.25);
  CHECK(&copy.note<Weight>() != &weight.note<Weight>());
  auto keys = std::make_shared<const Keys>(Keys{3, 1});
  const Packet asks({}, keys);
  const Packet again = asks;
  CHECK(&again.note<Keys>() == keys.get());
  const std::shared_ptr<const Keys> kept = again.attached.shared<Keys>();
  CHECK(kept.use_count() == 4);  // here twice, and in both packets
}

TEST_CASE("a note weighs nothing, extra bytes what they say") {
  Packet packet({}, Version{1});
  CHECK(packet.bytes() == 0);
  packet.extra_bytes = 8;
  CHECK(packet.bytes() == 8);
}

}  // namespace packet_test
