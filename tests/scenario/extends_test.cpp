#include <sys/stat.h>

#include <filesystem>

#include "scenario/fixture.h"
#include "scratch.h"

namespace extends_test {

using namespace fixture;
using scenario::Document;
using tests::Scratch;

namespace {

/// The fault with the scratch directory left out.
std::string without(std::string text, const Scratch& scratch) {
  for (auto at = text.find(scratch.path() + "/"); at != std::string::npos; at = text.find(scratch.path() + "/"))
    text.erase(at, scratch.path().size() + 1);
  return text;
}

Lines faults_of(const Scratch& scratch, const char* file) {
  Lines told = refusal([&] { settings(Document::read(scratch.path() + "/" + file)); });
  for (std::string& each : told) each = without(std::move(each), scratch);
  return told;
}

}  // namespace

TEST_CASE("a scenario is laid over the one that it extends, table by table and key by key") {
  const Scratch scratch;
  scratch.write("base.toml",
                "title = \"base\"\n[cluster]\nworkers = 2\nbandwidth = \"10Gbps\"\n[model]\nkind = \"perceptron\"\n"
                "hidden = [8, 8]\n[[strategy]]\nkind = \"allreduce\"\n[[strategy]]\nkind = \"parameter_server\"\n");
  const std::string file = scratch.write(
      "a.toml", "extends = \"base.toml\"\n[cluster]\nworkers = 8\n[model]\nbias = true\n[training]\nclip = 2.0\n");
  // `bias` is no option of the perceptron.
  CHECK(faults_of(scratch, "a.toml") == Lines{"a.toml:5:1: unknown key \"bias\" in [model]; known: kind, hidden"});
  scratch.write("a.toml",
                "extends = \"base.toml\"\n[cluster]\nworkers = 8\n[training]\nclip = 2.0\n[[strategy]]\n"
                "kind = \"allreduce\"\n");
  const Settings read = settings(Document::read(file));
  CHECK(read.title == "base");
  CHECK(read.cluster.workers == 8);
  CHECK(read.cluster.bandwidth_bytes_per_s == 1.25e9);
  CHECK(dynamic_cast<const Perceptron&>(*read.model.model).hidden == std::vector{8.0, 8.0});
  CHECK(read.training.clip == 2.0);
  CHECK(read.strategies.size() == 1);  // a list takes the place of the list
}

TEST_CASE("a table of another kind takes the place of the base's, whose options it does not have") {
  const Scratch scratch;
  scratch.write(
      "base.toml",
      "[cluster]\ntopology = { kind = \"fat_tree\", arity = 8 }\n[model]\nkind = \"perceptron\"\nhidden = [8]\n");
  const auto read = [&](const std::string& text) {
    return settings(Document::read(scratch.write("a.toml", "extends = \"base.toml\"\n" + text)));
  };
  CHECK(read("[model]\nkind = \"least_squares\"\n").model.model.kind() == "least_squares");
  CHECK(read("cluster.topology = \"star\"").cluster.topology.kind() == "star");
  const Settings more = read("[cluster.topology]\nkind = \"fat_tree\"\nlevels = 3\n");
  CHECK(dynamic_cast<const FatTree&>(*more.cluster.topology).arity == 8);
  CHECK(dynamic_cast<const FatTree&>(*more.cluster.topology).levels == 3);
  // A base that names no kind has options of the usual one.
  scratch.write("base.toml", "[cluster]\ntopology = { arity = 8 }\n[model]\nkind = \"least_squares\"\n");
  CHECK(read("cluster.topology = { kind = \"star\" }").cluster.topology.kind() == "star");
}

TEST_CASE("bases may extend others, from other directories, and paths are relative to the file that writes them") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path() + "/one");
  std::filesystem::create_directory(scratch.path() + "/two");
  scratch.write("one/first.toml",
                "[model]\nkind = \"least_squares\"\n[training]\ndata = \"d.csv\"\n[cluster]\nworkers = 7");
  scratch.write("two/second.toml", "extends = \"../one/first.toml\"\ntitle = \"second\"\n");
  const std::string file = scratch.write("third.toml", "extends = \"two/second.toml\"\n");
  const Document document = Document::read(file);
  CHECK(settings(document).training.data == scratch.path() + "/one/d.csv");
  CHECK(settings(document).title == "second");
  CHECK(settings(document).cluster.workers == 7);
  CHECK(document.file() == file);
  CHECK(document.position("title").text() == scratch.path() + "/two/second.toml:2:1");
  CHECK_FALSE(document.contains("extends"));
}

