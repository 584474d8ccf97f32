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

/// A line of a scenario to start from, and what is said of it in both languages.
struct TemplateLine {
  std::string_view toml;
  std::string_view english = {};
  std::string_view chinese = {};
};

constexpr TemplateLine template_head[] = {
    {"", "A scenario: a cluster, data, a model, and the strategies to be compared. Change what you like:",
     "一个场景：集群、数据、模型和要比较的策略。可以随意改动："},
    {"", "\"simgrad explain cluster.latency\" says what a key means, \"simgrad list\" what there is to choose from.",
     "“simgrad explain cluster.latency” 说明一个键的含义，“simgrad list” 列出可选的内容。"},
};

constexpr TemplateLine template_of_hosts[] = {
    {"title = \"Three ways to share the work\""},
    {"seed  = 1", "of everything random; --seeds 1..5 repeats all runs under five seeds",
     "所有随机数的种子；--seeds 1..5 用五个种子重复所有运行"},
    {},
    {"[cluster]"},
    {"workers   = 8", "hosts that train", "参与训练的主机"},
    {"speed     = \"1GF\"", "floating-point operations a second of each; \"simgrad calibrate\" measures yours",
     "每台主机每秒的浮点运算次数；“simgrad calibrate” 测量你的机器"},
    {"bandwidth = \"1Gbps\"", "of each host's link, in each direction", "每台主机链路在每个方向上的带宽"},
    {"latency   = \"50us\"", "of a message between two hosts", "两台主机之间一条消息的延迟"},
    {},
    {"[data]"},
    {"source   = \"house_prices\"", "made up; for a table of your own: source = \"csv\", path = \"mine.csv\"",
     "生成的数据；用你自己的表：source = \"csv\"，path = \"mine.csv\""},
    {"samples  = 20000"},
    {"features = 100"},
    {},
    {"[model]"},
    {"kind = \"least_squares\"", "others: simgrad list models", "其他模型：simgrad list models"},
    {},
    {"[training]"},
    {"batch_size    = \"full\"", "rows of a step, of all workers together: a number, or all rows",
     "一步所用的行数，所有工作节点合计：一个数，或者全部"},
    {"learning_rate = 0.1"},
    {},
    {"[stop]"},
    {"loss   = 0.02", "a run ends at this loss,", "到达这个损失时运行结束，"},
    {"epochs = 500", "or after so many passes over the data", "或者把数据用过这么多遍之后结束"},
    {},
    {"[[strategy]]", "others: simgrad list strategies", "其他策略：simgrad list strategies"},
    {"kind = \"allreduce\"", "all workers sum their gradients, as DDP and Horovod do",
     "所有工作节点把梯度相加，DDP 和 Horovod 就是这样"},
    {},
    {"[[strategy]]"},
    {"kind = \"parameter_server\"", "workers send gradients to a server, and get parameters from it",
     "工作节点把梯度发给服务器，并从那里取得参数"},
    {},
    {"[[strategy]]"},
    {"kind  = \"gossip\"", "each worker averages its parameters with its neighbours,",
     "每个工作节点与相邻节点平均参数，"},
    {"graph = \"ring\"", "of which it has two here", "这里各有两个相邻节点"},
    {},
    {"", "Remove the # from the next two lines, and every strategy also runs on 2 and on 4 hosts.",
     "去掉下面两行前面的 #，每种策略还会在 2 台和 4 台主机上运行。"},
    {"# [grid]"},
    {"# \"cluster.workers\" = [2, 4, 8]"},
};

constexpr TemplateLine template_of_devices[] = {
    {"title = \"DDP and FSDP on hosts of 8 devices\""},
    {},
    {"[cluster]"},
    {"workers   = 16", "devices that train: two hosts of eight", "参与训练的设备：两台主机，每台八个"},
    {"topology  = { kind = \"gpu_hosts\", devices = 8, nics = 8 }"},
    {"device    = \"h100\"", "others: simgrad list devices", "其他设备：simgrad list devices"},
    {"bandwidth = \"400Gbps\"", "of each NIC", "每块网卡的带宽"},
    {"latency   = \"10us\"", "of a message between two hosts", "两台主机之间一条消息的延迟"},
    {},
    {"[model]"},
    {"kind   = \"transformer\""},
    {"preset = \"gpt2_xl\"", "others: simgrad explain transformer; or config = \"config.json\", a Hugging Face file",
     "其他模型：simgrad explain transformer；或者用 Hugging Face 的文件：config = \"config.json\""},
    {},
    {"[training]"},
    {"batch_size_per_worker = 8", "sequences of a step and device", "每一步每个设备的序列数"},
    {"optimizer = \"adamw\""},
    {"precision = \"bfloat16\""},
    {"recompute = \"selective\"", "the scores of attention are computed again, and not kept",
     "注意力的分数重新计算，不保留"},
    {"numbers   = false", "only times and memory; small models can be trained for real",
     "只算时间和内存；小模型也可以真正训练"},
    {},
    {"[stop]"},
    {"steps = 3"},
    {},
    {"[[strategy]]", "others: simgrad list strategies", "其他策略：simgrad list strategies"},
    {"kind = \"ddp\"", "each device has the whole model, and gradients are summed", "每个设备都有整个模型，梯度相加"},
    {},
    {"[[strategy]]"},
    {"kind = \"fsdp\"", "each device keeps a part of the parameters, and gathers each block when it is needed",
     "每个设备保存一部分参数，用到哪个块就收集哪个块"},
    {},
    {"", "Remove the # from the next two lines, and both strategies also run on one host and on four.",
     "去掉下面两行前面的 #，两种策略还会在一台和四台主机上运行。"},
    {"# [grid]"},
    {"# \"cluster.workers\" = [8, 16, 32]"},
};

/// The lines as a file, with what is said of them as comments in the language of the process.
std::string template_text(std::span<const TemplateLine> lines) {
  const bool chinese = outputs::language() == outputs::Language::chinese;
  std::string text;
  for (const TemplateLine& line : lines) {
    const std::string_view remark = chinese ? line.chinese : line.english;
    if (remark.empty())
      text += fmt::format("{}\n", line.toml);
    else if (line.toml.empty())
      text += fmt::format("# {}\n", remark);
    else
      text += fmt::format("{:<27} # {}\n", line.toml, remark);
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
    std::string language;
    bool gpu = false;
  };
  auto* command = app.add_subcommand("init", "Writes a commented scenario to start from");
  auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "The file, which must not exist yet (default scenario.toml)")
      ->type_name("FILE");
  command->add_flag("--gpu", options->gpu, "A large model on hosts of eight devices, in place of a small one on hosts");
  add_language(*command, options->language);
  command->callback([options, &exit_code] {
    speak(options->language);
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
