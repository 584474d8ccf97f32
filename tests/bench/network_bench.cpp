// Large clusters on several networks: real time of a step, memory, and messages beside a bare S4U program.
//
// network_bench PROGRAM SCENARIOS [rounds]        (build/simgrad tests/bench)
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/bare.h"
#include "bench/measure.h"
#include "bench/steps.h"
#include "cluster/topologies/fat_tree.h"
#include "cluster/topologies/pod.h"
#include "cluster/topologies/star.h"
#include "cluster/topologies/torus.h"
#include "collectives/butterfly.h"
#include "collectives/ring.h"

using namespace simgrad;
using cluster::Collectives;

namespace {

bench::StepBody allreduce(const char* kind) {
  return [algorithm = std::shared_ptr<const collectives::Allreduce>(collectives::allreduces().find(kind)->make())](
             const cluster::Communicator& comm, const values::Tensor& x) { (*algorithm)(comm, x); };
}

void rings(int rounds) {
  constexpr int P = 1024;
  fmt::print("ring allreduce, {} devices, 1 MB: processor seconds a step\n", P);
  const std::pair<const char*, bench::Topology> networks[] = {{"pod", bench::network<cluster::Pod>()},
                                                              {"fat_tree", bench::network<cluster::FatTree>()},
                                                              {"torus", bench::network<cluster::Torus>()}};
  for (const auto& [name, topology] : networks) {
    std::vector<double> computed, ratio;
    for (int i = 0; i < rounds; ++i) {
      computed.push_back(bench::ours(allreduce("ring"), P, 20, Collectives::automatic, topology).step_s);
      ratio.push_back(bench::ours(allreduce("ring"), P, 1, Collectives::messages, topology).step_s / computed.back());
    }
    fmt::print("  {:<10} computed {:.4f} s, {:.0f} times as fast as message by message\n", name,
               bench::median(computed), bench::median(ratio));
  }
}

void beside_bare(int rounds) {
  fmt::print("halving and doubling, 1 MB, message by message: speed beside a bare S4U program, by processor time\n");
  const auto algorithm = collectives::allreduces().find("rabenseifner")->make();
  const auto& scheduled = dynamic_cast<const collectives::ScheduledAllreduce&>(*algorithm);
  for (const bool tree : {false, true})
    for (const int P : {16, 64, 256, 1024, 4096}) {
      const auto schedule = scheduled.schedule(bench::length, P);
      const int steps = std::max(1, 200'000 / (P * schedule->rounds()));
      const bench::Topology topology = tree ? bench::network<cluster::FatTree>() : bench::network<cluster::Star>();
      std::vector<double> by_simgrid, on_own_network;
      for (int i = 0; i < rounds; ++i) {
        const double bare_s = bench::bare(
            *schedule, [&] { return tree ? bench::bare_fat_tree(P) : bench::bare_star(P); }, steps);
        const auto ratio = [&](bool own_network) {
          return bare_s /
                 bench::ours(allreduce("rabenseifner"), P, steps, Collectives::messages, topology, own_network).step_s;
        };
        by_simgrid.push_back(ratio(false));
        on_own_network.push_back(ratio(true));
      }
      fmt::print("  {:<10} P = {:<5} {:.2f} by SimGrid's transfers, {:.2f} on the cluster's own network\n",
                 tree ? "fat_tree" : "star", P, bench::median(by_simgrid), bench::median(on_own_network));
    }
}

struct Programs {
  std::string simgrad;
  std::filesystem::path scenarios;

  bench::Used run(const std::string& scenario, std::vector<std::string> more, const std::string& out) const {
    std::vector<std::string> words{simgrad, "run", (scenarios / scenario).string(), "--no-baseline", "--no-why",
                                   "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return bench::call(words);
  }
};

void whole_commands(const Programs& programs) {
  const auto buckets = [&](int steps) {
    return programs.run("buckets_of_many.toml", {"--set", fmt::format("stop.steps={}", steps)}, bench::scratch());
  };
  const bench::Used one = buckets(1), three = buckets(3);
  fmt::print("hierarchical allreduce of 100 MB in 16 buckets, 2,048 hosts x 8 devices: {:.2f} s a step, {:.0f} MiB\n",
             (three.real_s - one.real_s) / 2, three.peak_kib / 1024);
  for (const char* kind : {"star", "pod", "fat_tree", "torus"}) {
    const bench::Used used = programs.run("sixteen_thousand.toml",
                                          {"--set", fmt::format("cluster.topology.kind={}", kind)}, bench::scratch());
    fmt::print("16,384 devices on {}, from the start to all files of one step: {:.2f} s, {:.0f} MiB\n", kind,
               used.real_s, used.peak_kib / 1024);
  }
  const std::string out = bench::scratch();
  const bench::Used small = programs.run("thousand_small.toml", {"--seeds", "1..5", "--jobs", "2"}, out);
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out))
    if (entry.is_regular_file()) bytes += entry.file_size();
  fmt::print("1,000 runs of 4 workers and 20 steps, 2 jobs: {:.2f} s, {:.1f} MB of files\n", small.real_s,
             static_cast<double>(bytes) / 1e6);
  for (const char* scenario : {"byteps_128.toml", "async_broadcast_1024.toml"})
    fmt::print("{}: {:.2f} s\n", scenario, programs.run(scenario, {}, bench::scratch()).real_s);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // children must not inherit unwritten lines
  if (argc < 3) return std::fputs("usage: network_bench PROGRAM SCENARIOS [rounds]\n", stderr), 2;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  rings(rounds);
  beside_bare(rounds);
  whole_commands({argv[1], argv[2]});
}
