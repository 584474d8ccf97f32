// Names and texts that others have written steer no reader of the streams: no terminal, and no runner of workflows that
// takes some lines of a log for commands.
#include "catch.h"
#include "cli/program.h"
#include "cli/scenario.h"

namespace streams_test {

using namespace simgrad::tests;

namespace {

/// A runner's command at the beginning of one of the lines.
bool has_command(const std::string& text) { return ("\n" + text).find("\n::") != std::string::npos; }

}  // namespace

TEST_CASE("line breaks in the name of a scenario begin no line of an error") {
  const Scratch scratch;
  scratch.write("a\n::error::b.toml", "[cluster]\nworkers = \"x\"\n");
  for (const char* command : {"validate", "run", "check", "plan", "capacity"}) {
    INFO(command);
    const Called called = program(std::string(command) + " 'a\n::error::b.toml'", scratch);
    CHECK(called.exit_code == 2);
    CHECK_FALSE(has_command(called.err));
    CHECK_FALSE(has_command(called.out));
    CHECK(called.err.find("a\\x0a::error::b.toml:2:11: ") != std::string::npos);
  }
}

TEST_CASE("a name that begins as a runner's command does is no command") {
  const Scratch scratch;
  scratch.write("::error::b.toml", small);
  scratch.write("other.toml", small);
  const Called run = program("run ::error::b.toml other.toml --no-why --out o", scratch);
  CHECK(run.exit_code == 0);
  CHECK_FALSE(has_command(run.out));
  CHECK_FALSE(has_command(run.err));
  CHECK_FALSE(has_command(program("check ::error::b.toml", scratch).out));
}

TEST_CASE("labels and titles that begin as a runner's command does are none in the table") {
  const Scratch scratch;
  const std::string labelled = with(small, "kind = \"allreduce\"", "kind = \"allreduce\"\nlabel = \"::error::x\"");
  scratch.write("x.toml", with(labelled, "title = \"small\"", "title = \"::warning::y ##[add-mask]z\""));
  const Called run = program("run x.toml --no-why --out o", scratch);
  REQUIRE(run.exit_code == 0);
  CHECK_FALSE(has_command(run.out));
  CHECK(run.out.find("\\x3a:error::x") != std::string::npos);
  CHECK(run.out.find("##[") == std::string::npos);
}

TEST_CASE("line breaks in the name of the results directory are shown as escapes") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called run = program("run x.toml --no-why --out 'o\n::error::p'", scratch);
  CHECK(run.exit_code == 0);
  CHECK_FALSE(has_command(run.out));
  CHECK(run.out.find("Results: o\\x0a::error::p/results.json") != std::string::npos);
  CHECK(program("report 'o\n::error::p'", scratch).out == "o\\x0a::error::p/report.html\n");
}

TEST_CASE("names and labels of a plan steer nobody, and add no line to the winner's scenario") {
  const Scratch scratch;
  const std::string searched =
      with(small, "steps = 10\n", "steps = 10\nloss = 0.3\n") +
      "label = \"a\\nextends = 'x'\\n::error::x\"\n[plan]\nobjective = \"fastest\"\nseconds = \"20s\"\n"
      "[plan.space]\n\"training.learning_rate\" = [0.1, 0.2]\n";
  scratch.write("a\n::error::b.toml", searched);
  const Called planned = program("plan 'a\n::error::b.toml' --no-confirm --out o", scratch);
  REQUIRE(planned.exit_code == 0);
  CHECK_FALSE(has_command(planned.out));
  CHECK_FALSE(has_command(planned.err));
  const std::string winner = contents(scratch.path() + "/o/winner.toml");
  CHECK_FALSE(has_command(winner));
  CHECK(("\n" + winner).find("\nextends") == std::string::npos);
  const Called again = program("plan 'a\n::error::b.toml' --no-confirm --out o", scratch);
  CHECK(again.err.find(" simulations come from o/simulations.jsonl, where an earlier command has left them; --force "
                       "simulates them\n") != std::string::npos);
  CHECK(program("plan 'a\n::error::b.toml' --no-confirm --out o --force", scratch).err.find("come from") ==
        std::string::npos);
}

TEST_CASE("the resolved scenario has escapes for what steers a reader, and reads back equal") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "title = \"small\"", "title = \"a\xc2\x9b\xe2\x80\xae##[error]b\""));
  const Called shown = program("validate x.toml --resolved", scratch);
  REQUIRE(shown.exit_code == 0);
  CHECK(shown.out.find("title = \"a\\u009B\\u202E\\u0023#[error]b\"\n") != std::string::npos);
}

TEST_CASE("results whose name is not UTF-8 are written all the same") {
  const Scratch scratch;
  scratch.write("b\xff.toml", with(small, "steps = 10\n", "steps = 10\nloss = 0.3\n") +
                                  "[plan]\nobjective = \"fastest\"\nseconds = \"20s\"\n[plan.space]\n"
                                  "\"training.learning_rate\" = [0.1, 0.2]\n");
  CHECK(program("plan b\xff.toml --no-confirm --json --out o", scratch).exit_code == 0);
}

}  // namespace streams_test
