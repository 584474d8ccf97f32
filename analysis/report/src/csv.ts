// A table as CSV (RFC 4180), with all digits.
import type { Table } from './data';

/** Returns a field, quoted if needed. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
function field(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const tame = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
}

export function csv(table: Table): string {
  const head = table.columns.map(({ name, unit }) => field(unit ? `${name} [${unit}]` : name));
  return [head, ...table.rows.map((row) => row.map(field))].map((line) => line.join(',')).join('\r\n') + '\r\n';
}

/** Saves the text as a file of the reader; nothing is sent anywhere. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
