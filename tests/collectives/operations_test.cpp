// The collectives of which there is one algorithm each: reduce, scatter, gather, reduce_scatter, all_gather,
// all_to_all.
#include <algorithm>
#include <bit>

#include "collectives/all_to_all.h"
#include "collectives/binomial.h"
#include "collectives/group.h"
#include "collectives/ring.h"
#include "collectives/split.h"
#include "share.h"

namespace operations_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using collectives::Reduction;
using collectives::Split;
using values::Dispatcher;
using values::Tensor;

namespace {

std::vector<double> part(const std::vector<double>& x, collectives::Stretch stretch) {
  return {x.begin() + stretch.first, x.begin() + stretch.end()};
}

std::vector<double> sum_of_all(int P, std::int64_t d) {
  std::vector<double> sum(static_cast<std::size_t>(d));
  for (int r = 0; r < P; ++r)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += contribution(r, d)[i];
  return sum;
}

void check_near(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).epsilon(1e-14));
}

double end_of(const Group::Outcome& outcome) {
  double last = 0.0;
  for (const auto& member : outcome.members) last = std::max(last, member.end_s);
  return last;
}

/// P, d and both ways, for the collectives that have two.
template <class Check>
void sweep(Check check) {
  Share share;
  for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic})
    for (int P = 1; P <= 16; ++P)
      for (const std::int64_t d : lengths(P)) {
        if (!share.next()) continue;
        CAPTURE(static_cast<int>(way), P, d);
        check(Group{.P = P, .collectives = way}, d);
      }
}

Group::Outcome staggered_both_ways(const Group::Body& body, int P) {
  Group group{.P = P};
  for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-5 * ((5 * r + 2) % 7));
  const Group::Outcome messages = group.run(body);
  group.collectives = cluster::Collectives::automatic;
  check_equal(group.run(body), messages);
  return messages;
}

}  // namespace

TEST_CASE("reduce leaves the sum on the root, along a binomial tree") {
  sweep([](const Group& group, std::int64_t d) {
    const int root = group.P / 2;
    const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      return collectives::reduce(comm, root, contributed(dispatcher, comm.rank(), d));
    });
    for (int r = 0; r < group.P; ++r)
      check_near(outcome.members[static_cast<std::size_t>(r)].result,
                 r == root ? sum_of_all(group.P, d) : std::vector<double>{});
    const double M = 8.0 * static_cast<double>(d);
    const int steps = std::bit_width(static_cast<unsigned>(group.P - 1));
    CHECK(end_of(outcome) == Approx(steps * (alpha + M / B + M * gamma_s)).epsilon(1e-9));
  });
}

TEST_CASE("scatter gives every member its chunk, and gather gives them back") {
  sweep([](const Group& group, std::int64_t d) {
    const int root = group.P / 3;
    const Split split(d, group.P);
    const auto scattered = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      const Tensor x = comm.rank() == root ? contributed(dispatcher, root, d) : Tensor();
      return collectives::scatter(comm, root, x, d);
    });
    const auto gathered = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      return collectives::gather(comm, root, dispatcher.constant(part(contribution(root, d), split.chunk(comm.rank()))),
                                 d);
    });
    for (int r = 0; r < group.P; ++r) {
      CHECK(scattered.members[static_cast<std::size_t>(r)].result == part(contribution(root, d), split.chunk(r)));
      CHECK(gathered.members[static_cast<std::size_t>(r)].result ==
            (r == root ? contribution(root, d) : std::vector<double>{}));
    }
    if (!std::has_single_bit(static_cast<unsigned>(group.P)) || d % group.P != 0) return;
    const double expected = std::bit_width(static_cast<unsigned>(group.P - 1)) * alpha +
                            (group.P - 1.0) / group.P * 8.0 * static_cast<double>(d) / B;
    CHECK(end_of(scattered) == Approx(expected).epsilon(1e-9));
    CHECK(end_of(gathered) == Approx(expected).epsilon(1e-9));
  });
}

TEST_CASE("reduce_scatter leaves chunk r of the sum on member r, in half of an allreduce") {
  sweep([](const Group& group, std::int64_t d) {
    const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      return collectives::reduce_scatter(comm, contributed(dispatcher, comm.rank(), d));
    });
    const Split split(d, group.P);
    for (int r = 0; r < group.P; ++r)
      check_near(outcome.members[static_cast<std::size_t>(r)].result, part(sum_of_all(group.P, d), split.chunk(r)));
    const double longest = static_cast<double>(split.bytes(split.chunk(0)));
    CHECK(end_of(outcome) == Approx((group.P - 1) * (alpha + longest / B + longest * gamma_s)).epsilon(1e-9));
  });
}

TEST_CASE("reduce_scatter makes means too") {
  const auto outcome = Group{.P = 5}.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return collectives::reduce_scatter(comm, contributed(dispatcher, comm.rank(), 10), Reduction::mean);
  });
  for (int r = 0; r < 5; ++r) {
    std::vector<double> mean = part(sum_of_all(5, 10), Split(10, 5).chunk(r));
    for (double& x : mean) x /= 5;
    check_near(outcome.members[static_cast<std::size_t>(r)].result, mean);
  }
}

TEST_CASE("all_gather puts all members' vectors one after the other, also of different lengths") {
  sweep([](const Group& group, std::int64_t d) {
    std::vector<std::int64_t> counts;
    std::vector<double> all;
    for (int r = 0; r < group.P; ++r) {
      counts.push_back(r % 3 == 0 ? d : r % 3);
      const std::vector<double> own = contribution(r, counts.back());
      all.insert(all.end(), own.begin(), own.end());
    }
    const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      return collectives::all_gather(
          comm, contributed(dispatcher, comm.rank(), counts[static_cast<std::size_t>(comm.rank())]), counts);
    });
    for (const auto& member : outcome.members) CHECK(member.result == all);
    const double longest = 8.0 * static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    CHECK(end_of(outcome) <= (group.P - 1) * (alpha + longest / B) * (1 + 1e-9));
    if (d > 2 && group.P > 1) CHECK(end_of(outcome) == Approx((group.P - 1) * (alpha + longest / B)).epsilon(1e-9));
  });
}

