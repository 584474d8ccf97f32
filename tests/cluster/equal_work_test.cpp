#include "cluster/ranks/equal_work.h"

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "simulation.h"

namespace equal_work_test {

using namespace simgrad;
using cluster::WorkPiece;

namespace {

constexpr double speed = 1e9;

/// A rank's pieces, and when it begins with them.
struct Pieces {
  double begin_s = 0.0;
  std::vector<double> seconds;
  double later_s = 0.0;  ///< of two more sleeps before them
};

// SimGrid sleeps for 1e-12 s at least, which ends at the instant at which it begins where the clock is at 1e5 s.
const std::vector<Pieces> equal_and_others = {
    {0.0, {0.3, 0.1, 0.2}},      {0.0, {0.3, 0.1, 0.2}}, {0.0, {0.3, 0.1, 0.7}}, {0.1, {0.3, 0.1, 0.2}},
    {0.0, {0.0, 0.3, 0.0, 0.2}}, {0.0, {0.3, 0.1, 0.2}}, {0.1, {0.3, 0.1, 0.2}}, {0.0, {}},
    {0.0, {0.0, 0.3, 0.0, 0.2}}, {0.0, {0.0, 0.0}},      {1e5, {1e-300, 0.3}},   {1e5, {1e-300, 0.3}},
    {1e5, {1e-300, 0.3}, 1e-300}};

using Each = std::function<void(cluster::World&, int rank, std::span<const WorkPiece> pieces,
                                const cluster::EqualWork::Over& over)>;

void together(cluster::World& world, int rank, std::span<const WorkPiece> pieces,
              const cluster::EqualWork::Over& over) {
  world.equal_work().compute(rank, pieces, over);
}

void alone(cluster::World& world, int rank, std::span<const WorkPiece> pieces, const cluster::EqualWork::Over& over) {
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    world.ranks().compute(rank, pieces[piece].flops, pieces[piece].work);
    over(piece);
  }
}

/// Rank after rank, the ends of its pieces and its end as `each` goes through them; then its computing and waiting, the
/// flops of all, and the rank whose actor called at each end.  end_s: of the world; 0: when all is over.
std::vector<double> run(const std::vector<Pieces>& ranks, const Each& each, bool callers, double end_s = 0.0) {
  return tests::numbers_of_child([&] {
    const int P = static_cast<int>(ranks.size());
    cluster::Options options;
    options.workers = P;
    options.host_spec.speed_flops_per_s = speed;
    cluster::Cluster cluster(options, P);
    cluster::World world(cluster, "w", P, 0);
    std::vector<std::vector<double>> by_rank(ranks.size());
    for (int r = 0; r < P; ++r)
      world.ranks().start(r, [&, r] {
        const auto& [begin_s, seconds, later_s] = ranks[static_cast<std::size_t>(r)];
        std::vector<double>& rank_log = by_rank[static_cast<std::size_t>(r)];
        if (begin_s > 0.0) cluster::pause(begin_s);
        for (int sleep = 0; sleep < 2; ++sleep) cluster::pause(later_s);
        std::vector<WorkPiece> pieces;
        for (const double s : seconds) pieces.push_back({s * speed, record::Work::backward});
        each(world, r, pieces, [&](std::size_t piece) {
          rank_log.push_back(static_cast<double>(piece));
          rank_log.push_back(callers ? world.ranks().current_rank() : world.now());
        });
        rank_log.push_back(world.now());
      });
    if (end_s > 0.0) cluster.at(end_s, [&] { world.end(); });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    std::vector<double> all;
    for (const auto& rank_log : by_rank) all.insert(all.end(), rank_log.begin(), rank_log.end());
    for (const auto& use : record.ranks) all.insert(all.end(), {use.compute_s, use.wait_s});
    all.push_back(world.ranks().flops_so_far());
    return all;
  });
}

}  // namespace

TEST_CASE("pieces end at the same times, whether or not ranks with equal ones go through them together") {
  CHECK(run(equal_and_others, together, false) == run(equal_and_others, alone, false));
  CHECK(run(equal_and_others, together, false, 0.35) == run(equal_and_others, alone, false, 0.35));
}

TEST_CASE("one actor wakes for ranks whose pieces take equally long from one instant on") {
  const std::vector<Pieces> four = {{0.0, {0.3, 0.1}}, {0.0, {0.3, 0.1}}, {0.0, {0.3, 0.2}}, {0.1, {0.3, 0.1}}};
  const std::vector<double> callers = run(four, together, true);
  for (int r = 0; r < 4; ++r) {
    const auto offset = static_cast<std::size_t>(5 * r);  // two pieces with their callers, then the end
    const double caller = std::vector{0.0, 0.0, 2.0, 3.0}[static_cast<std::size_t>(r)];
    CAPTURE(r);
    CHECK(callers[offset + 1] == caller);
    CHECK(callers[offset + 3] == caller);
  }
}

TEST_CASE("an error at the end of a rank's piece names that rank, whoever's actor calls") {
  const auto run = [] {
    return tests::numbers_of_child([] {
      cluster::Options options;
      options.workers = 3;
      options.host_spec.speed_flops_per_s = speed;
      cluster::Cluster cluster(options, 3);
      cluster::World world(cluster, "w", 3, 0);
      for (int r = 0; r < 3; ++r)
        world.ranks().start(r, [&, r] {
          const WorkPiece piece{.flops = speed};
          world.equal_work().compute(r, {&piece, 1}, [&](std::size_t) {
            if (r == 1) throw std::runtime_error("no room");
          });
        });
      cluster.run();
      return std::vector<double>{};
    });
  };
  CHECK_THROWS_WITH(run(), ContainsSubstring("rank 1 (") && ContainsSubstring("no room"));
}

}  // namespace equal_work_test
