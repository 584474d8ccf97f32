#include "cluster/fabric/background.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <stdexcept>

#include "base/random.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array durations{Choice{"constant", "every time has the same length"},
                               Choice{"exponential", "the times are exponentially distributed, with these means"}};
/// More than any flow carries; its remains are exact to a few bytes.
constexpr std::uint64_t endless_bytes = 1'000'000'000'000'000'000;
/// A flow without an end looks up now and then: the clock goes on by it, even if nobody else ever moves again.
constexpr double look_every_s = 3600.0;

}  // namespace

void BackgroundFlow::describe(base::Describer& d) {
  d.integer("from", from, "the number of the host that sends", Bounds::between(0, most_ranks - 1));
  d.integer("to", to, "the number of the host that receives", Bounds::between(0, most_ranks - 1));
  d.quantity("rate", rate_bytes_per_s, Unit::bytes_per_second,
             "the most bandwidth that the traffic takes; default: its full fair share", Bounds::above_zero());
  d.quantity("on", on_s, Unit::seconds, "how long the host sends before it pauses; default: it never pauses",
             Bounds::above_zero());
  d.quantity("off", off_s, Unit::seconds, "the length of a pause", Bounds::at_least(0));
  d.choice("durations", this->durations, cluster::durations, "the distribution of the times \"on\" and \"off\"");
  d.quantity("start", start_s, Unit::seconds, "the time at which the traffic begins", Bounds::at_least(0));
  if (from == to) d.refuse("to", fmt::format("from = {} and to = {} are one host; give two", from, to));
  if (!on_s && off_s > 0.0)
    d.refuse("off", "\"off\" is the pause after \"on\" seconds; give \"on\", or leave \"off\" out");
  if (!on_s && this->durations != Durations::constant)
    d.refuse("durations", "\"durations\" is the distribution of \"on\" and \"off\"; give \"on\", or leave it out");
}

struct Background::Flow {
  BackgroundFlow options;
  base::Stream stream;
  sg4::Mailbox* mailbox = nullptr;
  sg4::CommPtr transfer = nullptr;  ///< under way
  sg4::SemaphorePtr receiver_back = sg4::Semaphore::create(0);
  double seen_bytes = 0.0;  ///< by the present transfer, when last looked at
  double done_bytes = 0.0;  ///< by earlier transfers

  double duration(double mean_s) {
    return options.durations == BackgroundFlow::Durations::constant ? mean_s
                                                                    : -mean_s * std::log(1.0 - stream.uniform());
  }
  /// Nothing remains of a transfer that broke as a host went down.
  bool goes() const {
    return transfer && transfer->get_state() == sg4::Activity::State::STARTED &&
           (transfer->get_start_time() < 0.0 || transfer->get_remaining() > 0.0);
  }
  /// All bytes so far; of a transfer that broke, as many as had been seen before.
  double bytes() {
    if (goes() && transfer->get_start_time() >= 0.0)
      seen_bytes = static_cast<double>(endless_bytes) - transfer->get_remaining();
    return done_bytes + seen_bytes;
  }
  void stop() {
    done_bytes = bytes();
    seen_bytes = 0.0;
    if (goes()) transfer->cancel();
    transfer = nullptr;
  }
};

Background::Background(Cluster& cluster, const std::vector<BackgroundFlow>& flows, std::uint64_t seed)
    : cluster_(cluster) {
  for (const BackgroundFlow& options : flows) {
    for (const std::int64_t host : {options.from, options.to})
      if (host >= cluster.hosts())
        throw std::runtime_error(
            fmt::format("cluster.background: host {}, but the run has hosts 0 to {}", host, cluster.hosts() - 1));
    const base::Stream stream(
        {.seed = seed, .purpose = base::Purpose::background, .rank = static_cast<std::uint32_t>(flows_.size())});
    flows_.push_back(std::make_unique<Flow>(Flow{.options = options, .stream = stream}));
    Flow* flow = flows_.back().get();
    flow->mailbox = sg4::Mailbox::by_name(fmt::format("background/{}", flows_.size()));
    // Daemons end with the last rank; they come back with their host.
    const auto start = [&](std::int64_t host, const std::function<void()>& body) {
      const auto actor = new_actor(flow->mailbox->get_name(), cluster.host(static_cast<int>(host)), body);
      actor->daemonize();
      actor->set_auto_restart(true);
    };
    start(options.from, [this, flow] { send(*flow); });
    start(options.to, [flow] { receive(*flow); });
  }
}

Background::~Background() = default;

void Background::receive(Flow& flow) {
  if (flow.transfer && !flow.goes()) flow.receiver_back->release();  // its host was down
  for (;;) {
    try {
      flow.mailbox->get<Flow>();
    } catch (const simgrid::CancelException&) {          // a pause
    } catch (const simgrid::NetworkFailureException&) {  // the sender's host is down
    }
  }
}

void Background::send(Flow& flow) {
  sg4::this_actor::sleep_until(flow.options.start_s);
  flow.stop();  // a crash of the host may have cut off a transfer
  // Once the trainings are over somebody may still be blocked, and would keep the clock going.
  for (;;) {
    cluster_.fail_if_stuck();
    if (cluster_.over()) return flow.stop();
    if (!flow.goes()) {
      flow.stop();
      flow.transfer = flow.mailbox->put_init(&flow, endless_bytes);
      if (flow.options.rate_bytes_per_s) flow.transfer->set_rate(*flow.options.rate_bytes_per_s);
      flow.transfer->start();
    }
    if (flow.options.on_s)
      sg4::this_actor::sleep_for(flow.duration(*flow.options.on_s));
    else
      flow.receiver_back->acquire_timeout(look_every_s);
    if (flow.options.on_s) flow.stop();
    if (flow.options.off_s > 0.0) sg4::this_actor::sleep_for(flow.duration(flow.options.off_s));
  }
}

Background::Carried Background::carried() const {
  Carried all;
  for (const auto& flow : flows_)
    all[{static_cast<int>(flow->options.from), static_cast<int>(flow->options.to)}] += flow->bytes();
  return all;
}

}  // namespace simgrad::cluster