TEST_CASE("all_to_all gives every member its chunk of everybody's vector, pair by pair") {
  sweep([](const Group& group, std::int64_t d) {
    const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      return collectives::all_to_all(comm, contributed(dispatcher, comm.rank(), d));
    });
    const Split split(d, group.P);
    for (int r = 0; r < group.P; ++r) {
      std::vector<double> expected;
      for (int s = 0; s < group.P; ++s) {
        const std::vector<double> chunk = part(contribution(s, d), split.chunk(r));
        expected.insert(expected.end(), chunk.begin(), chunk.end());
      }
      CHECK(outcome.members[static_cast<std::size_t>(r)].result == expected);
    }
    if (d % group.P == 0)
      CHECK(end_of(outcome) ==
            Approx((group.P - 1) * (alpha + 8.0 * static_cast<double>(d) / group.P / B)).epsilon(1e-9));
    CHECK(outcome.messages == group.P * (group.P - 1));
  });
}

TEST_CASE("parts of an all_to_all may have lengths that only their senders know: each pair takes the time of its own") {
  const auto length = [](int source, int target) { return std::int64_t{1000} * ((3 * source + 5 * target) % 7); };
  for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic})
    for (const int P : {2, 5, 6}) {
      CAPTURE(static_cast<int>(way), P);
      const auto outcome = Group{.P = P, .collectives = way}.run([&](const Communicator& comm, Dispatcher& dispatcher) {
        std::vector<Tensor> parts;
        for (int t = 0; t < P; ++t) parts.push_back(contributed(dispatcher, comm.rank(), length(comm.rank(), t)));
        return values::concatenate(collectives::all_to_all_v(comm, parts, 3000));
      });
      std::vector<double> end_s(static_cast<std::size_t>(P), 0.0);
      std::int64_t bytes = 0;
      for (int round = 1; round < P; ++round) {
        const std::vector<double> before = end_s;
        for (int r = 0; r < P; ++r)
          for (const auto& [source, target] : {std::pair(r, (r + round) % P), std::pair((r + P - round) % P, r)}) {
            const double both_s =
                std::max(before[static_cast<std::size_t>(source)], before[static_cast<std::size_t>(target)]);
            double& end = end_s[static_cast<std::size_t>(r)];
            end = std::max(end, both_s + alpha + 8.0 * static_cast<double>(length(source, target)) / B);
            bytes += source == r ? 8 * length(source, target) : 0;
          }
      }
      CHECK(outcome.bytes == bytes);
      for (int r = 0; r < P; ++r) {
        const auto& member = outcome.members[static_cast<std::size_t>(r)];
        std::vector<double> expected;
        for (int s = 0; s < P; ++s) {
          const std::vector<double> sent_part = contribution(s, length(s, r));
          expected.insert(expected.end(), sent_part.begin(), sent_part.end());
        }
        CHECK(member.result == expected);
        CHECK(member.end_s == Approx(end_s[static_cast<std::size_t>(r)]).epsilon(1e-9));
      }
    }
}

TEST_CASE("chunks of an all_to_all may have lengths that all members know, and its way back brings them home") {
  const std::vector<std::int64_t> lengths{3000, 1000, 0, 2000};
  const std::int64_t all = 6000;
  for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic}) {
    const auto outcome = Group{.P = 4, .collectives = way}.run([&](const Communicator& comm, Dispatcher& dispatcher) {
      const Tensor there = collectives::all_to_all_v(comm, contributed(dispatcher, comm.rank(), all), lengths);
      if (there.size() != 4 * lengths[static_cast<std::size_t>(comm.rank())]) return Tensor();
      return collectives::all_to_all_v_back(comm, there, lengths);
    });
    for (int r = 0; r < 4; ++r) CHECK(outcome.members[static_cast<std::size_t>(r)].result == contribution(r, all));
    CHECK(outcome.bytes == 2 * 3 * 8 * all);
    // The longer one of a rank's two messages in a round decides, and rank 0 sends or receives 3000 numbers in each.
    CHECK(outcome.members[0].end_s == Approx(6 * (alpha + 8 * 3000 / B)).epsilon(1e-9));
  }
}

TEST_CASE("these too are the same at the last arrival and message by message, whoever comes when") {
  for (const int P : {2, 5, 8, 13})
    for (const std::int64_t d : {P - 1, 1000}) {
      CAPTURE(P, d);
      const auto mine = [d](const Communicator& comm, Dispatcher& dispatcher) {
        return contributed(dispatcher, comm.rank(), d);
      };
      staggered_both_ways(
          [&](const Communicator& comm, Dispatcher& dispatcher) {
            return collectives::reduce_scatter(comm, mine(comm, dispatcher));
          },
          P);
      staggered_both_ways([&](const Communicator& comm,
                              Dispatcher& dispatcher) { return collectives::all_to_all(comm, mine(comm, dispatcher)); },
                          P);
      std::vector<std::int64_t> counts;
      for (int r = 0; r < P; ++r) counts.push_back(r % 2 == 0 ? d : 3 * d + r);
      staggered_both_ways(
          [&](const Communicator& comm, Dispatcher& dispatcher) {
            const auto own = counts[static_cast<std::size_t>(comm.rank())];
            return collectives::all_gather(comm, contributed(dispatcher, comm.rank(), own), counts);
          },
          P);
    }
}

}  // namespace operations_test
