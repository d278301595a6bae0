/**
 * What an image will contain, decided by libsolv in this isolate as zypper decides it in a build.
 *
 * Recommended packages stay out: KIWI takes a `<packages>` section without `patternType` as `onlyRequired` and gives
 * zypper `--no-recommends`.
 */
import { ResolutionCache } from "#domain/resolution-cache";
import { jobsOf, packageSetOf, unimported, type ApplianceSoftware } from "#domain/resolution-request";
import type { Job } from "#solver/job";
import { nevra } from "#solver/package";
import type { Problem, ResolvedPackage } from "#solver/resolution";
import { solverRoom } from "#solver/shared";
import type { Solver } from "#solver/solver";
import type { Repository } from "#storage/appliances";
import { aliasOf } from "#storage/repositories";

export type SoftwareResolution =
  | { state: "solved"; packages: ResolvedPackage[]; patterns: ResolvedPattern[] }
  | { state: "unsolvable"; problems: SoftwareProblem[] }
  /** Nobody knows what is inside these repositories. */
  | { state: "unimported"; repositories: Repository[] };

/** A pattern that was asked for, and the package that stands for it. */
export interface ResolvedPattern {
  name: string;
  by: ResolvedPackage;
}

export interface SoftwareProblem {
  /** libsolv's words, which are zypper's. */
  text: string;
  /** What libsolv proposes, each in one line. */
  proposals: string[];
  /** Asking for this package without its pin would do. */
  install?: string;
}

type Answer = Exclude<SoftwareResolution, { state: "unimported" }>;

// A package is about 400 bytes here: 16 MB of the isolate's 128.
const cache = new ResolutionCache<{ weight: number; answer: Answer }>(40_000);

export async function resolve(env: Pick<Env, "BLOBS">, software: ApplianceSoftware): Promise<SoftwareResolution> {
  const waiting = unimported(software);
  if (waiting.length > 0) return { state: "unimported", repositories: waiting };
  const set = packageSetOf(software);
  const jobs = jobsOf(software);
  const key = JSON.stringify([set, jobs]);
  const known = cache.get(key);
  if (known) return known.answer;
  const answer = await solverRoom.withSolver(
    set,
    (solver) => load(env.BLOBS, solver, software.repositories),
    (solver) => cache.get(key)?.answer ?? solve(solver, jobs),
  );
  cache.set(key, { weight: answer.state === "solved" ? answer.packages.length + 1 : 1, answer });
  return answer;
}

/** How many packages only one of two images has; another version counts on both sides. */
export function countChanges(
  before: SoftwareResolution,
  after: SoftwareResolution,
): { added: number; removed: number } | undefined {
  if (before.state !== "solved" || after.state !== "solved") return undefined;
  const [was, is] = [new Set(before.packages.map(nevra)), new Set(after.packages.map(nevra))];
  return { added: is.difference(was).size, removed: was.difference(is).size };
}

async function load(blobs: R2Bucket, solver: Solver, repositories: Repository[]): Promise<void> {
  for (const { id, priority, parts } of repositories) {
    const repository = solver.addRepository(aliasOf(id), { priority });
    // One after the other: a part is some megabytes, and there is one 128 MB for all.
    for (const key of parts) repository.loadPart(await readPart(blobs, key));
  }
}

async function readPart(blobs: R2Bucket, key: string): Promise<Uint8Array> {
  const blob = await blobs.get(key);
  if (!blob) throw new Error(`the part ${key} of a repository is gone`);
  return new Uint8Array(await blob.arrayBuffer());
}

function solve(solver: Solver, jobs: Job[]): Answer {
  const resolution = solver.solve(jobs, { recommended: false });
  if (resolution.state === "unsolvable") {
    return { state: "unsolvable", problems: resolution.problems.map((problem) => shown(solver, jobs, problem)) };
  }
  const { packages } = resolution;
  return { state: "solved", packages, patterns: jobs.flatMap((job) => patternsOf(solver, job, packages)) };
}

function patternsOf(solver: Solver, job: Job, packages: ResolvedPackage[]): ResolvedPattern[] {
  if (job.kind !== "installPattern") return [];
  const providers = new Set(solver.providers("pattern()", job.name).map(nevra));
  const by = packages.find((one) => providers.has(nevra(one)));
  return by ? [{ name: job.name, by }] : [];
}

function shown(solver: Solver, jobs: Job[], { text, solutions }: Problem): SoftwareProblem {
  const proposals = solutions.map((steps) => steps.map((step) => step.text).join(", "));
  const pinned = solutions.flatMap(([step, ...more]) => {
    const job = more.length === 0 && step?.dropsJob !== undefined ? jobs[step.dropsJob] : undefined;
    return job?.kind === "install" && (job.version ?? job.repository) !== undefined ? [job.name] : [];
  });
  const install = pinned.find((name) => solver.info(name) !== undefined);
  return { text, proposals, ...(install === undefined ? {} : { install }) };
}
