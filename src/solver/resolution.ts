/** The answer to a request. */
import { type Package, type PackageFields, packageOf } from "./package.ts";

/** Why a package is in: named by the request, needed by another, or a weak dependency of one kind or the other. */
export type Reason = "requested" | "required" | "recommended" | "supplemented";

export interface ResolvedPackage extends Package {
  reason: Reason;
}

export interface SolutionStep {
  text: string;
  /** The step takes back this job of the request, by its place in the list. */
  dropsJob?: number;
}

export interface Problem {
  /** libsolv's words, which are zypper's. */
  text: string;
  /** Everything that takes part in it; at most twenty. */
  rules: string[];
  solutions: SolutionStep[][];
}

export type Resolution =
  | {
      state: "solved";
      packages: ResolvedPackage[];
      /** Packages to libsolv, called `pattern:…` and the like, which only bring others: there is no file to install. */
      kinds: ResolvedPackage[];
      unmatched: number[];
    }
  /** `unmatched`: places of the jobs that fit no package at all. */
  | { state: "unsolvable"; problems: Problem[]; unmatched: number[] };

type Answer = {
  unmatched: number[];
  packages?: [...PackageFields, reason: Reason][];
  problems?: { text: string; rules: string[]; solutions: [text: string, job?: number][][] }[];
};

/** Reads what native/solve.c wrote. */
export function resolutionOf(answer: unknown): Resolution {
  const { unmatched, packages, problems } = answer as Answer;
  if (problems) return { state: "unsolvable", problems: problems.map(problemOf), unmatched };
  const { real = [], kind = [] } = Object.groupBy(packages ?? [], ([name]) => (isKind(name) ? "kind" : "real"));
  return {
    state: "solved",
    packages: real.map(resolvedPackage).toSorted(byName),
    kinds: kind.map(resolvedPackage),
    unmatched,
  };
}

const isKind = (name: string): boolean => /^(pattern|product|patch|application):/.test(name);

const resolvedPackage = (fields: [...PackageFields, reason: Reason]): ResolvedPackage => ({
  ...packageOf(fields),
  reason: fields[9],
});

const byName = (left: Package, right: Package): number =>
  left.name < right.name ? -1 : left.name > right.name ? 1 : 0;

function problemOf({ text, rules, solutions }: NonNullable<Answer["problems"]>[number]): Problem {
  const steps = solutions.map((solution) =>
    solution.map(([step, job]) => ({ text: step, ...(job !== undefined && { dropsJob: job }) })),
  );
  return { text, rules, solutions: steps };
}
