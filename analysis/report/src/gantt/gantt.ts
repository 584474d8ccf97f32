// The Gantt chart: the activities of each rank, of two runs under each other on one clock.
import { zooms } from '../axes';
import { card } from '../card';
import { list } from '../controls';
import { passNames, type Gantt, type GanttRun, type Pass, type Report } from '../data';
import { h } from '../dom';
import { t } from '../language';
import { partsKey } from '../parts';
import { plots, whenNear } from '../plot';
import { later } from '../queue';
import { onChange, state } from '../state';
import { onTheme, printing } from '../theme';
import { axisHeight } from './draw';
import { missing } from './missing';
import { Overview } from './overview';
import { Panel } from './panel';
import { passes, stores, tracks, type Tracks } from './tracks';
import { View } from './view';

const none = -1;

/** Returns a function that draws once per frame, however often it is called. */
function oncePerFrame(draw: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };
}

/** Returns the passes that have shades of their own in some run. */
function shadesOf(data: Gantt): Pass[] {
  const seen = new Set(data.runs.flatMap((run) => [...passes(run)]));
  return passNames.filter((_, place) => seen.has(place));
}

export function gantt(report: Report, data: Gantt, file: string): HTMLElement {
  const severalSeeds = report.foot.seeds.length > 1;
  const text = ({ strategy, point, seed }: GanttRun): string =>
    [report.strategies[strategy].label, report.points[point]?.text, severalSeeds && t('seed {0}', seed)].filter(Boolean).join(', ');
  const indexed: (Tracks | undefined)[] = [];
  const indexedRun = (i: number): Tracks | null => (i < 0 ? null : (indexed[i] ??= tracks(data.runs[i])));
  const chosen = [0, data.runs.length > 1 ? 1 : none];  // the runs of the sentence

  const view = new View();
  const drawn = { ever: false };
  const panels = chosen.map((_, k) => new Panel(view, () => indexedRun(chosen[k]), () => redraw()));
  const shown = (): Tracks[] => chosen.map(indexedRun).filter((run): run is Tracks => run !== null);
  const overview = new Overview(view, shown, () => panels[0].shape.gutter || panels[1].shape.gutter);
  const draw = (): void => {
    drawn.ever = true;
    for (const panel of panels) panel.draw();
    overview.draw(printing() ? 3 : window.devicePixelRatio);
  };
  const redraw = oncePerFrame(() => { if (drawn.ever) draw(); });
  /** Runs of very different lengths: in the whole time the shorter one would be a sliver. */
  const lengths = (): number[] => shown().map(({ run }) => run.to_s - run.from_s);
  const uneven = (): boolean => lengths().length > 1 && Math.max(...lengths()) > 5 * Math.min(...lengths());
  /** A run of which only the beginning is here: behind its end its rows would look idle. */
  const cutShort = (): boolean => shown().length > 1 && shown().some(({ run }) => !run.whole && 1.5 * run.to_s < Math.max(...shown().map(({ run: each }) => each.to_s)));
  const extent = (): void => {
    view.extent(Math.min(...shown().map(({ run }) => run.from_s)), Math.max(...shown().map(({ run }) => run.to_s)));
    view.fit();
    const [from, to] = [Math.min(...shown().map(({ run }) => run.from_s)), Math.min(...shown().map(({ run }) => run.to_s))];
    if (cutShort()) view.show(from, to);
    else if (uneven()) view.show(from, 1.1 * to);
  };
  extent();
  view.onMove(redraw);

  const choices = (k: number): [string, string][] =>
    [...(k > 0 ? [[String(none), t('nothing')] as [string, string]] : []), ...data.runs.map((run, i): [string, string] => [String(i), text(run)])];
  const lists = chosen.map((_, k) => list(k === 0 ? t('Run') : t('beside'), choices(k), String(chosen[k]), (value) => pick(k, Number(value))));
  const hint = h('p', { class: 'hint' });
  const tell = (): void => {
    const partly = shown().some(({ run }) => !run.whole);
    hint.replaceChildren(zooms() ? t('Drag to pan; scroll with Ctrl, pinch, or press + and − to zoom; arrow keys pan too.') : t('Drag to pan; pinch to zoom.'));
    if (cutShort()) hint.append(' ', t('The window ends where the shorter of the two recordings ends; both runs go on. The button “{0}” shows all that was recorded.', t('All')));
    else if (uneven()) hint.append(' ', t('The runs differ much in length, so the window begins with the time of the shorter one: the button “{0}” shows the whole time.', t('All')));
    if (absent()) hint.append(' ', t('No timeline of {0} is here; the text below says why.', report.points[state.point].text));
    if (partly) hint.append(' ', t('Only the beginning was recorded; {0} records more.', 'simgrad run --trace'));
    panels.forEach((panel, k) => {
      const run = indexedRun(chosen[k]);
      panel.canvas.setAttribute('aria-label', run ? `${t('Timeline of the ranks, {0}.', text(run.run))} ${data.sentence} ${t('Arrow keys pan, plus and minus zoom, Home shows all.')}` : '');
      titles[k].textContent = run ? text(run.run) : '';
    });
  };
  const pick = (k: number, run: number): void => {
    chosen[k] = run;
    lists[k].select.value = String(run);
    panels[k].forget();
    extent();
    tell();
    redraw();
  };
  /** Whether the reader has chosen a grid point of which no run was recorded. */
  const absent = (): boolean => state.chosen && report.points[state.point].text !== '' && !data.runs.some(({ point: at }) => at === state.point);
  const titles = chosen.map(() => h('h3', { class: 'lane-title' }));
  tell();

  // After a change of grid point: show the same strategies at that point, if they were recorded.
  let point = state.point;
  onChange(() => {
    if (point === state.point) return;
    point = state.point;
    chosen.forEach((run, k) => {
      const other = run < 0 ? -1 : data.runs.findIndex(({ strategy, point: at }) => at === point && strategy === data.runs[run].strategy);
      if (other >= 0) pick(k, other);
    });
    tell();
  });

  const button = (sign: string, label: string, action: () => void): HTMLElement => h('button', { type: 'button', class: 'plain', 'aria-label': label, title: label, onclick: action }, sign);
  const tools = h('div', { class: 'tools', role: 'group', 'aria-label': t('Zoom and pan') },
    button('◀', t('Earlier'), () => view.pan(-0.3 * (view.to - view.from))), button('▶', t('Later'), () => view.pan(0.3 * (view.to - view.from))),
    button('+', t('Zoom in'), () => view.zoom(0.6)), button('−', t('Zoom out'), () => view.zoom(1 / 0.6)), button(t('All'), t('Show all'), () => view.fit()));
  const body = h('div', { class: 'gantt' }, overview.canvas, ...panels.flatMap((panel, k) => [titles[k], panel.element]));
  whenNear(body, draw);
  onTheme(() => { if (printing()) draw(); else if (drawn.ever) later(body, draw); });
  new ResizeObserver(redraw).observe(body);
  plots.set('gantt', { id: 'gantt', draw, element: body, option: () => ({
    from: view.from, to: view.to, extent: view.all, seen: panels.map(({ seen }) => seen), runs: chosen.map((i) => (i < 0 ? null : text(data.runs[i]))),
    rows: panels.map(({ shape }) => ({ top: axisHeight, row: shape.row, gutter: shape.gutter, width: shape.width })) }) });
  return card('gantt', t('Timeline of the ranks'), data, file, [lists[0].element, lists[1].element, tools],
    partsKey(['tall', 'middle', 'thread', 'cord'], data.runs.some((run) => stores(run).includes(true)), shadesOf(data)), body, hint, report.missing_timelines ? missing(report.missing_timelines) : null);
}
