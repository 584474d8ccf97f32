#include "experiment/prediction/predict.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "base/errors.h"
#include "base/say.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "outputs/comparison.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

namespace fs = std::filesystem;
using outputs::tr;

struct PredictOptions {
  std::string result;
  std::string run;
  std::string strategy;
  std::string part;
  experiment::PredictionRequest request;
  bool ignores_unseen = false;
};

/// A model of a directory, by the first line of its file.
struct Candidate {
  std::string file;
  nlohmann::ordered_json run;

  std::string text(const char* member) const { return run.value(member, std::string()); }
  std::string line() const {
    const std::string point = outputs::point_text(run.at("parameters"));
    const auto& loss = run.at("loss");
    return fmt::format("--run {}: {}{}{}, seed {}, loss {}", text("id"), text("label"), point.empty() ? "" : ", ",
                       point, run.at("seed").dump(),
                       loss.is_null() ? "unknown" : fmt::format("{:.6g}", loss.get<double>()));
  }
};

std::vector<Candidate> models_in(const std::string& directory) {
  std::vector<Candidate> all;
  std::error_code unknown;
  for (fs::directory_iterator at(fs::path(directory) / "models", unknown), end; !unknown && at != end;
       at.increment(unknown))
    if (at->path().extension() == ".model") {
      const std::string file = at->path().string();
      all.push_back({file, experiment::heading_of_model(file)});
    }
  const auto key = [](const Candidate& candidate) {
    return std::tuple(candidate.text("label"), candidate.run.at("parameters").dump(), candidate.run.at("seed").dump());
  };
  std::ranges::sort(all, {}, key);
  return all;
}

/// The file of the one model that the options choose.
std::string chosen_model(const PredictOptions& options) {
  std::error_code unknown;
  if (!fs::is_directory(options.result, unknown)) return options.result;
  std::vector<Candidate> models = models_in(options.result);
  if (models.empty())
    throw base::EnvironmentError(
        fmt::format("{}: there are no models; run the scenario first with --set save_model=true", options.result));
  const std::vector<Candidate> all = models;
  std::erase_if(models, [&](const Candidate& model) {
    return (!options.run.empty() && model.text("id") != options.run) ||
           (!options.strategy.empty() && model.text("label") != options.strategy &&
            model.text("strategy") != options.strategy);
  });
  if (models.size() == 1) return models.front().file;
  constexpr std::size_t most = 20;
  const std::vector<Candidate>& shown = models.empty() ? all : models;
  std::vector<std::string> lines{
      models.empty() ? fmt::format("{}: no model belongs to that run; choose one of these", options.result)
                     : fmt::format("{}: {} models; choose one of them", options.result, models.size())};
  for (std::size_t i = 0; i < std::min(shown.size(), most); ++i) lines.push_back("  " + shown[i].line());
  if (shown.size() > most) lines.push_back(fmt::format("  ... and {} more", shown.size() - most));
  throw base::ScenarioError(std::move(lines));
}

void print(const experiment::Predictions& predictions, const PredictOptions& options, bool text) {
  const auto number_of = [&](std::int64_t count) {
    if (text) return count == 1 ? tr("1 token") : tr("{} tokens", count);
    return count == 1 ? tr("1 row") : tr("{} rows", count);
  };
  // The tokens of a model may steer a terminal, or a runner of workflows.
  const bool steerable = isatty(STDOUT_FILENO) != 0 || std::getenv("GITHUB_ACTIONS") != nullptr;
  if (options.request.tokens)
    fmt::print("{}\n", steerable ? base::printable_lines(predictions.continuation) : predictions.continuation);
  fmt::print("{}: {}", base::printable(options.request.out), tr("{} predicted", number_of(predictions.rows)));
  if (predictions.left_out > 0)
    fmt::print("{}", tr(", {} left out for a missing value, as in the training", number_of(predictions.left_out)));
  fmt::print("\n");
  if (!predictions.loss) return;
  fmt::print("{}: {}{}{}\n", tr("loss"), *predictions.loss,
             tr(", the mean over {} with a target, penalty included", number_of(predictions.scored)),
             predictions.standardised ? tr(", of targets in units of their standard deviation in the training") : "");
  if (predictions.rmse)
    fmt::print("{}: {}{}\n", tr("root mean square error"), *predictions.rmse, tr(", in the target's own units"));
  if (predictions.metric) fmt::print("{}: {}\n", predictions.metric_name, *predictions.metric);
}

void predict_file(PredictOptions& options) {
  std::error_code unknown;
  if (fs::equivalent(options.request.data, options.request.out, unknown))
    throw base::ScenarioError(
        fmt::format("--out {}: that is the file of --data, which would be overwritten; expected another name",
                    options.request.out));
  options.request.unseen = options.ignores_unseen ? data::Unseen::ignore : data::Unseen::refuse;
  experiment::SavedModel model = experiment::read_model(chosen_model(options));
  if (!options.part.empty() || model.encoding.task == data::Task::mixture)
    model = experiment::model_of_source(model, options.part);
  const bool text = model.encoding.task == data::Task::text;
  print(experiment::predict(model, options.request), options, text);
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "predict", "Applies a trained model, kept by save_model = true, to the rows or text of a file");
  auto options = std::make_shared<PredictOptions>();
  command->add_option("result", options->result, "The directory of the results, or the file of a model")
      ->required()
      ->type_name("RESULT");
  command->add_option("--data", options->request.data, "CSV, LIBSVM or text, in the form of the training's data")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", options->request.out, "The CSV file of the predictions; packed if its name ends in .gz")
      ->required()
      ->type_name("FILE");
  command->add_option("--run", options->run, "The id of the run whose model is used, if the directory has several")
      ->type_name("ID");
  command->add_option("--strategy", options->strategy, "The strategy of that run, by label, else by kind")
      ->type_name("LABEL");
  command
      ->add_option("--part", options->part,
                   "The source to which the file's rows belong, if the model was trained on several")
      ->type_name("NAME");
  command
      ->add_option("--tokens", options->request.tokens,
                   "Continues the text by this number of tokens, each the likeliest one")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->type_name("N");
  command->add_flag("--ignore-unseen", options->ignores_unseen,
                    "Takes texts and LIBSVM features that the training has not seen as 0, instead of refusing them");
  add_language(*command);
  command->callback([options, &exit_code] {
    predict_file(*options);
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
