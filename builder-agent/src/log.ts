/** The agent's own log: one line per event. Facts are numbers and names, never secrets. */
export type Log = (event: string, facts?: Facts) => void;
type Facts = Record<string, string | number | boolean | null | undefined>;

/** Lines like `2026-11-20T13:46:07.120Z build claimed buildId=7 attempt=1`; as JSON, an object with the same names. */
export function openLog(write: (line: string) => void, format: "text" | "json" = "text"): Log {
  return (event, facts = {}) => {
    const at = new Date().toISOString();
    if (format === "json") return write(JSON.stringify({ at, event, ...facts }));
    const present = Object.entries(facts).filter(([, value]) => value !== undefined);
    const words = present.map(([name, value]) => `${name}=${shown(value)}`);
    write([at, event, ...words].join(" "));
  };
}

/** The same log, with facts that are added to every line. */
export const logAbout =
  (log: Log, about: Facts): Log =>
  (event, facts) =>
    log(event, { ...about, ...facts });

/** An error in one line, with its causes: fetch hides "connection refused" in its cause. */
export function sentenceOf(error: unknown): string {
  if (error instanceof SuppressedError) return `${sentenceOf(error.suppressed)}; then: ${sentenceOf(error.error)}`;
  if (!(error instanceof Error)) return String(error);
  const causes = error.cause === undefined ? "" : ` (${sentenceOf(error.cause)})`;
  return `${error.message || error.name}${causes}`.replaceAll(/\s+/g, " ");
}

function shown(value: string | number | boolean | null | undefined): string {
  const text = String(value).replaceAll(/\s+/g, " ");
  return /[ "]/.test(text) ? JSON.stringify(text) : text;
}
