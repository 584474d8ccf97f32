#include "cluster/fabric/inventory.h"

#include <algorithm>
#include <set>
#include <simgrid/s4u.hpp>

#include "base/child_process.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/link_class.h"

namespace simgrad::cluster {

namespace {

/// A line a name: "host gpu", "link nic", "name nic-0".
std::string listed(const Options& options, int hosts) {
  const Cluster cluster(options, hosts);
  const bool on_platform = !options.platform.empty();
  std::string text;
  for (int host = 0; host < cluster.hosts(); ++host) text += "host " + cluster.host_class(host) + "\n";
  std::set<std::string> links, names;
  for (const simgrid::s4u::Link* link : simgrid::s4u::Engine::get_instance()->get_all_links())
    if (link->get_name().find("loopback") == std::string::npos && !link->get_name().starts_with("__")) {
      links.insert(link_class(*link, on_platform));
      names.insert(without_direction(link->get_name()));
    }
  for (const std::string& each : links) text += "link " + each + "\n";
  for (const std::string& each : names) text += "name " + each + "\n";
  return text;
}

void add_once(std::vector<std::string>& names, std::string name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

}  // namespace

std::string without_direction(const std::string& name) {
  for (const std::string_view direction : {"_UP", "_DOWN"})
    if (name.ends_with(direction)) return name.substr(0, name.size() - direction.size());
  return name;
}

Classes classes_of(const Options& options, int hosts) {
  Options undisturbed = options;  // wrong names would keep the cluster from being built
  undisturbed.slow_links.clear();
  undisturbed.background.clear();
  base::ChildOptions child;
  if (!options.platform.empty()) child.limits = probe_limits();
  const base::ChildEnd end_of_child = base::run_in_child([&] { return listed(undisturbed, hosts); }, child);
  Classes classes;
  if (end_of_child.kind != base::ChildEnd::Kind::returned)
    return classes;  // the check of the cluster reports its faults
  const std::string& text = end_of_child.text;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = text.find('\n', from);
    std::string name = text.substr(from + 5, end - from - 5);
    if (text[from] == 'n')
      classes.link_names.push_back(std::move(name));
    else
      add_once(text[from] == 'h' ? classes.hosts : classes.links, std::move(name));
    from = end + 1;
  }
  return classes;
}

}  // namespace simgrad::cluster
