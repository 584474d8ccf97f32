#include <vector>

#include "catch.h"
#include "data/csv.h"
#include "data/describer.h"
#include "data/files.h"
#include "data/source.h"

namespace options_test {

using namespace simgrad;
using data::Options;
using data::test::Folder;
using data::test::Notes;
using Names = std::vector<std::string>;

namespace {

Notes notes_of(Options& options) {
  Notes notes;
  options.describe(notes);
  return notes;
}

Options file_options(const std::string& kind, const std::string& path) {
  Options options;
  REQUIRE(options.source.choose(kind));
  if (auto* csv = dynamic_cast<data::Csv*>(options.source.object())) csv->path = path;
  return options;
}

}  // namespace

TEST_CASE("the data sources are registered by name, each with a summary") {
  Names kinds;
  for (const auto& entry : data::sources().entries()) {
    kinds.emplace_back(entry.about.kind);
    CHECK(!entry.about.summary.empty());
    CHECK(entry.make() != nullptr);
  }
  CHECK(kinds == Names{"house_prices", "blobs", "logistic", "csv", "libsvm", "idx", "npy", "ratings", "click_log",
                       "text", "markov", "mixture"});
}

TEST_CASE("the data section describes its options and those of the source") {
  Options options;
  CHECK(notes_of(options).keys == Names{"source", "noise", "correlation", "zero_weights", "samples", "features",
                                        "test_fraction", "standardize", "standardize_target"});
  Options file = file_options("csv", "t.csv");
  CHECK(notes_of(file).keys == Names{"source", "path", "target", "user", "item", "ignore", "header", "separator",
                                     "decimal", "missing", "samples", "features", "test_fraction", "standardize",
                                     "standardize_target"});
}

TEST_CASE("the default values of every source are within their bounds") {
  for (const auto& entry : data::sources().entries()) {
    Options options;
    options.source.choose(entry.about.kind);
    const Notes notes = notes_of(options);
    CHECK(notes.refused.size() == options.source->files().size());
  }
  CHECK(data::Options().samples_made() == 1000);
  CHECK(data::Options().features_made() == 10);
}

TEST_CASE("samples and features are at least one") {
  Options options;
  const Notes notes = notes_of(options);
  CHECK(!notes.bounds.at("samples").contains(0.0));
  CHECK(!notes.bounds.at("features").contains(0.0));
  CHECK(notes.bounds.at("features").contains(1.0));
}

TEST_CASE("a test fraction of one is refused") {
  Options options;
  options.test_fraction = 1.0;
  CHECK(notes_of(options).refused.at("test_fraction") == "test_fraction = 1 leaves no rows to train on, expected less");
}

TEST_CASE("a file source without a path is refused") {
  Options csv = file_options("csv", "");
  CHECK(notes_of(csv).refused.at("path") == "the data source \"csv\" needs the path of a file");
  Options libsvm = file_options("libsvm", "");
  CHECK(notes_of(libsvm).refused.at("path") == "the data source \"libsvm\" needs the path of a file");
  for (const std::string kind : {"idx", "npy"}) {
    Options two = file_options(kind, "");
    CHECK(notes_of(two).refused.at("path") == "the data source \"" + kind + "\" needs the path of a file of samples");
    CHECK(notes_of(two).refused.count("labels_path") == 0);
    CHECK(data::task_refusal(two, data::Task::clustering).empty());
    CHECK(data::task_refusal(two, data::Task::regression) ==
          "data source \"" + kind +
              "\" has no labels, which a regression needs; give labels_path, or a model that needs "
              "none ([model] kind = \"k_means\")");
  }
}

TEST_CASE("a separator that is none is refused when it is described") {
  for (const char* separator : {"", "ab", "\"", "\n"}) {
    Options options = file_options("csv", "t.csv");
    dynamic_cast<data::Csv&>(*options.source.object()).separator = separator;
    CHECK(notes_of(options).refused.count("separator") == 1);
  }
}

TEST_CASE("sizes do not go with a file that is read") {
  Options options = file_options("csv", "t.csv");
  CHECK(data::size_refusal(options, true).empty());
  options.features = 5;
  CHECK(data::size_refusal(options, true) ==
        "features with the data source \"csv\": the file decides its size; leave it out (only a timing-only run, "
        "training.numbers = false, uses it, because it does not read the file)");
  options.samples = 5;
  CHECK(data::size_refusal(options, true).starts_with("samples with the data source \"csv\""));
}

TEST_CASE("sizes go with a file in a timing-only run") {
  Options options = file_options("libsvm", "");
  options.samples = 5;
  CHECK(data::size_refusal(options, false).empty());
}

TEST_CASE("sizes go with a generator up to the limit, without one in a timing-only run") {
  Options options;
  options.samples = 20000;
  options.features = 100;
  CHECK(data::size_refusal(options, true).empty());
  options.features = 1000000000;
  CHECK(data::size_refusal(options, true)
            .starts_with("data source \"house_prices\": 20000 rows x 1000000000 columns would take"));
  CHECK(data::size_refusal(options, false).empty());
}

}  // namespace options_test
