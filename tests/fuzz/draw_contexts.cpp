/// Parts of scenarios whose options suit one another, from which a scenario is drawn. A context gives what must agree
/// (a model, its data, the sizes of both); everything else is drawn option by option.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/draw.h"
#include "scenario/json.h"

namespace simgrad::fuzz {

namespace {

using Json = Draw::Json;

/// The words of a text, which spaces separate.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    all.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return all;
}

bool has(const std::vector<std::string_view>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

struct Context {
  std::string_view for_keys;    ///< the beginning of the keys that need it; several are parted by spaces
  std::string_view strategies;  ///< the only strategies that it suits; empty: all
  std::string_view toml;
  std::string_view above = "";  ///< stands before toml

  bool suits(std::string_view strategy) const { return strategies.empty() || has(words(strategies), strategy); }
  /// How much of a key's beginning it is for.
  std::size_t match(std::string_view key) const {
    std::size_t most = 0;
    for (const std::string_view word : words(for_keys))
      if (key.starts_with(word)) most = std::max(most, word.size());
    return most;
  }
};

/// The data and the training of models that say how long they take, and learn nothing.
constexpr const char* times_alone = R"(
data = { samples = 40 }
training = { numbers = false, batch_size = 8 }
)";

constexpr const char* small_transformer = R"(
data = { source = "markov", vocabulary = 6, samples = 40 }
model = { kind = "transformer", layers = 2, hidden = 8, heads = 2, feed_forward = 8, sequence = 4 }
)";
constexpr const char* experts = R"(
data = { source = "markov", vocabulary = 6, samples = 40 }
[model]
kind = "transformer"
layers = 2
hidden = 8
heads = 2
feed_forward = 8
sequence = 4
experts = 4
top_k = 2
)";
constexpr const char* preset = R"(
data = { source = "markov", samples = 64 }
model = { kind = "transformer", preset = "gpt2" }
training = { numbers = false, batch_size = 8 }
cluster = { device = "a100_80gb" }
stop = { steps = 2 }
)";
constexpr const char* proxy = R"(
data = { source = "house_prices", features = 4, samples = 40 }
model = { kind = "perceptron", timed_as = { kind = "profile", path = "layers_of_nothing.csv" } }
)";
constexpr const char* layers = R"(model = { kind = "profile", path = "layers.csv" })";
constexpr const char* layers_of_nothing = R"(model = { kind = "profile", path = "layers_of_nothing.csv" })";
constexpr const char* operators = R"(model = { kind = "operator_graph", path = "operators_of_nothing.csv" })";
constexpr const char* operator_tables = R"(
[model]
kind = "operator_graph"
operator = [{ name = "in", flops = 1e6, output_bytes = 64.0, parameters = 10 },
            { name = "out", inputs = ["in"], flops = 0.0, output_bytes = 0.0, parameters = 0 }]
)";
constexpr const char* ratings = R"(
data = { source = "ratings", users = 8, items = 6, samples = 60 }
model = { kind = "matrix_factorization" }
)";
constexpr const char* sparse = R"(
data = { source = "click_log", samples = 60 }
model = { kind = "factorization_machine" }
)";
constexpr const char* fields = R"(
data = { source = "click_log", samples = 60 }
model = { kind = "wide_and_deep" }
)";
constexpr const char* classes = R"(
data = { source = "blobs", classes = 3, features = 3, samples = 60 }
model = { kind = "softmax_regression" }
)";
constexpr const char* tasks = R"(
data = { source = "blobs", classes = 3, features = 3, samples = 60 }
model = { kind = "multitask_perceptron" }
)";
constexpr const char* houses = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
)";
constexpr const char* table = R"(
data = { source = "csv", path = "data.csv", target = "price" }
model = { kind = "perceptron" }
)";
constexpr const char* table_of_ratings = R"(
data = { source = "csv", path = "ratings.csv" }
model = { kind = "matrix_factorization" }
)";
constexpr const char* arrays = R"(
data = { source = "npy", path = "samples.npy", labels_path = "labels.npy" }
model = { kind = "logistic_regression" }
)";
constexpr const char* text = R"(
data = { source = "text", path = "text.txt" }
model = { kind = "transformer", layers = 1, hidden = 4, heads = 2, feed_forward = 4, sequence = 4 }
)";
constexpr const char* mixture = R"(
data = { source = "mixture", parts = [{ name = "one", source = "house_prices", samples = 20, features = 3 },
                                      { name = "two", source = "blobs", samples = 30, features = 2, rows = 2 }] }
