#include "collectives/ring.h"

#include <algorithm>

#include "collectives/group.h"

namespace ring_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

Group::Outcome allreduce(const Group& group, std::int64_t d) {
  return group.run([&](const cluster::Communicator& comm, values::Dispatcher& dispatcher) {
    return collectives::Ring()(comm, contributed(dispatcher, comm.rank(), d));
  });
}

std::int64_t chunk_length(std::int64_t d, int P, int k) { return d / P + ((k % P + P) % P < d % P ? 1 : 0); }

/// Chunk k is first rank k's, and travels to the right: ((x_k + x_k+1) + x_k+2) + ... + x_k-1.
std::vector<double> sum_around_the_ring(int P, std::int64_t d) {
  std::vector<double> total;
  for (int k = 0; k < P; ++k) {
    const auto first = static_cast<std::ptrdiff_t>(total.size());
    const std::int64_t length = chunk_length(d, P, k);
    for (int hop = 0; hop < P; ++hop) {
      const std::vector<double> x = contribution((k + hop) % P, d);
      if (hop == 0) total.insert(total.end(), x.begin() + first, x.begin() + first + length);
      if (hop > 0)
        for (std::ptrdiff_t i = first; i < first + length; ++i)
          total[static_cast<std::size_t>(i)] += x[static_cast<std::size_t>(i)];
    }
  }
  return total;
}

/// When every rank ends, by stepping through the exchanges: rank r's step s sends chunk r - s (then r + 1 - s) and
/// takes the one before it; a transfer starts when both its ends have come.
std::vector<double> ends_by_stepping(int P, std::int64_t d, double gamma, std::vector<double> ready) {
  ready.resize(static_cast<std::size_t>(P));
  for (int step = 0; step < 2 * (P - 1); ++step) {
    const bool reducing = step < P - 1;
    const int s = reducing ? step : step - (P - 1);
    const auto bytes = [&](int r) {
      return 8.0 * static_cast<double>(chunk_length(d, P, reducing ? r - s : r + 1 - s));
    };
    std::vector<double> arrived(ready.size());  // from rank r at its right
    for (int r = 0; r < P; ++r)
      arrived[static_cast<std::size_t>(r)] =
          std::max(ready[static_cast<std::size_t>(r)], ready[static_cast<std::size_t>((r + 1) % P)]) + alpha +
          bytes(r) / B;
    for (int r = 0; r < P; ++r) {
      const int left = (r + P - 1) % P;
      ready[static_cast<std::size_t>(r)] =
          std::max(arrived[static_cast<std::size_t>(r)], arrived[static_cast<std::size_t>(left)]) +
          (reducing ? bytes(left) * gamma : 0.0);
    }
  }
  return ready;
}

}  // namespace

TEST_CASE("ring allreduce gives every rank the sum, bit for bit the same, in the order of the ring") {
  for (int P = 1; P <= 16; ++P)
    for (const std::int64_t d : lengths(P)) {
      CAPTURE(P, d);
      const Group::Outcome outcome = allreduce({.P = P}, d);
      const std::vector<double> expected = sum_around_the_ring(P, d);
      for (const Group::Member& member : outcome.members) CHECK(member.result == expected);
      std::vector<double> sequential(static_cast<std::size_t>(d));
      for (int r = 0; r < P; ++r)
        for (std::size_t i = 0; i < sequential.size(); ++i) sequential[i] += contribution(r, d)[i];
      for (std::size_t i = 0; i < sequential.size(); ++i) CHECK(expected[i] == Approx(sequential[i]).epsilon(1e-14));
    }
}

TEST_CASE("ring allreduce takes 2(P-1) steps, each as long as the longest chunk in flight") {
  for (const bool charged : {true, false})
    for (int P = 1; P <= 16; ++P)
      for (const std::int64_t d : lengths(P)) {
        CAPTURE(charged, P, d);
        const Group::Outcome outcome = allreduce({.P = P, .charge_reductions = charged}, d);
        const double gamma = charged ? gamma_s : 0.0;
        // 2(P-1) alpha + 2(P-1)/P M beta + (P-1)/P M gamma with M/P the longest chunk: it goes twice around the ring
        const double longest = 8.0 * static_cast<double>(chunk_length(d, P, 0));
        const double expected = (P - 1) * (2 * alpha + 2 * longest / B + longest * gamma);
        double last = 0.0;
        const std::vector<double> ends = ends_by_stepping(P, d, gamma, {});
        for (int r = 0; r < P; ++r) {
          const double end_s = outcome.members[static_cast<std::size_t>(r)].end_s;
          CHECK(end_s == Approx(ends[static_cast<std::size_t>(r)]).epsilon(1e-9));
          last = std::max(last, end_s);
        }
        CHECK(last == Approx(expected).epsilon(1e-9));
      }
}

TEST_CASE("ring allreduce of ranks that come at different times ends as stepping through its exchanges says") {
  const std::vector<double> arrivals{0.0, 0.003, 0.0001, 0.00025, 0.01};
  for (const std::int64_t d : {3, 1000, 100'003}) {
    const Group::Outcome outcome = allreduce({.P = 5, .arrivals = arrivals}, d);
    const std::vector<double> ends = ends_by_stepping(5, d, gamma_s, arrivals);
    for (std::size_t r = 0; r < ends.size(); ++r) CHECK(outcome.members[r].end_s == Approx(ends[r]).epsilon(1e-9));
  }
}

TEST_CASE("ring allreduce sends 2(P-1)/P of the vector a rank, in 2P(P-1) messages") {
  for (int P = 1; P <= 16; ++P)
    for (const std::int64_t d : lengths(P)) {
      CAPTURE(P, d);
      const Group::Outcome outcome = allreduce({.P = P}, d);
      CHECK(outcome.messages == 2 * P * (P - 1));
      CHECK(outcome.bytes == 2 * (P - 1) * 8 * d);
      if (P == 1) continue;
      for (int r = 0; r < P; ++r) {
        // every chunk but r + 1 in the reduce-scatter, every chunk but r + 2 in the all-gather
        const std::int64_t sent = 8 * (2 * d - chunk_length(d, P, r + 1) - chunk_length(d, P, r + 2));
        CHECK(outcome.members[static_cast<std::size_t>(r)].bytes_sent == sent);
        if (d % P == 0) CHECK(sent == 2 * (P - 1) * 8 * d / P);
      }
    }
}

}  // namespace ring_test
