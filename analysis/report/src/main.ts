// The page: draws the data in its slot. It makes no requests.
import { answers } from './charts/answers';
import { collectives } from './charts/collectives';
import { consensus, curves } from './charts/curves';
import { links } from './charts/links';
import { memory } from './charts/memory';
import { mesh } from './charts/mesh';
import { pairs } from './charts/pairs';
import { pareto } from './charts/pareto';
import { speedup } from './charts/speedup';
import { staleness } from './charts/staleness';
import { time } from './charts/time';
import type { Report } from './data';
import { h } from './dom';
import { foot } from './foot';
import { gantt } from './gantt/gantt';
import { noTimeline } from './gantt/missing';
import { setLanguage, t } from './language';
import { overview } from './overview/overview';
import { planCard } from './plan/plan';
import { plots } from './plot';
import { pointsTable } from './points_table';
import { choosePoint, state } from './state';
import { summaryCard } from './summary_card';
import { onTheme, dark, toggleTheme, watchTheme } from './theme';

/** Returns the charts that have data, in the order of the questions that people ask. */
function charts(report: Report): HTMLElement[] {
  const file = report.name.replace(/[^\w.-]+/g, '_') || 'simgrad';
  const all: (HTMLElement | null)[] = [
    report.plan ? planCard(report, report.plan, file) : null,
    ...(report.overview ? overview(report, report.overview, file) : []),
    report.points_table ? pointsTable(report, report.points_table, file) : null,
    report.pairs ? pairs(report, report.pairs, file) : null,
    report.answers ? answers(report, report.answers, file) : null,
    report.curves && curves(report, report.curves, file),
    report.time && time(report, report.time, file),
    report.memory ? memory(report, report.memory, file) : null,
    report.mesh ? mesh(report, report.mesh, file) : null,
    report.speedup && speedup(report, report.speedup, file),
    report.pareto && pareto(report, report.pareto, file),
    report.gantt ? gantt(report, report.gantt, file) : report.missing_timelines ? noTimeline(report.missing_timelines) : null,
    report.links && links(report, report.links, file),
    report.collectives && collectives(report, report.collectives, file),
    report.staleness && staleness(report, report.staleness, file),
    report.consensus && report.curves && consensus(report, report.consensus, report.curves.series, file),
  ];
  return all.filter((chart): chart is HTMLElement => chart !== null);
}

function contents(cards: HTMLElement[]): HTMLElement {
  const entry = (id: string, text: string): HTMLElement => h('li', {}, h('a', { href: `#${id}` }, text));
  return h('nav', { 'aria-label': t('Contents') }, h('ul', {},
    ...cards.map((card) => entry(card.id, card.querySelector('h2')!.textContent ?? '')), entry('reproduce', t('Reproduce the results'))));
}

function themeButton(): HTMLElement {
  const button = h('button', { type: 'button', class: 'plain theme', onclick: toggleTheme });
  const show = (): void => { button.textContent = dark() ? t('Light') : t('Dark'); button.setAttribute('aria-label', dark() ? t('Switch to light colours') : t('Switch to dark colours')); };
  show();
  onTheme(show);
  return button;
}

function page(report: Report): HTMLElement[] {
  document.title = `${report.title || report.name} – simgrad`;
  choosePoint(report);
  const cards = charts(report);
  return [
    h('header', { class: 'top' }, h('div', {}, h('p', { class: 'brand' }, `simgrad ${report.version}`), h('h1', {}, report.title || report.name)), themeButton()),
    h('main', {},
      report.complete ? h('span', { hidden: true }) : h('p', { class: 'warning', role: 'status' }, t('This experiment is not complete: the charts show the runs that have finished.')),
      summaryCard(report), contents(cards), ...cards),
    foot(report),
  ];
}

function start(): void {
  watchTheme();
  const host = document.getElementById('page')!;
  const text = document.getElementById('simgrad-data')!.textContent ?? '';
  let report: Report;
  try {
    report = JSON.parse(text) as Report;
    if (report.schema !== 1) throw new Error(`the data have schema ${String(report.schema)}, this page reads schema 1`);
  } catch (error) {
    host.replaceChildren(h('p', { class: 'warning', role: 'alert' }, t('This page has no data that it can draw: {0}', (error as Error).message)));
    return;
  }
  setLanguage(report.language);
  host.replaceChildren(...page(report));
  const drawAll = (): void => { for (const plot of plots.values()) plot.draw(); };
  const draw = (id: string): void => plots.get(id)?.draw();
  // For tests: the data and the options of the charts.
  Object.defineProperty(window, 'simgrad', {
    value: Object.freeze({ report, state, drawAll, draw, ids: () => [...plots.keys()], option: (id: string) => plots.get(id)?.option() ?? null }),
  });
}

start();
