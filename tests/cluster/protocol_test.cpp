// Factors of latency and bandwidth by a message's size: l(m) alpha + m / (b(m) B), between hosts only.
#include "cluster/fabric/protocol.h"

#include <cstdlib>
#include <filesystem>

#include "catch.h"
#include "cluster/against_computing.h"
#include "cluster/topologies/two_tier.h"
#include "cluster/transfers.h"

namespace protocol_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;

namespace {

constexpr double B = 1.25e9;
constexpr double L = 50e-6;

auto nine(double x) { return Approx(x).epsilon(1e-9); }

Options with(std::string_view protocol) {
  Options options;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = L};
  REQUIRE(options.protocol.choose(protocol));
  return options;
}

}  // namespace

TEST_CASE("a message takes the factors of the largest row that is not above its size") {
  const Options options = with("smpi");
  const Protocol& table = *options.protocol;
  REQUIRE(table.rows().size() == 9);
  for (const std::int64_t numbers : {0, 1, 32, 33, 1'000, 8'184, 8'185, 1'000'000}) {
    const double m = 8.0 * static_cast<double>(numbers);
    const ProtocolRow row = table.at(m);
    CAPTURE(numbers);
    CHECK(transfer_ends(options, 4, {{0, 1, numbers}}).front() == nine(row.latency * L + m / (row.bandwidth * B)));
  }
  CHECK(table.at(256.0) == ProtocolRow(0, 2.01467, 0.812084));
  CHECK(table.at(257.0) == ProtocolRow(257, 1.95341, 0.338112));
  CHECK(table.at(1e9) == ProtocolRow(65472, 11.6436, 0.940694));
}

TEST_CASE("a protocol comes on top of the goodput of ethernet, and links are busy for as long") {
  Options options = with("nccl");
  options.network_model = NetworkModel::ethernet;
  options.window_bytes = 1e9;
  const double g = goodput(options.frame);
  constexpr std::int64_t small = 1'000, large = 100'000;
  CHECK(transfer_ends(options, 4, {{0, 1, small}}).front() == nine(L + 2.0 * 8e3 / (B * g)));
  CHECK(transfer_ends(options, 4, {{0, 1, large}}).front() == nine(14.0 / 2.7 * L + 8e5 / (B * g)));
  for (const double end : transfer_ends(options, 4, {{0, 3, small}, {1, 3, small}}))
    CHECK(end == nine(L + 2.0 * 2.0 * 8e3 / (B * g)));
}

TEST_CASE("flows of one link share it fairly, whatever the latencies of their sizes") {
  const Options options = with("nccl");
  // Alone for the long latency of Simple, the message under LL is over; later ones share.
  const double simple = 14.0 / 2.7 * L;
  const auto ends = transfer_ends(options, 4, {{0, 3, 1'000}, {1, 3, 100'000}, {2, 3, 100'000}});
  CHECK(ends[0] == nine(L + 2.0 * 8e3 / B));
  for (const std::size_t large : {1U, 2U}) CHECK(ends[large] == nine(simple + 2.0 * 8e5 / B));
}

TEST_CASE("between the devices of a host a protocol changes nothing") {
  Options options = with("smpi");
  REQUIRE(options.topology.choose("gpu_hosts"));
  options.workers = 16;
  Options plain = options;
  REQUIRE(plain.protocol.choose("none"));
  for (const std::int64_t numbers : {10, 100'000})
    CHECK(transfer_ends(options, 16, {{0, 1, numbers}}).front() ==
          nine(transfer_ends(plain, 16, {{0, 1, numbers}}).front()));
  CHECK(transfer_ends(options, 16, {{0, 8, 10}}).front() > 1.2 * transfer_ends(plain, 16, {{0, 8, 10}}).front());
}

TEST_CASE("collectives under a protocol go message by message") {
  CHECK(against_computing(with("smpi")) == "protocol");
  CHECK(against_computing(with("none")).empty());
  CHECK_FALSE(with("smpi").constant_network());
}

}  // namespace protocol_test
