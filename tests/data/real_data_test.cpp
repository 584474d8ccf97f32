#include <chrono>
#include <vector>

#include "catch.h"
#include "data/csv.h"
#include "data/files.h"
#include "data/libsvm.h"

namespace real_data_test {

using namespace simgrad;
using data::test::fault;
using data::test::real_file;
using Names = std::vector<std::string>;

namespace {

std::optional<data::Csv> california() {
  const auto path = real_file("california_housing.csv");
  if (!path) {
    WARN("skipped: SIMGRAD_TEST_DATA is unset");
    return std::nullopt;
  }
  data::Csv csv;
  csv.path = *path;
  csv.target = "median_house_value";
  csv.missing = data::Csv::Missing::mean;
  return csv;
}

}  // namespace

TEST_CASE("California housing has 20640 rows, 8 numbers and 5 ocean proximities") {
  const auto csv = california();
  if (!csv) return;
  const auto start = std::chrono::steady_clock::now();
  const data::Dataset set = csv->load({});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  UNSCOPED_INFO("read in " << elapsed.count() << " s");
  CHECK(set.rows == 20640);
  // 9 numeric columns less the target, and one a proximity.
  CHECK(set.columns == 9 - 1 + 5);
  CHECK(set.feature_names[4] == "total_bedrooms");
  CHECK(Names(set.feature_names.begin() + 8, set.feature_names.end()) ==
        Names{"ocean_proximity=<1H OCEAN", "ocean_proximity=INLAND", "ocean_proximity=ISLAND",
              "ocean_proximity=NEAR BAY", "ocean_proximity=NEAR OCEAN"});
  // The file's second line.
  CHECK(std::vector<double>(set.row(0).begin(), set.row(0).end()) ==
        std::vector<double>{-122.23, 37.88, 41, 880, 129, 322, 126, 8.3252, 0, 0, 0, 1, 0});
  CHECK(set.targets[0] == 452600.0);
  // Ten times what it takes on a slow machine: finds a quadratic reader, not a busy host.
  CHECK(elapsed.count() < 1.0);
}

TEST_CASE("California housing loses its 207 rows without bedrooms to drop") {
  auto csv = california();
  if (!csv) return;
  csv->missing = data::Csv::Missing::drop;
  CHECK(csv->load({}).rows == 20640 - 207);
}

TEST_CASE("California housing is refused by default at its first missing cell") {
  auto csv = california();
  if (!csv) return;
  csv->missing = data::Csv::Missing::refuse;
  CHECK(fault([&] { return csv->load({}); }) ==
        csv->path +
            ":292: column \"total_bedrooms\" has no value here and in 206 other lines, expected one; set "
            "missing = \"drop\" or \"mean\"");
}

TEST_CASE("heart_scale has 270 rows, 13 features and two classes") {
  const auto path = real_file("heart_scale.libsvm");
  if (!path) {
    WARN("skipped: SIMGRAD_TEST_DATA is unset");
    return;
  }
  data::Libsvm libsvm;
  libsvm.path = *path;
  const data::Dataset set = libsvm.load({.task = data::Task::classification});
  CHECK(set.rows == 270);
  CHECK(set.columns == 13);
  CHECK(set.class_names == Names{"-1", "1"});
  // The file's first line: label +1, feature 11 left out.
  CHECK(set.targets[0] == 1.0);
  CHECK(set.row(0)[0] == 0.708333);
  CHECK(set.row(0)[10] == 0.0);
  CHECK(set.row(0)[12] == -1.0);
}

}  // namespace real_data_test
