#include "cluster/fabric/network_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/routes.h"
#include "cluster/fabric/simgrid_versions.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::resource::Action;
using simgrid::kernel::timer::Timer;

std::vector<std::string> simgrid_flags(NetworkModel model) {
  const auto flag = [](const char* option, const char* value) { return fmt::format("--cfg={}:{}", option, value); };
  // SimGrid fires events closer than its precision together; at the default of 1 ns a long ring drifts.
  std::vector<std::string> flags{flag(timing_precision_option, "1e-12")};
  if (model == NetworkModel::tcp) {
    flags.emplace_back("--cfg=network/model:LV08");
    return flags;
  }
  flags.emplace_back("--cfg=network/crosstraffic:0");  // full duplex: acknowledgements take nothing from the way back
  flags.emplace_back("--cfg=network/TCP-gamma:1e30");  // no window limits a flow (0 would drop set_rate in 3.32)
  if (model == NetworkModel::ideal || model == NetworkModel::ethernet) {
    flags.emplace_back("--cfg=network/model:CM02");
    return flags;
  }
  flags.emplace_back("--cfg=network/model:IB");
  // By default IB has SMPI's factors, which were measured on Ethernet. Payload is 0.96 of a card's signalling rate.
  flags.push_back(flag(latency_factor_option, "0:1.0"));
  flags.push_back(flag(bandwidth_factor_option, "0:0.96"));
  return flags;
}

std::vector<std::string> flags_for_many_to_many() {
  return {"--cfg=network/optim:Full", "--cfg=network/maxmin-selective-update:no"};
}

namespace {

// The factors of LV08, which SimGrid leaves to whoever asks for factors of each flow.
constexpr double tcp_latency_factor = 13.01;
constexpr double tcp_bandwidth_factor = 0.97;

simgrid::kernel::resource::Model* network() {
  for (auto* model : sg4::Engine::get_instance()->get_all_models())
    if (model->get_name().find("Network") != std::string::npos) return model;
  base::check(false, "SimGrid has a network model");
  return nullptr;
}

/// SimGrid's penalty of a flow, the inverse of its weight, is the latency of its route. A power of two between the
/// latencies of all links: weights that are far from each other are too much for the precision of SimGrid's solver,
/// which aborts; and a power of two rounds nothing.
double common_penalty() {
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const sg4::Link* const link : sg4::Engine::get_instance()->get_all_links()) {
    if (!(link->get_latency() > 0.0)) continue;
    least = std::min(least, link->get_latency());
    most = std::max(most, link->get_latency());
  }
  return most > 0.0 ? std::exp2(std::round(std::log2(std::sqrt(least * most)))) : 1.0;
}

/// Changes flows once their latency is paid.
class AfterLatency {
 public:
  explicit AfterLatency(std::function<void(Action&)> change) : change_(std::move(change)) {}

  /// Takes a flow that SimGrid is creating.
  void add(Action& flow, double latency_s) {
    // SimGrid sets its own weight when the latency is paid, or 1 if there is none; ours must come after it: two of its
    // precisions later, or from 2^15 s on, where numbers lie farther apart, at the next one.
    const double paid_s = sg4::Engine::get_clock() + latency_s;
    const double later_s = std::max(paid_s + 2e-12, std::nextafter(paid_s, std::numeric_limits<double>::infinity()));
    latent_[&flow] = Timer::set(later_s, [this, &flow] {
      if (latent_.erase(&flow) == 0) return;
      change_(flow);
    });
  }
  /// A flow that ends with its latency or before (it is empty, or a host went down) must not be touched any more, nor
  /// may its timer find a later flow at the same place.
  void forget(const void* flow) {
    const auto found = latent_.find(flow);
    if (found == latent_.end()) return;
    found->second->remove();
    latent_.erase(found);
  }

 private:
  std::function<void(Action&)> change_;
  std::unordered_map<const void*, Timer*> latent_;  ///< flows whose latency is not paid, each with its timer
};

