// Timelines: what each rank does when adds up to where its time went, and costs the run nothing.
#include "outputs/timelines/timeline.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>

#include "catch.h"
#include "experiment/run/simulate.h"
#include "experiment/scenario.h"
#include "outputs/results.h"
#include "record/time_part.h"
#include "simulation.h"

namespace timeline_test {

using namespace simgrad;
using namespace simgrad::experiment;
using record::Activity;
using record::Span;
using record::Timeline;

namespace {

const std::string conditions = R"(
[data]
samples = 60
features = 3
[model]
kind = "least_squares"
[training]
checkpoint_every_steps = 2
[stop]
epochs = 9
)";

const std::string calm = "[cluster]\nworkers = 4\nspeed = \"1MF\"\nbandwidth = \"1Mbps\"\nlatency = \"100us\"\n";

cluster::TimelineLimits everything() {
  return {.workers = std::numeric_limits<int>::max(),
          .servers = std::numeric_limits<int>::max(),
          .spans = std::numeric_limits<std::size_t>::max() / 8};
}

/// The record of the first run, simulated in this process.
record::Record recorded(const std::string& text, const std::vector<cluster::TimelineLimits>& tapes) {
  const Plan plan = planned(text);
  return simulate(plan.runs.front(), load_data(plan.runs.front()), 0, nullptr, tapes);
}

Timeline timeline_of(const std::string& text, const cluster::TimelineLimits& limits) {
  const std::string json =
      tests::text_of_child([&] { return outputs::timeline_json(recorded(text, {limits}).timelines.front(), "a1"); });
  return outputs::timeline_from_json(outputs::parse_json(json), "a1");
}

/// The fault of some rank's lane 0, or "": it begins at 0, leaves no gap, ends with the run, and adds up.
std::string fault_of(const record::Record& record) {
  const Timeline& timeline = record.timelines.front();
  if (!timeline.whole) return "not whole";
  std::vector<std::array<double, 4>> sums(record.ranks.size());
  std::vector<double> hands(record.ranks.size(), 0.0);
  for (const Span& span : timeline.spans) {
    const auto rank = static_cast<std::size_t>(span.rank);
    if (span.to_s <= span.from_s) return fmt::format("rank {}: a span of no length at {}", rank, span.from_s);
    if (span.lane > 0) continue;
    if (std::abs(span.from_s - hands[rank]) > 1e-12)
      return fmt::format("rank {}: a span from {} after one to {}", rank, span.from_s, hands[rank]);
    hands[rank] = span.to_s;
    sums[rank][static_cast<std::size_t>(span.kind)] += span.to_s - span.from_s;
  }
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    const record::RankUse& use = record.ranks[rank];
    const std::array parts{use.compute_s, use.communicate_s, use.wait_s, use.down_s};
    for (std::size_t kind = 0; kind < parts.size(); ++kind)
      if (std::abs(sums[rank][kind] - parts[kind]) > 1e-9 * std::max(1.0, record.simulated_s))
        return fmt::format("rank {}: {} s of {}, expected {}", rank, sums[rank][kind],
                           record::name(static_cast<Activity>(kind)), parts[kind]);
    if (std::abs(hands[rank] - record.simulated_s) > 1e-12) return fmt::format("rank {} ends at {}", rank, hands[rank]);
  }
  std::int64_t bytes = 0;
  for (const record::TimedMessage& message : timeline.messages) bytes += message.bytes;
  if (bytes != record.bytes) return fmt::format("{} bytes in messages, expected {}", bytes, record.bytes);
  if (static_cast<std::int64_t>(timeline.messages.size()) != record.messages)
    return fmt::format("{} messages, expected {}", timeline.messages.size(), record.messages);
  return {};
}

struct Case {
  std::string name;
  std::string text;
};

std::vector<Case> all_strategies() {
  std::vector<Case> all;
  for (const char* line : {"kind = \"allreduce\"", "kind = \"allreduce\"\nalgorithm = \"recursive_doubling\"",
                           "kind = \"allreduce\"\nalgorithm = \"naive\"", "kind = \"allreduce\"\nbucket_size = \"16B\"",
                           "kind = \"parameter_server\"", "kind = \"parameter_server\"\nconsistency = \"asp\"",
                           "kind = \"parameter_server\"\nservers = 2", "kind = \"gossip\"", "kind = \"local_sgd\"",
                           "kind = \"easgd\"", "kind = \"ad_psgd\"", "kind = \"sgp\"\noverlap = true",
                           "kind = \"async_broadcast\"", "kind = \"mapreduce\"", "kind = \"byteps\""})
    all.push_back({line, std::string("[[strategy]]\n") + line + "\n"});
  return all;
}

