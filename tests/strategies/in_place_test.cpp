// Failures in which nobody stops: the living go on without the lost worker, and with it once it is back.
#include <fmt/format.h>

#include "share.h"
#include "strategies/fragile.h"

namespace in_place_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::Status;

namespace {

std::vector<Named> that_go_on() {
  return {{"mapreduce", mapreduce()},
          {"asp", parameter_server(Consistency::asp)},
          {"asp, three shards by hash",
           servers({.consistency = Consistency::asp, .shards = 3, .dealt_by = training::Sharding::hash})},
          {"ssp", servers({.consistency = Consistency::ssp, .shards = 2, .staleness_bound = 2})},
          {"K-batch-async", servers({.consistency = Consistency::asp, .k_batch = 3})},
          {"delay compensation",
           servers({.consistency = Consistency::asp, .shards = 2, .staleness_aware = true, .delay_compensation = 0.5})},
          {"easgd", easgd(2, 0.9, false)},
          {"gossip", gossip("ring", GossipUpdate::combine_then_adapt)},
          {"gossip, complete", gossip("complete", GossipUpdate::adapt_then_combine)},
          {"gossip, star", gossip("star", GossipUpdate::gradient_exchange)}};
}

Trial going_on(const training::Program& program) {
  Trial trial = fragile(program);
  if (!program.traits(trial.workers).lockstep()) trial.stop.steps = 80;
  trial.cluster.failures.recovery = Recovery::keep_going;
  return trial;
}

Trial crashing(Trial trial, std::vector<Crash> crashes) {
  return with_crashes(std::move(trial), std::move(crashes), Recovery::keep_going);
}

}  // namespace

TEST_CASE("when nothing fails, what could go on in place does what it always does") {
  for (const auto& [name, program] : that_go_on()) {
    CAPTURE(name);
    if (name == "mapreduce") continue;  // it deals splits then
    const Trial trial = going_on(program);
    Trial plain = trial;
    plain.cluster.failures.recovery = Recovery::restart;
    const Outcome a = trial.run();
    const Outcome b = plain.run();
    check_sound(a.record);
    CHECK(a.record.simulated_s == Approx(b.record.simulated_s).epsilon(1e-12));
    CHECK(a.record.samples == b.record.samples);
    CHECK(a.record.bytes >= b.record.bytes);  // a server that is through first goes on answering
    CHECK(a.final_parameters() == b.final_parameters());
  }
}

TEST_CASE("one worker, or two at one moment, are lost and come back while the others go on") {
  Share share(7);
  for (const auto& [name, program] : that_go_on()) {
    CAPTURE(name);
    const Trial trial = going_on(program);
    const Outcome undisturbed = trial.run();
    const double T = undisturbed.record.simulated_s;
    for (int i = 0; i < 24; ++i) {
      if (!share.next()) continue;
      CAPTURE(i);
      const double at_s = T * (i + 0.37) / 26;
      std::vector<Crash> crashes{crash(i / 2 % 4, at_s, 0.2 * T)};
      if (i % 2 == 1) crashes.push_back(crash((i / 2 + 1) % 4, at_s, 0.1 * T));
      const Outcome outcome = crashing(trial, crashes).run();
      check_sound(outcome.record);
      CHECK(outcome.record.steps == trial.stop.steps);
      for (const Crash& one : crashes) {
        const double down_s = std::min(*one.repair_s, outcome.record.simulated_s - at_s);
        CHECK(outcome.record.ranks[static_cast<std::size_t>(one.rank)].down_s == Approx(down_s).epsilon(1e-9));
      }
      // At worst all wait for who is away, who then has a step to do.
      CHECK(outcome.record.simulated_s < T + 0.2 * T + T / steps);
      // Updates are of as many gradients as ever. Where everyone updates his own parameters, who is away does not.
      const std::int64_t missing = undisturbed.record.samples - outcome.record.samples;
      CHECK((missing == 0 || (name.starts_with("gossip") && missing > 0 && missing % 12 == 0)));
      // The others of a star stand still without its centre.
      const double most = name == "gossip, star" ? 1.5 : 1.25;
      CHECK(*outcome.record.final_loss < most * *undisturbed.record.final_loss);
      if (name == "mapreduce")
        CHECK(relative_distance(outcome.final_parameters(), undisturbed.final_parameters()) < 1e-12);
    }
  }
}

