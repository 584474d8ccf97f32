// Each collective: time by the alpha-beta prediction, time in the simulation, and the cause of the difference.
import { axis, frame, tip, tooltip } from '../axes';
import { card, distinct } from '../card';
import { legend, place, toggle } from '../controls';
import type { CollectiveRow, Collectives, Report } from '../data';
import { h } from '../dom';
import { bytes, number, seconds, unbroken, whole } from '../format';
import { shortNames, twoLines } from '../names';
import { colour, decal } from '../palette';
import { Plot } from '../plot';
import { onChange, shown } from '../state';
import { variable } from '../theme';

/** Returns "1.2× the prediction; ", or "" if the time is as predicted. */
function ratio({ predicted_s, simulated_s }: CollectiveRow): string {
  const times = simulated_s / predicted_s;
  return predicted_s > 0 && Math.abs(times - 1) > 0.005 ? `${number(times)}× the prediction; ` : '';
}

export function collectives(report: Report, data: Collectives, file: string): HTMLElement {
  const chosen = { log: false };
  const short = shortNames(report.strategies.map(({ label }) => label));
  const at = place(report, () => data.rows);
  const here = (): CollectiveRow[] => data.rows.filter(({ strategy, point }) => point === at.point() && shown(strategy));
  const text = (row: CollectiveRow): string => `${report.strategies[row.strategy].label}: ${row.name}`;
  const fit = (): void => { plot.height = 80 + Math.max(here().length, 1) * 58; };
  const plot: Plot = new Plot('collectives', data.sentence, 200, () => {
    fit();
    const rows = here();
    const wide = plot.element.clientWidth > 640;
    const bars = (name: string, of: (row: CollectiveRow) => number, style: (row: CollectiveRow) => object): object => ({
      type: 'bar', id: name, name, barMaxWidth: 15, barGap: '12%', data: rows.map((row) => ({ value: of(row), itemStyle: style(row) })),
      label: { show: true, position: 'right', color: variable('quiet'), fontSize: 11, formatter: ({ dataIndex }: { dataIndex: number }) => (wide ? `${name} ` : '') + seconds(of(rows[dataIndex])) },
    });
    return {
      grid: frame({ left: 8, right: wide ? 110 : 62 }),
      xAxis: axis({ name: wide ? 'time of one call, from the last arrival' : 'time of one call', format: seconds, log: chosen.log, splits: wide ? 6 : 2 }, false),
      yAxis: axis({ name: '', format: String, categories: rows.map((row) => `${short[row.strategy]}: ${row.name}`), grid: false,
        extra: { inverse: true, axisTick: { show: false }, axisLabel: { color: variable('ink'), width: wide ? 240 : 105, overflow: 'truncate', fontSize: wide ? 12 : 11, formatter: (name: string) => (wide ? name : twoLines(name, 17)) } } }, true),
      tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
        const row = rows[params[0].dataIndex];
        return tip(text(row), [
          { name: 'predicted', value: seconds(row.predicted_s, 4) }, { name: 'simulated', value: seconds(row.simulated_s, 4) },
          { name: 'waiting for the last member', value: seconds(row.skew_s) }, { name: 'members', value: whole(row.members) },
          { name: 'bytes per member', value: bytes(row.bytes) }, { name: 'calls', value: whole(row.calls) }], row.explanation);
      }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
      series: [
        bars('predicted', (row) => row.predicted_s, () => ({ color: variable('axis'), decal: decal(2) })),
        bars('simulated', (row) => row.simulated_s, (row) => ({ color: colour(row.strategy) })),
      ],
    };
  });
  fit();
  const reasons = h('ul', { class: 'reasons' });
  const explain = (): void => reasons.replaceChildren(...here().filter(({ explanation }) => explanation).map((row) =>
    h('li', {}, h('b', {}, text(row)), `: ${ratio(row)}${unbroken(row.explanation)}`)));
  explain();
  onChange(() => { fit(); explain(); });
  return card('collectives', 'Collectives: predicted and simulated', data, file, [
    at.element,
    toggle('Logarithmic', false, (log) => { chosen.log = log; plot.redraw(); }),
  ], legend(report, distinct(data.rows.map(({ strategy }) => strategy))), plot.element, reasons);
}
