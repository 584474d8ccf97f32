#include "strategies/strategy.h"

#include "base/errors.h"
#include "strategies/single.h"

namespace simgrad::strategies {

void Strategy::operator()(Server&) const { base::check(false, "a strategy without servers serves nothing"); }

void Strategy::describe_hosts_first(base::Describer& d, std::string_view algorithm) {
  d.flag("hosts_first", hosts_first,
         "whether the devices of a host sum their gradients first; one of them then exchanges with the other hosts");
  if (hosts_first && algorithm == "hierarchical")
    d.refuse("hosts_first",
             "algorithm = \"hierarchical\" sums inside hosts first, but with hosts_first one device of each host takes "
             "part in it; leave one of them out");
}

std::shared_ptr<const Strategy> Strategy::alone() const { return std::make_shared<Single>(); }

record::MemoryParts Strategy::memory(const training::MemoryTerms& terms) const {
  const bool elsewhere = traits(static_cast<int>(terms.workers)).holder == Holder::servers;
  return training::replica_memory(terms, {.optimizer_share = elsewhere ? 0.0 : 1.0});
}

training::Program program(std::shared_ptr<const Strategy> strategy) {
  return {.traits = [strategy](int P) { return strategy->traits(P); },
          .work = [strategy](Worker& worker) { (*strategy)(worker); },
          .serve = [strategy](Server& server) { (*strategy)(server); }};
}

}  // namespace simgrad::strategies
