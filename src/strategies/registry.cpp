#include "base/errors.h"
#include "strategies/allreduce.h"
#include "strategies/data_parallel.h"
#include "strategies/byteps.h"
#include "strategies/easgd.h"
#include "strategies/gossip.h"
#include "strategies/hogwild.h"
#include "strategies/mapreduce.h"
#include "strategies/parameter_server.h"
#include "strategies/single.h"

#include <numeric>

namespace simgrad::strategies {

std::vector<int> Strategy::hosts(int P) const {
  std::vector<int> own(static_cast<std::size_t>(P + servers()));
  std::iota(own.begin(), own.end(), 0);
  return own;
}

void Strategy::operator()(Server&) const { base::check(false, "a strategy without servers serves nothing"); }

const base::Registry<Strategy>& registry() {
  static const base::Registry<Strategy> table({
      base::entry<Strategy, Single>(),
      base::entry<Strategy, MapReduce>(),
      base::entry<Strategy, ParameterServer>(),
      base::entry<Strategy, Allreduce>(),
      base::entry<Strategy, DataParallel>(),
      base::entry<Strategy, Gossip>(),
      base::entry<Strategy, BytePs>(),
      base::entry<Strategy, Easgd>(),
      base::entry<Strategy, Hogwild>(),
  });
  return table;
}

training::Program program(std::shared_ptr<const Strategy> strategy) {
  training::Program program{.work = {}, .serve = {}, .servers = strategy->servers(),
                            .synchronous = strategy->synchronous(),
                            .gradients_an_update = strategy->gradients_an_update(), .holder = strategy->holder(),
                            .sharding = strategy->sharding()};
  program.many_to_many = strategy->many_to_many();
  program.hosts = [strategy](int P) { return strategy->hosts(P); };
  program.work = [strategy](Worker& worker) { (*strategy)(worker); };
  program.serve = [strategy](Server& server) { (*strategy)(server); };
  return program;
}

}  // namespace simgrad::strategies
