// Drawing by and by: one chart a task, so that the page answers between two charts.

const waiting = new Map<object, () => void>();
let running = false;

function next(): void {
  const first = waiting.entries().next();
  if (first.done) { running = false; return; }
  setTimeout(next);
  const [owner, draw] = first.value;
  waiting.delete(owner);
  draw();
}

/** Calls draw in a task of its own. A call that still waits for the same owner is replaced. */
export function later(owner: object, draw: () => void): void {
  waiting.delete(owner);
  waiting.set(owner, draw);
  if (running) return;
  running = true;
  setTimeout(next);
}

/** Calls the owner's waiting draw now; without one nothing happens. */
export function now(owner: object): void {
  const draw = waiting.get(owner);
  waiting.delete(owner);
  draw?.();
}

/** Forgets the owner's waiting draw. */
export const never = (owner: object): void => void waiting.delete(owner);
