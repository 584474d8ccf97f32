// Files that are not there, cannot be read or written (exit 5), and files with wrong contents (exit 2).
#include "cli/refusal.h"

namespace bad_files_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string csv = with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                             "source = \"csv\"\npath = \"d.csv\"\n# a line instead\n");

const std::string libsvm = with(csv, "\"csv\"\npath = \"d.csv\"", "\"libsvm\"\npath = \"d.svm\"");

/// Six rows, the target a number with three values.
const std::string rows = "a,b,c\n1,2,0\n4,5,1\n7,8,2\n2,2,0\n1,1,1\n3,1,2\n";

const std::string platform = with(small, "workers = 4\nspeed = \"1GF\"\nbandwidth = \"1Gbps\"\nlatency = \"50us\"\n",
                                  "workers = 3\nplatform = \"p.xml\"\n# a line\n# instead\n");

const std::string three_hosts = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"/>
    <host id="c" speed="1Gf"/>
    <link id="l" bandwidth="125MBps" latency="50us"/>
    <route src="a" dst="b"><link_ctn id="l"/></route>
    <route src="a" dst="c"><link_ctn id="l"/></route>
    <route src="b" dst="c"><link_ctn id="l"/></route>
  </zone>
</platform>
)";

void check_refused_with(const std::string& scenario, const std::string& file, const std::string& text,
                        const std::vector<std::string>& errors) {
  const Scratch scratch;
  scratch.write("x.toml", scenario);
  scratch.write(file, text);
  check_refused(scratch, errors);
}

}  // namespace

TEST_CASE("a scenario that is not there, or a directory, ends with 5") {
  const Scratch scratch;
  check_refused(scratch, {"x.toml: cannot be opened: No such file or directory"}, 5);
  fs::create_directory(scratch.path() + "/x.toml");
  check_refused(scratch, {"x.toml: is a directory"}, 5);
  CHECK(program("validate x.toml", scratch).exit_code == 5);
}

TEST_CASE("a data file that is not there, or a directory, ends with 5, for validate too") {
  const Scratch scratch;
  scratch.write("x.toml", csv);
  check_refused(scratch, {"d.csv: cannot be opened: No such file or directory"}, 5);
  CHECK(program("validate x.toml", scratch).exit_code == 5);
  fs::create_directory(scratch.path() + "/d.csv");
  check_refused(scratch, {"d.csv: is a directory; expected a regular file"}, 5);
}

TEST_CASE("a data source without a path says that it needs one") {
  check_refused(with(csv, "path = \"d.csv\"", "#"), {"x.toml:10:1: the data source \"csv\" needs the path of a file"});
}

TEST_CASE("a CSV file's faults name its line") {
  check_refused_with(csv, "d.csv", "a,b,c\n1,2,3\n4,,6\n",
                     {"d.csv:3: column \"b\" has no value here, expected one; set missing = \"drop\" or \"mean\""});
  check_refused_with(csv, "d.csv", "a,b,c\n1,2,3\n4,5\n", {"d.csv:3:4: 2 cells, expected 3 as in line 1"});
  check_refused_with(csv, "d.csv", "", {"d.csv:1: no rows, expected at least one"});
  check_refused_with(csv, "d.csv", "a,b,c\n1,2,3\n4,inf,6\n", {"d.csv:3: "});
  check_refused_with(with(csv, "# a line", "target = \"cc\" #"), "d.csv", rows,
                     {"d.csv:1: unknown target column \"cc\"; known: a, b, c"});
}

TEST_CASE("a LIBSVM file's faults name its line") {
  check_refused_with(libsvm, "d.svm", "1 1:2 2:3\n-1 1:x\n", {"d.svm:2: "});
  check_refused_with(libsvm, "d.svm", "", {"d.svm:1: "});
}

TEST_CASE("a model, a batch and workers that do not suit a file are told together, each with its place") {
  check_refused_with(with(with(with(csv, "least_squares", "logistic_regression"), "workers = 4", "workers = 7"),
                          "learning_rate = 0.1", "batch_size = 8"),
                     "d.csv", rows,
                     {"x.toml:5:1: 7 workers for 6 training rows; expected at most one worker a row",
                      "x.toml:16:1: logistic_regression needs two classes, but the data have 3; use softmax_regression",
                      "x.toml:19:1: a batch of 8 samples, but there are 6 training rows; expected at most as many"});
}

TEST_CASE("a grid point that does not suit a file is found before the others run") {
  check_refused_with(csv + "[grid]\n\"training.batch_size\" = [4, 6, 7]\n\"seed\" = [1, 2]\n", "d.csv", rows,
                     {"x.toml:27:32: a batch of 7 samples, but there are 6 training rows; expected at most as many"});
}