TEST_CASE("a fault names the file in which it stands") {
  const Scratch scratch;
  scratch.write("base.toml", "[model]\nkind = \"least_squares\"\n\n[cluster]\nworkers = 0\nlatency = 3\n");
  scratch.write("a.toml", "extends = \"base.toml\"\n[cluster]\nbandwith = \"1Gbps\"\nlatency = 4\n");
  CHECK(faults_of(scratch, "a.toml") ==
        Lines{R"(a.toml:3:1: unknown key "bandwith" in [cluster]; did you mean "bandwidth"?)",
              R"(a.toml:4:11: latency: a time needs a unit, as in "50us"; found 4)",
              "base.toml:5:11: workers must be at least 1, found 0"});
  CHECK(Document::read(scratch.path() + "/a.toml").position("cluster").text() == scratch.path() + "/a.toml:2:2");
  scratch.write("base.toml", "[model\n");
  CHECK(faults_of(scratch, "a.toml").at(0).starts_with("base.toml:1:"));
}

TEST_CASE("files that extend each other in a circle are refused with the circle") {
  const Scratch scratch;
  scratch.write("a.toml", "extends = \"b.toml\"\n");
  scratch.write("b.toml", "extends = \"c.toml\"\n");
  scratch.write("c.toml", "title = \"c\"\nextends = \"./b.toml\"\n");
  CHECK(faults_of(scratch, "a.toml") ==
        Lines{"c.toml:2:11: the files extend each other in a circle: b.toml -> c.toml -> b.toml"});
  scratch.write("a.toml", "extends = \"a.toml\"\n");
  CHECK(faults_of(scratch, "a.toml") ==
        Lines{"a.toml:1:11: the files extend each other in a circle: a.toml -> a.toml"});
}

TEST_CASE("at most 32 files extend each other") {
  const Scratch scratch;
  const auto write = [&](int number, const std::string& text) {
    scratch.write("c" + std::to_string(number) + ".toml", text);
  };
  for (int k = 1; k < 32; ++k) write(k, "extends = \"c" + std::to_string(k + 1) + ".toml\"\n");
  write(32, "title = \"last\"\n[model]\nkind = \"least_squares\"\n");
  CHECK(settings(Document::read(scratch.path() + "/c1.toml")).title == "last");
  write(32, "extends = \"c33.toml\"\n");
  write(33, "title = \"last\"\n");
  CHECK(faults_of(scratch, "c1.toml") ==
        Lines{"c32.toml:1:11: more than 32 files extend each other, expected at most that many"});
}

TEST_CASE("a base that is no regular file, or no text, is refused where it is named") {
  const Scratch scratch;
  const auto fault = [&](const std::string& base) {
    try {
      Document::read(scratch.write("a.toml", "extends = \"" + base + "\"\n"));
    } catch (const std::exception& error) {
      return without(error.what(), scratch);
    }
    return std::string("accepted");
  };
  CHECK(fault("/dev/zero") == "a.toml:1:11: /dev/zero: is a device; expected a regular file");
  CHECK(fault("..").starts_with("a.toml:1:11: "));
  REQUIRE(mkfifo((scratch.path() + "/pipe").c_str(), 0600) == 0);
  CHECK(fault("pipe") == "a.toml:1:11: pipe: is a pipe; expected a regular file");
  scratch.write("b.toml", std::string("a = 1\0", 7));
  CHECK(fault("b.toml") == "a.toml:1:11: b.toml:1:6: a NUL byte, expected text in UTF-8 or ASCII");
}

TEST_CASE("a base that is missing is a fault of the environment, one that is no path a fault of the file") {
  const Scratch scratch;
  const std::string file = scratch.write("a.toml", "extends = \"base.toml\"\n");
  try {
    Document::read(file);
    FAIL("accepted");
  } catch (const base::EnvironmentError& error) {
    CHECK(without(error.what(), scratch) == "a.toml:1:11: base.toml: cannot be opened: No such file or directory");
  }
  scratch.write("a.toml", "extends = 3\n");
  CHECK(faults_of(scratch, "a.toml") == Lines{"a.toml:1:11: extends must be the path of a scenario, found 3"});
}

TEST_CASE("the axes of the base's grid come first, and a key of both is the later file's") {
  const Scratch scratch;
  scratch.write("base.toml", "\n\n\n[grid]\na = [1]\nb = [1]\n");
  const std::string file = scratch.write("x.toml", "extends = \"base.toml\"\n[grid]\nc = [1]\nb = [2, 3]\n");
  Document document = Document::read(file);
  scenario::Faults faults;
  const auto axes = document.take_grid(faults);
  REQUIRE(axes.size() == 3);
  CHECK(axes[0].key == "a");
  for (const scenario::Axis& axis : axes) CHECK(axis.values.size() == (axis.key == "b" ? 2 : 1));
}

}  // namespace extends_test
