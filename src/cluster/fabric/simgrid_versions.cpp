#include "cluster/fabric/simgrid_versions.h"

#include <fmt/format.h>

#if SIMGRID_VERSION < 40000
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#endif
#include <memory>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/kernel/routing/StarZone.hpp>
#include <xbt/config.hpp>

#include "base/errors.h"
#include "cluster/fabric/platform_text.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using simgrid::kernel::resource::Action;
using simgrid::kernel::resource::StandardLinkImpl;

namespace {

/// Whether SimGrid asks for the way of a message's acknowledgements: for that alone it does not want the latency.
bool of_acknowledgements(const double* latency_s) { return latency_s == nullptr; }

/// The engine deletes its zones.
class MachineZone final : public routing::StarZone {
 public:
  explicit MachineZone(const std::string& name) : StarZone(name) {}

  void get_local_route(const routing::NetPoint* source, const routing::NetPoint* target, routing::Route* into,
                       double* latency_s) override {
    if (of_acknowledgements(latency_s) && source->is_host() && target->is_host()) return;
    StarZone::get_local_route(source, target, into, latency_s);
  }
};

/// SimGrid's base class of all zones is installed for its users to derive from. The engine deletes its zones.
class ComputedZone final : public routing::NetZoneImpl {
 public:
  explicit ComputedZone(const std::string& name) : NetZoneImpl(name) {}

  void compute(const std::vector<sg4::LinkInRoute>& links, RouteFunction route,
               std::function<bool(int from, int to)> inside_host) {
    directed_ = get_link_list_impl(links, false);
    for (const sg4::LinkInRoute& each : links) latencies_s_.push_back(each.get_link()->get_latency());
    route_ = std::move(route);
    inside_host_ = std::move(inside_host);
  }

  void get_local_route(const routing::NetPoint* source, const routing::NetPoint* target, routing::Route* into,
                       double* latency_s) override {
    const auto from = static_cast<int>(source->id()), to = static_cast<int>(target->id());
    if (of_acknowledgements(latency_s) && inside_host_(from, to)) return;
    places_.clear();
    route_(from, to, places_);
    into->link_list_.reserve(places_.size());
    for (const int place : places_) {
      into->link_list_.push_back(directed_[static_cast<std::size_t>(place)]);
      if (latency_s) *latency_s += latencies_s_[static_cast<std::size_t>(place)];
    }
  }

 private:
  std::vector<StandardLinkImpl*> directed_;
  std::vector<double> latencies_s_;
  RouteFunction route_;
  std::function<bool(int from, int to)> inside_host_;
  std::vector<int> places_;  ///< of the route that is being computed
};

/// The settings of SimGrid that decide about times and about files that it writes: those that we set with their values,
/// the rest by whether somebody has set them. A network model may choose among its defaults, and sets host/model.
std::string settings() {
  namespace config = simgrid::config;
  std::string text;
  const auto add = [&](const char* name, const auto& value) {
    text += fmt::format("{} {}\n", name, config::is_default(name) ? "-" : fmt::format("{}", value(name)));
  };
  for (const char* const name :
       {"tracing", "tracing/filename", "plugin", "path", "cpu/model", "cpu/optim", "network/latency-factor",
        "network/bandwidth-factor", "network/loopback-bw", "network/loopback-lat", "network/weight-S"})
    add(name, [](const char*) { return "set"; });
  for (const char* const name : {"network/crosstraffic", "network/maxmin-selective-update"})
    add(name, config::get_value<bool>);
  for (const char* const name : {"contexts/stack-size", "contexts/guard-size"}) add(name, config::get_value<int>);
  for (const char* const name : {timing_precision_option, "network/TCP-gamma"}) add(name, config::get_value<double>);
  for (const char* const name :
       {"contexts/factory", "network/model", "network/optim", latency_factor_option, bandwidth_factor_option})
    add(name, config::get_value<std::string>);
  return text;
}

#if SIMGRID_VERSION >= 40000
using StartSignal = simgrid::xbt::signal<void(const sg4::Comm&)>;
StartSignal& start_signal();

/// An explicit instantiation may name a private member, and SimGrid lets nobody leave this signal otherwise.
template <StartSignal* signal>
struct Revealed {
  friend StartSignal& start_signal() { return *signal; }
};
template struct Revealed<&sg4::Activity_T<sg4::Comm>::on_start>;
#endif

/// Calls forget(flow) when a flow has failed: its host went down, or the actor at one of its ends was killed. SimGrid's
/// model of InfiniBand forgets flows that finish, and no others: those that fail would slow down all later ones of
/// their hosts, and keep their shares of the links, until SimGrid's solver ends in an assertion. So each of them
/// finishes first.
template <class Forget>
void finish_failed_flows(const Forget& forget) {
  sg4::Link::on_communication_state_change_cb([forget, finishes = false](auto& network_flow, Action::State) mutable {
    auto& flow = reinterpret_cast<Action&>(network_flow);  // whose class SimGrid does not install
    if (finishes || flow.get_state() != Action::State::FAILED) return;
    forget(flow);
    finishes = true;
    flow.set_state(Action::State::FINISHED);
    flow.set_state(Action::State::FAILED);
    finishes = false;
  });
}

}  // namespace