/// Gives all flows one weight, whatever their latency.
std::shared_ptr<AfterLatency> fair_sharing() {
  return std::make_shared<AfterLatency>([penalty = common_penalty()](Action& flow) {
    flow.set_sharing_penalty(2.0 * penalty);  // if the weight did not change, SimGrid would forget the flow's end
    flow.set_sharing_penalty(penalty);
  });
}

/// Flows whose latency is not paid, in the order of their starts, which is that of their dates.
class LateFlows {
 public:
  void add(Action& flow, double latency_s) {
    if (!(latency_s > 0.0)) return;  // SimGrid looks at all links of a flow without latency
    flows_.push_back({sg4::Engine::get_clock() + latency_s, &flow, ++started_});
    alive_[&flow] = started_;
  }
  void forget(const void* flow) { alive_.erase(flow); }
  /// Marks the links of those that are past their latency now, before SimGrid shares links again.
  void mark() {
    const double now = sg4::Engine::get_clock() + 2e-12;  // SimGrid takes two dates for one within half of that
    while (!flows_.empty() && flows_.front().paid_s <= std::nextafter(now, std::numeric_limits<double>::infinity())) {
      Action* const flow = flows_.front().flow;
      // A flow that was killed early may have left its place in memory to a later one.
      const auto found = alive_.find(flow);
      const bool alive = found != alive_.end() && found->second == flows_.front().number;
      if (alive && flow->get_type() == simgrid::kernel::resource::ActionHeap::Type::latency)
        return;                                       // at the next date
      if (alive) flow->set_bound(flow->get_bound());  // nothing new, but SimGrid marks each of its links
      if (alive) alive_.erase(flow);
      flows_.pop_front();
    }
  }

 private:
  struct Late {
    double paid_s = 0.0;
    Action* flow = nullptr;
    std::uint64_t number = 0;
  };
  std::deque<Late> flows_;
  std::unordered_map<const void*, std::uint64_t> alive_;  ///< their numbers
  std::uint64_t started_ = 0;
};

double latency_of(const std::vector<sg4::Link*>& links) {
  return std::accumulate(links.begin(), links.end(), 0.0,
                         [](double sum, const sg4::Link* link) { return sum + link->get_latency(); });
}

}  // namespace

const Action& newest_flow() {
  static auto* const model = network();  // one simulation a process
  return model->get_started_action_set()->back();
}

void share_links_of_late_flows() {
  const auto late = std::make_shared<LateFlows>();
  auto* const model = network();
  // As in share_fairly, the flow that SimGrid asks for is the last of its started ones.
  const auto on_new_flow = [model, late](double, const sg4::Host* source, const sg4::Host* target,
                                         const std::vector<sg4::Link*>& links,
                                         const std::unordered_set<sg4::NetZone*>&) {
    if (source != target) late->add(model->get_started_action_set()->back(), latency_of(links));
    return 1.0;
  };
  set_latency_factor(on_new_flow);
  sg4::Link::on_communication_state_change_cb([late](auto& flow, Action::State) { late->forget(&flow); });
  sg4::Engine::on_time_advance_cb([late](double) { late->mark(); });
}

void share_fairly(const FlowMultiple& latency_multiple) {
  const auto sharing = fair_sharing();
  auto* const model = network();
  // The factor of latency is asked for while SimGrid creates a flow, which is then the last of its started ones.
  const auto on_new_flow = [model, sharing, latency_multiple](
                               double bytes, const sg4::Host* source, const sg4::Host* target,
                               const std::vector<sg4::Link*>& links, const std::unordered_set<sg4::NetZone*>&) {
    if (source == target) return 0.0;
    const double latency = latency_of(links);
    const double multiple = latency_multiple ? latency_multiple(bytes, source, target) : 1.0;
    sharing->add(model->get_started_action_set()->back(), multiple * latency);
    return multiple;
  };
  set_latency_factor(on_new_flow);
  sg4::Link::on_communication_state_change_cb([sharing](auto& flow, Action::State) { sharing->forget(&flow); });
}

