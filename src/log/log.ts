import { requestIdNow } from "./request-id.ts";

/** Numbers, names and words that were written for people to read. Never a secret, and never an address that contains one. */
type Facts = Readonly<Record<string, string | number | boolean | null | undefined>>;
type Level = "info" | "error";
type Format = "text" | "json";

let format: Format = "text";

/** On Cloudflare a line is a JSON object, so that it can be searched by its fields; on one machine people read it. */
export function writeLogAs(chosen: Format): void {
  format = chosen;
}

/** Something that happened. The event is always the same words; what differs is in the facts. */
export const logEvent = (event: string, facts: Facts = {}): void => write("info", { event, ...facts });

/** Something that failed, and why. */
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
  const told = Object.entries(facts).filter(([, value]) => value !== undefined && value !== "");
  const words = told.map(([name, value]) => `${name}=${quoted(String(value))}`);
  const failure = error === undefined ? "" : `: ${error}${stack ? `\n${stack}` : ""}`;
  return [at, event, ...words].join(" ") + failure;
}

const quoted = (value: string) => (/[\s"]/.test(value) ? JSON.stringify(value) : value);

function described(error: unknown): { error: string; stack?: string } {
  const stack = error instanceof Error ? error.stack : undefined;
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return { error: sentenceOf(error), ...(frames.length > 0 && { stack: frames.join("\n") }) };
}

/** With the causes, and without what may be secret: the values of a statement, the credentials in a URL. */
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
