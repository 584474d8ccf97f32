#include "cluster/classes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <simgrid/s4u.hpp>

#include "base/errors.h"
#include "cluster/cluster.h"
#include "cluster/link_class.h"

namespace simgrad::cluster {

namespace {

/// A line a class: "host gpu", "link nic".
std::string listed(const Options& options, int hosts) {
  const Cluster cluster(options, hosts);
  const bool on_platform = !options.platform.empty();
  std::string text;
  for (int host = 0; host < cluster.hosts(); ++host) text += "host " + cluster.host_class(host) + "\n";
  std::set<std::string> links;
  for (const simgrid::s4u::Link* link : simgrid::s4u::Engine::get_instance()->get_all_links())
    links.insert(link_class(*link, on_platform));
  for (const std::string& each : links)
    if (!each.starts_with("loopback") && !each.starts_with("__")) text += "link " + each + "\n";
  return text;
}

void add_once(std::vector<std::string>& names, std::string name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

}  // namespace

Classes classes_of(const Options& options, int hosts) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw base::EnvironmentError("no pipe");
  const pid_t child = fork();
  if (child < 0) throw base::EnvironmentError("no process");
  if (child == 0) {
    close(ends[0]);
    std::string text;
    try {
      text = listed(options, hosts);
    } catch (const std::exception&) {  // whoever checks the cluster itself says what is wrong with it
    }
    const auto written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  Classes classes;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = text.find('\n', from);
    std::string name = text.substr(from + 5, end - from - 5);
    add_once(text[from] == 'h' ? classes.hosts : classes.links, std::move(name));
    from = end + 1;
  }
  return classes;
}

}  // namespace simgrad::cluster
