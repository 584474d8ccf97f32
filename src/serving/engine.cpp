#include "serving/engine.h"

#include <set>
#include <utility>

#include "cluster/ranks/ranks.h"
#include "serving/service.h"
#include "serving/stage_actors.h"
#include "serving/stage_events.h"

namespace simgrad::serving {

namespace {

std::unique_ptr<Stages> stages_of(Service& service, bool actors) {
  if (!actors && StageEvents::possible(service.cluster(), service.layout()))
    return std::make_unique<StageEvents>(service);
  return std::make_unique<StageActors>(service);
}

}  // namespace

class Engine::Parts {
 public:
  Parts(cluster::Cluster& cluster, Setup setup) : actors(setup.actors), service(cluster, std::move(setup)) {}

  void start() {
    service.world().begin();
    stages = stages_of(service, actors);
    stages->start();
    stages->start_beside(service.leader(0, 0), [this] { front_end(); });
  }

  bool actors;
  Service service;
  std::unique_ptr<Stages> stages;

 private:
  void front_end();
};

void Engine::Parts::front_end() {
  const std::vector<Request>& requests = service.requests();
  for (std::size_t i = 0; i < requests.size();) {
    const double arrival_s = requests[i].arrival_s;
    cluster::pause(arrival_s - service.elapsed_s());
    std::set<int> got;
    for (; i < requests.size() && requests[i].arrival_s == arrival_s; ++i) got.insert(service.route(i));
    for (const int replica : got) stages->call(replica);
  }
  service.await_completion();
  service.end();
}

Engine::Engine(cluster::Cluster& cluster, Setup setup) : parts_(std::make_unique<Parts>(cluster, std::move(setup))) {}
Engine::~Engine() = default;
void Engine::start() { parts_->start(); }
cluster::World& Engine::world() { return parts_->service.world(); }
double Engine::capacity_requests_per_s() const { return parts_->service.capacity_requests_per_s(); }
bool Engine::complete() const { return parts_->service.complete(); }
record::Record Engine::take_record() { return parts_->service.take_record(); }

}  // namespace simgrad::serving
