// Sparse models as a user meets them: what is refused and where, and that a sparse run is the dense one.
#include "cli/refusal.h"

namespace sparse_test {

using namespace simgrad::tests;

namespace {

/// The small scenario with clicks and a sparse parameter server.
std::string sparse(const std::string& strategy = "", const std::string& model = "", const std::string& training = "") {
  std::string text = with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5",
                          "source = \"click_log\"\nsamples = 200\nfeatures = 50\nnonzeros = 4");
  text = with(text, "kind = \"least_squares\"", "kind = \"sparse_logistic\"" + (model.empty() ? "" : "\n" + model));
  text = with(text, "learning_rate = 0.1", "learning_rate = 0.1" + (training.empty() ? "" : "\n" + training));
  return with(text, "kind = \"allreduce\"",
              "kind = \"sparse_parameter_server\"" + (strategy.empty() ? "" : "\n" + strategy));
}

}  // namespace

TEST_CASE("a training that a sparse parameter server cannot do is refused, with a remedy") {
  check_refused(sparse("", "l2 = 0.5"), {"x.toml:26:1: l2 = 0.5 shrinks every parameter at every step"});
  check_refused(sparse("", "", "optimizer = \"adam\""),
                {"x.toml:26:1: optimizer = \"adam\": it moves parameters whose gradient"});
  check_refused(sparse("", "", "numbers = false"), {"x.toml:26:1: which keys travel depends on the data"});
  check_refused(with_strategies("[[strategy]]\nkind = \"sparse_parameter_server\"\n"),
                {"x.toml:24:1: sparse_parameter_server trains sparse models, but least_squares has no keys"});
  check_refused(sparse("servers = 51"), {"x.toml:27:1: servers = 51, but sparse_logistic has 50 keys here"});
  check_refused(sparse("hot_keys = 51\ndense = \"allreduce\""), {"x.toml:27:1: hot_keys = 51, but there are 50 keys"});
}

TEST_CASE("standardised sparse rows are refused where the scenario asks for them, and not standardised by default") {
  const Scratch scratch;
  scratch.write("d.svm", "1 1:2 3:1\n-1 2:3\n1 1:1 2:1\n-1 3:2\n");
  const std::string read = with(sparse(), "source = \"click_log\"\nsamples = 200\nfeatures = 50\nnonzeros = 4",
                                "source = \"libsvm\"\npath = \"d.svm\"");
  scratch.write("x.toml", with(read, "\"d.svm\"", "\"d.svm\"\nstandardize = true"));
  check_refused(scratch,
                {"x.toml:13:1: standardize = true would make numbers of the zeros that sparse rows leave out"});
  scratch.write("x.toml", read);
  const Called called = program("validate x.toml --resolved", scratch);
  CAPTURE(called.err);
  CHECK(called.out.find("standardize = false") != std::string::npos);
}

TEST_CASE("options of a sparse parameter server that contradict each other are refused") {
  check_refused(sparse("hot_keys = 5"), {"x.toml:27:1: hot_keys are replicated on workers"});
  check_refused(sparse("sharding = \"hash\""),
                {"x.toml:27:1: sharding = \"hash\" divides the keys among several servers"});
  check_refused(sparse("staleness_bound = 2"), {"x.toml:27:1: staleness_bound bounds how far workers run ahead"});
  check_refused(sparse("gradient = \"mean\""), {"x.toml:27:1: gradient = \"mean\" says how a part counts alone"});
  check_refused(sparse("recovery = \"shrink\""),
                {"x.toml:27:1: sparse_parameter_server(recovery=shrink) cannot recover"});
}

TEST_CASE("a model that would hold sparse rows as a matrix is refused, and so are too few features") {
  check_refused(
      with(sparse(), "kind = \"sparse_logistic\"", "kind = \"logistic_regression\""),
      {"x.toml:17:1: logistic_regression would hold the sparse rows of data source \"click_log\" as a dense matrix"});
  check_refused(with(sparse(), "features = 50", "features = 3"),
                {"x.toml:11:1: data source \"click_log\": features = 3 for nonzeros = 4 fields"});
}

TEST_CASE("sparse_logistic learns dense data as logistic_regression does, its bias too") {
  const std::string logistic = with(with(small, "house_prices", "logistic"), "kind = \"least_squares\"",
                                    "kind = \"logistic_regression\"\nbias = true");
  const Json dense = results_of(logistic);
  const Json rows = results_of(with(with(logistic, "logistic_regression", "sparse_logistic"), "kind = \"allreduce\"",
                                    "kind = \"sparse_parameter_server\"\nservers = 2"));
  CHECK(each(rows, "final_loss")[0].get<double>() == Approx(each(dense, "final_loss")[0].get<double>()).epsilon(1e-12));
  CHECK(each(rows, "final_metric") == each(dense, "final_metric"));
}

TEST_CASE("the load of the servers and the cache's hits are in the results, where there are any") {
  const Json results = results_of(sparse("servers = 2\ncache_bound = 2"));
  CHECK(results.at("runs")[0].at("server_imbalance").get<double>() >= 1.0);
  CHECK(results.at("runs")[0].at("cache_hit_rate").get<double>() > 0.0);
  CHECK_FALSE(results_of(small).at("runs")[0].contains("cache_hit_rate"));
}

}  // namespace sparse_test
