import type { Phase } from "#lib/contract/index";
import { stripControls, openLog } from "#domain/builds/log";
import { levelOf, phaseIn, toneOf, type LineTone } from "#domain/builds/log-lines";
import { rest } from "#lib/loop/pace";
import type { Build } from "#storage/builds";

export const logViews = ["steps", "all", "findings"] as const;
export type LogView = (typeof logViews)[number];

export interface LogQuestion {
  /** `steps`: without the details that KIWI logs for its developers. */
  view: LogView;
  /** Only lines that contain this text, in all views. Empty for all lines. */
  search: string;
  page: number;
}

export interface LogLine {
  number: number;
  text: string;
  tone: LineTone | undefined;
}

/** A part of the log of a build, in the form for people. */
export interface LogPage {
  lines: LogLine[];
  /** The number of lines in the whole log. */
  total: number;
  /** The number of matching lines, on all pages. */
  matches: number;
  pages: number;
  findings: LogLine[];
  /** Where each phase begins. */
  phases: { phase: Phase; line: number }[];
  /** Whether only the beginning of the log was read. The log as text has the rest. */
  isCut: boolean;
}

export const linesPerPage = 500;
const maxFindings = 20;
/** The maximum size of a log that a page reads: about a hundred times the usual size. */
const maxBytes = 16 * 1024 * 1024;

export const pageOfLine = (line: number): number => Math.max(1, Math.ceil(line / linesPerPage));

/** Reads the log once, and keeps only the lines that the page shows. */
export async function readLogPage(env: Env, build: Build, question: LogQuestion): Promise<LogPage> {
  const { length, pages } = await openLog(env, build);
  const reader = new LogReader(question);
  const decoder = new TextDecoder();
  let [open, read] = ["", 0];
  for await (const bytes of pages) {
    const lines = stripControls(open + decoder.decode(bytes, { stream: true })).split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) reader.take(line);
    read += bytes.byteLength;
    if (read >= maxBytes) break;
    await rest();
  }
  if (open !== "") reader.take(open);
  return { ...reader.page(), isCut: read < length };
}

class LogReader {
  readonly #question: LogQuestion;
  readonly #first: number;
  readonly #page: Pick<LogPage, "lines" | "findings" | "phases"> = { lines: [], findings: [], phases: [] };
  #total = 0;
  #matches = 0;
  #isDetail = false;

  constructor(question: LogQuestion) {
    this.#question = question;
    this.#first = (question.page - 1) * linesPerPage;
  }

  take(text: string): void {
    this.#total += 1;
    const line = { number: this.#total, text, tone: toneOf(text) };
    const level = levelOf(text);
    // A line without a level continues the previous record.
    if (level !== undefined) this.#isDetail = level === "DEBUG";
    const phase = phaseIn(text);
    if (phase) this.#page.phases.push({ phase, line: line.number });
    if (line.tone && this.#page.findings.length < maxFindings) this.#page.findings.push(line);
    if (!this.#isWanted(line)) return;
    if (this.#matches >= this.#first && this.#page.lines.length < linesPerPage) this.#page.lines.push(line);
    this.#matches += 1;
  }

  page(): Omit<LogPage, "isCut"> {
    const pages = Math.max(1, Math.ceil(this.#matches / linesPerPage));
    return { ...this.#page, total: this.#total, matches: this.#matches, pages };
  }

  #isWanted({ text, tone }: LogLine): boolean {
    const { view, search } = this.#question;
    if (view === "findings" && !tone) return false;
    if (view === "steps" && this.#isDetail && !tone) return false;
    return search === "" || text.toLowerCase().includes(search.toLowerCase());
  }
}
