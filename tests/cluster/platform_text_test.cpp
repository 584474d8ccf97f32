// Platform files that want more than to describe hosts and links.
#include "cluster/fabric/platform_text.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/errors.h"
#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "scratch.h"
#include "simulation.h"

namespace platform_text_test {

using namespace simgrad;

namespace {

const std::string head = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";
const std::string host = "<host id=\"a\" speed=\"1Gf\"/>";

/// A platform whose third line begins with `before` and whose fourth with `inside`.
std::string platform(const std::string& before, const std::string& inside) {
  return head + "<platform version=\"4.1\">" + before + "<zone id=\"z\" routing=\"Full\">\n" + inside +
         "</zone></platform>\n";
}

std::string with_attribute(const std::string& attribute) {
  return platform("", "<host id=\"a\" speed=\"1Gf\" " + attribute + "/>");
}

std::string alike(const std::string& attributes) {
  return platform(
      "", "<cluster id=\"c\" prefix=\"h\" suffix=\"\" speed=\"1Gf\" bw=\"1Gbps\" lat=\"1us\" " + attributes + "/>");
}

/// The fault of a text in p.xml, without the path; "" if there is none.
std::string fault(const std::string& text) {
  const tests::Scratch scratch;
  const std::string file = scratch.write("p.xml", text);
  try {
    cluster::check_platform_text(file);
    return {};
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return what.starts_with(file) ? what.substr(file.size() + 1) : what;
  }
}

bool begins(const std::string& text, const std::string& with) {
  INFO(text);
  return text.starts_with(with);
}

}  // namespace

TEST_CASE("options of SimGrid in a platform are refused with their line and column, however they are written") {
  const std::string refusal = "<config> sets options of SimGrid, which can make it write to files";
  for (const char* config : {"<config id=\"General\"><prop id=\"tracing\" value=\"yes\"/></config>", "<config/>",
                             "<config\n/>", "<config id='&lt;'/>"}) {
    CHECK(begins(fault(platform(config, host)), "3:25: " + refusal));
    CHECK(begins(fault(platform("", host + config)), fmt::format("4:{}: {}", 1 + host.size(), refusal)));
  }
  CHECK(begins(fault(platform("<CONFIG/>", host)), "3:25: <CONFIG> is no element of a platform"));
  CHECK(begins(fault(platform("<![CDATA[<config/>]]>", host)), "3:25: a CDATA section"));
  CHECK(begins(fault(platform("<?p <config/> ?>", host)), "3:25: a processing instruction"));
  CHECK(begins(fault(with_attribute("core=\"<config/>\"")), "4:32: no XML that can be read"));
  CHECK(begins(fault("<!DOCTYPE platform SYSTEM \"<config/>\"><platform version=\"4.1\"/>"), "1:28: \"<config\""));
  CHECK(fault(platform("<!-- <config/> -->", host)).empty());
  CHECK(fault(with_attribute("core='&lt;config/&gt;'")).empty());
}

TEST_CASE("elements that start programs, and those that SimGrid does not have, are refused") {
  CHECK(begins(fault(platform("", host + "<actor host=\"a\" function=\"f\"/>")), "4:27: <actor> starts programs"));
  CHECK(begins(fault(platform("", "<hots id=\"a\"/>")),
               "4:1: <hots> is no element of a platform; did you mean \"host\"? Known: platform, AS, zone, "));
  for (const char* element : {"include file=\"q.xml\"", "storage id=\"s\"", "random id=\"r\""})
    CHECK(begins(fault(platform("", fmt::format("<{}/>", element))), "4:1: <"));
}

TEST_CASE("a document type may not declare anything, and references are the five of XML") {
  const std::string laughs =
      "<!DOCTYPE platform SYSTEM \"x\" [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\">]>\n<platform version=\"&b;\"/>";
  CHECK(begins(fault(laughs), "1:31: the document type declares something of its own"));
  for (const char* reference : {"&a;", "&#60;", "&#x3c;", "&"})
    CHECK(fault(with_attribute(fmt::format("core=\"{}\"", reference))).starts_with("4:"));
  CHECK(fault(with_attribute("core=\"&lt;&gt;&amp;&quot;&apos;\"")).empty());
}

TEST_CASE("text in another encoding is refused, bytes within values are not looked at") {
  CHECK(begins(fault("\xEF\xBB\xBF" + platform("", host)), "1:1: a byte order mark"));
  CHECK(begins(fault(std::string("\xFF\xFE<\0p\0l\0", 8)), "1:4: a NUL byte"));
  CHECK(fault(with_attribute("core=\"\xC3\xA9\xFF\"")).empty());
}

TEST_CASE("hosts of a platform are counted before they are made, at most 131072") {
  const std::string most = ": the platform has more than 131072 hosts, expected at most as many";
  CHECK(fault(alike("radical=\"0-131071\"")).empty());
  CHECK(fault(alike("radical=\"0-131072\"")) == "4:1" + most);
  CHECK(fault(alike("radical=\"0-999999999\"")) == "4:1" + most);
  CHECK(fault(alike("radical=\"0-2147483646,0-2147483646,0-2147483646\"")) == "4:1" + most);
  CHECK(fault(platform("", "<cabinet radical=\"0-70000\"/>\n<cabinet radical=\"0-70000\"/>")) == "5:1" + most);
  for (const char* none : {"0-9223372036854775808", "0-7-9", "a", "", "1,", "0-2147483647", "-1-3"})
    CHECK(fault(alike(fmt::format("radical=\"{}\"", none))) ==
          fmt::format("4:1: the hosts \"{}\" are no list of numbers, expected one as in radical=\"0-7,9\"", none));
}

TEST_CASE("numbers of a topology have limits, and so has their product") {
  const auto topology = [](const std::string& numbers) {
    return fault(alike("radical=\"0-7\" topology=\"TORUS\" topo_parameters=\"" + numbers + "\""));
  };
  CHECK(topology("2,2,2").empty());
  CHECK(topology("3;16,16,16;1,16,16;1,1,1").empty());
  for (const char* numbers : {"131073,1", "513,1", "10000,10000,20000", "2;999999999999,1;1,1;1,1"})
    CHECK(begins(topology(numbers), fmt::format("4:1: the topology \"{}\" is too large", numbers)));
}

TEST_CASE("zones are nested a hundred deep at most") {
  const auto nested = [](int zones) {
    std::string text = head + "<platform version=\"4.1\">";
    for (int i = 0; i < zones; ++i) text += "\n<zone id=\"z\" routing=\"Full\">";
    for (int i = 0; i < zones; ++i) text += "</zone>";
    return fault(text + "</platform>");
  };
  CHECK(nested(99).empty());
  CHECK(nested(100) == "103:1: <zone> is nested in 100 elements, expected fewer than 100");
  CHECK(nested(20000) == nested(100));
}

TEST_CASE("what a platform names as a file of speeds or states is a regular file of text") {
  const tests::Scratch scratch;
  const std::string pipe = scratch.path() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const char* attribute : {"speed_file", "availability_file", "state_file"}) {
    const auto naming = [&](const std::string& name) {
      return fault(with_attribute(fmt::format("{}=\"{}\"", attribute, name)));
    };
    CHECK(naming("/dev/zero") == "4:1: /dev/zero: is a device; expected a regular file");
    CHECK(naming(pipe) == "4:1: " + pipe + ": is a pipe; expected a regular file");
    CHECK(naming("").empty());
    CHECK(naming(scratch.write("speeds.txt", "PERIODICITY 1.0\n0.0 1.0\n")).empty());
  }
  CHECK(begins(fault(platform("", "<link id=\"l\" bandwidth_file='/dev/zero'/>")), "4:1: /dev/zero: is a device"));
  CHECK(begins(fault(platform("", "<trace id=\"t\" file = \n '/dev/zero'/>")), "4:1: /dev/zero: is a device"));
  // Beside the platform, by bytes that expat would write otherwise.
  scratch.write("caf\xC3\xA9 & co", "PERIODICITY 1.0\n0.0 1.0\n");
  CHECK_NOTHROW(
      cluster::check_platform_text(scratch.write("p.xml", with_attribute("speed_file=\"caf\xC3\xA9 &amp; co\""))));
  CHECK_THROWS_AS(cluster::check_platform_text(scratch.write("p.xml", with_attribute("speed_file=\"cafe\""))),
                  base::EnvironmentError);
}

