// Models that somebody has made by hand, with the right checksum: refused in a sentence, before anything is computed.
#include <fmt/format.h>

#include <map>

#include "catch.h"
#include "cli/forging.h"

namespace forged_models_test {

using namespace simgrad::tests;
using namespace simgrad::tests::predicting;

namespace {

using Change = std::function<void(Json&)>;

/// The value at a JSON pointer in the first line.
Change set(const std::string& pointer, const Json& value) {
  return [=](Json& line) { line.at(Json::json_pointer(pointer)) = value; };
}

/// The case of that kind of model.
Case of_kind(const std::string& kind) {
  for (const Case& each : cases())
    if (contains(each.model, "\"" + kind + "\"")) return each;
  throw std::logic_error("no case of " + kind);
}

/// A model of a kind, and what `predict` says of its forgeries.
class Forgery {
 public:
  explicit Forgery(const std::string& kind) : of_(of_kind(kind)) {
    REQUIRE(trained(of_, scratch_).exit_code == 0);
    bytes_ = contents(only_model(scratch_));
  }

  Called predicted(const std::string& bytes) const {
    scratch_.write("forged.model", bytes);
    return program("predict forged.model --ignore-unseen --data " + of_.file + " --out p.csv", scratch_);
  }
  /// Requires the refusal of a change.
  void refused(const std::string& name, const Change& change, const std::string& words = "") const {
    INFO(name);
    refused(forged_model(bytes_, change), words);
  }
  void refused(const std::string& bytes, const std::string& words) const {
    const Called called = predicted(bytes);
    CAPTURE(called.err);
    CHECK(called.exit_code == 2);
    CHECK_THAT(called.err, StartsWith("forged.model:1:1: "));
    CHECK(contains(called.err, words));
    for (const char* library : {"json", "std::", "invariant", "::at", "type_error", "out_of_range"})
      CHECK_FALSE(contains(called.err, library));
  }
  const std::string& bytes() const { return bytes_; }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
  Case of_;
  std::string bytes_;
};

}  // namespace

TEST_CASE("models of all kinds that are written again as they are are models") {
  for (const Case& of : cases()) {
    CAPTURE(of.model);
    const Scratch scratch;
    REQUIRE(trained(of, scratch).exit_code == 0);
    const std::string bytes = contents(only_model(scratch));
    CHECK(forged_model(bytes, [](Json&) {}) == bytes);
  }
}

TEST_CASE("forged models: lengths of a problem that are not those of its parameters and data") {
  const Forgery linear("least_squares");
  for (const Json& features : {Json(-1), Json(0), Json(1'000'000), Json(std::int64_t{1} << 62), Json(1.5), Json("6")})
    linear.refused("features = " + features.dump(), set("/problem/features", features));
  linear.refused("classes = -1", set("/problem/classes", -1), "classes = -1");
  linear.refused("classes = 2", set("/problem/classes", 2));
  linear.refused("classes = 2^40", set("/problem/classes", std::int64_t{1} << 40), "an integer in range");
  linear.refused("count", set("/count", 1), "as many parameters");
  linear.refused("count = 2^61", set("/count", std::uint64_t{1} << 61), "as many parameters");
  linear.refused("a layer", set("/layers/0/count", 3), "layers that are not those of its [model]");
  linear.refused("no layers", set("/layers", Json::array()), "layers that are not those of its [model]");
  const auto both = [](std::int64_t features) {
    return [=](Json& line) { line["problem"]["features"] = line["encoding"]["features"] = features; };
  };
  linear.refused("more features", both(4000), "parameters");
  const Forgery softmax("softmax_regression");
  softmax.refused("classes = -1", set("/problem/classes", -1), "classes = -1");
  softmax.refused("classes = 2^31 - 1", set("/problem/classes", 2147483647));
  softmax.refused("other classes, other features", [](Json& line) {
    const auto features = line["problem"]["features"].get<std::int64_t>();
    line["problem"]["classes"] = features;
    line["problem"]["features"] = 3;
  });
  softmax.refused("a class without a name", [](Json& line) { line["encoding"]["class_names"].erase(0); });
}

TEST_CASE("forged models: encodings whose readers would read or write beyond their rows") {
  const Forgery linear("least_squares");
  const std::map<std::string, Change> changes{
      {"no columns", set("/encoding/columns", Json::array())},
      {"fewer columns", [](Json& line) { line["encoding"]["columns"].erase(0); }},
      {"fewer values", [](Json& line) { line["encoding"]["columns"][1]["values"].erase(0); }},
      {"no values", [](Json& line) { line["encoding"]["columns"][1].erase("values"); }},
      {"a substitute of no value", set("/encoding/columns/1/substitute", 1e300)},
      {"a substitute below 0", set("/encoding/columns/1/substitute", -1)},
      {"no deviations", set("/encoding/scaling/deviations", Json::array())},
      {"no means", set("/encoding/scaling/means", Json::array())},
      {"no names", set("/encoding/scaling/names", Json::array())},
      {"a deviation of 0", set("/encoding/scaling/deviations/0", 0)},
      {"no deviation of the target", set("/encoding/target_scaling/deviations", Json::array())},
      {"many means of the target",
       [](Json& line) { line["encoding"]["target_scaling"] = line["encoding"]["scaling"]; }},
      {"sparse rows", set("/encoding/sparse", true)},
      {"no bias", set("/encoding/bias", false)},
      {"LIBSVM", set("/encoding/form", "sparse")},
      {"ratings", set("/encoding/form", "ratings")},
      {"ratings of a recommendation",
       [](Json& line) {
         line["encoding"]["form"] = "ratings";
         line["encoding"]["task"] = "recommendation";
       }},
      {"a text", set("/encoding/task", "text")},
      {"a task that nobody knows", set("/encoding/task", "magic")},
      {"classes", set("/encoding/task", "classification")},
      {"no separator", set("/encoding/separator", "")},
      {"two separators", set("/encoding/separator", ",;")},
      {"two decimal signs", [](Json& line) { line["encoding"]["decimal"] = ".,"; }},
      {"a place far away",
       [](Json& line) {
         line["encoding"]["header"] = false;
         line["encoding"]["columns"][0]["place"] = 1'000'000;
       }},
      {"a place below 0",
       [](Json& line) {
         line["encoding"]["header"] = false;
         line["encoding"]["columns"][0]["place"] = -5;
       }},
      {"the target's place",
       [](Json& line) {
         line["encoding"]["header"] = false;
         line["encoding"]["target"]["place"] = line["encoding"]["columns"][0]["place"];
       }},
      {"users", set("/encoding/users", Json::array({1, 2}))},
      {"fields", set("/encoding/fields", 3)},
      {"a byte of 999", set("/encoding/columns/0/name", Json::array({999}))},
      {"no encoding", [](Json& line) { line.erase("encoding"); }},
      {"a number in its place", set("/encoding", 7)}};
  for (const auto& [name, change] : changes) linear.refused(name, change);
}

TEST_CASE("forged models: users, items, fields and tokens that are not there") {
  const Forgery ratings("matrix_factorization");
  ratings.refused("users of other names", [](Json& line) { line["encoding"]["users"] = Json::array({1}); });
  ratings.refused("more users", [](Json& line) {
    line["encoding"]["users"] = Json::array();
    line["encoding"]["user_count"] = 1'000'000;
  });
  ratings.refused("items that do not ascend", [](Json& line) { line["encoding"]["items"][0] = 1e9; });
  ratings.refused("one column", [](Json& line) { line["encoding"]["columns"].erase(0); });
  ratings.refused("users and items that fit the parameters alone", [](Json& line) {
    line["problem"]["users"] = -4;
    line["problem"]["items"] = 20;
  });
  const Forgery machine("factorization_machine");
  machine.refused("features", set("/encoding/features", std::int64_t{1} << 40));
  machine.refused("dense rows", set("/encoding/sparse", false));
  machine.refused("a first index far below", set("/encoding/first_index", std::numeric_limits<std::int64_t>::min()));
  machine.refused("a table of other columns", set("/encoding/form", "table"));
  const Forgery wide("wide_and_deep");
  wide.refused("fields = 2^40", set("/problem/fields", std::int64_t{1} << 40));
  wide.refused("fields = 2", set("/problem/fields", 2));
  const Forgery text("transformer");
  text.refused("vocabulary = 2^31", set("/problem/vocabulary", std::int64_t{1} << 31));
  text.refused("a vocabulary of the encoding alone", set("/encoding/vocabulary", 1000));
  text.refused("characters", set("/encoding/characters", Json::array({97, 98})));
  text.refused("a negative character", set("/encoding/characters", Json::array({-97})));
  text.refused("a longer sequence", set("/problem/features", 600));
  text.refused("numbered tokens of a larger vocabulary", [](Json& line) {
    line["encoding"]["form"] = "tokens";
    line["encoding"]["vocabulary"] = 100'000;
  });
}

TEST_CASE("forged models: options of [model] that name files, have no value, or are another kind's") {
  const Forgery linear("least_squares");
  linear.scratch().write("layers.toml", "");
  for (const char* key : {"path", "config"})
    linear.refused(key, set("/model", {{"kind", "layer_profile"}, {key, "layers.toml"}}), "which names a file");
  linear.refused(
      "timed_as", [](Json& line) { line["model"]["timed_as"] = "resnet50"; }, "which names a file");
  linear.refused(
      "path of a list",
      [](Json& line) {
        line["model"]["towers"] = Json::array({{{"path", "/dev/zero"}}});
      },
      "which names a file");
  linear.refused(
      "null", [](Json& line) { line["model"]["l2"] = nullptr; }, "without a value");
  linear.refused(
      "nulls", [](Json& line) { line["model"]["hidden"] = Json::array({nullptr}); }, "without a value");
  linear.refused("a kind that nobody knows", set("/model/kind", "magic"), "options that are no model's");
  linear.refused("a kind that computes no numbers", set("/model", {{"kind", "resnet50"}}));
  linear.refused("lines in a text", set("/model/kind", "least_squares\"\npath = \"layers.toml"));
  linear.refused("a list", set("/model", Json::array()));
  linear.refused("a kind of other rows", set("/model", {{"kind", "sparse_logistic"}}));
  linear.refused("clusters", set("/model", {{"kind", "k_means"}, {"clusters", 1}}));
  const Forgery perceptron("perceptron");
  Json hidden = Json::array();
  for (int i = 0; i < 200'000; ++i) hidden.push_back(1'000'000);
  perceptron.refused("more layers than there are", set("/model/hidden", hidden), "options of [model]");
  perceptron.refused("wider layers", set("/model/hidden", Json::array({1'000'000, 1'000'000, 1'000'000})));
}

TEST_CASE("forged models: first lines that are no object of the right members") {
  const Forgery linear("least_squares");
  for (const char* key : {"id", "label", "seed", "parameters", "model", "problem", "layers", "encoding", "count",
                          "precision", "version", "loss"}) {
    linear.refused(
        std::string("without ") + key, [=](Json& line) { line.erase(key); }, key);
    linear.refused(std::string("a list for ") + key, set(std::string("/") + key, Json::array({Json::array()})));
  }
  linear.refused("a later version", set("/version", 2), "another version");
  linear.refused("a precision that nobody knows", set("/precision", "float7"), "precision");
  const std::string start = R"({"format":"simgrad model","x":)";
  linear.refused(with_checksum(start + std::string(200'000, '[') + "\n"), "nested more than 256 deep");
  linear.refused(with_checksum(start + "1e999}\n"), "beyond the range");
  linear.refused(with_checksum(start + "\n"), "not JSON, or cut short");
}

}  // namespace forged_models_test
