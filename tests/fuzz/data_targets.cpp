/// Data files, from their bytes to training and test sets.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/errors.h"
#include "data/csv.h"
#include "data/gzip.h"
#include "data/idx.h"
#include "data/libsvm.h"
#include "data/npy.h"
#include "data/source.h"
#include "fuzz/targets.h"

namespace simgrad::fuzz {

namespace {

/// Chooses options by the input's last byte, which belongs to the file, too.
unsigned chooser(const std::string& bytes) { return bytes.empty() ? 0U : static_cast<std::uint8_t>(bytes.back()); }

/// Whether the text has a number of six digits or more, which may be an index. A dense matrix of so many columns takes
/// a second under the sanitizers.
bool wide(const std::string& bytes) {
  std::size_t digits = 0;
  for (const char c : bytes) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits == 6) return true;
  }
  return false;
}

void expect_sound(const data::Dataset& set, const data::Preparation& how) {
  const auto rows = static_cast<std::size_t>(set.rows);
  expect(set.targets.size() == rows, "targets are not one for each row");
  expect(set.sparse.any() || set.features.size() == rows * static_cast<std::size_t>(set.columns),
         "features are not rows times columns");
  expect(std::ranges::all_of(set.targets, [](double y) { return std::isfinite(y); }), "a target is not finite");
  expect(std::ranges::all_of(set.features, [](double x) { return std::isfinite(x); }), "a feature is not finite");
  if (how.task != data::Task::classification) return;
  for (const double y : set.targets)
    expect(y >= 0.0 && y < static_cast<double>(set.classes) && y == std::floor(y), "a target that is no class");
}

/// Returns the number of cells that were read.
template <class Kind>
std::size_t load(std::unique_ptr<Kind> source, data::Task task, bool sparse, bool test) {
  data::Options options;
  options.source = base::Slot<data::Source>(data::sources(), std::move(source));
  options.test_fraction = test ? 0.25 : 0.0;
  const data::Preparation how{.task = task, .bias = !sparse, .sparse = sparse};
  const data::Split split = data::load(options, how);
  expect_sound(split.train, how);
  expect_sound(split.test, how);
  return split.train.features.size() + split.test.features.size();
}

/// Loads for every task, a wide matrix for one. Returns after the last; the first refusal is thrown then.
template <class Make>
void load_each(const std::string& bytes, Make make) {
  using enum data::Task;
  std::string refusal;
  for (const data::Task task : {regression, classification, recommendation, clustering}) try {
      constexpr std::size_t many = 100'000;
      const bool sparse = chooser(bytes) % 4 == 3 || (wide(bytes) && chooser(bytes) % 16 != 0);
      if (load(make(), task, sparse, chooser(bytes) % 2 == 1) > many) break;
    } catch (const base::ScenarioError& error) {
      refusal += (refusal.empty() ? "" : "\n") + std::string(error.what());
    }
  if (!refusal.empty()) throw base::ScenarioError(refusal);
}

template <class Kind>
void read_arrays(const std::string& bytes) {
  const std::string path = files().write("array", bytes);
  for (const bool labels : {true, false})  // the array is its own labels: as many as rows
    load_each(bytes, [&] {
      auto source = std::make_unique<Kind>();
      source->path = path;
      if (labels) source->labels_path = path;
      return source;
    });
}

}  // namespace

void read_csv(const std::string& bytes) {
  const std::string path = files().write("data.csv", bytes);
  load_each(bytes, [&] {
    auto source = std::make_unique<data::Csv>();
    source->path = path;
    source->header = chooser(bytes) % 2 == 0;
    source->missing = static_cast<data::Csv::Missing>(chooser(bytes) / 2 % 3);
    if (chooser(bytes) % 5 == 1) source->separator = ";";
    if (chooser(bytes) % 3 == 1) source->decimal = ",";
    if (chooser(bytes) % 7 == 2) source->target = "0";
    return source;
  });
}

void read_libsvm(const std::string& bytes) {
  const std::string path = files().write("data.libsvm", bytes);
  load_each(bytes, [&] {
    auto source = std::make_unique<data::Libsvm>();
    source->path = path;
    return source;
  });
}

void read_idx(const std::string& bytes) { read_arrays<data::Idx>(bytes); }

void read_npy(const std::string& bytes) { read_arrays<data::Npy>(bytes); }

void read_gzip(const std::string& bytes) {
  constexpr std::size_t most = 1 << 16;
  if (data::gzipped(bytes)) expect(data::inflated(bytes, most, "data.gz").size() <= most, "more bytes than asked for");
  read_idx(bytes);
}

}  // namespace simgrad::fuzz
