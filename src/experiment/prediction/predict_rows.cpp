/// Predictions for the rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/errors.h"
#include "experiment/prediction/tally.h"
#include "outputs/csv_cell.h"
#include "outputs/files/byte_file.h"
#include "training/learning/samples.h"

namespace simgrad::experiment {

namespace {

using models::Predicts;

/// The lines of the CSV file.
class PredictedRows {
 public:
  explicit PredictedRows(const SavedModel& model)
      : model_(model),
        width_(static_cast<std::size_t>(model.model->prediction_size(model.problem))),
        classes_(model.problem.classes > 0),
        clusters_(model.model->predicts() == Predicts::cluster) {}

  std::string heading() const {
    std::string line = "line";
    if (model_.encoding.form == data::Encoding::Form::ratings)
      for (const data::Encoding::Column& column : model_.encoding.columns) line += "," + outputs::csv_cell(column.name);
    if (clusters_) return line + ",cluster,distance\n";
    line += ",predicted";
    if (classes_)
      for (const std::string& name : model_.encoding.class_names)
        line += "," + outputs::csv_cell("probability_" + name);
    return line + ",actual\n";
  }

  /// The line of row i.  p: its prediction.
  std::string line(const data::NewRows& block, std::size_t i, std::span<const double> p, bool labelled) const {
    std::string line = fmt::format("{}", block.lines[i]);
    if (!block.names.empty()) line += fmt::format(",{},{}", block.names[i][0], block.names[i][1]);
    if (clusters_) return line + fmt::format(",{},{}\n", p[0], std::sqrt(p[1]));
    if (classes_) {
      const auto best = static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
      line += "," + class_name(best);
      for (const double probability : p) line += fmt::format(",{}", probability);
    } else {
      line += fmt::format(",{}", unscaled(p[0]));
    }
    line += ',';
    if (labelled)
      line += classes_ ? class_name(static_cast<std::size_t>(block.targets[i])) : fmt::format("{}", block.targets[i]);
    return line + "\n";
  }

  std::size_t width() const { return width_; }

 private:
  /// A number is no text that a spreadsheet would compute.
  std::string class_name(std::size_t number) const {
    const std::string& name = model_.encoding.class_names.at(number);
    return data::is_number(name) ? name : outputs::csv_cell(name);
  }
  double unscaled(double y) const {
    const data::Scaling& scaling = model_.encoding.target_scaling;
    return scaling.means.empty() ? y : y * scaling.deviations[0] + scaling.means[0];
  }

  const SavedModel& model_;
  std::size_t width_;
  bool classes_, clusters_;
};

/// Whether the model takes sparse rows with one entry for each field alone.
bool needs_fields(const SavedModel& model) {
  models::Problem without = model.problem;
  without.fields = 0;
  without.nonzeros = 1.0;
  return model.problem.fields > 0 && model.model->takes_sparse_rows() && !model.model->refusal(without).empty();
}

void check_fields(const SavedModel& model, const data::NewRows& block, const std::string& path) {
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    const std::int64_t entries = block.rows.sparse.starts[i + 1] - block.rows.sparse.starts[i];
    if (entries != model.problem.fields)
      throw base::ScenarioError(
          fmt::format("{}:{}:1: a row with {} entries, expected {} as in all rows of the "
                      "training, since {} takes one embedding for each field",
                      path, block.lines[i], entries, model.problem.fields, model.kind));
  }
}

}  // namespace

Predictions predict_rows(const SavedModel& model, const PredictionRequest& request) {
  constexpr std::size_t numbers_at_once = std::size_t{1} << 20;
  const PredictedRows format(model);
  const bool fields = needs_fields(model);
  Predictions outcome;
  ScoreTally tally(model);
  outputs::ByteFile out(request.out, outputs::NamedBy::command_line);
  out.write(format.heading());
  data::read_new_rows(model.encoding, request.data, request.unseen, [&](data::NewRows& block) {
    if (fields) check_fields(model, block, request.data);
    outcome.left_out += block.left_out;
    models::Samples rows = training::samples_of(block.rows);
    const auto all = static_cast<std::size_t>(rows.count),
               at_once = std::max<std::size_t>(1, numbers_at_once / format.width());
    std::vector<char> labelled(all, 0);
    for (const std::int64_t i : block.labelled) labelled[static_cast<std::size_t>(i)] = 1;
    std::vector<double> predictions;
    for (std::size_t first = 0; first < all; first += at_once) {
      models::Samples piece = rows;
      piece.first = static_cast<std::int64_t>(first);
      piece.count = static_cast<std::int64_t>(std::min(at_once, all - first));
      predictions.resize(static_cast<std::size_t>(piece.count) * format.width());
      model.model->predict_in(training::travels_as(model.precision), model.problem, piece, model.w, predictions);
      for (std::size_t i = 0; i < static_cast<std::size_t>(piece.count); ++i)
        out.write(format.line(block, first + i, std::span(predictions).subspan(i * format.width(), format.width()),
                              labelled[first + i] != 0));
    }
    outcome.rows += rows.count;
    if (model.encoding.task == data::Task::clustering) return tally.add(rows);
    rows.count = static_cast<std::int64_t>(block.labelled.size());
    rows.indices = block.labelled.data();
    if (rows.count > 0) tally.add(rows);
  });
  out.close();
  tally.fill(outcome);
  return outcome;
}

}  // namespace simgrad::experiment
