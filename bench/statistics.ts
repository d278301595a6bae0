/** The value that the given share of the values does not exceed; 0.5 is the median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const found = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (found === undefined) throw new Error("there are no values to take a percentile of");
  return found;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error("there are no values to take a median of");
  return (low + high) / 2;
}

/** "12.3 (11.9 … 14.0)": the median, and the range of the runs. */
export function spread(values: readonly number[], digits: number, unit = ""): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${median(values).toFixed(digits)}${unit} (${low} … ${high})`;
}
