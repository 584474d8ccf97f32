// The memory that data take while they are loaded.
#include <sys/resource.h>

#include <string>

#include "base/child_process.h"
#include "catch.h"
#include "data/binary_files.h"
#include "data/files.h"
#include "data/idx.h"
#include "data/source.h"

namespace placing_test {

using namespace simgrad;
using data::Options;
using data::Preparation;
using data::Split;
using data::test::Folder;
using data::test::idx_header;

namespace {

constexpr std::int64_t rows = 2000, columns = 2000;

/// The most memory that loading took in a process of its own, over that of the numbers.
double memory_of_loading(const Options& options, const Preparation& preparation) {
  const auto end = base::run_in_child([&] {
    rusage before = {}, after = {};
    getrusage(RUSAGE_SELF, &before);
    const Split split = data::load(options, preparation);
    getrusage(RUSAGE_SELF, &after);
    if (split.train.rows + split.test.rows != rows) return std::string("rows are lost");
    return std::to_string(after.ru_maxrss - before.ru_maxrss);  // KiB
  });
  return 1024.0 * std::stod(end.text) / static_cast<double>(rows * columns * sizeof(double));
}

}  // namespace

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("generated data are in memory once, also while they are made") {
  for (const char* kind : {"house_prices", "logistic", "blobs"}) {
    CAPTURE(kind);
    Options options;
    REQUIRE(options.source.choose(kind));
    options.samples = rows;
    options.features = columns;
    options.test_fraction = 0.25;
    const data::Task task = std::string(kind) == "house_prices" ? data::Task::regression : data::Task::classification;
    CHECK(memory_of_loading(options, {.task = task, .bias = true}) < 1.3);
  }
}

TEST_CASE("data from a file are in memory once, beside the file and a copy of the test set") {
  const Folder folder;
  Options options;
  REQUIRE(options.source.choose("idx"));
  auto& idx = dynamic_cast<data::Idx&>(*options.source.object());
  const auto lengths = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  idx.path = folder.file("x.idx", idx_header(0x08, {lengths(rows), lengths(columns)}) +
                                      std::string(static_cast<std::size_t>(rows * columns), 'x'));
  idx.labels_path = folder.file("y.idx", idx_header(0x08, {lengths(rows)}) + std::string(rows, 'y'));
  options.test_fraction = 0.1;
  // A byte a number in the file, eight in memory: 1 + 1/8 + 0.1.
  CHECK(memory_of_loading(options, {.task = data::Task::regression}) < 1.4);
}
#endif

}  // namespace placing_test
