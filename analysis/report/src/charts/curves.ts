// Loss and metric during training, and the distance between the workers' parameters.
import { card, distinct } from '../card';
import { keys, legend, list, place, segments, toggle } from '../controls';
import type { Amount, Chart, Curves, CurveSeries, N, Report, Table } from '../data';
import { h } from '../dom';
import { bytes, dollars, joules, number, operations, seconds, whole } from '../format';
import { t } from '../language';
import { shortNames } from '../names';
import { Plot } from '../plot';
import { onChange, shown } from '../state';
import { lines, sized, zoomHint, type Level, type Line } from './lines';

type X = 'simulated_s' | 'step' | 'epochs' | 'cost_usd' | 'energy_j' | 'bytes' | 'flops';
const axes = (): Record<X, { name: string; format: (x: number) => string }> => ({
  simulated_s: { name: t('simulated time'), format: seconds },
  step: { name: t('step'), format: whole },
  epochs: { name: t('epochs'), format: number },
  cost_usd: { name: t('cost'), format: dollars },
  energy_j: { name: t('energy'), format: joules },
  bytes: { name: t('bytes'), format: bytes },
  flops: { name: t('floating-point operations'), format: operations },
});

/** Returns a column as numbers; null if the series has none. */
function column(series: CurveSeries, name: keyof CurveSeries): N[] | null {
  const given = (series[name] ?? null) as Amount;
  return given === null || Array.isArray(given) ? given : series[given.of].map((x) => (x === null ? null : given.from + given.per * x));
}

const positive = (all: N[]): number[] => all.filter((x): x is number => x !== null && x > 0);

/** Returns whether an axis is logarithmic by default: all values are positive and span more than a factor of ten. */
function spreads(all: (N[] | null)[]): boolean {
  const values = all.flatMap((each) => each ?? []).filter((x): x is number => x !== null);
  const above = positive(values);
  if (above.length === 0 || above.length < values.length) return false;
  return above.reduce((a, b) => Math.max(a, b)) > 10 * above.reduce((a, b) => Math.min(a, b));
}

function xChoices(series: CurveSeries[]): [X, string][] {
  const has = (x: X): boolean => series.some((each) => column(each, x)?.some((value) => value !== null));
  const all: [X, string][] = [['simulated_s', t('Time')], ['step', t('Step')], ['epochs', t('Epoch')], ['cost_usd', t('Cost')],
    ['energy_j', t('Energy')], ['bytes', t('Bytes')], ['flops', t('Operations')]];
  return all.filter(([x]) => has(x));
}

/** Returns a sentence part: "diverged at step 7", or for some seeds only, "1 of 5 seeds diverged at step 7". */
const divergedText = ({ diverged, seeds }: CurveSeries): string | undefined =>
  !diverged ? undefined : diverged.seeds < seeds ? t('{0} of {1} seeds diverged at step {2}', diverged.seeds, seeds, whole(diverged.step)) : t('diverged at step {0}', whole(diverged.step));

/** Returns the settings by which a line ends where its run diverges. */
const untilDiverged = (each: CurveSeries): Pick<Line, 'points' | 'diverged'> => ({ points: each.diverged?.points, diverged: divergedText(each) });

/** Returns a paragraph that names the lines that diverge, and a function that fills it. */
function divergence(lines: () => { text: string; series: CurveSeries }[]): { element: HTMLElement; tell: () => void } {
  const element = h('p', { class: 'fits', hidden: true });
  const tell = (): void => {
    const all = lines().filter(({ series }) => series.diverged);
    element.hidden = all.length === 0;
    element.textContent = all.length === 0 ? '' : t('Lines end at a cross before divergence: {0}.', all.map(({ text, series }) => `${text} (${divergedText(series)!})`).join(t('; ')));
  };
  tell();
  onChange(tell);
  return { element, tell };
}

