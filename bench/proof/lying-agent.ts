/**
 * Loaded into a builder agent with `--import`. The agent's reports of finished builds then include the contents of the
 * forgery's folder. Root on the host can do this, and the service cannot see it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Lies {
  /** A package that the report omits. */
  hidden?: string;
  /** Fields that the report replaces. */
  fields?: Record<string, unknown>;
}

interface Report {
  installed: { name: string }[];
}

const file = join(process.env["KILN_FORGERY"] ?? "", "report.json");
const honest = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const isReport = typeof input === "string" && input.endsWith("/finish") && typeof init?.body === "string";
  return await honest(input, isReport && existsSync(file) ? { ...init, body: forged(String(init.body)) } : init);
};

function forged(body: string): string {
  const { hidden, fields } = JSON.parse(readFileSync(file, "utf8")) as Lies;
  const report = JSON.parse(body) as Report;
  const installed = report.installed.filter(({ name }) => name !== hidden);
  return JSON.stringify({ ...report, installed, ...fields });
}