TEST_CASE("a worker that is lost for good leaves the others at work") {
  for (const auto& [name, program] : that_go_on()) {
    CAPTURE(name);
    const Trial trial = going_on(program);
    const Outcome undisturbed = trial.run();
    for (const double share : {0.0, 0.11, 0.52, 0.93}) {
      const double at_s = share * undisturbed.record.simulated_s;
      const Outcome outcome = crashing(trial, {crash(1, at_s, std::nullopt)}).run();
      check_sound(outcome.record);
      CHECK(outcome.record.steps == trial.stop.steps);
      CHECK(outcome.record.ranks[1].down_s == Approx(outcome.record.simulated_s - at_s).epsilon(1e-9));
    }
  }
}

TEST_CASE("whoever crashes when, there is an end") {
  for (const auto& [name, program] : that_go_on()) {
    const Trial trial = going_on(program);
    const double T = trial.run().record.simulated_s;
    const std::vector<std::vector<Crash>> cascades{
        {crash(1, 0.3 * T, 0.1 * T), crash(1, 0.41 * T, 0.1 * T), crash(1, 0.55 * T, 0.0)},
        {crash(1, 0.3 * T, 0.1 * T), crash(0, 0.4 * T, 0.1 * T), crash(2, 0.4001 * T, 0.1 * T)},
        {crash(0, 0.3 * T), crash(1, 0.3 * T), crash(2, 0.3 * T), crash(3, 0.3 * T)},
        {crash(0, 0.3 * T), crash(1, 0.4 * T), crash(2, 0.5 * T, std::nullopt), crash(3, 0.6 * T, std::nullopt)},
        {crash(0, 0.3 * T, std::nullopt), crash(1, 0.3 * T, std::nullopt), crash(2, 0.3 * T, std::nullopt),
         crash(3, 0.35 * T)}};
    for (std::size_t i = 0; i < cascades.size(); ++i) {
      const Outcome outcome = crashing(trial, cascades[i]).run();
      CAPTURE(name, i, outcome.record.error, outcome.record.notes);
      check_sound(outcome.record);
      CHECK(outcome.record.steps == trial.stop.steps);
    }
  }
}

TEST_CASE("all workers lost for good in place have failed, and it says so") {
  for (const auto& [name, program] : that_go_on())
    for (const double apart_s : {0.0, 0.004, 0.03}) {
      CAPTURE(name, apart_s);
      std::vector<Crash> crashes;
      for (int rank = 0; rank < 4; ++rank) crashes.push_back(crash(rank, 0.02 + rank * apart_s, std::nullopt));
      Trial trial = crashing(going_on(program), crashes);
      trial.stop.steps = 1000;
      const Outcome outcome = trial.run();
      CHECK(outcome.record.status == Status::failed);
      CHECK(outcome.record.error.starts_with("no worker is left"));
    }
}

TEST_CASE("a server that crashes takes all back to its last checkpoint, whoever is down meanwhile") {
  for (const auto& [name, program] : that_go_on()) {
    if (program.traits(4).servers == 0) continue;
    CAPTURE(name);
    const Trial trial = going_on(program);
    const double T = trial.run().record.simulated_s;
    Crash server = crash(0, 0.5 * T);
    server.role = cluster::Role::server;
    for (const double before : {-1.0, 0.01, 0.2}) {
      std::vector<Crash> crashes{server};
      if (before > 0) crashes.push_back(crash(2, (0.5 - before) * T, 0.3 * T));
      const Outcome outcome = crashing(trial, crashes).run();
      check_sound(outcome.record);
      CHECK(outcome.record.steps == trial.stop.steps);
      CHECK(outcome.record.ranks[4].down_s == Approx(repair_s).epsilon(1e-9));
    }
  }
}

TEST_CASE("asp loses nothing but the worker's own time") {
  Trial trial = going_on(parameter_server(Consistency::asp));
  trial.cluster.host_spec.bandwidth_bytes_per_s = B;
  const Outcome undisturbed = trial.run();
  const double T = undisturbed.record.simulated_s;
  const Outcome outcome = crashing(trial, {crash(2, 0.25 * T, 0.5 * T)}).run();
  check_sound(outcome.record);
  // Eighty updates by four workers, of whom one is away for half of the time: 80 = 4 x - 0.5 T's worth of one.
  CHECK(outcome.record.simulated_s == Approx(T * 1.125).epsilon(0.03));
}

}  // namespace in_place_test
