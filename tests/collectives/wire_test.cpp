// Collectives of tensors that weigh less than eight bytes a number.
#include <cmath>

#include "collectives/allreduce.h"
#include "collectives/group.h"
#include "collectives/ring.h"

namespace wire_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Collectives;
using cluster::Communicator;
using values::Dispatcher;
using values::Format;
using values::Tensor;

namespace {

/// Numbers whose sums do not fit the small formats.
Tensor rough(Dispatcher& dispatcher, std::int64_t d, int rank, Format format) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < d; ++i) numbers.push_back(std::sin(0.7 * static_cast<double>(i + 1) * (rank + 1)));
  return values::rounded(dispatcher.constant(numbers), format);
}

Group::Outcome sum(const collectives::Allreduce& algorithm, Group group, std::int64_t d, Format format) {
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return algorithm(comm, rough(dispatcher, d, comm.rank(), format));
  });
}

}  // namespace

TEST_CASE("an allreduce of small formats gives the same bits, times and bytes by messages and at the last arrival") {
  for (const auto& entry : collectives::allreduces().entries()) {
    const auto algorithm = entry.make();
    if (entry.about.kind == "hierarchical") continue;  // needs hosts of several ranks; it is made of rings
    for (const int P : {1, 2, 3, 5, 8})
      for (const std::int64_t d : {0, 1, P - 1, P, 1000})
        for (const Format format : {Format::float16, Format::bfloat16, Format::float32}) {
          CAPTURE(entry.about.kind, P, d, static_cast<int>(format));
          const Group group{.P = P, .arrivals = {0.1, 0.0, 0.2}};
          Group fast = group;
          fast.collectives = Collectives::automatic;
          const auto messages = sum(*algorithm, group, d, format);
          const auto computed = sum(*algorithm, fast, d, format);
          CHECK(messages.bytes == computed.bytes);
          for (std::size_t r = 0; r < static_cast<std::size_t>(P); ++r) {
            CHECK(messages.members[r].result == messages.members[0].result);
            CHECK(computed.members[r].result == messages.members[0].result);
            CHECK(computed.members[r].end_s == Approx(messages.members[r].end_s).epsilon(1e-9));
            CHECK(computed.members[r].bytes_sent == messages.members[r].bytes_sent);
          }
        }
  }
}

TEST_CASE("a ring allreduce of float16 takes a quarter of the bytes and is rounded on the way") {
  constexpr int P = 4;
  constexpr std::int64_t d = 4096;
  const double M = 8.0 * d;
  for (const auto how : {Collectives::messages, Collectives::automatic}) {
    const auto outcome = sum(collectives::Ring(), {.P = P, .collectives = how}, d, Format::float16);
    // M/4 on the wire; an addition a number as before.
    const double expected = 2 * (P - 1) * alpha + 2.0 * (P - 1) / P * (M / 4) / B + (P - 1.0) / P * M * gamma_s;
    CHECK(outcome.members[0].end_s == Approx(expected).epsilon(1e-9));
    CHECK(outcome.bytes == 2 * (P - 1) * static_cast<std::int64_t>(M) / 4);
    double most = 0.0;
    bool exact = true;
    for (std::int64_t i = 0; i < d; ++i) {
      double sum = 0.0;
      for (int r = 0; r < P; ++r) sum += std::sin(0.7 * static_cast<double>(i + 1) * (r + 1));
      const double got = outcome.members[0].result[static_cast<std::size_t>(i)];
      most = std::max(most, std::fabs(got - sum));
      exact = exact && std::fabs(got - sum) < 1e-9;
    }
    CHECK_FALSE(exact);
    // Four terms of at most 1 and three sums of at most 4: half a unit of each.
    CHECK(most <= 4 * 0x1p-12 + 0x1p-11 + 2 * 0x1p-10);
  }
}

TEST_CASE("a sum of what is gathered sends the codes and keeps the sum alone") {
  constexpr std::int64_t d = 100;
  constexpr std::int64_t m = 17;
  for (const int P : {2, 3, 8})
    for (const auto how : {Collectives::messages, Collectives::automatic}) {
      const auto outcome = Group{.P = P, .arrivals = {0.1, 0.0}, .collectives = how}.run([&](const Communicator& comm,
                                                                                             Dispatcher& dispatcher) {
        return collectives::gathered_sum(comm, values::encoded(rough(dispatcher, d, comm.rank(), Format::float64), m));
      });
      std::vector<double> sum(d);
      for (int r = 0; r < P; ++r)
        for (std::int64_t i = 0; i < d; ++i)
          sum[static_cast<std::size_t>(i)] += std::sin(0.7 * static_cast<double>(i + 1) * (r + 1));
      double last = 0.0;
      for (const auto& member : outcome.members) {
        CHECK(member.result == sum);  // in the order of the members
        last = std::max(last, member.end_s);
      }
      CHECK(last == Approx(0.1 + (P - 1) * (alpha + m / B)).epsilon(1e-9));
      CHECK(outcome.bytes == P * (P - 1) * m);
    }
}

TEST_CASE("an all-gather of codes sends the bytes of the codes") {
  constexpr int P = 4;
  constexpr std::int64_t d = 1000;
  constexpr std::int64_t m = 77;
  const std::vector<std::int64_t> lengths(P, d);
  for (const auto how : {Collectives::messages, Collectives::automatic}) {
    const auto outcome = Group{.P = P, .collectives = how}.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      return collectives::all_gather(comm, values::encoded(rough(dispatcher, d, comm.rank(), Format::float64), m),
                                     lengths);
    });
    // (P-1)(alpha + m beta): everybody passes P - 1 codes on.
    CHECK(outcome.members[0].end_s == Approx((P - 1) * (alpha + m / B)).epsilon(1e-9));
    CHECK(outcome.bytes == P * (P - 1) * m);
    CHECK(outcome.members[0].result.size() == P * d);
  }
}

}  // namespace wire_test