std::vector<Case> weathers() {
  return {{"calm", calm},
          {"messages", calm + "collectives = \"messages\"\n"},
          {"slow rank, a disk",
           calm + "relative_speeds = [0.3]\n[training.input]\nfrom = \"local\"\nbandwidth = \"1MBps\"\n"},
          {"a crash",
           calm + "[cluster.failures]\ncrash = [{ rank = 2, at = \"13ms\", repair = \"7ms\" }]\ndetection = \"1ms\"\n"
                  "restart_time = \"2ms\"\n"}};
}

}  // namespace

TEST_CASE(
    "a rank's spans are its time: no gap, and by kind what the record says, for every strategy in every weather") {
  for (const Case& strategy : all_strategies())
    for (const Case& weather : weathers()) {
      const std::string text = weather.text + conditions + strategy.text;
      INFO(strategy.name << ", " << weather.name);
      CHECK(tests::text_of_child([&] { return fault_of(recorded(text, {everything()})); }) == "");
    }
}

TEST_CASE("a rank's spans are its time when crashes break off collectives that are computed") {
  for (const char* strategy :
       {"algorithm = \"ring\"", "algorithm = \"recursive_doubling\"", "algorithm = \"tree\"", "bucket_size = \"16B\""})
    for (const char* recovery : {"restart", "elastic"})
      for (int i = 0; i < 12; ++i) {
        const std::string crashes = fmt::format(
            "crash = [{{ rank = 2, at = \"{}us\", repair = \"7ms\" }}, {{ rank = 1, at = \"{}us\", repair = \"9ms\" "
            "}}]\n",
            5000 + 171 * i, 5400 + 171 * i);
        const std::string text = calm + "relative_speeds = [0.9, 1.0, 0.8]\n[cluster.failures]\n" + crashes +
                                 "detection = \"1ms\"\nrecovery = \"" + recovery + "\"\n" + conditions +
                                 "[[strategy]]\nkind = \"allreduce\"\n" + strategy + "\n";
        INFO(text);
        CHECK(tests::text_of_child([&] { return fault_of(recorded(text, {everything()})); }) == "");
      }
}

TEST_CASE("a wait has a cause: a slower gradient, also in a collective that is computed, and a recovery") {
  const auto longest_wait = [](const Timeline& timeline, int rank) {
    Span longest;
    for (const Span& span : timeline.spans)
      if (span.rank == rank && span.lane == 0 && span.kind == Activity::wait &&
          span.to_s - span.from_s > longest.to_s - longest.from_s)
        longest = span;
    return longest.cause;
  };
  const std::string unequal = calm + "relative_speeds = [0.01]\n";  // rank 0 is slow
  for (const std::string& weather : {unequal, unequal + "collectives = \"messages\"\n"})
    for (const char* strategy : {"kind = \"allreduce\"", "kind = \"parameter_server\"", "kind = \"mapreduce\""}) {
      INFO(weather << strategy);
      const Timeline timeline = timeline_of(weather + conditions + "[[strategy]]\n" + strategy + "\n", everything());
      for (const int rank : {1, 2, 3})
        CHECK(longest_wait(timeline, rank) == static_cast<int>(record::TimePart::wait_gradient));
    }
  const std::string crash = calm +
                            "[cluster.failures]\ncrash = [{ rank = 2, at = \"4ms\", repair = \"7s\" }]\ndetection = "
                            "\"1ms\"\nrestart_time = \"2ms\"\n";
  const Timeline timeline = timeline_of(crash + conditions + "[[strategy]]\nkind = \"allreduce\"\n", everything());
  for (const int rank : {0, 1, 3})
    CHECK(longest_wait(timeline, rank) == static_cast<int>(record::TimePart::wait_recovery));
}

