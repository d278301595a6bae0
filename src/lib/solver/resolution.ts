/** The result of a solver request. */
import { type Package, type PackageFields, packageOf } from "./package.ts";

/** Why a package is installed: the request names it, another package requires it, or it is a weak dependency. */
type Reason = "requested" | "required" | "recommended" | "supplemented";

export interface ResolvedPackage extends Package {
  reason: Reason;
}

interface SolutionStep {
  text: string;
  /** The index of the job that this step removes from the request. */
  dropsJob?: number;
}

export interface Problem {
  /** libsolv's message, the same as zypper's. */
  text: string;
  /** The rules that conflict; at most twenty. */
  rules: string[];
  solutions: SolutionStep[][];
}

export type Resolution =
  | {
      state: "solved";
      packages: ResolvedPackage[];
      /**
       * Packages without a file, such as `pattern:…`: libsolv treats them as packages, but they only require others.
       */
      kinds: ResolvedPackage[];
      unmatched: number[];
    }
  /** `unmatched`: indexes of the jobs that match no package. */
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
