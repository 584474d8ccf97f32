/// The answer of a plan.
#include "outputs/text/chinese.h"

namespace simgrad::outputs {
namespace {

constexpr Translation plan_texts[] = {
    {" The same command goes on where it stopped.", " 再输入同一条命令，就从停下的地方继续。"},
    {" {} more were not read in that time.", " 另有 {} 个在这段时间里还没有读入。"},
    {" {} more cannot be run.", " 另有 {} 个不能运行。"},
    {", and {} for other assumptions", "，另有 {} 用于其他假设"},
    {", {} below the budget", "，比预算低 {}"},
    {", {} below the deadline", "，比期限早 {}"},
    {", {} below the limit of power", "，比功率限制低 {}"},
    {"All {} candidates are decided by the first seed, but not over further ones: ",
     "按第一个种子，{} 个候选方案都有了结论，但其他种子的比较还没有完成："},
    {"All {} candidates are decided: ", "{} 个候选方案都有了结论："},
    {"Cannot be run", "不能运行"},
    {"If an assumption is off", "如果某个假设不准"},
    {"Interrupted: {} of {} candidates are decided: ", "已中断：{1} 个候选方案中的 {0} 个有了结论："},
    {"It is a tie: over {} seeds, at {} confidence, chance may decide between this and {}.",
     "平局：用 {} 个种子，在 {} 的置信度下，它和以下方案的先后可能出于偶然：{}。"},
    {"It is a tie: {} takes exactly as much.", "平局：{} 的花费完全相同。"},
    {"Limits", "限制"},
    {"Pareto front", "帕累托前沿"},
    {"Pareto front, first seed", "帕累托前沿，第一个种子"},
    {"Rent {} and train with {}: {} {}", "租用 {}，训练方式为 {}：{} {}"},
    {"Simulated: {}", "模拟了 {}"},
    {"Take {} and train with {}: {} {}", "使用 {}，训练方式为 {}：{} {}"},
    {"The time is that of simulated steps, gone on with to the goal.", "时间由模拟的若干步推算到目标。"},
    {"The time was up before any candidate was simulated.", "还没有模拟任何候选方案，时间就用完了。"},
    {"The time was up: {} of {} candidates are decided: ", "时间用完了：{1} 个候选方案中的 {0} 个有了结论："},
    {"At a quarter, half, twice and four times {}, the winner stays the best of those compared.",
     "把 {} 改为四分之一、一半、两倍和四倍，胜者仍是所比较的方案中最好的。"},
    {"At {0} divided by {1}{2}, {3} is better.", "{0} 除以 {1}{2} 时，{3} 更好。"},
    {"At {1} times {0}{2}, {3} is better.", "{0} 为 {1} 倍{2} 时，{3} 更好。"},
    {"Without {} the best would be the same.", "没有 {} 时，最好的方案不变。"},
    {"Without {} the best would be {}, with {} in place of {}.", "没有 {} 时，最好的方案是 {}：{}，而不是 {}。"},
    {"behind by formulas or by the times of their steps", "个按公式或按每步时间落后"},
    {"dropped because their losses fall too slowly", "个因损失下降太慢而排除"},
    {"hosts and training", "主机和训练方式"},
    {"known to their end", "个已知其终点"},
    {"money", "费用"},
    {"runner-up of another kind", "另一类中最好的"},
    {"that do not come to the goal", "个达不到目标"},
    {"the budget", "预算"},
    {"the deadline", "期限"},
    {"the limit of power", "功率限制"},
    {"tie", "平局"},
    {"to loss {}", "达到损失 {}"},
    {"to {} samples", "训练 {} 个样本"},
    {"to {} tokens", "训练 {} 个 token"},
    {"winner", "胜者"},
    {"{} by size; the nearest, {}, is {} too large: {}", "{} 个太大；最接近的是 {}，超出 {}：{}"},
    {"{} for one reason, {} among them: {}", "{} 个出于同一原因，其中有 {}：{}"},
    {"{} less money costs {} more: {}, for {}.", "少花 {}，要多付出 {}：{}，费用 {}。"},
    {"{} less time costs {} more: {}, in {}.", "早 {} 完成，要多付出 {}：{}，用时 {}。"},
    {"{} more are on the front", "前沿上还有 {} 个"},
    {"{} with {} worker steps", "{}，共 {} 个工作节点步"},
    {"the bandwidth of all links", "所有链路的带宽"},
    {"the latency of all links", "所有链路的延迟"},
    {"the speed of all hosts", "所有主机的速度"},
    {"the rate of failures", "故障率"},
    {"the price of hosts on demand", "按需主机的价格"},
    {"the price of spot hosts", "竞价主机的价格"},
    {"the power of hosts", "主机的功率"},
    {"time", "时间"},
};

}  // namespace

std::span<const Translation> plan_in_chinese() { return plan_texts; }

}  // namespace simgrad::outputs