/** Returns the table of all points of all series. */
function pointTable(report: Report, series: CurveSeries[]): Table {
  const columns: [keyof CurveSeries, string, string][] = [['step', 'step', ''], ['simulated_s', 'simulated', 's'], ['epochs', 'epochs', ''], ['cost_usd', 'cost', 'USD'],
    ['energy_j', 'energy', 'J'], ['bytes', 'bytes', 'B'], ['flops', 'floating-point operations', ''],
    ['loss', 'loss', ''], ['loss_low', 'loss, low', ''], ['loss_high', 'loss, high', ''],
    ['metric', report.metric_name || 'metric', ''], ['metric_low', `${report.metric_name}, low`, ''], ['metric_high', `${report.metric_name}, high`, ''], ['consensus', 'consensus distance', '']];
  const there = columns.filter(([key]) => series.some((each) => (each[key] ?? null) !== null));
  return {
    columns: [{ name: 'strategy', unit: '' }, { name: 'parameters', unit: '' }, ...there.map(([, name, unit]) => ({ name, unit }))],
    rows: series.flatMap((each) => {
      const columns = there.map(([key]) => column(each, key));
      return each.step.map((_, i) => [report.strategies[each.strategy].label, report.points[each.point]?.text ?? '', ...columns.map((values) => values?.[i] ?? null)]);
    }),
  };
}

/** Returns the target, and the least losses that any model can be expected to reach on the data of these curves. */
function lossLevels(target: N, series: CurveSeries[]): Level[] {
  const least = distinct(series.map(({ loss_floor }) => loss_floor ?? null).filter((x) => x !== null));
  const range = [...new Set([least[0], least[least.length - 1]])].map((x) => number(x)).join(' – ');
  return [...(target === null ? [] : [{ value: target, text: t('target {0}', number(target)) }]),
    ...least.map((value) => ({ value, text: t('least expected loss {0}', range), dotted: true }))];
}

export function curves(report: Report, data: Curves, file: string): HTMLElement {
  const series = data.series;
  const strategies = distinct(series.map(({ strategy }) => strategy));
  const points = distinct(series.map(({ point }) => point));
  const chosen = { by: strategies.length === 1 && points.length > 1 ? 'points' : 'strategies', strategy: strategies[0], x: 'simulated_s' as X, y: 'loss' as 'loss' | 'metric', log: spreads(data.series.map(({ loss, diverged }) => loss.slice(0, diverged?.points))), logX: false, band: true };
  const short = shortNames(report.strategies.map(({ label }) => label));
  const at = place(report, () => series, data.about);
  const byPoint = (): boolean => chosen.by === 'points';
  const here = (): CurveSeries[] => byPoint() ? series.filter(({ strategy }) => strategy === chosen.strategy) : series.filter(({ point, strategy }) => point === at.point() && shown(strategy));
  const name = (): string => (chosen.y === 'loss' ? t('loss') : report.metric_name);
  const said = (each: CurveSeries): string => (byPoint() ? report.points[each.point].text : report.strategies[each.strategy].label);
  const plot: Plot = new Plot('curves', data.sentence, 400, () => lines({
    size: sized(plot), named: true, band: chosen.band,
    lines: here().map((each): Line => ({
      ...(byPoint() ? { strategy: points.indexOf(each.point), text: report.points[each.point].text } : { strategy: each.strategy, text: report.strategies[each.strategy].label, short: short[each.strategy] }),
      x: column(each, chosen.x) ?? [], ...untilDiverged(each),
      ...(chosen.y === 'loss' ? { y: each.loss, low: each.loss_low, high: each.loss_high }
                              : { y: each.metric ?? [], low: each.metric_low, high: each.metric_high }),
    })),
    x: { ...axes()[chosen.x], log: chosen.logX, min: chosen.logX ? undefined : 0 },
    y: { name: name(), format: number, log: chosen.log, scale: true },
    levels: chosen.y === 'loss' ? lossLevels(report.target, here()) : [],
  }));
  const which = strategies.length > 1 ? list(t('Strategy'), strategies.map((each) => [String(each), report.strategies[each].label]), String(chosen.strategy), (value) => set({ strategy: Number(value) })).element : null;
  const ofStrategies = legend(report, strategies, emphasise(plot));
  const ofPoints = keys(points.map((point, style) => ({ style, text: report.points[point].text })));
  const arrange = (): void => {
    for (const [element, hidden] of [[at.element, byPoint()], [which, !byPoint()], [ofStrategies, byPoint()], [ofPoints, !byPoint()]] as const) if (element) element.hidden = hidden;
  };
  arrange();
  const set = (what: Partial<typeof chosen>): void => { Object.assign(chosen, what); arrange(); diverged.tell(); plot.redraw(); };
  const diverged = divergence(() => here().map((series) => ({ text: said(series), series })));
  const measured = series.some(({ loss }) => loss.some((x) => x !== null));
  const metric = report.metric_name !== '' && series.some((each) => each.metric?.some((x) => x !== null));
  if (!measured && metric) chosen.y = 'metric';
  return card('curves', metric ? t('Loss and {0}', report.metric_name === 'r2' ? 'R²' : report.metric_name) : t('Loss'), data, { file, whole: () => pointTable(report, series) }, [
    measured && metric ? segments(t('Show'), [['loss', t('Loss')], ['metric', sentenceCase(report.metric_name)]], chosen.y, (y) => set({ y: y as 'loss' })) : null,
    segments(t('Against'), xChoices(series), chosen.x, (x) => set({ x: x as X })),
    points.length > 1 ? segments(t('Compare'), [['strategies', t('Strategies')], ['points', t('Grid points')]], chosen.by, (by) => set({ by })) : null, which, at.element,
    toggle(t('Log y'), chosen.log, (log) => set({ log })),
    toggle(t('Log x'), chosen.logX, (logX) => set({ logX })),
    series.some(({ loss_low }) => loss_low) ? toggle(t('95 % bands'), true, (band) => set({ band })) : null,
  ], ofStrategies, ofPoints, plot.element, zoomHint(), diverged.element);
}

