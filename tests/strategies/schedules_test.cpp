// The tables of pipeline schedules: every task once, no deadlock; faults in tables are found and named.
#include "strategies/schedules.h"

#include <algorithm>
#include <set>

#include "catch.h"

namespace schedules_test {

using namespace simgrad;
using namespace simgrad::strategies;
using namespace simgrad::tests;

namespace {

/// F0 B0 as text: one letter a kind (X: both backwards at once), the micro-batch, and ' a chunk.
std::string picture(const std::vector<PipelineTask>& tasks) {
  std::string text;
  for (const PipelineTask& task : tasks) {
    if (!text.empty()) text += " ";
    text += "FXBW"[static_cast<int>(task.piece)] + std::to_string(task.micro) +
            std::string(static_cast<std::size_t>(task.chunk), '\'');
  }
  return text;
}

/// All tasks of a stage, in some order, as a set.
std::set<std::string> expected_tasks(const PipelineShape& shape, bool split) {
  std::set<std::string> all;
  for (int micro = 0; micro < shape.micro_batches; ++micro)
    for (int chunk = 0; chunk < shape.chunks; ++chunk)
      for (const Piece piece : split ? std::vector{Piece::forward, Piece::input_backward, Piece::weight_backward}
                                     : std::vector{Piece::forward, Piece::backward})
        all.insert(picture({{piece, micro, chunk}}));
  return all;
}

constexpr PipelineShape small{3, 4, 1};

}  // namespace

TEST_CASE("every pipeline schedule does each task once and never waits in a circle, on random shapes") {
  ShapeDraws draws(7);
  for (const auto& entry : pipeline_schedules().entries())
    for (int trial = 0; trial < 150; ++trial) {
      const auto schedule = entry.make();
      const PipelineShape shape = draws.taken_by(*schedule);
      CAPTURE(entry.about.kind, shape.stages, shape.micro_batches, shape.chunks);
      REQUIRE(schedule->refusal(shape).empty());
      const PipelineTable table = schedule->table(shape);
      REQUIRE(fault(table, shape) == "");
      // fault() is not believed here: tasks are counted again.
      const std::set<std::string> expected = expected_tasks(shape, schedule->splits_backward());
      for (const auto& tasks : table) {
        std::set<std::string> found;
        for (const PipelineTask& task : tasks) found.insert(picture({task}));
        REQUIRE(tasks.size() == expected.size());
        REQUIRE(found == expected);
      }
    }
}

TEST_CASE("small pipeline schedules are those of their papers' pictures") {
  const PipelineShape one_chunk{3, 4, 1};
  CHECK(picture(pipeline_table("naive", one_chunk)[1]) == "F0 X0 F1 X1 F2 X2 F3 X3");
  CHECK(picture(pipeline_table("gpipe", one_chunk)[1]) == "F0 F1 F2 F3 X0 X1 X2 X3");
  CHECK(picture(pipeline_table("1f1b", one_chunk)[0]) == "F0 F1 F2 X0 F3 X1 X2 X3");
  CHECK(picture(pipeline_table("1f1b", one_chunk)[1]) == "F0 F1 X0 F2 X1 F3 X2 X3");
  CHECK(picture(pipeline_table("1f1b", one_chunk)[2]) == "F0 X0 F1 X1 F2 X2 F3 X3");
  CHECK(picture(pipeline_table("zb_h1", one_chunk)[0]) == "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  CHECK(picture(pipeline_table("zb_h1", one_chunk)[2]) == "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
  CHECK(picture(pipeline_table("zb_h2", one_chunk)[1]) == "F0 F1 F2 B0 F3 B1 B2 W0 B3 W1 W2 W3");
  CHECK(picture(pipeline_table("interleaved_1f1b", {2, 4, 2})[0]) ==
        "F0 F1 F0' F1' F2 X0' F3 X1' F2' X0 F3' X1 X2' X3' X2 X3");
  CHECK(picture(pipeline_table("interleaved_1f1b", {2, 4, 2})[1]) ==
        "F0 F1 F0' X0' F1' X1' F2 X0 F3 X1 F2' X2' F3' X3' X2 X3");
  CHECK(pipeline_table("pipedream", one_chunk) == pipeline_table("1f1b", one_chunk));
  CHECK(pipeline_table("pipedream_2bw", one_chunk) == pipeline_table("1f1b", one_chunk));
}

TEST_CASE("backwards of every pipeline schedule add the gradients of a chunk in the order of the micro-batches") {
  ShapeDraws draws(11);
  for (const auto& entry : pipeline_schedules().entries())
    for (int trial = 0; trial < 20; ++trial) {
      const auto schedule = entry.make();
      const PipelineShape shape = draws.taken_by(*schedule);
      CAPTURE(entry.about.kind, shape.stages, shape.micro_batches, shape.chunks);
      const Piece last = schedule->splits_backward() ? Piece::weight_backward : Piece::backward;
      for (const auto& tasks : schedule->table(shape)) {
        std::vector<int> next(static_cast<std::size_t>(shape.chunks), 0);
        for (const PipelineTask& task : tasks)
          if (task.piece == last) REQUIRE(task.micro == next[static_cast<std::size_t>(task.chunk)]++);
      }
    }
}

TEST_CASE("pipeline schedules refuse shapes with the numbers that would do") {
  CHECK(pipeline_schedule("1f1b")->refusal({4, 8, 2}) ==
        "a stage has one chunk of layers here, but chunks is 2; take 1, or interleaved_1f1b");
  CHECK(pipeline_schedule("interleaved_1f1b")->refusal({4, 8, 1}) ==
        "interleaving needs 2 chunks of layers a stage or more, but there is 1; 1f1b has one");
  const std::string takes = "interleaving takes 4 micro-batches at a time, as many as there are stages, but there are ";
  CHECK(pipeline_schedule("interleaved_1f1b")->refusal({4, 10, 2}) == takes + "10; take 8 or 12");
  CHECK(pipeline_schedule("interleaved_1f1b")->refusal({4, 3, 2}) == takes + "3; take 4");
  for (const auto& entry : pipeline_schedules().entries())
    for (int m = 1; m < 10; ++m) {
      const bool interleaved = entry.about.kind == "interleaved_1f1b";
      CHECK(entry.make()->refusal({4, m, 1}).empty() == !interleaved);
      CHECK(entry.make()->refusal({4, m, 2}).empty() == (interleaved && m % 4 == 0));
    }
}

TEST_CASE("a pipeline table with a task too many, too few or too early has a fault that names it") {
  const PipelineTable good = pipeline_table("zb_h1", small);
  const auto fault_after = [&](auto change) {
    PipelineTable table = good;
    change(table);
    return fault(table, small);
  };
  CHECK(fault_after([](PipelineTable&) {}) == "");
  CHECK(fault_after([](PipelineTable& t) { t.pop_back(); }) == "the table has 2 stages, expected 3");
  CHECK(fault_after([](PipelineTable& t) { t[1].pop_back(); }) ==
        "stage 1: weight backward of micro-batch 3 is missing");
  CHECK(fault_after([](PipelineTable& t) { t[1].clear(); }) == "stage 1: forward of micro-batch 0 is missing");
  CHECK(fault_after([](PipelineTable& t) {
          t[2].push_back({Piece::forward, 2});
        }) == "stage 2: forward of micro-batch 2 is there twice");
  CHECK(fault_after([](PipelineTable& t) {
          t[0].push_back({Piece::backward, 2});
        }) ==
        "stage 0: backward of micro-batch 2 is there in addition to another backward; expected one backward, or that "
        "of the "
        "inputs and that of the weights");
  CHECK(fault_after([](PipelineTable& t) {
          t[0].push_back({Piece::forward, 4});
        }) == "stage 0: forward of micro-batch 4 is none of 4 micro-batches on 1 chunks");
  CHECK(fault_after([](PipelineTable& t) { std::swap(t[2][0], t[2][1]); }) ==
        "stage 2: input backward of micro-batch 0 stands before its forward");
  CHECK(fault_after([](PipelineTable& t) { std::swap(t[0][3], t[0][4]); }) ==
        "stage 0: weight backward of micro-batch 0 stands before its input backward");
}

TEST_CASE("a deadlock among pipeline stages is named with all that wait in a circle") {
  // Stage 0 wants the gradient of micro-batch 0 before it gives the forward of 1; stage 1 wants that forward first.
  const PipelineTable table{{{Piece::forward, 0}, {Piece::backward, 0}, {Piece::forward, 1}, {Piece::backward, 1}},
                            {{Piece::forward, 0}, {Piece::forward, 1}, {Piece::backward, 0}, {Piece::backward, 1}}};
  CHECK(
      fault(table, {2, 2, 1}) ==
      "deadlock: stage 0 waits for stage 1 before the backward of micro-batch 0, stage 1 waits for stage 0 before the "
      "forward of micro-batch 1");
  const PipelineTable one{
      {{Piece::forward, 0, 1}, {Piece::forward, 0, 0}, {Piece::backward, 0, 1}, {Piece::backward, 0, 0}}};
  CHECK(fault(one, {1, 1, 2}) ==
        "stage 0: forward of micro-batch 0 on chunk 1 stands before the task that makes its input");
}

TEST_CASE("random changes of a pipeline table are either faults or tables that can be done") {
  ShapeDraws draws(5);
  int faults = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const auto& entries = pipeline_schedules().entries();
    const auto schedule = entries[static_cast<std::size_t>(draws.from(0, static_cast<int>(entries.size()) - 1))].make();
    const PipelineShape shape = draws.taken_by(*schedule);
    PipelineTable table = schedule->table(shape);
    auto& tasks = table[static_cast<std::size_t>(draws.from(0, shape.stages - 1))];
    const auto last = static_cast<int>(tasks.size()) - 1;
    auto& changed = tasks[static_cast<std::size_t>(draws.from(0, last))];
    switch (draws.from(0, 2)) {
      case 0:
        changed.micro = (changed.micro + 1) % (shape.micro_batches + 1);
        REQUIRE(fault(table, shape) != "");
        break;
      case 1:
        tasks.erase(tasks.begin() + (&changed - tasks.data()));
        REQUIRE(fault(table, shape) != "");
        break;
      default:
        std::swap(changed, tasks[static_cast<std::size_t>(draws.from(0, last))]);
        if (fault(table, shape).empty()) {
          const TimedTable times = timed(table, shape, equal_pieces({}, shape));
          // Each task has been timed: it ends later than at 0.
          for (const auto& stage : times.tasks)
            for (const TimedTask& task : stage) REQUIRE(task.end > 0.0);
        } else {
          ++faults;
        }
    }
  }
  CHECK(faults > 100);
}

}  // namespace schedules_test
