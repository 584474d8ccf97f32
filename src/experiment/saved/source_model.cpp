/// One source's model out of one of several sources.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/errors.h"
#include "experiment/saved/model_file.h"
#include "models/multimodal_perceptron.h"

namespace simgrad::experiment {

SavedModel model_of_source(const SavedModel& whole, const std::string& source) {
  const models::MultimodalPerceptron* const model = whole.model->multimodal();
  if (!model)
    throw base::ScenarioError(fmt::format(
        "--part {}: {} was trained on one source, whose rows it predicts; leave --part out", source, whole.kind));
  const std::vector<std::string>& names = whole.encoding.part_names;
  const auto found = std::ranges::find(names, source);
  if (found == names.end())
    throw base::ScenarioError(fmt::format("{}the model was trained on {} sources, expected one of them: --part {}",
                                          source.empty() ? "" : fmt::format("--part {}: ", source), names.size(),
                                          fmt::join(names, ", --part ")));
  const auto place = static_cast<std::size_t>(found - names.begin());
  SavedModel source_model;
  source_model.run = whole.run;
  source_model.kind = whole.kind;
  source_model.model = model->network(whole.problem, place);
  source_model.problem = models::MultimodalPerceptron::problem_of(whole.problem, place);
  source_model.precision = whole.precision;
  source_model.encoding = whole.encoding.parts.at(place);
  source_model.w = model->parameters_of(whole.problem, place, whole.w);
  return source_model;
}

}  // namespace simgrad::experiment