model = { kind = "multimodal_perceptron", towers = [{ hidden = [3] }, { hidden = [], weight = 0.25 }] }
training = { batch_size = 6 }
)";
constexpr const char* one_source = R"(
data = { source = "mixture", parts = [{ name = "one", source = "logistic", samples = 30, features = 3, rows = 3 }] }
model = { kind = "multimodal_perceptron" }
)";
constexpr const char* serving = R"(
data = { source = "markov", vocabulary = 6, samples = 40 }
model = { kind = "transformer", layers = 2, hidden = 8, heads = 2, feed_forward = 8, sequence = 16 }
serving = { requests = 6, rate = 1000.0, prompt_tokens = 2, output_tokens = 2 }
cluster = { workers = 2 }
)";
constexpr const char* served = R"(
data = { source = "text", path = "text.txt", tokens = "characters" }
model = { kind = "transformer", layers = 1, hidden = 4, heads = 2, feed_forward = 4, sequence = 4 }
serving = { requests = 3, rate = 1000.0, prompt_tokens = 2, output_tokens = 2, model = "served.model" }
cluster = { workers = 2 }
)";
constexpr const char* jobs = R"(
data = { source = "house_prices", features = 4, samples = 40 }
model = { kind = "least_squares" }
cluster = { workers = 8 }
strategy = [{ kind = "allreduce" }]
job = [{ name = "one", strategy = "allreduce", workers = 2 }, { name = "two", strategy = "allreduce", workers = 3 }]
)";
constexpr const char* fleet = R"(
data = { source = "house_prices", features = 4, samples = 40 }
model = { kind = "least_squares" }
cluster = { workers = 2, storage_bandwidth = "1Gbps" }
[capacity]
hosts = 6
horizon = "10d"
failures = { kind = "exponential", mtbf = "30d" }
repair = { kind = "constant", mean = "1d" }
checkpoint_time = "2min"
[capacity.training]
hosts = 2
work = "2d"
)";
constexpr const char* goal = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
plan = { objective = "fastest", samples = 200, space = { "cluster.workers" = [1, 2] } }
prices = { worker = "1$/h" }
)";
constexpr const char* grid = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
stop = { steps = 4 }
[grid]
"cluster.latency" = ["50us", "1ms"]
)";
constexpr const char* expectation = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
stop = { steps = 4, loss = 0.1 }
strategy = [{ kind = "allreduce" }, { kind = "gossip" }]
expect = [{ metric = "time_to_target_s", strategy = "gossip", where = { "cluster.latency" = "1ms" } }]
[grid]
"cluster.latency" = ["50us", "1ms"]
seed = [1, 2, 3]
)";
constexpr const char* better = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
stop = { steps = 4 }
strategy = [{ kind = "allreduce" }, { kind = "gossip" }]
expect = [{ metric = "final_loss", strategy = "gossip", better_than = "allreduce" }]
[grid]
seed = [1, 2, 3]
)";
constexpr const char* relative = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
stop = { steps = 4 }
strategy = [{ kind = "allreduce" }, { kind = "gossip" }]
expect = [{ metric = "bytes", strategy = "gossip", relative_to = "allreduce", at_most = 1e6 }]
)";
constexpr const char* arriving = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
training = { batch_size = 4, partition = { kind = "stream", duration = "1ms", window = 20 } }
)";
constexpr const char* labelled = R"(
data = { source = "blobs", classes = 3, features = 3, samples = 60 }
model = { kind = "softmax_regression" }
training = { partition = { kind = "by_label", stretches = 2 } }
)";
constexpr const char* moving_blocks = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
strategy = [{ kind = "block_sync", schedule = "movement", budget = 0.5 }]
)";
constexpr const char* support = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
cluster = { workers = 4 }
strategy = [{ kind = "gossip", graph = "support", mixing = { kind = "file", path = "mixing.txt" } }]
)";
constexpr const char* lloyd = R"(
data = { source = "blobs", features = 3, samples = 60 }
model = { kind = "k_means" }
strategy = [{ kind = "mapreduce", job = "k_means" }]
)";
constexpr const char* measured = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
strategy = [{ kind = "allreduce" }]
cluster = { workers = 4, collectives = { measured = "measured.csv" } }
)";
constexpr const char* box = R"(
data = { source = "house_prices", features = 4, samples = 60 }
model = { kind = "least_squares" }
cluster = { workers = 4, topology = { kind = "torus", shape = [4, 4], slice = [2, 2] } }
)";
constexpr const char* four_hosts = R"(
cluster = { workers = 4, platform = "platform.xml" }
)";
constexpr const char* unlike_hosts = R"(
cluster = { workers = 3, hosts = [{ class = "a", count = 2, speed = "1GF" }, { class = "b", device = "v100_32gb" }] }
)";
constexpr const char* sites = R"(
[cluster]
workers = 4
[cluster.topology]
kind = "wan"
sites = [{ name = "a", hosts = 2 }, { name = "b", hosts = 2 }]
pairs = [{ from = "a", to = "b", latency = "1ms" }]
)";