TEST_CASE("a test set of no rows is refused where the file is too small for it") {
  check_refused_with(with(csv, "# a line", "test_fraction = 0.01 #"), "d.csv", rows,
                     {"x.toml:11:1: test_fraction = 0.01 of 6 rows leaves no row to test on"});
}

TEST_CASE("samples and features of a file are the file's") {
  check_refused_with(with(csv, "# a line", "samples = 3 #"), "d.csv", rows,
                     {"x.toml:13:1: samples with the data source \"csv\""});
}

TEST_CASE("a timing-only run must be told how much data there would be, and of how many classes") {
  const std::string blind = with(csv, "learning_rate = 0.1", "numbers = false");
  check_refused(
      blind,
      {"x.toml:11:1: training.numbers = false reads no data; say how much there would be with samples and features"});
  check_refused(with(with(blind, "# a line", "samples = 10\nfeatures = 2 #"), "least_squares", "softmax_regression"),
                {"x.toml:11:1: training.numbers = false reads no data, so that softmax_regression cannot know how many "
                 "classes there are"});
}

TEST_CASE("a platform that is not there, or a directory, ends with 5") {
  const Scratch scratch;
  scratch.write("x.toml", platform);
  check_refused(scratch, {"p.xml: cannot be read: No such file or directory"}, 5);
  fs::create_directory(scratch.path() + "/p.xml");
  check_refused(scratch, {"p.xml: is a directory; expected a regular file"}, 5);
}

TEST_CASE("a platform that is empty, malformed or without hosts is refused in one line") {
  check_refused_with(platform, "p.xml", "", {"x.toml:6:1: "});
  check_refused_with(platform, "p.xml", "<platform", {"x.toml:6:1: "});
  check_refused_with(platform, "p.xml", "no XML at all", {"x.toml:6:1: "});
  check_refused_with(platform, "p.xml", with(three_hosts, "\"1Gf\"", "\"fast\""), {"x.toml:6:1: "});
  check_refused_with(platform, "p.xml", with(three_hosts, "link_ctn id=\"l\"", "link_ctn id=\"m\""), {"x.toml:6:1: "});
  check_refused_with(platform, "p.xml", with(three_hosts, "125MBps", "-125MBps"), {"x.toml:6:1: "});
  check_refused_with(platform, "p.xml",
                     with(three_hosts, "    <route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n", ""),
                     {"x.toml:6:1: "});
  check_refused_with(platform, "p.xml",
                     "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                     "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\"></zone></platform>\n",
                     {"x.toml:6:1: p.xml: the platform has no hosts"});
}

TEST_CASE("more ranks than a platform has hosts are refused, servers included") {
  check_refused_with(with(platform, "workers = 3", "workers = 4"), "p.xml", three_hosts,
                     {"x.toml:5:1: 4 workers and 0 servers are more ranks than the 3 hosts of p.xml"});
  check_refused_with(platform + "[[strategy]]\nkind = \"mapreduce\"\n", "p.xml", three_hosts,
                     {"x.toml:5:1: 3 workers and 1 server are more ranks than the 3 hosts of p.xml"});
  const Scratch scratch;
  scratch.write("x.toml", platform);
  scratch.write("p.xml", three_hosts);
  CHECK(program("run x.toml", scratch).exit_code == 0);
}

TEST_CASE("a platform contradicts what it says itself: topology, speed, bandwidth, latency") {
  check_refused_with(with(platform, "# a line\n# instead\n", "topology = \"star\"\nspeed = \"1GF\"\n"), "p.xml",
                     three_hosts,
                     {"x.toml:7:1: \"topology\" contradicts \"platform\", whose file says it; leave one of them out",
                      "x.toml:8:1: \"speed\" contradicts \"platform\", whose file says it; leave one of them out"});
}

TEST_CASE("an --out that cannot be written ends with 5 before anything runs") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* out : {"x.toml", "x.toml/y"}) {
    const Called called = program("run x.toml --out " + std::string(out), scratch);
    CHECK(called.exit_code == 5);
    CHECK(called.err == std::string(out) + "/runs: cannot be made: Not a directory\n");
    CHECK(called.out.empty());
  }
}

TEST_CASE("a full disk under stdout ends with 5") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* command : {"run x.toml --quiet --json", "validate x.toml", "list", "--help"}) {
    INFO(command);
    const Called called = call("timeout 60 simgrad " + std::string(command) + " > /dev/full", scratch.path());
    CHECK(called.exit_code == 5);
    CHECK(lines_of(called.err).size() == 1);
    CHECK(contains(called.err, "No space left on device"));
  }
}

}  // namespace bad_files_test
