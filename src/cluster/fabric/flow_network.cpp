#include "cluster/fabric/flow_network.h"

#include <algorithm>
#include <limits>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/interference.h"
#include "cluster/fabric/routes.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace {

constexpr double precision_s = 1e-12;  ///< dates that are closer are one event, as SimGrid's are

}  // namespace

FlowNetwork::FlowNetwork(Cluster& cluster)
    : cluster_(cluster),
      numbers_(cluster),
      sharing_({}, std::numeric_limits<double>::infinity()),
      put_last_(dates_.end()) {
  const double slowdown = cluster.options().overlap_slowdown;
  if (!(slowdown > 0.0)) return;
  ports_.resize(static_cast<std::size_t>(cluster.hosts()));
  interference_ = std::make_unique<Interference>(cluster, slowdown, [this](int host) { change_ports(host); });
}

FlowNetwork::~FlowNetwork() = default;

int FlowNetwork::shared_number(int link) {
  const auto at = static_cast<std::size_t>(link);
  if (at == shared_numbers_.size()) {
    sharing_.add_link(numbers_.bandwidth(link));
    shared_numbers_.push_back(shared_++);
  }
  return shared_numbers_[at];
}

int FlowNetwork::port(int host, int first_link) {
  std::vector<Port>& ports = ports_[static_cast<std::size_t>(host)];
  const auto known = std::ranges::find(ports, first_link, &Port::first_link);
  if (known != ports.end()) return known->number;
  const double bandwidth = numbers_.bandwidth(first_link);
  sharing_.add_link(interference_->part_of_bandwidth(host) * bandwidth);
  ports.push_back({first_link, shared_++, bandwidth});
  return ports.back().number;
}

void FlowNetwork::change_ports(int host) {
  const std::vector<Port>& ports = ports_[static_cast<std::size_t>(host)];
  for (const Port& port : ports)
    sharing_.set_bandwidth(port.number, interference_->part_of_bandwidth(host) * port.bandwidth_bytes_per_s);
  if (!ports.empty() && !cluster_.over()) wake_at(cluster_.now());
}

const FlowRoute& FlowNetwork::route(int source, int target) {
  FlowRoute& route = routes_.emplace_back();
  route.source = source;
  route.target = target;
  route.flow_limit_bytes_per_s = cluster_.options().flow_limit(source, target);
  const auto links = route_between(cluster_.host(source), cluster_.host(target), &route.latency_s);
  auto* const numbers = static_cast<int*>(links_of_routes_.allocate((links.size() + 1) * sizeof(int), alignof(int)));
  int* end = numbers;
  for (const sg4::Link* const link : links) {
    if (link->get_sharing_policy() == sg4::Link::SharingPolicy::FATPIPE) continue;
    const int number = numbers_.of(*link);
    if (interference_ && end == numbers) *end++ = port(source, number);
    *end++ = shared_number(number);
  }
  route.links = {numbers, end};
  return route;
}

void FlowNetwork::start(Flow& flow, const FlowRoute& route, double bytes) {
  const double now = cluster_.now();
  flow.start_s_ = now;
  flow.order_ = ++started_;
  flow.left_bytes_ = bytes;
  flow.route_ = &route;
  flow.under_way_ = true;
  if (interference_) interference_->begins(route.source, route.target);
  put(flow, now + route.latency_s);
  wake_at_first_date();
}

void FlowNetwork::pass(Flow& flow) {
  flow.start_s_ = flow.finish_s_ = cluster_.now();
  flow.arrived();
  flow.left();
}

bool FlowNetwork::cancel(Flow& flow) {
  if (!std::exchange(flow.under_way_, false)) return false;
  if (interference_) interference_->ends(flow.route_->source, flow.route_->target);
  take(flow);
  if (flow.number_ >= 0) {
    leave_links(flow);
    wake_at(cluster_.now());  // once for all that are cancelled now
  }
  return true;
}

void FlowNetwork::put(Flow& flow, double date_s) {
  if (put_last_ == dates_.end() || put_last_->first != date_s) put_last_ = dates_.try_emplace(date_s).first;
  flow.date_ = put_last_;
  flow.place_ = put_last_->second.size();
  put_last_->second.push_back(&flow);
}

void FlowNetwork::take(Flow& flow) {
  std::vector<Flow*>& at_its_date = flow.date_->second;
  at_its_date.back()->place_ = flow.place_;
  at_its_date[flow.place_] = at_its_date.back();
  at_its_date.pop_back();
  if (!at_its_date.empty()) return;
  if (put_last_ == flow.date_) put_last_ = dates_.end();
  dates_.erase(flow.date_);
}

void FlowNetwork::begin_bytes(Flow& flow, double now) {
  flow.number_ = sharing_.add(flow.route_->links, flow.route_->flow_limit_bytes_per_s);
  flow.since_s_ = now;
  flow.rate_ = 0.0;
  const auto number = static_cast<std::size_t>(flow.number_);
  if (flows_.size() <= number) flows_.resize(number + 1);
  flows_[number] = &flow;
  put(flow, std::numeric_limits<double>::infinity());  // until links are shared
}

void FlowNetwork::leave_links(Flow& flow) {
  sharing_.remove(flow.number_);
  flows_[static_cast<std::size_t>(std::exchange(flow.number_, -1))] = nullptr;
}

void FlowNetwork::share(double now) {
  sharing_.share([&](int number, double rate) {
    Flow& flow = *flows_[static_cast<std::size_t>(number)];
    flow.left_bytes_ = std::max(0.0, flow.left_bytes_ - flow.rate_ * (now - flow.since_s_));
    flow.since_s_ = now;
    flow.rate_ = rate;
    take(flow);
    put(flow, now + flow.left_bytes_ / rate);
  });
}

void FlowNetwork::wake_at(double date_s) {
  if (timer_ && timer_s_ <= date_s) return;
  if (timer_) timer_->remove();
  timer_s_ = date_s;
  timer_ = Timer::set(date_s, [this] { wake(); });
}

void FlowNetwork::wake_at_first_date() {
  if (!dates_.empty()) wake_at(dates_.begin()->first);
}

void FlowNetwork::wake() {
  timer_ = nullptr;
  const double now = cluster_.now();
  std::vector<Flow*> over;
  while (!dates_.empty() && dates_.begin()->first <= now + precision_s) {
    if (put_last_ == dates_.begin()) put_last_ = dates_.end();
    const std::vector<Flow*> due = std::move(dates_.begin()->second);
    dates_.erase(dates_.begin());
    for (Flow* const flow : due) {
      if (flow->number_ < 0 && flow->left_bytes_ > 0.0 && !flow->route_->links.empty()) {
        begin_bytes(*flow, now);
        continue;
      }
      if (flow->number_ >= 0) leave_links(*flow);
      if (interference_) interference_->ends(flow->route_->source, flow->route_->target);
      flow->under_way_ = false;
      flow->finish_s_ = now;
      over.push_back(flow);
    }
  }
  share(now);
  wake_at_first_date();
  if (!std::ranges::is_sorted(over, {}, &Flow::order_)) std::ranges::sort(over, {}, &Flow::order_);
  for (Flow* const flow : over) flow->arrived();  // which may start others
  for (Flow* const flow : over) flow->left();
}

}  // namespace simgrad::cluster
