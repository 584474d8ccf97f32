#include "cluster/fabric/network_model.h"

#include <boost/intrusive/list.hpp>
#include <memory>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/errors.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::resource::Action;
using simgrid::kernel::timer::Timer;

std::vector<std::string> simgrid_flags(NetworkModel model) {
  // SimGrid fires events closer than surf/precision together; at its default of 1 ns a long ring drifts.
  std::vector<std::string> flags{"--cfg=surf/precision:1e-12"};
  if (model == NetworkModel::tcp) {
    flags.emplace_back("--cfg=network/model:LV08");
    return flags;
  }
  flags.emplace_back("--cfg=network/crosstraffic:0");  // full duplex: acknowledgements take nothing from the way back
  flags.emplace_back("--cfg=network/TCP-gamma:1e30");  // no window limits a flow (0 would drop set_rate in 3.32)
  if (model == NetworkModel::ideal) {
    flags.emplace_back("--cfg=network/model:CM02");
    return flags;
  }
  flags.emplace_back("--cfg=network/model:IB");
  // By default IB has SMPI's factors, which were measured on Ethernet. Payload is 0.96 of a card's signalling rate.
  flags.emplace_back("--cfg=smpi/lat-factor:0:1.0");
  flags.emplace_back("--cfg=smpi/bw-factor:0:0.96");
  return flags;
}

std::vector<std::string> flags_for_many_to_many() {
  return {"--cfg=network/optim:Full", "--cfg=network/maxmin-selective-update:no"};
}

namespace {

simgrid::kernel::resource::Model* network() {
  for (auto* model : sg4::Engine::get_instance()->get_all_models())
    if (model->get_name().find("Network") != std::string::npos) return model;
  base::check(false, "SimGrid has a network model");
  return nullptr;
}

/// The flows whose latency is not paid yet, each with the timer that will give it its weight.
using Latent = std::unordered_map<const void*, Timer*>;

}  // namespace

void share_fairly(const FlowMultiple& latency_multiple) {
  const auto latent = std::make_shared<Latent>();
  auto* const model = network();
  // The factor of latency is asked for while SimGrid creates a flow, which is then the last of its started ones.
  const auto on_new_flow = [model, latent, latency_multiple](double, const sg4::Host* source, const sg4::Host* target,
                                                             const std::vector<sg4::Link*>& links,
                                                             const std::unordered_set<sg4::NetZone*>&) {
    if (source == target) return 0.0;
    const double latency = std::accumulate(links.begin(), links.end(), 0.0,
                                           [](double sum, const sg4::Link* link) { return sum + link->get_latency(); });
    const double multiple = latency_multiple ? latency_multiple(source, target) : 1.0;
    if (latency > 0.0) {
      Action* flow = &model->get_started_action_set()->back();
      // SimGrid sets its own weight when the latency is paid; ours must come after it: two of its precisions later.
      (*latent)[flow] = Timer::set(sg4::Engine::get_clock() + multiple * latency + 2e-12, [flow, latent] {
        if (latent->erase(flow) > 0) flow->set_sharing_penalty(1.0);
      });
    }
    return multiple;
  };
  sg4::Engine::get_instance()->get_netzone_root()->get_network_model()->set_lat_factor_cb(on_new_flow);
  // A flow that ends with its latency or before (it is empty, or a host went down) must not be touched any more, nor
  // may its timer find a later flow at the same place.
  sg4::Link::on_communication_state_change_cb([latent](auto& flow, Action::State) {
    const auto found = latent->find(&flow);
    if (found == latent->end()) return;
    found->second->remove();
    latent->erase(found);
  });
}

void stretch_transfers(const FlowMultiple& multiple) {
  const auto on_new_flow = [multiple](double, const sg4::Host* source, const sg4::Host* target,
                                      const std::vector<sg4::Link*>&, const std::unordered_set<sg4::NetZone*>&) {
    return source == target ? 1.0 : 1.0 / multiple(source, target);
  };
  sg4::Engine::get_instance()->get_netzone_root()->get_network_model()->set_bw_factor_cb(on_new_flow);
}

}  // namespace simgrad::cluster
