// Messages a second of every collective against P: sent one by one, computed at the last arrival, and sent by a bare S4U
// program that knows nothing of tensors, records or learning. One run, by turns; building the cluster is not counted.
//
// collectives_bench [rounds] [largest P]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <sys/resource.h>
#include <vector>

#include "bench/measure.h"
#include "cluster/network_model.h"
#include "collectives/course.h"
#include "simulation.h"
#include "values/dispatcher.h"

using namespace simgrad;
using collectives::JointSchedule;
namespace sg4 = simgrid::s4u;

namespace {

constexpr std::int64_t length = 125'000;  // 1 MB

double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double peak_mib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

struct Measured {
  double step_s = 0.0;
  double peak_mib = 0.0;
};

/// `steps` allreduces of 1 MB by P ranks that come at different times, without numbers.
Measured ours(const collectives::Allreduce& allreduce, int P, int steps, cluster::Collectives way) {
  const auto measured = tests::numbers_of_child([&] {
    cluster::Options options;
    options.workers = P;
    options.collectives = way;
    cluster::Cluster cluster(options, P);
    cluster::World world(cluster, "w", P, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(P));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    for (int r = 0; r < P; ++r)
      world.start(r, [&, r] {
        const cluster::Communicator comm(world, members, r, 0);
        const values::Tensor x = timing.zeros(length);
        for (int s = 0; s < steps; ++s) {
          world.compute(r, 1e4 * (r % 37));
          allreduce(comm, x);
        }
      });
    const double start = processor_s();
    cluster.run();
    return std::vector{(processor_s() - start) / steps, peak_mib()};
  });
  return {measured[0], measured[1]};
}

/// The schedule's messages and additions by plain SimGrid.
double bare(const JointSchedule& schedule, int P, int steps) {
  return tests::numbers_of_child([&] {
    std::vector<std::string> words{"bare", "--cfg=contexts/stack-size:512", "--log=root.thresh:critical"};
    for (const std::string& flag : cluster::simgrid_flags(cluster::NetworkModel::ideal)) words.push_back(flag);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    auto count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    sg4::Engine engine(&count, arguments.data());
    auto* zone = sg4::create_star_zone("star");
    std::vector<sg4::Host*> hosts;
    for (int r = 0; r < P; ++r) {
      auto* host = zone->create_host(fmt::format("host-{}", r), 1e10);
      auto* nic = zone->create_split_duplex_link(fmt::format("nic-{}", r), 125e6);
      nic->set_latency(25e-6);
      nic->seal();
      zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{nic, sg4::LinkInRoute::Direction::UP}}, true);
      host->seal();
      hosts.push_back(host);
    }
    zone->seal();
    const auto mailbox = [](int from, int to) { return sg4::Mailbox::by_name(fmt::format("{}>{}", from, to)); };
    for (int r = 0; r < P; ++r)
      sg4::Actor::create("rank", hosts[static_cast<std::size_t>(r)], [&, r] {
        int payload = r;
        std::map<int, sg4::Mailbox*> to;
        std::map<int, sg4::Mailbox*> from;
        for (int s = 0; s < steps; ++s) {
          if (r % 37 > 0) sg4::this_actor::sleep_for(1e-6 * (r % 37));
          for (int round = 0; round < schedule.rounds(); ++round) {
            const auto turn = schedule.turn(round, r);
            sg4::CommPtr sending;
            if (turn.target >= 0) {
              auto& box = to[turn.target];
              if (!box) box = mailbox(r, turn.target);
              sending = box->put_async(&payload, static_cast<std::uint64_t>(turn.sent.bytes()));
            }
            if (turn.source >= 0) {
              auto& box = from[turn.source];
              if (!box) box = mailbox(turn.source, r);
              box->get<int>();
            }
            if (sending) sending->wait();
            if (turn.source >= 0 && turn.reduce && turn.received.count > 0)
              sg4::this_actor::sleep_for(static_cast<double>(turn.received.count) / 1e10);
          }
        }
      });
    const double start = processor_s();
    engine.run();
    return std::vector{(processor_s() - start) / steps};
  })[0];
}

double messages_of(const JointSchedule& schedule, int P) {
  double messages = 0.0;
  for (int round = 0; round < schedule.rounds(); ++round)
    for (int r = 0; r < P; ++r)
      if (schedule.turn(round, r).target >= 0) ++messages;
  return messages;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // children must not inherit unwritten lines
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  const int largest = argc > 2 ? std::atoi(argv[2]) : 16'384;
  constexpr double most_by_messages = 3e6;
  fmt::print("allreduce of 1 MB, ranks at different times, timing only; processor seconds, medians of {} rounds\n", rounds);
  fmt::print("{:<19} {:>6} {:>12} | {:>11} {:>11} {:>9} | {:>11} {:>9} {:>8}\n", "", "P", "messages", "bare msg/s",
             "by messages", "/ bare", "auto msg/s", "s a step", "MiB");
  for (const auto& entry : collectives::allreduces().entries()) {
    const auto algorithm = entry.make();
    for (const int P : {16, 64, 256, 1024, 4096, 16'384}) {
      if (P > largest) continue;
      const auto* scheduled = dynamic_cast<const collectives::ScheduledAllreduce*>(algorithm.get());
      if (!scheduled && (P > 256 || entry.about.kind == "hierarchical")) continue;
      const auto schedule = scheduled ? scheduled->schedule(length, P) : nullptr;
      double messages = schedule ? messages_of(*schedule, P) : 0.0;
      if (entry.about.kind == "naive") messages = 2.0 * (P - 1);
      if (entry.about.kind == "bcube") messages = 2.0 * P * 3.0 * std::log(P) / std::log(4.0);
      const int steps = std::max(1, static_cast<int>(1e6 / std::max(messages, 1.0) / 4));
      std::vector<double> plain, sent, ratio, computed, memory;
      for (int i = 0; i < rounds; ++i) {
        if (messages <= most_by_messages) {
          if (schedule) plain.push_back(bare(*schedule, P, steps));
          sent.push_back(ours(*algorithm, P, steps, cluster::Collectives::messages).step_s);
          if (schedule) ratio.push_back(plain.back() / sent.back());
        }
        const Measured at_once = ours(*algorithm, P, schedule ? std::max(2, steps / 10) : steps, cluster::Collectives::automatic);
        computed.push_back(at_once.step_s);
        memory.push_back(at_once.peak_mib);
      }
      const auto rate = [&](const std::vector<double>& seconds) {
        return seconds.empty() ? std::string("-") : fmt::format("{:.0f} k", messages / bench::median(seconds) / 1e3);
      };
      fmt::print("{:<19} {:>6} {:>12.0f} | {:>11} {:>11} {:>9} | {:>11} {:>9.4f} {:>8.0f}\n", entry.about.kind, P, messages,
                 rate(plain), rate(sent), ratio.empty() ? "-" : fmt::format("{:.2f}", bench::median(ratio)),
                 rate(computed), bench::median(computed), bench::median(memory));
    }
  }
}