TEST_CASE("a profile of speeds that begins again at once, or at random, would never let a run end") {
  const tests::Scratch scratch;
  const auto file = [&](const std::string& text) {
    const std::string name = scratch.write("speeds.txt", text);
    const std::string found = fault(with_attribute("speed_file=\"" + name + "\""));
    return found.starts_with("4:1: " + name + ": ") ? found.substr(name.size() + 7) : found;
  };
  const auto text = [](const std::string& periodicity, const std::string& content) {
    return fault(platform("", host + "<trace id=\"t\" periodicity=\"" + periodicity + "\">" + content + "</trace>"));
  };
  const std::string often = "a profile that begins again every 1e-300 s, expected at least 1e-06 s";
  for (const char* profile : {"PERIODICITY 1e-300\n0 1\n", "0 1\n  LOOPAFTER1e-300", "# a\nLOOPAFTER\t1e-300"}) {
    CHECK(file(profile) == often);
    CHECK(text("-1", profile).ends_with(often));
  }
  CHECK(file("PERIODICITY 0\n0 1\n") == "a profile that begins again every 0 s, expected at least 1e-06 s");
  CHECK(file("PERIODICITY nan\n0 1\n").starts_with("a profile that begins again every nan s"));
  CHECK(file("STOCHASTIC LOOP\nDET 0 DET 1\n") == "a profile of random dates, expected dates and values");
  CHECK(text("1e-300", "0 1") == "4:27: " + often);
  CHECK(file("PERIODICITY 1e-6\n0 1\n").empty());
  CHECK(file("0 1\n5 0.5\nPERIODICITY -1\n").empty());
  CHECK(text("10", "0 1\n5 0.5\n").empty());
}

