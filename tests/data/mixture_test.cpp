// Mixtures: which rows a sample has, how long an epoch is, what is split and scaled, and what is refused.
#include "data/mixture.h"

#include <set>

#include "catch.h"
#include "data/blobs.h"
#include "data/encoding.h"
#include "data/files.h"
#include "data/house_prices.h"

namespace mixture_test {

using namespace simgrad;
using data::Dataset;
using data::Mixture;
using data::MixturePart;
using data::Options;
using data::Split;
using data::Task;

namespace {

MixturePart part(const char* kind, std::int64_t samples, std::int64_t features, std::int64_t rows = 1) {
  MixturePart mixture_part;
  mixture_part.source.choose(kind);
  mixture_part.samples = samples;
  mixture_part.features = features;
  mixture_part.rows = rows;
  return mixture_part;
}

Options mixture(std::vector<MixturePart> parts) {
  Options options;
  auto source = std::make_unique<Mixture>();
  source->parts = std::move(parts);
  options.source = {data::sources(), std::move(source)};
  return options;
}

Split loaded(const Options& options, bool shuffle = false) {
  return data::load(options, {.task = Task::mixture, .seed = 3, .shuffle = shuffle});
}

const Mixture& source_of(const Options& options) { return *options.source->mixture(); }

}  // namespace

TEST_CASE("a sample has so many rows of each source, and shorter sources come again") {
  Options options = mixture({part("blobs", 10, 2, 2), part("house_prices", 4, 3)});
  options.standardize = options.standardize_target = false;
  const Dataset set = loaded(options).train;
  const Dataset blobs = data::Blobs().load({.task = Task::classification, .seed = 3, .samples = 10, .features = 2});
  REQUIRE(set.rows == 5);
  REQUIRE(set.columns == 2 * 3 + 4);
  REQUIRE(set.parts.size() == 2);
  CHECK(set.parts[0].classes == 3);
  CHECK(set.parts[1].first == 6);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t k = 0; k < 2; ++k) {
      const auto row = set.row(i).subspan(static_cast<std::size_t>(3 * k), 3);
      CHECK(row[0] == blobs.row(2 * i + k)[0]);
      CHECK(row[1] == blobs.row(2 * i + k)[1]);
      CHECK(row[2] == blobs.targets[static_cast<std::size_t>(2 * i + k)]);
    }
  // The fifth sample has the first house again.
  for (std::size_t j = 6; j < 10; ++j) CHECK(set.row(4)[j] == set.row(0)[j]);
  CHECK(set.row(1)[6] != set.row(0)[6]);
  CHECK(set.feature_names.at(0) == "blobs[0].feature_1");
  CHECK(set.feature_names.at(5) == "blobs[1].class");
  CHECK(set.feature_names.at(9) == "house_prices.price");
}

TEST_CASE("the columns and samples of generators are known before they are made") {
  for (const double test_fraction : {0.0, 0.3}) {
    Options options = mixture({part("blobs", 11, 2, 2), part("house_prices", 7, 3), part("logistic", 9, 4, 3)});
    options.test_fraction = test_fraction;
    const Split split = loaded(options);
    CHECK(options.training_rows() == split.train.rows);
    CHECK(options.features_made() == split.train.columns);
    CHECK(source_of(options).outline().parts.at(0).classes == split.train.parts.at(0).classes);
    CHECK(source_of(options).outline().parts.at(2).first == split.train.parts.at(2).first);
  }
}

TEST_CASE("sources are split and scaled by themselves: no row is in both sets, and columns have mean 0") {
  Options options = mixture({part("house_prices", 40, 2), part("house_prices", 12, 2)});
  auto& parts = dynamic_cast<Mixture&>(*options.source.object()).parts;
  parts[0].name = "first";
  parts[1].name = "second";
  options.test_fraction = 0.25;
  const Split split = loaded(options, true);
  REQUIRE(split.train.rows == 30);
  REQUIRE(split.test.rows == 10);
  for (const std::int64_t column : {0, 1, 2}) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < 30; ++i) sum += split.train.row(i)[static_cast<std::size_t>(column)];
    CHECK(sum == Approx(0.0).margin(1e-9));
  }
  std::set<double> seen;
  for (std::int64_t i = 0; i < 30; ++i) seen.insert(split.train.row(i)[3]);
  CHECK(seen.size() == 9);
  for (std::int64_t i = 0; i < 10; ++i) CHECK_FALSE(seen.contains(split.test.row(i)[3]));
  // Two generators of one kind make unlike rows.
  CHECK(split.train.row(0)[0] != split.train.row(0)[3]);
  REQUIRE(split.encoding->parts.size() == 2);
  CHECK(split.encoding->part_names == std::vector<std::string>{"first", "second"});
  CHECK(split.encoding->parts[1].scaling.means.size() == 2);
}

TEST_CASE("mixtures that are none are refused, with the part at fault") {
  const auto refused = [](const Options& options, const std::string& text) {
    const std::string fault = data::task_refusal(options, Task::mixture) + data::size_refusal(options, true);
    CAPTURE(fault);
    CHECK(fault.find(text) != std::string::npos);
  };
  refused(mixture({}), "has no parts");
  refused(mixture({part("blobs", 3, 2, 4)}), "part \"blobs\": rows = 4 of every sample, but the source makes 3");
  Options with_samples = mixture({part("blobs", 3, 2)});
  with_samples.samples = 7;
  refused(with_samples, "samples with the data source \"mixture\"");
  MixturePart wrong = part("blobs", 3, 2);
  wrong.predicts = MixturePart::Predicts::number;
  CHECK_THROWS_WITH(loaded(mixture({wrong})), ContainsSubstring("part \"blobs\": data source \"blobs\" makes classes"));
  Options house;
  CHECK(data::task_refusal(house, Task::mixture).find("use source = \"mixture\"") != std::string::npos);
  CHECK(data::task_refusal(mixture({part("blobs", 3, 2)}), Task::regression).find("multimodal_perceptron") !=
        std::string::npos);
}

TEST_CASE("a file's target is a number or a class only if the part says it") {
  MixturePart csv;
  csv.source.choose("csv");
  CHECK_FALSE(csv.task());
  csv.predicts = MixturePart::Predicts::classes;
  CHECK(csv.task() == Task::classification);
  CHECK(part("house_prices", 1, 1).task() == Task::regression);
  CHECK(part("logistic", 1, 1).task() == Task::classification);
}

}  // namespace mixture_test
