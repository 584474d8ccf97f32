// Each collective: time by the alpha-beta prediction, time in the simulation, and the cause of the difference.
import { axis, bars as named, frame, tip, tooltip } from '../axes';
import { card, distinct } from '../card';
import { legend, place, toggle } from '../controls';
import type { CollectiveRow, Collectives, Report } from '../data';
import { h } from '../dom';
import { bytes, number, seconds, unbroken, whole } from '../format';
import { t } from '../language';
import { roomFor } from '../measure';
import { shortNames } from '../names';
import { colour, decal } from '../palette';
import { Plot } from '../plot';
import { onChange, shown } from '../state';
import { variable } from '../theme';
import { logRange } from '../ticks';

/** Returns "1.2× the prediction: ", or "" if the time is as predicted. */
function ratio({ predicted_s, simulated_s }: CollectiveRow): string {
  const times = simulated_s / predicted_s;
  return predicted_s > 0 && Math.abs(times - 1) > 0.005 ? t('{0}× the prediction: ', number(times)) : '';
}

export function collectives(report: Report, data: Collectives, file: string): HTMLElement {
  const chosen = { log: false, hidden: false };
  const divided = data.rows.every(({ exposed_s }) => exposed_s !== null && exposed_s !== undefined);
  const short = shortNames(report.strategies.map(({ label }) => label));
  const at = place(report, () => data.rows, data.about);
  const here = (): CollectiveRow[] => data.rows.filter(({ strategy, point }) => point === at.point() && shown(strategy));
  const text = (row: CollectiveRow): string => `${report.strategies[row.strategy].label}: ${row.name}`;
  /** Collectives of one name in a strategy are told apart by their sizes and members. */
  const brief = (row: CollectiveRow): string => {
    const twins = here().filter((each) => each.strategy === row.strategy && each.name === row.name);
    const differ = (of: (each: CollectiveRow) => number): boolean => new Set(twins.map(of)).size > 1;
    return [`${short[row.strategy]}: ${row.name}`, differ((each) => each.bytes) && bytes(row.bytes), differ((each) => each.members) && t('{0} members', whole(row.members))].filter(Boolean).join(', ');
  };
  const fit = (): void => { plot.height = 80 + Math.max(here().length, 1) * 58; };
  const plot: Plot = new Plot('collectives', data.sentence, 200, () => {
    fit();
    const rows = here();
    if (rows.length === 0) return { empty: t('All strategies are hidden.') };
    const wide = plot.element.clientWidth > 640;
    const [exposed, hidden] = [(row: CollectiveRow): number => row.exposed_s ?? 0, (row: CollectiveRow): number => Math.max((row.duration_s ?? 0) - (row.exposed_s ?? 0), 0)];
    const log = chosen.log && !chosen.hidden;
    const range = logRange(rows.flatMap((row) => [row.predicted_s, row.simulated_s]));
    const said = (name: string, time: number): string => (wide ? `${t(name)} ` : '') + seconds(time);
    const bars = (name: string, of: (row: CollectiveRow) => number, style: (row: CollectiveRow) => object): object => ({
      type: 'bar', id: name, name: t(name), barMaxWidth: 15, barGap: '12%', data: rows.map((row) => ({ value: of(row), itemStyle: style(row) })),
      label: { show: true, position: 'right', color: variable('quiet'), fontSize: 11, formatter: ({ dataIndex }: { dataIndex: number }) => said(name, of(rows[dataIndex])) },
    });
    const stack = (name: string, of: (row: CollectiveRow) => number, hatch: object | undefined): object => ({
      type: 'bar', id: name, name: t(name), stack: 'all', barMaxWidth: 22, data: rows.map((row) => ({ value: of(row), itemStyle: { color: hatch ? variable('axis') : colour(row.strategy), decal: hatch ?? { symbol: 'none' } } })),
    });
    const name = chosen.hidden ? t('time of one call of a member') : wide ? t('time of one call, from the last arrival') : t('time of one call');
    return {
      grid: frame({ left: 8, right: chosen.hidden ? 24 : roomFor(rows.flatMap((row) => [said('predicted', row.predicted_s), said('simulated', row.simulated_s)])) }),
      xAxis: axis({ name, format: seconds, log, splits: wide ? 6 : 2, ...(log && range ? { ...range, ticks: range.ticks.filter((_, i) => i % Math.ceil(range.ticks.length / (wide ? 8 : 3)) === 0) } : {}) }, false),
      yAxis: named(rows.map(brief), wide, true),
      tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
        const row = rows[params[0].dataIndex];
        return tip(text(row), [
          { name: t('predicted'), value: seconds(row.predicted_s, 4) }, { name: t('simulated'), value: seconds(row.simulated_s, 4) },
          { name: t('waiting for the last member'), value: seconds(row.skew_s) },
          ...(divided ? [{ name: t('exposed'), value: seconds(exposed(row), 4) }, { name: t('hidden'), value: seconds(hidden(row), 4) }] : []),
          { name: t('members'), value: whole(row.members) }, { name: t('bytes per member'), value: bytes(row.bytes) }, { name: t('calls'), value: whole(row.calls) }], row.explanation);
      }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
      series: chosen.hidden ? [stack('exposed', exposed, undefined), stack('hidden', hidden, decal(2))] : [
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
  return card('collectives', t('Collectives: predicted and simulated'), data, file, [
    at.element,
    divided ? toggle('Exposed and hidden', false, (hidden) => { chosen.hidden = hidden; plot.redraw(); }) : null,
    toggle(t('Logarithmic'), false, (log) => { chosen.log = log; plot.redraw(); }),
  ], legend(report, distinct(data.rows.map(({ strategy }) => strategy))), plot.element, reasons);
}
