#include "strategies/servers/server_choices.h"

namespace simgrad::strategies {

namespace {

constexpr std::array pull_choices{
    base::Choice{"by_layer",
                 "a worker waits for a bucket's parameters when the forward pass comes to its layers; servers answer "
                 "bucket by bucket"},
    base::Choice{"at_once",
                 "a worker waits for all parameters before the forward pass, as TensorFlow's synchronous replicas do; "
                 "servers answer when all are updated"}};

}  // namespace

void describe_pulls(base::Describer& d, Pulls& pull, const std::optional<double>& bucket_bytes) {
  d.choice("pull", pull, pull_choices, "with bucket_size, the parameters that a worker waits for");
  if (!bucket_bytes && pull != Pulls::by_layer)
    d.refuse("pull",
             "pull says how parameters are pulled during the passes, but without bucket_size they are pulled before "
             "them; give bucket_size, or leave pull out");
}

}  // namespace simgrad::strategies
