// Platforms that ask SimGrid to write to files: no command does what they ask for.
#include <fmt/format.h>
#include <sys/stat.h>

#include <set>

#include "catch.h"
#include "cli/scenario.h"

namespace hostile_platform_test {

using namespace simgrad::tests;

namespace {

const std::string scenario = with(small, "speed = \"1GF\"\nbandwidth = \"1Gbps\"\nlatency = \"50us\"\n",
                                  "platform = \"p.xml\"\n[prices]\nworker = \"1$/h\"\n");

std::string platform(const std::string& before) {
  std::string hosts, routes;
  for (const char* name : {"a", "b", "c", "d"}) {
    hosts += fmt::format("<host id=\"{}\" speed=\"1Gf\"/>", name);
    for (const char* other : {"a", "b", "c", "d"})
      if (*name < *other)
        routes += fmt::format("<route src=\"{}\" dst=\"{}\"><link_ctn id=\"l\"/></route>", name, other);
  }
  return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n" +
         before + "\n<zone id=\"z\" routing=\"Full\">" + hosts +
         "<link id=\"l\" bandwidth=\"125MBps\" latency=\"50us\"/>" + routes + "</zone>\n</platform>\n";
}

/// All files and folders of the directory, with the contents of each file.
std::set<std::string> everything(const Scratch& scratch) {
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path()))
    all.insert(entry.path().string() + (entry.is_regular_file() ? ": " + contents(entry.path()) : ""));
  return all;
}

/// Every command that takes a scenario.
const std::vector<std::string> commands{"validate x.toml",
                                        "validate x.toml --resolved",
                                        "run x.toml",
                                        "check x.toml",
                                        "plan x.toml",
                                        "capacity x.toml",
                                        "calibrate x.toml",
                                        "explain network_model x.toml",
                                        "explain balance x.toml",
                                        "explain metrics x.toml",
                                        "list x.toml"};

}  // namespace

TEST_CASE("a platform that asks SimGrid for a trace changes no file, whichever command reads it") {
  const Scratch scratch;
  scratch.write("x.toml", scenario);
  const std::string victim = scratch.write("victim", "precious\n");
  const std::string config =
      "<config id=\"General\"><prop id=\"tracing\" value=\"yes\"/><prop id=\"tracing/platform\" value=\"yes\"/>"
      "<prop id=\"tracing/filename\" value=\"" +
      victim + "\"/></config>";
  for (const std::string& before : {config, with(config, "config id", "config\n id"), with(config, victim, "new.trace"),
                                    "<![CDATA[" + config + "]]>", "<?x " + config + "?>"}) {
    scratch.write("p.xml", platform(before));
    const std::set<std::string> all = everything(scratch);
    for (const std::string& command : commands) {
      INFO(command << ", " << before);
      CHECK(program(command, scratch).exit_code != 0);
      CHECK((everything(scratch) == all));
    }
  }
  scratch.write("p.xml", platform(config));
  CHECK(contains(program("validate x.toml", scratch).err,
                 "x.toml:6:1: p.xml:4:1: <config> sets options of SimGrid, which can make it write to files"));
  scratch.write("p.xml", platform("<!-- " + config + " -->"));
  CHECK(program("run x.toml --no-baseline", scratch).exit_code == 0);
  CHECK(contents(victim) == "precious\n");
}

TEST_CASE("a platform that changes how long messages take is refused") {
  const Scratch scratch;
  scratch.write("x.toml", scenario);
  scratch.write("p.xml", platform("<config><prop id=\"network/bandwidth-factor\" value=\"0.5\"/></config>"));
  CHECK(program("validate x.toml", scratch).exit_code == 2);
}

TEST_CASE("a platform that is a pipe or a device, or names one, ends with 5 and is not waited for") {
  const Scratch scratch;
  scratch.write("x.toml", scenario);
  REQUIRE(mkfifo((scratch.path() + "/p.xml").c_str(), 0600) == 0);
  Called called = program("validate x.toml", scratch);
  CHECK(called.exit_code == 5);
  CHECK(contains(called.err, "p.xml: is a pipe; expected a regular file"));
  called = program("validate x.toml --set cluster.platform=/dev/zero", scratch);
  CHECK(called.exit_code == 5);
  CHECK(contains(called.err, "/dev/zero: is a device; expected a regular file"));
  scratch.write("q.xml", with(platform(""), "speed=\"1Gf\"", "speed=\"1Gf\" speed_file=\"/dev/zero\""));
  called = program("validate x.toml --set cluster.platform=q.xml", scratch);
  CHECK(called.exit_code == 5);
  CHECK(contains(called.err, "q.xml:5:29: /dev/zero: is a device; expected a regular file"));
}

}  // namespace hostile_platform_test
