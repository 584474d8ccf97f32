// Messages a processor second: ours against a bare S4U program that sends the same messages, in one run, by turns.
//
// timeline_bench [rounds]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <vector>

#include "bench/bare.h"
#include "bench/measure.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "simulation.h"
#include "values/dispatcher.h"

using namespace simgrad;
namespace sg4 = simgrid::s4u;

namespace {

/// Processor seconds of this process: both sides are single-threaded, and other processes do not count.
double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Case {
  int ranks;
  int steps;
  bool jittered;  // messages of different sizes end at different times
};

std::int64_t numbers_of(const Case& c, int rank) { return c.jittered ? 1000 + 13 * (rank % 37) : 1000; }

/// Processor seconds of the simulation alone, platform and actors built before.
double ours(const Case& c) {
  cluster::Options options;
  options.workers = c.ranks;
  cluster::Cluster cluster(options, c.ranks);
  cluster::World world(cluster, "w", c.ranks, 0);
  values::Dispatcher timing({.numbers = false});
  std::vector<int> all(static_cast<std::size_t>(c.ranks));
  std::iota(all.begin(), all.end(), 0);
  const auto members = std::make_shared<const std::vector<int>>(all);
  for (int r = 0; r < c.ranks; ++r)
    world.ranks().start(r, [&, r] {
      const cluster::Communicator comm(world, members, r, 0);
      const values::Tensor x = timing.zeros(numbers_of(c, r));
      for (int s = 0; s < c.steps; ++s) comm.exchange(x, (r + 1) % c.ranks, (r + c.ranks - 1) % c.ranks);
    });
  const double start = processor_s();
  cluster.run();
  return processor_s() - start;
}

double bare(const Case& c) {
  const std::vector<sg4::Host*> hosts = bench::bare_star(c.ranks);
  for (int r = 0; r < c.ranks; ++r)
    cluster::new_actor("rank", hosts[static_cast<std::size_t>(r)], [&c, r] {
      auto* to = sg4::Mailbox::by_name(fmt::format("{}", (r + 1) % c.ranks));
      auto* from = sg4::Mailbox::by_name(fmt::format("{}", r));
      int payload = r;
      for (int s = 0; s < c.steps; ++s) {
        const sg4::CommPtr sending = to->put_async(&payload, static_cast<std::uint64_t>(8 * numbers_of(c, r)));
        from->get<int>();
        sending->wait();
      }
    });
  const double start = processor_s();
  sg4::Engine::get_instance()->run();
  return processor_s() - start;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // children must not inherit unwritten lines
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 7;
  fmt::print("ring of P ranks, each message sent and received; rounds by turns, medians of {}\n", rounds);
  fmt::print("{:>6} {:>9} {:>14} {:>14} {:>18}\n", "P", "sizes", "bare msg/s", "simgrad msg/s", "simgrad / bare");
  for (const Case& c : {Case{16, 4000, false},
                        {16, 4000, true},
                        {64, 1500, false},
                        {64, 1500, true},
                        {256, 400, false},
                        {256, 400, true},
                        {1024, 100, false},
                        {1024, 60, true}}) {
    std::vector<double> a;
    std::vector<double> b;
    std::vector<double> ratio;
    for (int i = 0; i < rounds; ++i) {
      a.push_back(tests::numbers_of_child([&] { return std::vector{bare(c)}; })[0]);
      b.push_back(tests::numbers_of_child([&] { return std::vector{ours(c)}; })[0]);
      ratio.push_back(a.back() / b.back());
    }
    const double messages = static_cast<double>(c.ranks) * c.steps;
    fmt::print("{:>6} {:>9} {:>14.0f} {:>14.0f} {:>18.2f}\n", c.ranks, c.jittered ? "different" : "equal",
               messages / bench::median(a), messages / bench::median(b), bench::median(ratio));
  }
}