constexpr std::array contexts{
    Context{"model data", "", small_transformer},
    Context{"model strategy", "", experts},
    Context{"model cluster", "", preset},
    Context{"model.timed_as", "", proxy},
    Context{"model training", "", layers, times_alone},
    Context{"model", "", layers_of_nothing, times_alone},
    Context{"model strategy", "operators", operators, times_alone},
    Context{"model.operator strategy", "operators", operator_tables, times_alone},
    Context{"data model", "", ratings},
    Context{"data model strategy", "sparse_parameter_server hogwild parameter_server", sparse},
    Context{"data model strategy", "sparse_parameter_server hogwild parameter_server", fields},
    Context{"data model", "", classes},
    Context{"model strategy", "multitask", tasks},
    Context{"data cluster training strategy stop evaluate", "", houses},
    Context{"data cluster training strategy stop evaluate", "", houses},
    Context{"data", "", table},
    Context{"data", "", table_of_ratings},
    Context{"data", "", arrays},
    Context{"data", "", text},
    Context{"data.parts model strategy", "multitask", mixture},
    Context{"data.parts", "multitask", one_source},
    Context{"serving", "", serving},
    Context{"serving serving.model", "", served},
    Context{"job cluster.sharing cluster.quantum", "", jobs},
    Context{"capacity", "", fleet},
    Context{"plan prices", "", goal},
    Context{"prices", "", grid},
    Context{"expect", "", expectation},
    Context{"expect.better_than expect.confidence", "", better},
    Context{"expect.relative_to", "", relative},
    Context{"training.partition.duration training.partition.window evaluate.on=next", "", arriving},
    Context{"training.partition.stretches training.partition=by_label", "", labelled},
    Context{"strategy.budget strategy.longest strategy.measure", "", moving_blocks},
    Context{"strategy.graph=support strategy.mixing.path strategy.mixing=file", "", support},
    Context{"strategy.job", "", lloyd},
    Context{"cluster.collectives.measured cluster.collectives.ranks", "", measured},
    Context{"cluster.topology.slice", "", box},
    Context{"cluster.platform", "", four_hosts},
    Context{"cluster.hosts", "", unlike_hosts},
    Context{"cluster.topology.sites cluster.topology.pairs", "", sites},
};

/// Most often, or surely, one of those that the wanted key needs most, even if another strategy has to take its place.
const Context& chosen_context(Dice& dice, std::string_view strategy, std::string_view wanted, bool sure) {
  std::size_t most = 0;
  for (const Context& each : contexts) most = std::max(most, each.match(wanted));
  const std::size_t least = sure || dice.hits(0.6) ? std::max<std::size_t>(most, 1) : dice.hits(0.6) ? 1 : 0;
  const bool takes_its_place = sure ? wanted.substr(0, most).find('.') != std::string_view::npos : least > 1;
  std::vector<const Context*> suitable;
  for (const Context& each : contexts)
    if (each.match(wanted) >= least && (takes_its_place || each.suits(strategy))) suitable.push_back(&each);
  if (suitable.empty())
    for (const Context& each : contexts)
      if (each.suits(strategy)) suitable.push_back(&each);
  return *suitable[dice.one_of(suitable.size())];
}

}  // namespace

Json crashes(Dice& dice) {
  Json list = Json::array();
  const auto count = dice.between(1, 4), first = dice.between(0, 3);
  const bool together = dice.hits(0.5), permanent = dice.hits(0.25);
  const auto drawn_time = [&] {
    if (dice.hits(0.1)) return std::string("0s");
    if (dice.hits(0.05)) return std::string("1000s");
    return base::format_quantity(std::round(dice.log_between(1e3, 1e8)) * 1e-9, base::Unit::seconds);
  };
  std::string at = drawn_time();
  for (std::int64_t i = 0; i < count; ++i) {
    Json crash{{"rank", together ? first + i : dice.between(0, 4)}, {"at", at}};
    if (!permanent || dice.hits(0.5)) crash["repair"] = drawn_time();
    if (!together || dice.hits(0.2)) at = drawn_time();
    list.push_back(std::move(crash));
  }
  constexpr std::array recoveries{"restart", "wait", "shrink", "elastic", "continue"};
  Json failures{{"crash", std::move(list)}, {"recovery", recoveries[dice.one_of(recoveries.size())]}};
  if (dice.hits(0.3)) failures["spares"] = dice.between(1, 3);
  if (dice.hits(0.5)) failures["detection"] = drawn_time();
  return {{"cluster", {{"failures", std::move(failures)}}}};
}

Json drawn_context(Dice& dice, std::string_view strategy, std::string_view wanted, bool sure) {
  const std::vector<std::string_view> on_meshes =
      words("allreduce d2 diloco fsdp gossip gradient_tracking local_sgd sgp single zero");
  const bool mesh = has(on_meshes, strategy) && dice.hits(wanted.starts_with("parallel") ? 1.0 : sure ? 0.0 : 0.25);
  Json context = Json::object();
  if (!mesh) {
    const Context& one = chosen_context(dice, strategy, wanted, sure);
    const std::string toml = std::string(one.above) + std::string(one.toml);
    context = scenario::json({scenario::Shared<scenario::Table>(scenario::parse_toml(toml, "context")), {}});
    const std::vector<std::string_view> others = words(one.strategies);
    if (!one.suits(strategy)) strategy = others[dice.one_of(others.size())];
  }
  if (mesh) context = cut(dice);
  if (!context.contains("strategy")) context["strategy"] = Json::array({Json{{"kind", std::string(strategy)}}});
  if (!context.contains("job") && (wanted.starts_with("cluster.failures") || dice.hits(sure ? 0.0 : 0.25)))
    lay(context, crashes(dice), {});
  return context;
}

}  // namespace simgrad::fuzz
