#include "strategies/strategy.h"

#include <numeric>

#include "base/errors.h"
#include "strategies/single.h"

namespace simgrad::strategies {

std::vector<int> Strategy::hosts(int P) const {
  std::vector<int> own(static_cast<std::size_t>(P + servers()));
  std::iota(own.begin(), own.end(), 0);
  return own;
}

void Strategy::operator()(Server&) const { base::check(false, "a strategy without servers serves nothing"); }

std::shared_ptr<const Strategy> Strategy::alone() const { return std::make_shared<Single>(); }

std::vector<cluster::Recovery> Strategy::allowed(bool keeps_going) {
  using cluster::Recovery;
  std::vector all{Recovery::restart, Recovery::wait, Recovery::shrink, Recovery::elastic};
  if (keeps_going) all.push_back(Recovery::keep_going);
  return all;
}

training::Program program(std::shared_ptr<const Strategy> strategy) {
  training::Program program{.work = {},
                            .serve = {},
                            .servers = strategy->servers(),
                            .synchronous = strategy->synchronous(),
                            .gradients_an_update = strategy->gradients_an_update(),
                            .holder = strategy->holder(),
                            .sharding = strategy->sharding()};
  program.assembly = strategy->assembly();
  program.own_pace = strategy->own_pace();
  program.replicas_differ = strategy->replicas_differ();
  program.keyed = strategy->keyed();
  program.many_to_many = strategy->many_to_many();
  program.hosts = [strategy](int P) { return strategy->hosts(P); };
  program.work = [strategy](Worker& worker) { (*strategy)(worker); };
  program.serve = [strategy](Server& server) { (*strategy)(server); };
  return program;
}

}  // namespace simgrad::strategies
