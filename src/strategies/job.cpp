#include "strategies/job.h"

#include <fmt/format.h>

#include "strategies/circumstances.h"

namespace simgrad::strategies {

std::optional<Refusal> job_refusal(Job job, const Circumstances& circumstances) {
  if (job == Job::gradient || circumstances.model.predicts() == models::Predicts::cluster) return {};
  return Refusal{"job", fmt::format("job = \"k_means\" moves the centres of the model k_means, but [model] kind = "
                                    "\"{}\"; set that to \"k_means\", or job = \"gradient\"",
                                    circumstances.model_kind)};
}

}  // namespace simgrad::strategies
