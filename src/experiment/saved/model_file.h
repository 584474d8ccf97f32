/// The file of a trained model: all that predictions for further rows need.
///
/// The first line is a JSON object: "format": "simgrad model", "version": 1, the run (id, strategy, label, grid point,
/// seed, status, step, loss, metric), the precision, the options of [model], the shape of the problem, the layers of
/// the parameters, and the encoding of the data. Then come the parameters, `count` little-endian doubles, in the order
/// of the layers, and last a checksum of all bytes before it, 32 hexadecimal digits (XXH3-128). A text that is not
/// UTF-8 is a list of its bytes in the JSON. Equal runs leave equal files.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/encoding.h"
#include "experiment/plan/plan.h"
#include "models/model.h"
#include "record/record.h"
#include "training/precision.h"

namespace simgrad::experiment {

/// A model as its file has it.
struct SavedModel {
  nlohmann::ordered_json run;  ///< the members of the first line that name the run
  std::string kind;            ///< of the model
  std::shared_ptr<const models::Model> model;
  models::Problem problem;
  training::Precision precision = training::Precision::float64;
  data::Encoding encoding;
  std::vector<double> w;
};

/// The file of a run's model: <out>/models/<id>.model.
std::string model_file(const std::string& out, const std::string& stem);
/// Whether it is there, and is whole by its checksum. Follows no link.
bool has_model(const std::string& out, const std::string& stem);
/// The first bytes of every file of a model.
std::string beginning_of_model();

/// Writes the parameters of a run.  data: those that it was trained on.  record: the run's, whose last evaluation was
/// of w.  Errors: EnvironmentError for a file that cannot be written.
void write_model(const std::string& file, const RunPlan& run, const data::Split& data, const models::Problem& problem,
                 const record::Record& record, std::span<const double> w);

/// The first line of the file.  Errors: EnvironmentError for a file that cannot be opened or read; ScenarioError for
/// one that is no model, or of a later version.
nlohmann::ordered_json heading_of_model(const std::string& file);
/// The model is checked as a whole (model_check.h): what the file says holds for its parameters and for its data.
/// Errors: as above; ScenarioError for a file that is cut short or damaged, for a model that this release does not
/// know, and for one that no training leaves.
SavedModel read_model(const std::string& file);

/// The model of one source of a mixture: its tower, the trunk and its head, for rows of this source.
/// Errors: ScenarioError for a source that the model does not have, and for a model without sources.
SavedModel model_of_source(const SavedModel& whole, const std::string& source);

}  // namespace simgrad::experiment
