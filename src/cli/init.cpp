#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

using outputs::translatable;

/// A line of a scenario to start from, and a remark on it.
struct TemplateLine {
  std::string_view toml;
  std::string_view remark = {};
};

constexpr TemplateLine template_head[] = {
    {"",
     translatable("A scenario: a cluster, data, a model, and the strategies to be compared. Change what you like:")},
    {"",
     translatable(
         "\"simgrad explain cluster.latency\" says what a key means, \"simgrad list\" what there is to choose from.")},
};

constexpr TemplateLine template_of_hosts[] = {
    {translatable("title = \"Three ways to share the work\"")},
    {"seed  = 1", translatable("of everything random; --seeds 1..5 repeats all runs under five seeds")},
    {},
    {"[cluster]"},
    {"workers   = 8", translatable("hosts that train")},
    {"speed     = \"1GF\"",
     translatable("floating-point operations a second of each; \"simgrad calibrate\" measures yours")},
    {"bandwidth = \"1Gbps\"", translatable("of each host's link, in each direction")},
    {"latency   = \"50us\"", translatable("of a message between two hosts")},
    {},
    {"[data]"},
    {"source   = \"house_prices\"",
     translatable("made up; for a table of your own: source = \"csv\", path = \"mine.csv\"")},
    {"samples  = 20000"},
    {"features = 100"},
    {},
    {"[model]"},
    {"kind = \"least_squares\"", translatable("others: simgrad list models")},
    {},
    {"[training]"},
    {"batch_size    = \"full\"", translatable("rows of a step, of all workers together: a number, or all rows")},
    {"learning_rate = 0.1"},
    {},
    {"[stop]"},
    {"loss   = 0.02", translatable("a run ends at this loss,")},
    {"epochs = 500", translatable("or after this number of passes over the data")},
    {},
    {"[[strategy]]", translatable("others: simgrad list strategies")},
    {"kind = \"allreduce\"", translatable("all workers sum their gradients, as DDP and Horovod do")},
    {},
    {"[[strategy]]"},
    {"kind = \"parameter_server\"", translatable("workers send gradients to a server, and get parameters from it")},
    {},
    {"[[strategy]]"},
    {"kind  = \"gossip\"", translatable("each worker averages its parameters with its neighbours,")},
    {"graph = \"ring\"", translatable("of which it has two here")},
    {},
    {"", translatable("Remove the # from the next two lines, and every strategy also runs on 2 and on 4 hosts.")},
    {"# [grid]"},
    {"# \"cluster.workers\" = [2, 4, 8]"},
};

constexpr TemplateLine template_of_devices[] = {
    {translatable("title = \"DDP and FSDP on hosts of 8 devices\"")},
    {},
    {"[cluster]"},
    {"workers   = 16", translatable("devices that train: two hosts of eight")},
    {"topology  = { kind = \"gpu_hosts\", devices = 8, nics = 8 }"},
    {"device    = \"h100\"", translatable("others: simgrad list devices")},
    {"bandwidth = \"400Gbps\"", translatable("of each NIC")},
    {"latency   = \"10us\"", translatable("of a message between two hosts")},
    {},
    {"[model]"},
    {"kind   = \"transformer\""},
    {"preset = \"gpt2_xl\"",
     translatable("others: simgrad explain transformer; or config = \"config.json\", a Hugging Face file")},
    {"fused_attention = true", translatable("FlashAttention; its scores are not kept, but computed again")},
    {},
    {"[training]"},
    {"batch_size_per_worker = 8", translatable("sequences of a step and device")},
    {"optimizer = \"adamw\""},
    {"precision = \"bfloat16\""},
    {"numbers   = false", translatable("only times and memory; small models can be trained for real")},
    {},
    {"[stop]"},
    {"steps = 3"},
    {},
    {"[[strategy]]", translatable("others: simgrad list strategies")},
    {"kind = \"ddp\"", translatable("each device has the whole model, and gradients are summed")},
    {},
    {"[[strategy]]"},
    {"kind = \"fsdp\"",
     translatable("each device keeps a part of the parameters, and gathers each block when it is needed")},
    {},
    {"", translatable("Remove the # from the next two lines, and both strategies also run on one host and on four.")},
    {"# [grid]"},
    {"# \"cluster.workers\" = [8, 16, 32]"},
};

/// The lines as a file, whose title and comments are in the language of the process.
std::string template_text(std::span<const TemplateLine> lines) {
  std::string text;
  for (const TemplateLine& line : lines) {
    const std::string remark = line.remark.empty() ? "" : outputs::tr(line.remark);
    const std::string toml(line.toml.starts_with("title") ? outputs::tr(line.toml) : line.toml);
    if (remark.empty())
      text += fmt::format("{}\n", toml);
    else if (toml.empty())
      text += fmt::format("# {}\n", remark);
    else
      text += fmt::format("{:<27} # {}\n", toml, remark);
  }
  return text;
}

/// Writes a file that is not there yet.
/// Errors: ScenarioError for a name that exists, be it a link; EnvironmentError for a file that cannot be written.
void write_new_file(const std::string& path, const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wxe"), &std::fclose);
  if (!file && errno == EEXIST)
    throw base::ScenarioError(fmt::format("init: {} exists already; expected the name of a new file", path));
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
    throw base::EnvironmentError(fmt::format("init: cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace

void add_init(CLI::App& app, int& exit_code) {
  struct Options {
    std::string file = "scenario.toml";
    bool gpu = false;
  };
  auto* command = app.add_subcommand("init", "Writes a commented scenario to start from");
  auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "The file, which must not exist yet (default scenario.toml)")
      ->type_name("FILE");
  command->add_flag("--gpu", options->gpu, "A large model on hosts of eight devices, in place of a small one on hosts");
  add_language(*command);
  command->callback([options, &exit_code] {
    const std::span<const TemplateLine> body =
        options->gpu ? std::span<const TemplateLine>(template_of_devices) : template_of_hosts;
    write_new_file(options->file, template_text(template_head) + template_text(body));
    fmt::print("{}\n",
               outputs::tr("Wrote {}. To run it: simgrad run {}", options->file,
                           base::shell_word(options->file.starts_with('-') ? "./" + options->file : options->file)));
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
