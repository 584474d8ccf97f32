// Times of pipeline schedules, micro-batches in flight and versions of weights against their closed forms.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "catch.h"
#include "strategies/schedules.h"

namespace schedules_times_test {

using namespace simgrad;
using namespace simgrad::strategies;
using namespace simgrad::tests;

namespace {

double sum(const PieceTimes& t) { return t.forward + t.input_backward + t.weight_backward; }

/// The table several times over, as a stream without an end of the step.
PipelineTable repeated(const PipelineTable& table, int micro_batches, int times) {
  PipelineTable all(table.size());
  for (int step = 0; step < times; ++step)
    for (std::size_t stage = 0; stage < table.size(); ++stage)
      for (PipelineTask task : table[stage]) {
        task.micro += step * micro_batches;
        all[stage].push_back(task);
      }
  return all;
}

/// The most versions of its weights that a stage needs at a time, its newest among them, with an update behind every
/// `group` backwards; a forward takes the version `delay` updates before that of its group, or the newest.
struct Versions {
  int held = 0;
  bool in_time = true;  ///< whether every version is there when a forward takes it
};
Versions versions(const std::vector<PipelineTask>& tasks, int group, std::optional<int> delay) {
  Versions all;
  std::map<int, int> taken;  // by micro-batch in flight
  int backwards = 0;
  for (const PipelineTask& task : tasks) {
    if (task.piece == Piece::forward) {
      const int newest = backwards / group;
      taken[task.micro] = delay ? std::max(0, task.micro / group - *delay) : newest;
      all.in_time = all.in_time && taken[task.micro] <= newest;
    }
    std::set<int> needed{backwards / group};
    for (const auto& [micro, version] : taken) needed.insert(version);
    all.held = std::max(all.held, static_cast<int>(needed.size()));
    if (task.piece == Piece::backward) {
      taken.erase(task.micro);
      ++backwards;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the naive pipeline and gpipe take their closed forms' time, with hops") {
  ShapeDraws draws(1);
  for (int trial = 0; trial < 100; ++trial) {
    const int p = draws.from(1, 12), m = draws.from(1, 40);
    PieceTimes t = draws.times();
    t.hop = draws.between(0.0, 2.0);
    CAPTURE(p, m);
    CHECK(timed_pipeline("naive", {p, m}, t).makespan ==
          Approx(p * m * sum(t) + 2 * m * (p - 1) * t.hop).epsilon(1e-9));
    CHECK(timed_pipeline("gpipe", {p, m}, t).makespan ==
          Approx((m + p - 1) * sum(t) + 2 * (p - 1) * t.hop).epsilon(1e-9));
  }
}

TEST_CASE("the 1f1b pipeline takes its closed form's time, with hops where the stages divide the micro-batches") {
  ShapeDraws draws(2);
  for (int trial = 0; trial < 100; ++trial) {
    const int p = draws.from(2, 12);
    PieceTimes t = draws.times();
    const int any = draws.from(1, 40), multiple = p * draws.from(1, 4);
    CAPTURE(p, any, multiple);
    CHECK(timed_pipeline("1f1b", {p, any}, t).makespan == Approx((any + p - 1) * sum(t)).epsilon(1e-9));
    t.hop = draws.between(0.0, 0.5);
    const double hops = 2.0 * (p - 1) * (multiple / p + 1) - 2.0;
    CHECK(timed_pipeline("1f1b", {p, multiple}, t).makespan ==
          Approx((multiple + p - 1) * sum(t) + hops * t.hop).epsilon(1e-9));
  }
}

TEST_CASE(
    "the interleaved pipeline's bubble is 1f1b's over the chunks, and 2 (p v - 1) hops that are shorter than tasks") {
  ShapeDraws draws(3);
  for (int trial = 0; trial < 100; ++trial) {
    const int p = draws.from(2, 12), m = p * draws.from(1, 4), v = draws.from(2, 4);
    PieceTimes t = draws.times();
    t.hop = draws.between(0.0, 1.0) * std::min(t.forward, t.input_backward + t.weight_backward) / v;
    CAPTURE(p, m, v);
    const TimedTable table = timed_pipeline("interleaved_1f1b", {p, m, v}, t);
    CHECK(table.makespan == Approx(m * sum(t) + (p - 1) * sum(t) / v + 2 * (p * v - 1) * t.hop).epsilon(1e-9));
  }
}

TEST_CASE("the zero-bubble pipeline schedules have their papers' bubbles, with hops") {
  ShapeDraws draws(4);
  for (int trial = 0; trial < 100; ++trial) {
    const int p = draws.from(2, 12), m = draws.from(2 * p, 40);
    PieceTimes t = draws.times();
    t.hop = draws.between(0.0, 0.5) * t.weight_backward;
    CAPTURE(p, m);
    const double B = t.input_backward, W = t.weight_backward;
    const TimedTable h1 = timed_pipeline("zb_h1", {p, m}, t), h2 = timed_pipeline("zb_h2", {p, m}, t);
    CHECK(h1.makespan == Approx(m * sum(t) + (p - 1) * (t.forward + B - W) + 4 * (p - 1) * t.hop).epsilon(1e-9));
    CHECK(h1.makespan == Approx(h1.period).epsilon(1e-9));
    CHECK(h2.period == Approx(m * sum(t) + (p - 1) * (t.forward + B - 2 * W) + 2 * (p - 1) * t.hop).epsilon(1e-9));
  }
  for (int p = 1; p <= 12; ++p) {
    const TimedTable h2 = timed_pipeline("zb_h2", {p, 2 * p}, {});
    CHECK(h2.steady_bubble() == 0.0);
    // One that waits for all stages at the end of the step still has the way to the last stage: (p - 1) F.
    CHECK(h2.bubble() == p - 1.0);
    CHECK(timed_pipeline("zb_h1", {p, 2 * p}, {}).makespan == h2.makespan);
  }
}

TEST_CASE("steps of a pipeline schedule that do not wait for each other follow at its period") {
  ShapeDraws draws(6);
  for (const auto& entry : pipeline_schedules().entries())
    for (int trial = 0; trial < 20; ++trial) {
      const auto schedule = entry.make();
      const PipelineShape shape = draws.taken_by(*schedule);
      PieceTimes t = draws.times();
      t.hop = draws.between(0.0, 0.1);
      CAPTURE(entry.about.kind, shape.stages, shape.micro_batches, shape.chunks);
      const PipelineTable table = schedule->table(shape);
      const auto pieces = equal_pieces(t, shape);
      const auto makespan = [&](int steps) {
        const PipelineShape longer{shape.stages, steps * shape.micro_batches, shape.chunks};
        return timed(repeated(table, shape.micro_batches, steps), longer, pieces).makespan;
      };
      if (shape.micro_batches >= 2 * shape.stages)
        CHECK(makespan(4) - makespan(3) == Approx(timed(table, shape, pieces).period).epsilon(1e-9));
    }
}

TEST_CASE("micro-batches in flight of every pipeline schedule are their closed forms") {
  ShapeDraws draws(8);
  for (int trial = 0; trial < 100; ++trial) {
    const int p = draws.from(1, 12), m = draws.from(1, 40), groups = draws.from(1, 4), v = draws.from(2, 4);
    CAPTURE(p, m, groups, v);
    const auto table = [&](std::string_view kind) { return pipeline_table(kind, {p, m}); };
    const PipelineTable h1 = table("zb_h1"), h2 = table("zb_h2");
    for (int i = 0; i < p; ++i) {
      CHECK(in_flight(table("naive"), i) == 1);
      CHECK(in_flight(table("gpipe"), i) == m);
      for (const auto* kind : {"1f1b", "pipedream", "pipedream_2bw"})
        CHECK(in_flight(table(kind), i) == std::min(m, p - i));
      // Stages that wait less for gradients wait longer with the weights' gradients: all hold as many activations.
      CHECK(in_flight(h1, i) == std::min(m, p));
      CHECK(in_flight(h2, i) == std::min(m, 2 * p - 1));
      CHECK(awaiting_gradient(h1, i) == std::min(m, p - i));
      CHECK(awaiting_gradient(h2, i) == std::min(m, 2 * (p - i) - 1));
      const PipelineTable interleaved = pipeline_table("interleaved_1f1b", {p, groups * p, v});
      // p (1 + (p - 1) / (p v)) micro-batches of v chunks on the first stage.
      CHECK(in_flight(interleaved, i) == std::min(groups * p * v, p * v + p - 1 - 2 * i));
    }
  }
}

TEST_CASE("pipedream's table needs as many versions of the weights as the schedule says, and 2bw's two") {
  for (int p = 1; p <= 8; ++p)
    for (const int m : {p, p + 3, 3 * p}) {
      const PipelineShape shape{p, 6 * m};
      const auto pipedream = pipeline_schedule("pipedream"), two = pipeline_schedule("pipedream_2bw");
      CHECK((pipedream->asynchronous() && two->asynchronous()));
      for (int i = 0; i < p; ++i) {
        CAPTURE(p, m, i);
        const auto index = static_cast<std::size_t>(i);
        CHECK(versions(pipedream->table(shape)[index], 1, std::nullopt).held == pipedream->weight_versions(shape, i));
        const Versions delayed = versions(two->table(shape)[index], m, 1);
        CHECK(delayed.in_time);
        CHECK(delayed.held == two->weight_versions(shape, i));
      }
    }
  // With fewer micro-batches an update than stages, the first stage would need a version that is not made yet.
  CHECK_FALSE(versions(pipeline_table("pipedream_2bw", {8, 24})[0], 3, 1).in_time);
}

TEST_CASE("the times of a small pipeline are those drawn by hand, with stages that differ") {
  // Two stages of F = 1, 2 and backwards of 2, 3, a hop of 0.5, two micro-batches, 1f1b.
  const PipelineShape shape{2, 2};
  const std::vector<PieceTimes> times{{1.0, 1.0, 1.0, 0.5}, {2.0, 1.5, 1.5, 9.0}};
  const TimedTable table = timed(pipeline_table("1f1b", shape), shape, times);
  const auto starts = [&](std::size_t stage) {
    std::vector<double> all;
    for (const TimedTask& task : table.tasks[stage]) all.push_back(task.start);
    return all;
  };
  CHECK(starts(0) == std::vector{0.0, 1.0, 7.0, 12.0});
  CHECK(starts(1) == std::vector{1.5, 3.5, 6.5, 8.5});
  CHECK(table.makespan == 14.0);
  CHECK(table.period == 14.0);
  CHECK(table.work == 10.0);
  CHECK(table.bubble() == 4.0);
}

}  // namespace schedules_times_test
