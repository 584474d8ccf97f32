/// The encoding of a model's data, held against what the readers of further rows rely on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "data/limits.h"
#include "experiment/saved/model_check.h"

namespace simgrad::experiment {

namespace {

using data::Encoding;
using data::Task;
using models::Predicts;

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

template <class T>
bool ascending(const std::vector<T>& all) {
  return std::ranges::adjacent_find(all, std::greater_equal<T>()) == all.end();
}

bool is_text(const Encoding& encoding) {
  return encoding.form == Encoding::Form::text || encoding.form == Encoding::Form::tokens;
}

/// Whether the task is one that the kind of model can have been trained for.
bool suits(Predicts predicts, Task task) {
  switch (predicts) {
    case Predicts::number:
      return task == Task::regression;
    case Predicts::classes:
      return task == Task::classification;
    case Predicts::number_or_class:
      return task == Task::regression || task == Task::classification;
    case Predicts::rating:
      return task == Task::recommendation;
    case Predicts::tokens:
      return task == Task::text;
    case Predicts::cluster:
      return task == Task::clustering;
    case Predicts::mixture:
      return task == Task::mixture;
  }
  return false;
}

/// A row's classes are those of the task.
bool classes_suit(Task task, std::size_t classes) {
  if (task == Task::clustering) return classes <= data::values_most;
  return task == Task::classification ? classes >= 2 && classes <= data::values_most : classes == 0;
}

std::string form_fault(const Encoding& encoding) {
  if (is_text(encoding) != (encoding.task == Task::text) ||
      (encoding.form == Encoding::Form::ratings) != (encoding.task == Task::recommendation))
    return "a form of rows that is of another task";
  if (std::string_view("\"\n\r").find(encoding.separator) != std::string_view::npos)
    return "a separator that no table has";
  if (encoding.form == Encoding::Form::sparse && !encoding.columns.empty()) return "columns, which no LIBSVM file has";
  if (encoding.first_index < 0 || encoding.first_index > 1)
    return fmt::format("first_index = {}, expected 0 or 1", encoding.first_index);
  return {};
}

std::string column_fault(const Encoding& encoding, const Encoding::Column& column) {
  const bool placed = column.place >= 0 && column.place < encoding.file_columns;
  if (!placed && (column.place != -1 || !encoding.header)) return "a column that stands outside of its file";
  const double values = static_cast<double>(column.values.size());
  if (column.values.size() > data::values_most) return "a column of more values than a column may have";
  const bool index = column.substitute >= 0.0 && column.substitute < std::max(values, 1.0) &&
                     column.substitute == std::floor(column.substitute);
  if (values > 0.0 ? !index : !std::isfinite(column.substitute)) return "a column whose missing cells have no value";
  return {};
}

/// The columns of a CSV file, and how many features they make.
std::string columns_fault(const Encoding& encoding) {
  if (encoding.file_columns < 0 || encoding.file_columns > data::columns_most)
    return fmt::format("file_columns = {}, expected at most {}", encoding.file_columns, data::columns_most);
  std::int64_t features = 0;
  std::set<std::int64_t> places;
  if (encoding.target.place >= 0) places.insert(encoding.target.place);
  for (const Encoding::Column& column : encoding.columns) {
    if (std::string fault = column_fault(encoding, column); !fault.empty()) return fault;
    if (column.place >= 0 && !places.insert(column.place).second) return "two columns in one place of its file";
    features += std::max<std::int64_t>(1, static_cast<std::int64_t>(column.values.size()));
  }
  const bool target =
      encoding.target.place >= -1 && encoding.target.place < std::max<std::int64_t>(1, encoding.file_columns);
  if (!target || !encoding.target.values.empty()) return "a target that stands outside of its file";
  const bool table = encoding.form == Encoding::Form::table && encoding.task != Task::mixture;
  if (encoding.form == Encoding::Form::ratings ? encoding.columns.size() != 2 || features != 2
                                               : table && features != encoding.features)
    return fmt::format("columns of {} features, expected {}", features, encoding.features);
  return {};
}

/// The whole numbers that are users or items.
bool names_suit(const std::vector<double>& names, std::int64_t count) {
  return names.empty() || (static_cast<std::int64_t>(names.size()) == count && all_finite(names) && ascending(names));
}

std::string ratings_fault(const Encoding& encoding) {
  const bool ratings = encoding.task == Task::recommendation;
  const bool counted = ratings ? encoding.user_count > 0 && encoding.item_count > 0 && encoding.features == 2
                               : encoding.user_count == 0 && encoding.item_count == 0 && encoding.users.empty() &&
                                     encoding.items.empty();
  if (!counted || !names_suit(encoding.users, encoding.user_count) || !names_suit(encoding.items, encoding.item_count))
    return "users or items that are not those of its ratings";
  return {};
}

std::string tokens_fault(const Encoding& encoding) {
  constexpr std::int64_t bytes = 256;
  constexpr std::uint32_t code_points_end = 0x110000;
  const auto characters = static_cast<std::int64_t>(encoding.characters.size());
  const bool any = encoding.form == Encoding::Form::text && characters > 0;
  const bool known = !is_text(encoding)                      ? encoding.vocabulary == 0
                     : any                                   ? encoding.vocabulary == characters
                     : encoding.form == Encoding::Form::text ? encoding.vocabulary == bytes
                                                             : encoding.vocabulary >= 2;
  const bool sound =
      characters == 0 || (any && ascending(encoding.characters) && encoding.characters.back() < code_points_end);
  return known && sound ? std::string() : "tokens that are not those of its vocabulary";
}

/// columns: that are scaled, if any are.  named: how many names there may be more than columns.
bool scaling_suits(const data::Scaling& scaling, std::int64_t columns, std::size_t named) {
  const std::size_t count = scaling.means.size();
  if (scaling.deviations.size() != count) return false;
  if (count == 0) return scaling.names.empty();
  const bool names = scaling.names.size() == count || scaling.names.size() == count + named;
  return static_cast<std::int64_t>(count) == columns && names && all_finite(scaling.means) &&
         all_finite(scaling.deviations) && std::ranges::all_of(scaling.deviations, [](double x) { return x > 0.0; });
}

std::string scalings_fault(const Encoding& encoding) {
  const bool numbers = encoding.task == Task::regression || encoding.task == Task::recommendation;
  const bool quantities =
      encoding.task == Task::regression || encoding.task == Task::classification || encoding.task == Task::clustering;
  const std::size_t bias = encoding.bias ? 1 : 0;
  if (!scaling_suits(encoding.scaling, quantities ? encoding.features : 0, bias) ||
      !scaling_suits(encoding.target_scaling, numbers ? 1 : 0, 0))
    return "a scaling of other columns than its own";
  return {};
}

/// Faults that do not depend on the model.
std::string own_fault(const Encoding& encoding) {
  if (encoding.features < 1 || encoding.features >= data::keys_most)
    return fmt::format("features = {}, expected 1 to {}", encoding.features, data::keys_most - 1);
  // The constant feature of rows that were dense is a field, too.
  const std::int64_t fields_most = encoding.sparse ? encoding.features + (encoding.bias ? 1 : 0) : 0;
  if (encoding.fields < 0 || encoding.fields > fields_most)
    return fmt::format("fields = {}, expected fewer", encoding.fields);
  if (!classes_suit(encoding.task, encoding.class_names.size()))
    return fmt::format("{} classes, which are not those of its task", encoding.class_names.size());
  for (const auto fault : {form_fault, columns_fault, ratings_fault, tokens_fault, scalings_fault})
    if (std::string found = fault(encoding); !found.empty()) return found;
  return {};
}

std::string part_fault(const Encoding& part, const models::SourceShape& source) {
  if (!part.parts.empty() || !part.part_names.empty() || part.sparse || part.bias ||
      !suits(Predicts::number_or_class, part.task))
    return "a part of another kind than its sources";
  if (part.features != source.features || static_cast<int>(part.class_names.size()) != source.classes)
    return "a part of another shape than its source";
  return own_fault(part);
}

std::string parts_fault(const models::Problem& problem, const Encoding& encoding) {
  const std::set<std::string> names(encoding.part_names.begin(), encoding.part_names.end());
  if (encoding.parts.size() != problem.sources.size() || encoding.part_names.size() != problem.sources.size() ||
      names.size() != encoding.part_names.size())
    return "other parts than sources";
  for (std::size_t s = 0; s < problem.sources.size(); ++s)
    if (std::string fault = part_fault(encoding.parts[s], problem.sources[s]); !fault.empty()) return fault;
  return {};
}

}  // namespace

std::string encoding_fault(const models::Model& model, const models::Problem& problem, const Encoding& encoding) {
  if (!suits(model.predicts(), encoding.task)) return "the task of another kind of model";
  if (std::string fault = own_fault(encoding); !fault.empty()) return fault;
  if (encoding.bias != model.constant_feature() || encoding.sparse != model.takes_sparse_rows() ||
      encoding.features + (encoding.bias ? 1 : 0) != problem.features || encoding.fields != problem.fields ||
      (problem.nonzeros > 0.0 && !encoding.sparse))
    return "rows of another shape than its model";
  if (encoding.vocabulary != problem.vocabulary || encoding.user_count != problem.users ||
      encoding.item_count != problem.items || static_cast<int>(encoding.class_names.size()) != problem.classes)
    return "other classes, tokens, users or items than its model";
  return parts_fault(problem, encoding);
}

}  // namespace simgrad::experiment