export function consensus(report: Report, data: Chart, all: CurveSeries[], file: string): HTMLElement {
  const short = shortNames(report.strategies.map(({ label }) => label));
  const measured = all.filter((each) => each.consensus?.some((x) => x !== null));
  const series = measured.filter((each) => each.consensus?.some((x) => x !== 0 && x !== null));
  const together = distinct(measured.map(({ strategy }) => strategy)).filter((strategy) => !series.some((each) => each.strategy === strategy));
  const chosen = { x: 'simulated_s' as X, log: spreads(series.map((each) => positive((each.consensus ?? []).slice(0, each.diverged?.points)))) };
  const at = place(report, () => series, data.about);
  const plot: Plot = new Plot('consensus', data.sentence, 320, () => lines({
    size: sized(plot), named: true,
    lines: series.filter(({ point, strategy }) => point === at.point() && shown(strategy)).map((each): Line => ({
      strategy: each.strategy, text: report.strategies[each.strategy].label, short: short[each.strategy], x: column(each, chosen.x) ?? [], y: each.consensus ?? [], ...untilDiverged(each) })),
    x: { ...axes()[chosen.x], min: 0 }, y: { name: t('distance from the mean'), format: number, log: chosen.log },
  }));
  const set = (what: Partial<typeof chosen>): void => { Object.assign(chosen, what); plot.redraw(); };
  return card('consensus', t('Distance between the replicas'), data, file, [
    segments(t('Against'), xChoices(series), chosen.x, (x) => set({ x: x as X })),
    at.element,
    toggle(t('Log y'), chosen.log, (log) => set({ log })),
  ], legend(report, distinct(series.map(({ strategy }) => strategy)), emphasise(plot)), plot.element, zoomHint(),
    together.length > 0 ? h('p', { class: 'fits' }, t('Always equal: {0}.', together.map((each) => report.strategies[each].label).join(', '))) : null);
}

/** Draws the strategy under the pointer in front of the others. */
export const emphasise = (plot: Plot) => (strategy: number | null): void => {
  const chart = plot.instance();
  if (!chart) return;
  chart.dispatchAction({ type: 'downplay' });
  const ids = (chart.getOption().series as { id: string }[]).map(({ id }, i) => ({ id, i }));
  if (strategy === null) return;
  chart.dispatchAction({ type: 'highlight', seriesIndex: ids.filter(({ id }) => id?.startsWith(`line-${strategy}-`)).map(({ i }) => i) });
};

/** Returns the name of the metric; "r2" is R². */
const sentenceCase = (text: string): string => text === 'r2' ? 'R²' : text.charAt(0).toUpperCase() + text.slice(1);
