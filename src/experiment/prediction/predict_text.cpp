/// Predictions for the tokens of a text, and its continuation.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/errors.h"
#include "experiment/prediction/tally.h"
#include "outputs/csv_cell.h"
#include "outputs/files/byte_file.h"
#include "training/learning/samples.h"

namespace simgrad::experiment {

namespace {

using Tokens = std::vector<std::uint32_t>;

/// A token as a cell: control characters and bytes beyond ASCII are escaped, so that every line is one of the table.
std::string cell_of(const data::Encoding& encoding, std::uint32_t token) {
  const std::string text = data::token_text(encoding, token);
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      shown += "\\n";
    else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && text.size() == 1))
      shown += fmt::format("\\x{:02X}", byte);
    else
      shown += c;
  }
  return outputs::csv_cell(shown);
}

/// Applies the model to stretches of a text.
class TextModel {
 public:
  explicit TextModel(const SavedModel& model)
      : model_(model),
        length_(static_cast<std::size_t>(model.problem.features)),
        vocabulary_(static_cast<std::size_t>(model.model->prediction_size(model.problem)) / length_) {}

  std::size_t length() const { return length_; }
  std::size_t vocabulary() const { return vocabulary_; }

  /// Rows of whole sequences from a token on, each with the token behind it as its target.
  data::Dataset rows(const Tokens& tokens, std::size_t first, std::size_t count) const {
    data::Dataset set = empty(count);
    for (std::size_t i = 0; i < count * length_; ++i) set.features[i] = tokens[first + i];
    for (std::size_t r = 0; r < count; ++r) set.targets[r] = tokens[first + (r + 1) * length_];
    return set;
  }
  /// One row that begins with these tokens, which are at most a sequence. No token depends on those behind it, so that
  /// the rest may be anything.
  data::Dataset beginning(std::span<const std::uint32_t> tokens) const {
    data::Dataset set = empty(1);
    std::ranges::copy(tokens, set.features.begin());
    return set;
  }
  /// The probabilities of each row's next tokens: (rows, length, vocabulary).
  std::vector<double> next_tokens(const data::Dataset& rows) const {
    std::vector<double> p(static_cast<std::size_t>(rows.rows) * length_ * vocabulary_);
    model_.model->predict_in(training::travels_as(model_.precision), model_.problem, training::samples_of(rows),
                             model_.w, p);
    return p;
  }

 private:
  data::Dataset empty(std::size_t count) const {
    data::Dataset set;
    set.rows = static_cast<std::int64_t>(count);
    set.columns = static_cast<std::int64_t>(length_);
    set.features.resize(count * length_, 0.0);
    set.targets.resize(count);
    return set;
  }

  const SavedModel& model_;
  std::size_t length_, vocabulary_;
};

std::size_t likeliest(std::span<const double> p) {
  return static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
}

/// The line of the token at a position, from 0, with the probabilities behind it.
std::string line_of(const data::Encoding& encoding, const Tokens& tokens, std::size_t at, std::span<const double> p) {
  const auto best = likeliest(p);
  std::string line = fmt::format("{},{},{},", at + 1, tokens[at], cell_of(encoding, tokens[at]));
  if (at + 1 < tokens.size())
    line += fmt::format("{},{},{},", tokens[at + 1], cell_of(encoding, tokens[at + 1]), p[tokens[at + 1]]);
  else
    line += ",,,";
  const std::string text =
      best < static_cast<std::size_t>(encoding.vocabulary) ? cell_of(encoding, static_cast<std::uint32_t>(best)) : "";
  return line + fmt::format("{},{},{}\n", best, text, p[best]);
}

void predict_tokens(const SavedModel& model, const Tokens& tokens, outputs::ByteFile& out, Predictions& outcome) {
  constexpr std::size_t numbers_at_once = std::size_t{1} << 21;
  const TextModel text(model);
  const std::size_t T = text.length(), whole = (tokens.size() - 1) / T;
  out.write("position,token,text,next,next_text,next_probability,predicted,predicted_text,predicted_probability\n");
  const auto write = [&](const data::Dataset& rows, std::size_t first, std::size_t count) {
    const std::vector<double> p = text.next_tokens(rows);
    for (std::size_t i = 0; i < count; ++i)
      out.write(
          line_of(model.encoding, tokens, first + i, std::span(p).subspan(i * text.vocabulary(), text.vocabulary())));
  };
  const std::size_t at_once = std::max<std::size_t>(1, numbers_at_once / (T * text.vocabulary()));
  for (std::size_t r = 0; r < whole; r += at_once) {
    const std::size_t count = std::min(at_once, whole - r);
    write(text.rows(tokens, r * T, count), r * T, count * T);
  }
  for (std::size_t first = whole * T; first < tokens.size(); first += T) {
    const std::size_t count = std::min(T, tokens.size() - first);
    write(text.beginning(std::span(tokens).subspan(first, count)), first, count);
  }
  outcome.rows = static_cast<std::int64_t>(tokens.size());
  ScoreTally tally(model);
  constexpr std::size_t rows_a_block = 2048;
  for (std::size_t r = 0; r < whole; r += rows_a_block) {
    const data::Dataset rows = text.rows(tokens, r * T, std::min(rows_a_block, whole - r));
    tally.add(training::samples_of(rows), static_cast<std::int64_t>(T));
  }
  tally.fill(outcome);
}

void continue_text(const SavedModel& model, Tokens tokens, std::int64_t count, outputs::ByteFile& out,
                   Predictions& outcome) {
  const TextModel text(model);
  const auto known = static_cast<std::size_t>(model.encoding.vocabulary);
  out.write("position,token,text,probability\n");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t seen = std::min(text.length(), tokens.size());
    const std::vector<double> p = text.next_tokens(text.beginning(std::span(tokens).last(seen)));
    const std::size_t best = likeliest(std::span(p).subspan((seen - 1) * text.vocabulary(), known));
    const auto token = static_cast<std::uint32_t>(best);
    tokens.push_back(token);
    out.write(fmt::format("{},{},{},{}\n", tokens.size(), token, cell_of(model.encoding, token),
                          p[(seen - 1) * text.vocabulary() + best]));
    const bool numbers = model.encoding.form == data::Encoding::Form::tokens && i > 0;
    outcome.continuation += (numbers ? " " : "") + data::token_text(model.encoding, token);
  }
  outcome.rows = count;
}

}  // namespace

Predictions predict_text(const SavedModel& model, const PredictionRequest& request) {
  const Tokens tokens = data::read_new_tokens(model.encoding, request.data);
  if (tokens.empty()) throw base::ScenarioError(fmt::format("{}:1:1: no token, expected a text", request.data));
  Predictions outcome;
  outputs::ByteFile out(request.out, outputs::NamedBy::command_line);
  if (request.tokens)
    continue_text(model, tokens, *request.tokens, out, outcome);
  else
    predict_tokens(model, tokens, out, outcome);
  out.close();
  return outcome;
}

Predictions predict(const SavedModel& model, const PredictionRequest& request) {
  if (model.encoding.task == data::Task::text) return predict_text(model, request);
  if (request.tokens)
    throw base::ScenarioError(
        fmt::format("--tokens {}: {} predicts rows, expected a model of text", *request.tokens, model.kind));
  return predict_rows(model, request);
}

}  // namespace simgrad::experiment
