// Messages a second of every collective against P: sent one by one, computed at the last arrival, and sent by a bare
// S4U program that knows nothing of tensors, records or learning. One run, by turns; building the cluster is not
// counted.
//
// collectives_bench [rounds] [largest P]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "bench/bare.h"
#include "bench/measure.h"
#include "bench/steps.h"
#include "cluster/topologies/star.h"
#include "collectives/all_to_all.h"
#include "collectives/binomial.h"
#include "collectives/ring.h"

using namespace simgrad;
using bench::Measured;
using Body = bench::StepBody;
using bench::length;

namespace {

struct Case {
  std::string_view name;
  Body body;
  std::shared_ptr<const collectives::ScheduledAllreduce> scheduled;  ///< null: no bare program sends the same
  bool has_two_ways = false;
  bool in_hosts = false;  ///< eight ranks each
};

bench::Topology hosts_of_eight() {
  auto star = std::make_unique<cluster::Star>();
  star->devices_per_host = 8;
  return bench::Topology(cluster::topologies(), std::move(star));
}

std::vector<Case> cases() {
  using cluster::Communicator;
  using values::Tensor;
  std::vector<Case> all;
  for (const auto& entry : collectives::allreduces().entries()) {
    const std::shared_ptr<const collectives::Allreduce> algorithm = entry.make();
    all.push_back({entry.about.kind, [algorithm](const Communicator& comm, const Tensor& x) { (*algorithm)(comm, x); },
                   std::dynamic_pointer_cast<const collectives::ScheduledAllreduce>(algorithm),
                   !algorithm->many_to_many() && entry.about.kind != "hierarchical",
                   entry.about.kind == "hierarchical"});
  }
  for (const auto& entry : collectives::broadcasts().entries()) {
    const std::shared_ptr<const collectives::Broadcast> algorithm = entry.make();
    all.push_back({entry.about.kind,
                   [algorithm](const Communicator& comm, const Tensor& x) {
                     (*algorithm)(comm, 0, comm.rank() == 0 ? x : Tensor(), length);
                   },
                   nullptr});
  }
  const auto chunk = [](const Communicator& comm, const Tensor& x) {
    return values::slice(x, 0, collectives::Split(length, comm.size()).chunk(comm.rank()).count);
  };
  all.push_back({"reduce_scatter",
                 [](const Communicator& comm, const Tensor& x) { collectives::reduce_scatter(comm, x); }, nullptr,
                 true});
  all.push_back(
      {"all_gather",
       [chunk](const Communicator& comm, const Tensor& x) { collectives::all_gather(comm, chunk(comm, x), length); },
       nullptr, true});
  all.push_back({"all_to_all", [](const Communicator& comm, const Tensor& x) { collectives::all_to_all(comm, x); },
                 nullptr, true});
  all.push_back(
      {"reduce", [](const Communicator& comm, const Tensor& x) { collectives::reduce(comm, 0, x); }, nullptr});
  all.push_back({"scatter", [](const Communicator& comm, const Tensor& x) { collectives::scatter(comm, 0, x, length); },
                 nullptr});
  all.push_back(
      {"gather",
       [chunk](const Communicator& comm, const Tensor& x) { collectives::gather(comm, 0, chunk(comm, x), length); },
       nullptr});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // children must not inherit unwritten lines
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  const int largest = argc > 2 ? std::atoi(argv[2]) : 16'384;
  constexpr double most_by_messages = 3e6;
  fmt::print("1 MB a rank, ranks at different times, timing only; processor seconds, medians of {} rounds\n", rounds);
  fmt::print("{:<19} {:>6} {:>12} | {:>11} {:>11} {:>9} | {:>11} {:>9} {:>8}\n", "", "P", "messages", "bare msg/s",
             "by messages", "/ bare", "auto msg/s", "s a step", "MiB");
  for (const Case& c : cases())
    for (const int P : {16, 64, 256, 1024, 4096, 16'384}) {
      if (P > largest || (!c.has_two_ways && P > 1024)) continue;
      const auto run = [&](int steps, cluster::Collectives way) {
        return bench::ours(c.body, P, steps, way, c.in_hosts ? hosts_of_eight() : bench::network<cluster::Star>());
      };
      // all_to_all makes as many tensors as messages, also at once
      if (c.name == "all_to_all" && P > 1024) continue;
      const double messages =
          run(1, c.has_two_ways ? cluster::Collectives::automatic : cluster::Collectives::messages).messages;
      const int steps = std::max(1, static_cast<int>(2.5e5 / messages));
      std::vector<double> plain, sent, ratio, computed, memory;
      for (int i = 0; i < rounds; ++i) {
        if (messages <= most_by_messages) {
          sent.push_back(run(steps, cluster::Collectives::messages).step_s);
          if (c.scheduled) {
            plain.push_back(bench::bare(
                *c.scheduled->schedule(length, P), [P] { return bench::bare_star(P); }, steps));
            ratio.push_back(plain.back() / sent.back());
          }
        }
        if (!c.has_two_ways) continue;
        const Measured at_once = run(std::max(2, steps / 10), cluster::Collectives::automatic);
        computed.push_back(at_once.step_s);
        memory.push_back(at_once.peak_mib);
      }
      const auto shown = [](const std::vector<double>& x, auto text) {
        return x.empty() ? std::string("-") : text(bench::median(x));
      };
      const auto rate = [&](double s) { return fmt::format("{:.0f} k", messages / s / 1e3); };
      fmt::print("{:<19} {:>6} {:>12.0f} | {:>11} {:>11} {:>9} | {:>11} {:>9} {:>8}\n", c.name, P, messages,
                 shown(plain, rate), shown(sent, rate), shown(ratio, [](double x) { return fmt::format("{:.2f}", x); }),
                 shown(computed, rate), shown(computed, [](double x) { return fmt::format("{:.4f}", x); }),
                 shown(memory, [](double x) { return fmt::format("{:.0f}", x); }));
    }
}
