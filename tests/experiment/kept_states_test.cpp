// A run goes on from the state that a shorter one has left, and nobody can tell by its record.
#include <fmt/format.h>

#include "catch.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/simulate.h"
#include "experiment/scenario.h"
#include "outputs/summary.h"
#include "simulation.h"

namespace kept_states_test {

using namespace simgrad;
using namespace simgrad::experiment;
using Json = nlohmann::ordered_json;

namespace {

constexpr int first_part = 12, whole = 20;

const std::string scenario = R"(
[cluster]
workers = 4
[data]
samples = 120
features = 6
[training]
learning_rate = 0.05
batch_size = 40
)";

const std::string least_squares = "[model]\nkind = \"least_squares\"\n";
const std::string perceptron = "[model]\nkind = \"perceptron\"\nhidden = [5, 3]\n";

std::string strategy(const std::string& options) { return "[[strategy]]\nkind = " + options + "\n"; }

struct Done {
  std::string record;   ///< as JSON, without its identity
  std::string numbers;  ///< those computed
  std::string state;
  std::int64_t gradients = 0;
  bool lacking = false;
};

/// Runs the plan's only run in a child process.  numbers, state: known ones; empty: none.
Done done(const std::string& text, const std::vector<std::string>& sets, const std::string& numbers = "",
          const std::string& state = "", int threads = 0) {
  const Plan plan = planned(text, {.sets = sets});
  const RunPlan& run = plan.runs.at(0);
  const Json answer = Json::parse(tests::text_of_child([&] {
    training::Trajectory trajectory;
    trajectory.add(numbers);
    values::Contents last_state;
    Numbers own{.trajectory = &trajectory, .last_state = &last_state};
    if (!state.empty()) own.state = std::make_shared<const values::Contents>(values::contents_of(state).value());
    training::Pulse pulse;
    outputs::Run made = described(run);
    made.record = simulate(run, load_data(run), threads, &pulse, {}, own);
    std::vector<std::uint8_t> left;
    for (const char c : values::text_of(last_state)) left.push_back(static_cast<std::uint8_t>(c));
    return Json{{"record", outputs::to_json(made).dump()},
                {"numbers", trajectory.computed()},
                {"state", last_state.empty() ? std::vector<std::uint8_t>() : left},
                {"gradients", pulse.gradients},
                {"lacking", trajectory.lacking()}}
        .dump();
  }));
  Done result{answer["record"], answer["numbers"], {}, answer["gradients"], answer["lacking"]};
  for (const std::uint8_t byte : answer["state"]) result.state += static_cast<char>(byte);
  return result;
}

const std::vector<std::string> short_sets{fmt::format("stop.steps={}", first_part)};
const std::vector<std::string> long_sets{fmt::format("stop.steps={}", whole), "cluster.bandwidth=\"37Mbps\"",
                                         "cluster.latency=\"3ms\"", "cluster.stragglers=\"bimodal\""};

/// Does the first part and then the whole, on another network, and requires the record of a run that computes
/// everything, and no more gradients than those of the steps that are left and `again` before them: the last one, in
/// which a strategy may do what a longer run does not, and the one whose state the curve still holds.
void goes_on(const std::string& text, int again = 2, int threads = 0) {
  INFO(text);
  const Done first = done(text, short_sets, "", "", threads);
  REQUIRE_FALSE(first.state.empty());
  const Done on = done(text, long_sets, first.numbers, first.state, threads);
  const Done own = done(text, long_sets, "", "", threads);
  REQUIRE_FALSE(on.lacking);
  CHECK(on.record == own.record);
  const std::int64_t a_step = own.gradients / whole;
  REQUIRE(a_step * whole == own.gradients);
  CHECK(on.gradients <= a_step * (whole - first_part + again));
  CHECK(on.gradients >= a_step * (whole - first_part));
}

}  // namespace

