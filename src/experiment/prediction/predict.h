/// Answers from a trained model: predictions for the rows or the text of a file, in a CSV file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/new_rows.h"
#include "experiment/saved/model_file.h"

namespace simgrad::experiment {

struct PredictionRequest {
  std::string data;  ///< the file of rows or of text
  std::string out;   ///< the CSV file; packed if its name ends in ".gz"
  data::Unseen unseen = data::Unseen::refuse;
  std::optional<std::int64_t> tokens;  ///< continues the text by so many tokens
};

struct Predictions {
  std::int64_t rows = 0;            ///< lines in the CSV file: rows, or tokens of a text
  std::int64_t left_out = 0;        ///< rows with a missing cell
  std::int64_t scored = 0;          ///< rows with a target; of a text the tokens of whole sequences
  std::optional<double> loss = {};  ///< the mean over them, with the penalty, as a run evaluates it
  bool standardised = false;        ///< whether that loss is of targets in units of their standard deviation
  std::optional<double> rmse = {};  ///< of numbers: the root mean square error over them, in the target's own units
  std::string metric_name = {};     ///< "accuracy" or "r2"; empty: none
  std::optional<double> metric = {};
  std::string continuation = {};  ///< the tokens that were asked for, as text
};

/// Predicts every row of the file, a block at a time; rows have the same preprocessing as in the training.
/// Errors: those of data::read_new_rows and data::read_new_tokens; ScenarioError for tokens that are asked of a model
/// of rows; EnvironmentError for a file that cannot be written.
Predictions predict(const SavedModel& model, const PredictionRequest& request);

// Its two cases.
Predictions predict_rows(const SavedModel& model, const PredictionRequest& request);
Predictions predict_text(const SavedModel& model, const PredictionRequest& request);

}  // namespace simgrad::experiment
