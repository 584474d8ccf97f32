#include "strategies/job.h"

#include <fmt/format.h>

namespace simgrad::strategies {

std::optional<Strategy::Unfit> job_misfit(Job job, const Strategy::Fit& fit) {
  if (job == Job::gradient || fit.model.predicts() == models::Predicts::cluster) return {};
  return Strategy::Unfit{"job",
                         fmt::format("job = \"k_means\" moves the centres of the model k_means, but [model] kind = "
                                     "\"{}\"; set that to \"k_means\", or job = \"gradient\"",
                                     fit.model_kind)};
}

}  // namespace simgrad::strategies