TEST_CASE("states: every synchronous strategy goes on from where a shorter run ended") {
  for (const char* options :
       {R"("single")", R"("mapreduce")", R"("parameter_server")", "\"parameter_server\"\nservers = 3", R"("allreduce")",
        "\"allreduce\"\nalgorithm = \"tree\"", "\"allreduce\"\nalgorithm = \"recursive_doubling\"",
        R"("data_parallel")", R"("byteps")", R"("gossip")",
        "\"gossip\"\ngraph = \"star\"\nupdate = \"gradient_exchange\"", R"("d2")", R"("gradient_tracking")",
        R"("sgp")"})
    goes_on(scenario + least_squares + strategy(options));
}

TEST_CASE("states: replicas that average after some steps compute the rounds again that their momentum goes back to") {
  for (const char* options :
       {"\"local_sgd\"\nlocal_steps = 5", "\"local_sgd\"\nlocal_steps = 5\nslow_momentum = 0.5",
        "\"local_sgd\"\nlocal_steps = 4\noptimizer_memory = \"average\"", "\"diloco\"\nlocal_steps = 5"})
    goes_on(scenario + least_squares + strategy(options), 2 * 5);
  goes_on(scenario + least_squares + strategy("\"local_sgd\""), 4);  // replicas are compared, also the first ones
}

TEST_CASE("states: the memories of optimizers and of compressions go on") {
  const std::vector<std::string> optimizers{"momentum", "nesterov", "adam", "adamw", "adagrad", "rmsprop", "lamb"};
  const std::vector<std::string> compressions{R"({kind = "top_k", fraction = 0.4, error_feedback = true})",
                                              R"({kind = "power_sgd", rank = 2})",
                                              R"({kind = "random_k", fraction = 0.5})",
                                              R"({kind = "qsgd"})",
                                              R"({kind = "sign", error_feedback = true})",
                                              R"({kind = "int8"})"};
  const std::vector<std::string> strategies{R"("allreduce")", R"("parameter_server")", R"("gossip")"};
  for (std::size_t i = 0; i < optimizers.size() * compressions.size(); i += 2) {  // each of both, and most pairs
    const std::string kind = strategies[i % strategies.size()], compression = compressions[i % compressions.size()];
    const std::string optimizer = optimizers[i % optimizers.size()];
    goes_on(scenario + fmt::format("optimizer = \"{}\"\n", optimizer) + perceptron +
                strategy(fmt::format("{}\ncompression = {}", kind, compression)),
            2, i % 3 == 0 ? 2 : 0);
  }
}

TEST_CASE("states: a run to a lower loss goes on from the one that has reached its target") {
  const std::string text = scenario + least_squares + strategy(R"("allreduce")");
  const Json curve = Json::parse(done(text, long_sets).record)["curve"];
  const auto target = [&](int step) { return fmt::format("stop.loss={}", curve[step]["loss"].get<double>()); };
  const Done first = done(text, {"stop.steps=1000", target(first_part)});
  REQUIRE_FALSE(first.state.empty());
  const std::vector<std::string> lower{"stop.steps=1000", target(whole), "cluster.latency=\"3ms\""};
  const Done on = done(text, lower, first.numbers, first.state), own = done(text, lower);
  CHECK(on.record == own.record);
  CHECK(on.gradients <= own.gradients - first.gradients + 2 * 4);
  CHECK(on.gradients > 0);
}

TEST_CASE("states: a state of another training is never reached, and the run lacks its numbers") {
  const std::string text = scenario + least_squares + strategy(R"("allreduce")");
  const Done first = done(text, short_sets);
  std::vector<std::string> others = long_sets;
  others.push_back("training.learning_rate=0.06");
  const Done on = done(text, others, first.numbers, first.state);
  CHECK(on.lacking);
  CHECK(on.gradients == 0);
}

TEST_CASE("states: a text that is cut off or changed is no state") {
  const values::Contents contents{{{1, 2}, {0.5, -1.0}}, {{3, 4}, {}}};
  const std::string text = values::text_of(contents);
  CHECK(values::contents_of(text) == contents);
  CHECK(values::contents_of(values::text_of({})) == values::Contents());
  for (std::size_t i = 0; i < text.size(); ++i) {
    CHECK_FALSE(values::contents_of(text.substr(0, i)));
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(values::contents_of(changed));
  }
}

}  // namespace kept_states_test
