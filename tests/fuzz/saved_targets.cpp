/// Files that an earlier command has left, with a checksum that has no key: whoever forges one recomputes it. So do the
/// targets, lest mutations stop there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/errors.h"
#include "base/hash.h"
#include "experiment/prediction/predict.h"
#include "experiment/saved/model_file.h"
#include "fuzz/targets.h"
#include "outputs/results.h"
#include "outputs/run_text.h"
#include "outputs/summary.h"
#include "record/invariants.h"
#include "values/contents.h"
#include "values/dispatcher.h"

namespace simgrad::fuzz {

namespace {

using data::Encoding;

constexpr std::size_t checksum_digits = 32;

/// The bytes with the checksum of those before it at their end.
std::string with_checksum(const std::string& bytes) {
  const std::string body = bytes.substr(0, bytes.size() - std::min(bytes.size(), checksum_digits));
  return body + base::hash(body);
}

std::string in_quotes(const std::string& cell) {
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

/// A table with a row for each of the first values of its columns, and with a target.
std::string table(const Encoding& encoding) {
  constexpr std::size_t rows = 5;
  std::vector<Encoding::Column> columns = encoding.columns;
  if (!encoding.target.name.empty()) columns.push_back(encoding.target);
  std::string text;
  const auto line = [&](const auto& cell) {
    for (std::size_t k = 0; k < columns.size(); ++k)
      text += (k > 0 ? std::string(1, encoding.separator) : "") + cell(k);
    text += '\n';
  };
  if (encoding.header) line([&](std::size_t k) { return in_quotes(columns[k].name); });
  for (std::size_t row = 0; row < rows; ++row)
    line([&](std::size_t k) {
      const auto& values = k < encoding.columns.size() ? columns[k].values : encoding.class_names;
      return values.empty() ? fmt::format("{}", row) : in_quotes(values[row % values.size()]);
    });
  return text;
}

/// Rows of a user and an item, the first and the last that are known.
std::string ratings(const Encoding& encoding) {
  const auto name = [](const std::vector<double>& names, std::int64_t count, bool last) {
    if (names.empty()) return static_cast<double>(last ? count - 1 : 0);
    return last ? names.back() : names.front();
  };
  std::string text;
  if (encoding.header && encoding.columns.size() == 2)
    text = in_quotes(encoding.columns[0].name) + encoding.separator + in_quotes(encoding.columns[1].name) + "\n";
  for (const bool last : {false, true})
    text += fmt::format("{}{}{}\n", name(encoding.users, encoding.user_count, last), encoding.separator,
                        name(encoding.items, encoding.item_count, last));
  return text;
}

/// Rows with the first and the last feature, and one without any.
std::string entries(const Encoding& encoding) {
  const std::string label = encoding.class_names.empty() ? "1" : encoding.class_names.back();
  const std::int64_t first = encoding.first_index, last = first + encoding.features - 1;
  std::string text = fmt::format("{0} {1}:1\n{0} {2}:2\n{0}\n", label, first, last);
  if (encoding.fields <= 0 || encoding.fields > 64) return text;
  text += label;
  for (std::int64_t i = 0; i < encoding.fields; ++i) text += fmt::format(" {}:1", first + i);
  return text + "\n";
}

/// The first and the last token, some times.
std::string tokens(const Encoding& encoding) {
  std::string text;
  const auto last = static_cast<std::uint32_t>(std::max<std::int64_t>(encoding.vocabulary, 1) - 1);
  for (int i = 0; i < 9; ++i) {
    text += data::token_text(encoding, i % 2 == 0 ? last : 0);
    if (encoding.form == Encoding::Form::tokens) text += ' ';
  }
  return text;
}

/// A file of the form that the encoding asks for.
std::string rows_of(const Encoding& encoding) {
  switch (encoding.form) {
    case Encoding::Form::table:
      return table(encoding);
    case Encoding::Form::ratings:
      return ratings(encoding);
    case Encoding::Form::sparse:
      return entries(encoding);
    case Encoding::Form::text:
    case Encoding::Form::tokens:
      break;
  }
  return tokens(encoding);
}

void predict(const experiment::SavedModel& model) {
  experiment::PredictionRequest request;
  request.data = files().write("rows", rows_of(model.encoding));
  request.out = files().write("predicted.csv", "");
  for (const data::Unseen unseen : {data::Unseen::refuse, data::Unseen::ignore}) {
    request.unseen = unseen;
    experiment::predict(model, request);
  }
  if (model.encoding.task != data::Task::text) return;
  request.tokens = 2;
  experiment::predict(model, request);
}

}  // namespace

void read_model(const std::string& bytes) {
  const experiment::SavedModel model = experiment::read_model(files().write("forged.model", with_checksum(bytes)));
  if (model.encoding.parts.empty()) return predict(model);
  for (const std::string& source : model.encoding.part_names) predict(experiment::model_of_source(model, source));
}

/// A few operations on tensors that the state may have: those whose lineages the corpus knows.
void read_state(const std::string& bytes) {
  auto known = values::contents_of(with_checksum(bytes));
  if (!known) return;
  values::Dispatcher dispatcher(
      {.numbers = false, .lineages = true, .known = std::make_shared<const values::Contents>(std::move(*known))});
  for (const std::int64_t size : {1, 2, 5}) {
    values::Tensor x = dispatcher.zeros(size);
    for (int i = 0; i < 8; ++i)
      x = dispatcher.dispatch({.name = "next"}, size, {&x, 1},
                              [](std::span<const std::span<const double>> in, std::span<double> result) {
                                for (std::size_t k = 0; k < result.size(); ++k) result[k] = in[0][k] + 1.0;
                              });
    const values::Tensor sum = x + x;
    if (!sum.timing_only()) expect(sum.value().size() == static_cast<std::size_t>(size), "a tensor of another length");
  }
  const auto again = values::contents_of(values::text_of(*values::contents_of(with_checksum(bytes))));
  expect(again.has_value(), "a state that is written again is none");
}

void read_record(const std::string& bytes) {
  const std::optional<outputs::Run> quickly = outputs::run_from_text(bytes);
  const outputs::Run run = outputs::run_from_json(outputs::parse_json(bytes));
  if (quickly) expect(outputs::text_of(*quickly) == outputs::text_of(run), "two readers of one record differ");
  if (!record::violated_invariant(run.record).empty()) return;
  const std::string text = outputs::text_of(run);
  expect(outputs::text_of(outputs::run_from_json(outputs::parse_json(text))) == text,
         "a record that is read back differs");
}

}  // namespace simgrad::fuzz