TEST_CASE("where others go on in place, and where hosts are shared, spans are a rank's time, too") {
  const std::string in_place = calm +
                               "[cluster.failures]\ncrash = [{ rank = 2, at = \"13ms\", repair = \"7ms\" }]\ndetection "
                               "= \"1ms\"\nrecovery = \"continue\"\n";
  for (const char* strategy : {"kind = \"parameter_server\"\nconsistency = \"asp\"", "kind = \"gossip\"",
                               "kind = \"ad_psgd\"", "kind = \"easgd\""}) {
    INFO(strategy);
    CHECK(tests::text_of_child([&] {
            return fault_of(recorded(in_place + conditions + "[[strategy]]\n" + strategy + "\n", {everything()}));
          }) == "");
  }
  CHECK(tests::text_of_child([&] {
          return fault_of(
              recorded(calm + conditions + "[[strategy]]\nkind = \"parameter_server\"\nplacement = \"colocated\"\n",
                       {everything()}));
        }) == "");
}

namespace {

/// The first difference between two timelines, or "".
std::string difference(const Timeline& a, const Timeline& b) {
  if (a.spans.size() != b.spans.size()) return fmt::format("{} and {} spans", a.spans.size(), b.spans.size());
  for (std::size_t i = 0; i < a.spans.size(); ++i) {
    const Span &x = a.spans[i], &y = b.spans[i];
    // A rank that still waits at the end has a peer, except in a computed collective.
    const bool known = x.kind != Activity::wait ||
                       (x.to_s < a.to_s - 1e-9 && i + 1 < a.spans.size() && a.spans[i + 1].to_s < a.to_s - 1e-9);
    // The receiver of a message that is sent learns its size when it has arrived.
    const bool sized = x.to_s < a.to_s - 1e-9 || y.bytes > 0;
    if (x.rank != y.rank || x.lane != y.lane || x.kind != y.kind || x.step != y.step || x.name != y.name ||
        (known && (x.peer != y.peer || (sized && x.bytes != y.bytes))) || std::abs(x.from_s - y.from_s) > 1e-9 ||
        std::abs(x.to_s - y.to_s) > 1e-9)
      return fmt::format("rank {} lane {} step {} from {}: {} {} with {} of {} to {}, and {} {} with {} of {} to {}",
                         x.rank, x.lane, x.step, x.from_s, record::name(x.kind),
                         a.names[static_cast<std::size_t>(x.name)], x.peer, x.bytes, x.to_s, record::name(y.kind),
                         b.names[static_cast<std::size_t>(y.name)], y.peer, y.bytes, y.to_s);
  }
  const auto sorted = [](const Timeline& timeline) {
    std::map<std::array<std::int64_t, 5>, double> all;  // ends, when, how much, and when it ends
    for (const record::TimedMessage& m : timeline.messages)
      all[{m.source, m.target, std::llround(m.start_s * 1e8), m.bytes, m.step}] = m.end_s;
    return all;
  };
  const auto p = sorted(a), q = sorted(b);
  if (p.size() != q.size()) return fmt::format("{} and {} messages", p.size(), q.size());
  for (auto x = p.begin(), y = q.begin(); x != p.end(); ++x, ++y)
    if (x->first != y->first || std::abs(x->second - y->second) > 1e-9)
      return fmt::format("a message from {} to {} ends at {} and {}", x->first[0], x->first[1], x->second, y->second);
  return {};
}

}  // namespace

TEST_CASE("a collective that is computed shows the spans and messages of one that is sent, also where it is cut") {
  for (const char* algorithm : {"ring", "recursive_doubling", "rabenseifner", "tree", "double_binary_tree", "naive"})
    for (const char* stop : {"steps = 3", "time = \"11.3ms\""}) {
      const auto text = [&](const char* how) {
        return fmt::format(
            "{}relative_speeds = [1, 0.4, 0.7]\ncollectives = \"{}\"\n[data]\nsamples = 60\nfeatures = "
            "6\n[model]\nkind = "
            "\"least_squares\"\n[stop]\n{}\n[[strategy]]\nkind = \"allreduce\"\nalgorithm = \"{}\"\n",
            calm, how, stop, algorithm);
      };
      INFO(algorithm << ", " << stop);
      CHECK(difference(timeline_of(text("auto"), everything()), timeline_of(text("messages"), everything())) == "");
    }
}

