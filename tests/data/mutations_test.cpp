#include <cmath>
#include <string>

#include "base/random.h"
#include "catch.h"
#include "data/binary_files.h"
#include "data/csv.h"
#include "data/files.h"
#include "data/idx.h"
#include "data/libsvm.h"
#include "data/npy.h"

namespace mutations_test {

using namespace simgrad;

namespace {

/// Cuts the text, and replaces, inserts or erases up to three bytes, often ones that have a meaning in the format.
std::string mutated(std::string text, std::uint64_t seed) {
  static constexpr std::string_view meaningful(",;\"\n\r\t :#.+-eE?0919nainfqid\0\xEF\xFF", 31);
  base::Stream stream({.seed = seed, .purpose = base::Purpose::test});
  if (stream.below(2) == 0) text.resize(stream.below(text.size() + 1));
  const auto changes = stream.below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const char byte =
        stream.below(4) == 0 ? static_cast<char>(stream.below(256)) : meaningful[stream.below(meaningful.size())];
    const auto at = stream.below(text.size() + 1);
    switch (stream.below(3)) {
      case 0:
        text.insert(at, 1, byte);
        break;
      case 1:
        if (at < text.size()) text[at] = byte;
        break;
      default:
        text.erase(at, 1 + stream.below(3));
        break;
    }
  }
  return text;
}

/// Checks a data set: every cell is finite, every class in range.
void check_whole(const data::Dataset& set) {
  REQUIRE(set.rows >= 1);
  REQUIRE(set.columns >= 1);
  REQUIRE(set.features.size() == static_cast<std::size_t>(set.rows * set.columns));
  REQUIRE(set.targets.size() == static_cast<std::size_t>(set.rows));
  REQUIRE(set.feature_names.size() == static_cast<std::size_t>(set.columns));
  for (const double x : set.features) REQUIRE(std::isfinite(x));
  for (const double y : set.targets) REQUIRE(std::isfinite(y));
  if (set.classes > 0)
    for (const double y : set.targets) REQUIRE((y >= 0.0 && y < set.classes));
}

}  // namespace

TEST_CASE("a mutated CSV text is read whole or refused with a position") {
  const std::string text =
      "area,\"town, or "
      "not\",rooms,kind\r\n100,Rome,4,flat\n80.5,\"Bo\"\"nn\",?,house\n\n+3e2,\"Ro\nme\",5,flat\n,NA,1,flat\n";
  int whole = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    data::Csv csv;
    csv.path = "t.csv";
    csv.missing = static_cast<data::Csv::Missing>(seed % 3);
    const auto task = seed % 2 == 0 ? data::Task::regression : data::Task::classification;
    if (seed % 5 == 0) csv.target = "0";
    csv.header = seed % 7 != 0;
    try {
      check_whole(csv.read(mutated(text, seed), {.task = task}));
      ++whole;
    } catch (const base::ScenarioError& error) {
      REQUIRE(std::string(error.what()).starts_with("t.csv:"));
      ++refused;
    }
  }
  // Both outcomes must occur.
  CHECK(whole > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("a mutated LIBSVM text is read whole or refused with a position") {
  const std::string text = "+1 1:0.5 3:-1e2\n-1 qid:4 2:7 # why\r\n\n+1 1:1 2:2 3:3\n";
  int whole = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    data::Libsvm libsvm;
    libsvm.path = "t.svm";
    const auto task = seed % 2 == 0 ? data::Task::regression : data::Task::classification;
    try {
      check_whole(libsvm.read(mutated(text, seed), {.task = task}));
      ++whole;
    } catch (const base::ScenarioError& error) {
      REQUIRE(std::string(error.what()).starts_with("t.svm:"));
      ++refused;
    }
  }
  CHECK(whole > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("mutated IDX and NPY bytes are read whole or refused by name") {
  using namespace data::test;
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  const std::vector<std::uint8_t> classes{0, 1, 0};
  const std::string idx_samples = idx_header(0x0E, {3, 2}) + bytes_of(numbers, true);
  const std::string idx_labels = idx_header(0x08, {3}) + bytes_of(classes, true);
  const std::string npy_samples = npy_file(npy_dictionary("<f8", "(3, 2)"), bytes_of(numbers, false));
  const std::string npy_labels = npy_file(npy_dictionary("|u1", "(3,)"), bytes_of(classes, false));
  int whole = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    const data::Request request{.task = seed % 4 < 2 ? data::Task::regression : data::Task::classification};
    try {
      if (seed % 2 == 0) {
        data::Idx idx;
        idx.path = idx.labels_path = "t.bin";
        check_whole(
            idx.read(mutated(idx_samples, seed), seed % 3 == 0 ? mutated(idx_labels, seed) : idx_labels, request));
      } else {
        data::Npy npy;
        npy.path = npy.labels_path = "t.bin";
        check_whole(
            npy.read(mutated(npy_samples, seed), seed % 3 == 0 ? mutated(npy_labels, seed) : npy_labels, request));
      }
      ++whole;
    } catch (const base::ScenarioError& error) {
      REQUIRE(std::string(error.what()).starts_with("t.bin:"));
      ++refused;
    }
  }
  CHECK(whole > 1000);
  CHECK(refused > 1000);
}

}  // namespace mutations_test
