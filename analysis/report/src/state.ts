// What the reader has chosen. It holds for all charts: who picks a grid point in one sees it in the others.
import type { Report } from './data';

type Listener = () => void;
const listeners: Listener[] = [];

export const state = {
  point: 0,
  hidden: new Set<number>(),  // strategies
};

export const onChange = (listener: Listener): void => void listeners.push(listener);

export function change(what: () => void): void {
  what();
  for (const listener of listeners) listener();
}

export const shown = (strategy: number): boolean => !state.hidden.has(strategy);

/** The point at which the winner wins; without one the largest cluster, where strategies differ most. */
export function choosePoint(report: Report): void {
  const won = report.points.findIndex(({ text }) => text !== '' && text === report.answer.lines[0]?.point);
  let best = 0;
  report.points.forEach((point, i) => { if (point.workers > report.points[best].workers) best = i; });
  state.point = won >= 0 ? won : best;
}
