// The reader's choices. They hold for all charts: a grid point chosen in one chart is shown in the others.
import type { Report, Row } from './data';

type Listener = () => void;
const listeners: Listener[] = [];

export const state = {
  point: 0,
  chosen: false,  // the reader has chosen the point
  hidden: new Set<number>(),  // strategies
};

export const onChange = (listener: Listener): void => void listeners.push(listener);

export function change(apply: () => void): void {
  apply();
  for (const listener of listeners) listener();
}

export const shown = (strategy: number): boolean => !state.hidden.has(strategy);

/** Returns the point that a chart of these rows draws: the chosen one, or else the most similar point of the rows. about: the subject of the chart's sentence, whose point is drawn until the reader chooses one. */
export function pointOf(report: Report, rows: Row[], about: Row | null = null): number {
  const asked = state.chosen || !about ? state.point : about.point;
  const wanted = report.points[asked];
  const unlike = (point: number): [number, number] => {
    const { parameters, workers } = report.points[point];
    const differing = Object.keys(parameters).filter((key) => JSON.stringify(parameters[key]) !== JSON.stringify(wanted.parameters[key])).length;
    return [differing, Math.abs(Math.log(workers / wanted.workers))];
  };
  let best: { point: number; far: [number, number] } | null = null;
  for (const { point } of rows) {
    if (point === asked) return point;
    const far = unlike(point);
    if (!best || far[0] < best.far[0] || (far[0] === best.far[0] && far[1] < best.far[1])) best = { point, far };
  }
  return best ? best.point : asked;
}

/** Chooses the grid point of the first sentence, or of the winner; without a winner that of the largest cluster, where strategies differ most. */
export function choosePoint(report: Report): void {
  const told = report.curves?.about ?? null;
  const won = told ? told.point : report.points.findIndex(({ text }) => text !== '' && text === report.summary.winners[0]?.point);
  let best = 0;
  report.points.forEach((point, i) => { if (point.workers > report.points[best].workers) best = i; });
  state.point = won >= 0 ? won : best;
}
