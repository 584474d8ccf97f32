#include "experiment/run/simulate_serving.h"

#include <utility>

#include "base/errors.h"
#include "base/say.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"
#include "data/new_rows.h"
#include "experiment/checks/tensor_balance.h"
#include "experiment/plan/serving_section.h"
#include "experiment/saved/served_model.h"
#include "models/cut_model.h"
#include "models/transformer.h"
#include "serving/engine.h"

namespace simgrad::experiment {

namespace {

/// The parameters of serving.model, else the model's initial ones.
std::vector<double> parameters_of(const RunPlan& run, const data::Split& data, const models::Problem& problem) {
  if (!run.settings->serving.model.empty()) return served_parameters(*run.settings, data);
  const models::Model& model = *run.settings->model.model;
  std::vector<double> w(static_cast<std::size_t>(model.parameters(problem)));
  model.initial_values(problem, run.seed, w);
  return w;
}

/// Tokens as a line of text; numbers with blanks between them.
std::string text_of(const data::Encoding& encoding, const serving::Answers::Tokens& tokens) {
  const bool numbers = encoding.form == data::Encoding::Form::tokens;
  std::string text;
  for (const std::int64_t token : tokens)
    text += (numbers && !text.empty() ? " " : "") + data::token_text(encoding, static_cast<std::uint32_t>(token));
  return base::printable(text);
}

/// The parameters, and prompts that are the beginnings of the data's rows, one after the other.
std::unique_ptr<serving::Answers> answers_of(const RunPlan& run, const data::Split& data,
                                             const std::vector<serving::Request>& requests) {
  const auto& model = dynamic_cast<const models::Transformer&>(*run.settings->model.model);
  const models::Problem problem = problem_of(data);
  std::vector<std::vector<std::int64_t>> prompts;
  const data::Dataset& rows = data.train;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) % rows.rows;
    std::vector<std::int64_t>& prompt = prompts.emplace_back();
    for (std::int64_t k = 0; k < requests[i].prompt_tokens; ++k)
      prompt.push_back(static_cast<std::int64_t>(rows.features[static_cast<std::size_t>(row * rows.columns + k)]));
  }
  const strategies::Parallel& parallel = run.settings->parallel;
  return std::make_unique<serving::Answers>(
      model, problem, static_cast<int>(parallel.pipeline), static_cast<int>(parallel.tensor),
      parameters_of(run, data, problem), std::move(prompts),
      [encoding = data.encoding](const auto& tokens) { return text_of(*encoding, tokens); });
}

}  // namespace

record::Record simulate_serving(const RunPlan& run, const Data& data,
                                const std::vector<cluster::TimelineLimits>& limits) {
  const Settings& settings = *run.settings;
  const models::Problem problem = data ? problem_of(*data) : settings.problem();
  if (const std::string why = settings.model.model->cut()->refusal(problem, settings.parallel.shares()); !why.empty())
    throw base::ScenarioError(why);
  serving::Setup setup{.options = settings.serving,
                       .fleet = fleet_of(settings, problem),
                       .requests = serving::requests_of(settings.serving, run.seed),
                       .precision = settings.training.precision,
                       .seed = run.seed};
  if (data) setup.answers = answers_of(run, *data, setup.requests);
  // Messages between stages are many; the cluster's own network is faster than SimGrid's.
  const bool own_network = settings.parallel.pipeline > 1;
  cluster::Cluster cluster(settings.cluster, static_cast<int>(run.workers), own_network, run.seed);
  serving::Engine engine(cluster, std::move(setup));
  engine.world().recording().start(limits);
  std::string error;
  try {
    engine.start();
    cluster.run();
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  if (error.empty() && !engine.complete()) error = "every rank has ended, but some requests have no answer";
  record::Record record = engine.take_record();
  for (std::string& note : notes_on_padding(settings, *run.strategy, problem)) record.notes.push_back(std::move(note));
  if (error.empty()) return record;
  record.status = record::Status::failed;
  record.error = error;
  return record;
}

}  // namespace simgrad::experiment