TEST_CASE("collectives beside the backward pass show the spans and messages of those that are sent") {
  for (const char* algorithm : {R"({ kind = "ring", rings = 1 })", R"("rabenseifner")", R"("hierarchical")"})
    for (const char* stop : {"steps = 3", "time = \"1.3s\"", "time = \"1.21s\"", "time = \"2.9s\""}) {
      const auto text = [&](const char* how) {
        return fmt::format(
            "{}relative_speeds = [1, 0.4, 0.7]\ntopology = {{ kind = \"gpu_hosts\", devices = 2, nics = 2 "
            "}}\ncollectives = "
            "\"{}\"\n[data]\nsource = \"blobs\"\nsamples = 60\nfeatures = 60\n[model]\nkind = "
            "\"perceptron\"\nhidden = [50, 40, 30]\n[stop]\n{}\n[[strategy]]\nkind = \"allreduce\"\nbucket_size = "
            "\"10kB\"\nalgorithm = {}\n",
            calm, how, stop, algorithm);
      };
      INFO(algorithm << ", " << stop);
      CHECK(difference(timeline_of(text("auto"), everything()), timeline_of(text("messages"), everything())) == "");
    }
}

TEST_CASE("a tape that is full ends everywhere at one time, with what it has, and says so") {
  for (const char* how : {"auto", "messages"}) {
    const std::string text = calm + "collectives = \"" + how + "\"\n" + conditions + ring_allreduce;
    const Timeline whole = timeline_of(text, everything());
    for (const std::size_t spans : {1U, 10U, 40U, 100U}) {
      cluster::TimelineLimits limits = everything();
      limits.spans = spans;
      const Timeline some = timeline_of(text, limits);
      INFO(how << ", " << spans);
      CHECK_FALSE(some.whole);
      CHECK(some.to_s < whole.to_s);
      CHECK(some.spans.size() <= spans + 8);  // each rank's unfinished span
      std::map<int, double> ends;
      for (const Span& span : some.spans) ends[span.rank] = span.to_s;
      for (const auto& [rank, end_s] : ends) CHECK(end_s == Approx(some.to_s).epsilon(1e-12));
      CHECK(ends.size() == 4);
    }
  }
}

TEST_CASE("the first workers and servers of many ranks are recorded, and messages among them") {
  const Timeline some = timeline_of(calm + conditions + "[[strategy]]\nkind = \"parameter_server\"\nservers = 2\n",
                                    {.workers = 2, .servers = 1, .spans = 10000});
  CHECK(some.ranks == std::vector{0, 1, 4});
  CHECK(some.rank_names == std::vector<std::string>{"rank 0 (host-0)", "rank 1 (host-1)", "server 0 (host-4)"});
  CHECK_FALSE(some.whole);
  for (const Span& span : some.spans) CHECK((span.rank < 2 || span.rank == 4));
  for (const record::TimedMessage& message : some.messages) CHECK((message.source == 4) != (message.target == 4));
}

TEST_CASE(
    "of the steps asked for, all that belongs to them is recorded, and what comes before the first belongs to it") {
  cluster::TimelineLimits limits = everything();
  limits.steps = {1, 2};
  const std::string text = calm + conditions + ring_allreduce;
  const Timeline some = timeline_of(text, limits), whole = timeline_of(text, everything());
  std::size_t expected = 0;
  for (const Span& span : whole.spans) expected += span.step == 1 || span.step == 2;
  CHECK(some.spans.size() == expected);
  CHECK_FALSE(some.whole);
  CHECK(some.from_s > 0.0);
  CHECK(some.to_s < whole.to_s);
  limits.steps = {0, 8};
  CHECK(timeline_of(text, limits).spans.size() == whole.spans.size());
}

TEST_CASE("recording changes nothing in a record") {
  for (const Case& strategy : all_strategies()) {
    INFO(strategy.name);
    const auto json = [&](const std::vector<cluster::TimelineLimits>& tapes) {
      return tests::text_of_child([&] {
        outputs::Run run;
        run.record = recorded(calm + "relative_speeds = [0.37]\n" + conditions + strategy.text, tapes);
        return outputs::to_json(run).dump();
      });
    };
    cluster::TimelineLimits few;
    few.spans = 37;
    CHECK(json({few, everything()}) == json({}));
  }
}

}  // namespace timeline_test
