import { seconds } from "../launch/progress.ts";

/** One thing that was tried. */
export type Step = {
  /** A template and a format, or the base system itself. */
  of: string;
  what: string;
  outcome: "passed" | "failed" | "not possible";
  ms: number;
  /** What was seen, or why it failed. */
  detail: string;
};

export type Verified = {
  title: string;
  base: string;
  startedAt: Date;
  /** Facts of this machine and versions of programs, by name. */
  machine: ReadonlyMap<string, string>;
  steps: readonly Step[];
};

export const failuresIn = (steps: readonly Step[]): Step[] => steps.filter(({ outcome }) => outcome === "failed");

/** The report as Markdown. */
export function reportOf({ title, base, startedAt, machine, steps }: Verified): string {
  return [
    `# ${title}`,
    "",
    `Written by \`npm run verify:base -- ${base}\` on ${startedAt.toISOString().slice(0, 16).replace("T", " ")} UTC. ${sumOf(steps)}`,
    "",
    table(["Machine", ""], [...machine]),
    "",
    table(
      ["What", "Step", "Result", "Time", "Seen"],
      steps.map(({ of, what, outcome, ms, detail }) => [of, what, outcome, seconds(ms), detail]),
    ),
    "",
  ].join("\n");
}

function sumOf(steps: readonly Step[]): string {
  const failed = failuresIn(steps).length;
  const tried = steps.filter(({ outcome }) => outcome !== "not possible").length;
  if (tried === 0) return "Nothing was tried.";
  return failed === 0 ? `All ${tried} steps passed.` : `${failed} of ${tried} steps failed.`;
}

const table = (head: string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");

/** A cell has one line, and no bar of its own. */
const cell = (text: string): string => text.trim().replaceAll(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 500);
