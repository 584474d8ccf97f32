// The window of time, the same for all panels.

export class View {
  from = 0;
  to = 1;
  private least = 0;
  private most = 1;
  private readonly listeners: (() => void)[] = [];

  onMove(listener: () => void): void { this.listeners.push(listener); }

  get all(): [number, number] { return [this.least, this.most]; }

  /** Sets the whole time. The window stays if it fits, else it becomes the whole time. */
  extent(least: number, most: number): void {
    const everything = this.from <= this.least && this.to >= this.most;
    [this.least, this.most] = [least, most > least ? most : least + 1];
    if (everything) this.show(this.least, this.most); else this.show(this.from, this.to);
  }

  /** Sets the window to [from, to], moved and narrowed to fit into the whole time; at least a millionth of that. */
  show(from: number, to: number): void {
    const whole = this.most - this.least;
    const width = Math.min(Math.max(to - from, whole * 1e-6), whole);
    const start = Math.min(Math.max(from, this.least), this.most - width);
    [this.from, this.to] = [start, start + width];
    for (const listener of this.listeners) listener();
  }

  fit(): void { this.show(this.least, this.most); }

  pan(by: number): void { this.show(this.from + by, this.to + by); }

  /** Zooms in with factor < 1; the time `around` keeps its position. */
  zoom(factor: number, around = (this.from + this.to) / 2): void {
    const whole = this.most - this.least;
    const limited = Math.max(factor, (whole * 1e-6) / (this.to - this.from));
    this.show(around - (around - this.from) * limited, around + (this.to - around) * limited);
  }
}

/** Returns about `count` round times in [from, to]. */
export function ticks(from: number, to: number, count: number): number[] {
  const rough = (to - from) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const all: number[] = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) all.push(i * step || 0);
  return all;
}