TEST_CASE("a platform that is a pipe or a device cannot be read, and is not waited for") {
  const tests::Scratch scratch;
  const std::string pipe = scratch.path() + "/p.xml";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(cluster::probe_platform(pipe), base::EnvironmentError);
  CHECK_THROWS_AS(cluster::probe_platform("/dev/zero"), base::EnvironmentError);
}

TEST_CASE("a file changes nothing for whoever builds a cluster of it, be it without a probe") {
  const tests::Scratch scratch;
  const std::string victim = scratch.write("victim", "precious");
  const std::string file = scratch.write(
      "p.xml", platform("<config id=\"General\"><prop id=\"tracing\" value=\"yes\"/><prop id=\"tracing/platform\" "
                        "value=\"yes\"/><prop id=\"tracing/filename\" value=\"" +
                            victim + "\"/></config>",
                        host));
  CHECK(begins(cluster::probe_platform(file).error, file + ":3:25: <config> sets options of SimGrid"));
  cluster::Options options;
  options.platform = file;
  CHECK_THROWS(tests::text_of_child([&] { return std::to_string(cluster::Cluster(options, 1).hosts()); }));
  CHECK(tests::contents(victim) == "precious");
}

TEST_CASE("what loads too long, or takes too much memory, ends in a sentence") {
  const tests::Scratch scratch;
  // Some 10^8 links are passed on the ways that are asked for.
  const std::string slow =
      scratch.write("slow.xml", alike("radical=\"0-131071\" topology=\"TORUS\" topo_parameters=\"512,256\""));
  CHECK(cluster::probe_platform(slow, {.processor_s = 1}).error ==
        slow + ": loading it takes more than 1 s of processor time, expected a smaller platform");
#ifndef __SANITIZE_ADDRESS__
  const std::string file = scratch.write("p.xml", alike("radical=\"0-131071\""));
  CHECK(cluster::probe_platform(file, {.memory_bytes = 32 << 20}).error ==
        file + ": loading it takes more than 32MiB of memory, expected a smaller platform");
#endif
}

TEST_CASE("what SimGrid says in the platform's words is not taken for the end of loading") {
  const tests::Scratch scratch;
  const std::string file = scratch.write("p.xml", with_attribute("core=\"\nhosts x\nhosts 9 1\n\""));
  CHECK(cluster::probe_platform(file).hosts == 0);
  CHECK_FALSE(cluster::probe_platform(file).error.empty());
}

}  // namespace platform_text_test
