/// The answer of `simgrad capacity`.
#include "outputs/text/chinese.h"

namespace simgrad::outputs {
namespace {

constexpr Translation capacity_texts[] = {
    {" On the same failures {} saves {} on average (95 % interval {} to {}).",
     "在相同的故障下，{} 平均节省 {}（95 % 区间为 {} 至 {}）。"},
    {" One seed does not tell whether the order is chance.", "只有一个种子，看不出先后是否出于偶然。"},
    {" The seeds do not tell which of the two is faster.", "从这些种子看不出两者中哪个更快。"},
    {" With one every {} it takes {} and {}.", "每 {} 写一个检查点时，分别为 {} 和 {}。"},
    {"90 %", "90 %"},
    {"95 % interval of the difference {} to {}", "差值的 95 % 区间为 {} 至 {}"},
    {"95 % interval of the difference {} to {} points", "差值的 95 % 区间为 {} 至 {} 个百分点"},
    {"A fleet of {} for {}, {}. {}", "{}，时间 {}，{}。{}"},
    {"A step on {} takes {}, simulated.", "{} 上的一步用时 {}（模拟）。"},
    {"Daly's interval", "Daly 的间隔"},
    {"Each server fails every {} on average.", "每台服务器平均每 {} 发生一次故障。"},
    {"More spares do not pay: no larger number of the list betters {} with {}.",
     "增加备用服务器不划算：{1} 时为{0}，列表中更大的数目都不比它好。"},
    {"No server does any useful work.", "没有一台服务器做过有用的工作。"},
    {"One training on {}, {} of computing, {}. {}", "在 {} 上的一个训练，计算时间 {}，{}。{}"},
    {"Servers do not fail.", "服务器不发生故障。"},
    {"Servers fail as their trace says.", "服务器按记录发生故障。"},
    {"With these seeds it is not clear whether spares pay off: with {} there is {} ({}).",
     "从这些种子看不出备用服务器是否划算：有 {} 时为{}（{}）。"},
    {"The time of all servers, spares included, in %:", "所有服务器（包括备用服务器）的时间，单位 %："},
    {"With checkpoints every {} (Daly) the training takes {} in the median, {} or less for 90 % of the seeds.",
     "每 {} 写一个检查点（Daly）时，训练用时的中位数为 {}，90 % 的种子不超过 {}。"},
    {"With {} there is {}; one seed cannot show whether that is chance.",
     "有 {} 时为{}；只有一个种子，看不出是否出于偶然。"},
    {"a goodput of {} %", "有效产出率 {} %"},
    {"finished", "完成"},
    {"goodput", "有效产出率"},
    {"in use", "占用"},
    {"95 % interval", "95 % 区间"},
    {"On {}: ", "{} 上："},
    {"A checkpoint takes {}, simulated.", "一次检查点用时 {}（由仿真得出）。"},
    {"A checkpoint holds the training up for {}, and is safe {} later, simulated.",
     "一次检查点使训练停顿 {}，再过 {} 才算保存妥当（由仿真得出）。"},
    {"interval", "间隔"},
    {"jobs ended", "结束的作业"},
    {"mean", "平均"},
    {"mean wait", "平均等待"},
    {"median", "中位数"},
    {"no spares", "没有备用服务器"},
    {"recomputed", "重算"},
    {"restart", "重启"},
    {"rule", "规则"},
    {"spares", "备用"},
    {"the fixed interval", "固定的间隔"},
    {"useful", "有用"},
    {"useful server-hour", "有用的一台时"},
    {"{} for a useful server-hour", "每个有用的台时 {}"},
    {"{} of {}", "{1} 中的 {0}"},
    {"{} pay: {} ({}).", "{} 划算：{}（{}）。"},
    {"{} pays: {} ({}).", "{} 划算：{}（{}）。"},
    {"{} seed", "{} 个种子"},
    {"{} seeds", "{} 个种子"},
    {"{} server", "{} 台服务器"},
    {"{} spare", "{} 台备用服务器"},
    {"{} spares", "{} 台备用服务器"},
    {"{}, against {} with {}", "{0}，而 {2} 时为 {1}"},
};

}  // namespace

std::span<const Translation> capacity_in_chinese() { return capacity_texts; }

}  // namespace simgrad::outputs
