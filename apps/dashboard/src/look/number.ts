/** Digits in groups of three with a thin space, from a number or from decimal digits of any length: nothing is rounded. */
export function grouped(value: number | string): string {
  const digits = typeof value === 'number' ? String(Math.trunc(value)) : value;
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export function bytesText(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return '–';
  if (bytes < 1_024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1_024;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** The end of a long id, enough to tell ids apart that were made in the same minute. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `…${id.slice(-8)}`;
}
