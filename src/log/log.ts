import { requestIdNow } from "./request-id.ts";

/** Numbers, names and words that were written for people to read. Never a secret, and never a URL that contains one. */
type Facts = Readonly<Record<string, string | number | boolean | null | undefined>>;
type Level = "info" | "error";
type Format = "text" | "json";

let format: Format = "text";

/** Chooses the format: JSON on Cloudflare, where lines can be searched by field, and text for people elsewhere. */
export function writeLogAs(chosen: Format): void {
  format = chosen;
}

/** Logs an event. Its text is always the same, and everything that varies is in the facts. */
export const logEvent = (event: string, facts: Facts = {}): void => write("info", { event, ...facts });

/** Logs a failure and its cause. */
export const logFailure = (event: string, error: unknown, facts: Facts = {}): void =>
  write("error", { event, ...facts, ...described(error) });

function write(level: Level, { event, ...facts }: Facts): void {
  const at = new Date().toISOString();
  const line = { requestId: requestIdNow(), ...facts };
  const text = format === "json" ? JSON.stringify({ at, level, event, ...line }) : readable(at, event, line);
  if (level === "error") console.error(text);
  else console.log(text);
}

function readable(at: string, event: Facts[string], { error, stack, ...facts }: Facts): string {
  const present = Object.entries(facts).filter(([, value]) => value !== undefined && value !== "");
  const words = present.map(([name, value]) => `${name}=${quoted(String(value))}`);
  const failure = error === undefined ? "" : `: ${error}${stack ? `\n${stack}` : ""}`;
  return [at, event, ...words].join(" ") + failure;
}

const quoted = (value: string) => (/[\s"]/.test(value) ? JSON.stringify(value) : value);

function described(error: unknown): { error: string; stack?: string } {
  const stack = error instanceof Error ? error.stack : undefined;
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return { error: sentenceOf(error), ...(frames.length > 0 && { stack: frames.join("\n") }) };
}

/** An error's message and causes, without possible secrets: a statement's values, the credentials in a URL. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return withoutSecrets(String(error));
  const cause = error.cause === undefined ? "" : ` (${sentenceOf(error.cause)})`;
  return `${error.name}: ${withoutSecrets(error.message)}${cause}`;
}

const withoutSecrets = (text: string): string =>
  text
    .replace(/\nparams: [^]*/, "")
    .replaceAll(/:\/\/[^/\s@]*@/g, "://…@")
    .replaceAll(/\s+/g, " ");