void load_platform(const std::string& file) {
  check_platform_text(file);
  sg4::Engine* const engine = sg4::Engine::get_instance();
  const std::string before = settings();
  engine->load_platform(file);
  base::check(settings() == before, "a platform leaves SimGrid's settings as they were");
#if SIMGRID_VERSION >= 40000
  // SimGrid 4.0 seals a <cluster> before it adds the router, which then lacks the route without links that sealing
  // gives.
  for (routing::StarZone* const star : engine->get_filtered_netzones<routing::StarZone>()) star->do_seal();
#endif
}

/// SimGrid 4 deprecates the function of NetZone that takes gateways; the one behind it is the same in every release.
void add_route(sg4::NetZone& zone, RouteEnd from, RouteEnd to, const std::vector<sg4::LinkInRoute>& links, Ways ways) {
  zone.get_impl()->add_route(from.point, to.point, from.gateway, to.gateway, links, ways == Ways::both);
}

void set_latency_factor(const FlowFactor& factor) {
  sg4::NetZone* const root = sg4::Engine::get_instance()->get_netzone_root();
#if SIMGRID_VERSION >= 40000
  root->set_latency_factor_cb(factor);
#else
  root->get_network_model()->set_lat_factor_cb(factor);
#endif
}

void set_bandwidth_factor(const FlowFactor& factor) {
  sg4::NetZone* const root = sg4::Engine::get_instance()->get_netzone_root();
#if SIMGRID_VERSION >= 40000
  root->set_bandwidth_factor_cb(factor);
#else
  root->get_network_model()->set_bw_factor_cb(factor);
#endif
}

void count_transfers_once() {
#if SIMGRID_VERSION >= 40000
  // SimGrid 4.0 tells twice of the start of a transfer whose two ends call at the same instant.
  const StartSignal model = start_signal();
  start_signal().disconnect_slots();
  const auto under_way = std::make_shared<std::unordered_set<const void*>>();
  sg4::Comm::on_start_cb([model, under_way](const sg4::Comm& transfer) {
    if (under_way->insert(transfer.get_impl()).second) model(transfer);
  });
  sg4::Comm::on_completion_cb([under_way](const sg4::Comm& transfer) { under_way->erase(transfer.get_impl()); });
  finish_failed_flows([under_way](const Action& flow) { under_way->erase(flow.get_activity()); });
#else
  finish_failed_flows([](const Action&) {});
#endif
}

sg4::NetZone* new_machine_zone(const std::string& name, sg4::NetZone& parent) {
  auto* zone = new MachineZone(name);
#if SIMGRID_VERSION >= 40000
  zone->set_parent(parent.get_impl());
  return zone->get_iface();
#else
  return zone->get_iface()->set_parent(&parent);
#endif
}

sg4::NetZone* new_computed_zone(const std::string& name) {
  auto* zone = new ComputedZone(name);
#if SIMGRID_VERSION >= 40000
  zone->set_parent(sg4::Engine::get_instance()->get_netzone_root()->get_impl());
#endif
  return zone->get_iface();
}

void compute_routes(sg4::NetZone& zone, const std::vector<sg4::LinkInRoute>& links, RouteFunction route,
                    std::function<bool(int from, int to)> inside_host) {
  static_cast<ComputedZone*>(zone.get_impl())->compute(links, std::move(route), std::move(inside_host));
}

}  // namespace simgrad::cluster