namespace {

using Inside = std::function<bool(const sg4::Host* source, const sg4::Host* target)>;

Inside inside_of(const Cluster& cluster) {
  std::unordered_map<const sg4::Host*, int> numbers;
  for (int host = 0; host < cluster.hosts(); ++host) numbers[cluster.host(host)] = host;
  return
      [&options = cluster.options(), numbers = std::move(numbers)](const sg4::Host* source, const sg4::Host* target) {
        return options.platform.empty() && options.inside_host(numbers.at(source), numbers.at(target));
      };
}

/// Devices of a host have neighbouring numbers.
bool hosts_have_devices(const Cluster& cluster) {
  for (int host = 1; host < cluster.hosts(); ++host)
    if (cluster.options().inside_host(host - 1, host)) return true;
  return false;
}

/// Inside hosts a flow takes its latency once, at the whole bandwidth, and no window limits it.
void confine_tcp(const Inside& inside) {
  const auto unlimited = std::make_shared<AfterLatency>([](Action& flow) { flow.set_bound(flow.get_user_bound()); });
  auto* const model = network();
  set_latency_factor([model, unlimited, inside](double, const sg4::Host* source, const sg4::Host* target,
                                                const std::vector<sg4::Link*>& links,
                                                const std::unordered_set<sg4::NetZone*>&) {
    if (!inside(source, target)) return tcp_latency_factor;
    if (source != target) unlimited->add(model->get_started_action_set()->back(), latency_of(links));
    return 1.0;
  });
  set_bandwidth_factor([inside](double, const sg4::Host* source, const sg4::Host* target,
                                const std::vector<sg4::Link*>&, const std::unordered_set<sg4::NetZone*>&) {
    return inside(source, target) ? 1.0 : tcp_bandwidth_factor;
  });
  sg4::Link::on_communication_state_change_cb([unlimited](auto& flow, Action::State) { unlimited->forget(&flow); });
}

}  // namespace

void spare_hosts(const Cluster& cluster) {
  const Options& options = cluster.options();
  if (options.network_model == NetworkModel::tcp && hosts_have_devices(cluster)) confine_tcp(inside_of(cluster));
  const bool framed = options.network_model == NetworkModel::ethernet;
  if (!framed && !options.protocol->there()) return;
  stretch_transfers(
      [inside = inside_of(cluster), stretch = framed ? 1.0 / goodput(options.frame) : 1.0,
       protocol = options.protocol.shared()](double bytes, const sg4::Host* source, const sg4::Host* target) {
        return inside(source, target) ? 1.0 : stretch / protocol->at(bytes).bandwidth;
      });
}

FlowMultiple protocol_latency(const Cluster& cluster) {
  return [inside = inside_of(cluster), protocol = cluster.options().protocol.shared()](
             double bytes, const sg4::Host* source, const sg4::Host* target) {
    return inside(source, target) ? 1.0 : protocol->at(bytes).latency;
  };
}

double payload_part(const Cluster& cluster, int from, int to) {
  const Options& options = cluster.options();
  const bool framed = options.network_model == NetworkModel::ethernet && !options.inside_host(from, to);
  return framed ? goodput(options.frame) : 1.0;
}

double most_of_flow(const Cluster& cluster, int from, int to) {
  const Options& options = cluster.options();
  double limit = options.flow_limit(from, to);
  if (options.network_model != NetworkModel::ethernet || options.inside_host(from, to)) return limit;
  if (options.processor_s_a_byte > 0.0) limit = std::min(limit, 1.0 / options.processor_s_a_byte);
  double latency_s = 0.0;
  route_between(cluster.host(from), cluster.host(to), &latency_s);
  return latency_s > 0.0 ? std::min(limit, options.window_bytes / (2.0 * latency_s)) : limit;
}

void stretch_transfers(const FlowMultiple& multiple) {
  const auto on_new_flow = [multiple](double bytes, const sg4::Host* source, const sg4::Host* target,
                                      const std::vector<sg4::Link*>&, const std::unordered_set<sg4::NetZone*>&) {
    return source == target ? 1.0 : 1.0 / multiple(bytes, source, target);
  };
  set_bandwidth_factor(on_new_flow);
}

}  // namespace simgrad::cluster
