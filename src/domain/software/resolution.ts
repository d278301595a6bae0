/**
 * Determines which packages an image will contain. libsolv decides this in the isolate, in the same way as zypper does
 * in a build.
 *
 * Recommended packages are not included: KIWI treats a `<packages>` section without `patternType` as `onlyRequired` and
 * passes `--no-recommends` to zypper.
 */
import { nevra } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { LruCache } from "#domain/lru-cache";
import type { UnknownName } from "#domain/software/closest-names";
import { jobsOf, packageSetOf, unimported, type ApplianceSoftware } from "#domain/software/resolution-request";
import { logFailure } from "#log/log";
import type { Job } from "#lib/solver/job";
import { SolverCrashed } from "#lib/solver/native";
import type { Problem, ResolvedPackage } from "#lib/solver/resolution";
import { rest } from "#lib/loop/pace";
import { solverPool } from "#lib/solver/shared";
import type { Solver } from "#lib/solver/solver";
import { SearchTooLong } from "#lib/solver/wasi";
import { aliasOf, rereadRepositories, type Repository } from "#storage/repositories";

export type SoftwareResolution =
  | { state: "solved"; packages: ResolvedPackage[]; patterns: ResolvedPattern[] }
  | { state: "unsolvable"; problems: SoftwareProblem[] }
  /** The contents of these repositories are unknown. */
  | { state: "unimported"; repositories: Repository[] };

/**
 * A selected pattern, and the package that represents it. In yast2 repositories, it is a record instead of a package.
 */
interface ResolvedPattern {
  name: string;
  by: ResolvedPackage;
}

export interface SoftwareProblem {
  /** libsolv's message, which zypper shows, too. */
  text: string;
  /**
   * libsolv's proposals, each on one line, with the requests that it would drop. `drops` is undefined if the proposal
   * also does something else.
   */
  ways: { text: string; drops: Job[] | undefined }[];
  /** A package that would solve the problem if it were selected without its pin. */
  install?: string;
  /** A selected name that no repository has. */
  unknown?: UnknownName;
}

type Answer = Exclude<SoftwareResolution, { state: "unimported" }>;

// A package takes about 400 bytes here, so the cache takes 10 MB of the isolate's 128.
const cache = new LruCache<{ weight: number; answer: Answer; lasts: boolean }>(25_000);

/**
 * Resolves with the revisions that the software names. If an import replaced one of them so long ago that its parts no
 * longer exist, resolves with the current contents of the repositories. If parts are still missing, the contents are
 * unknown, as before a first import. Throws if the signal is aborted before the software is solved.
 */
export async function resolve(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  software: ApplianceSoftware,
  signal?: AbortSignal,
): Promise<SoftwareResolution> {
  try {
    return await resolveOnce(env, software, signal);
  } catch (error) {
    if (!(error instanceof PartGone)) throw error;
  }
  const repositories = await rereadRepositories(db, software.repositories);
  try {
    return await resolveOnce(env, { ...software, repositories }, signal);
  } catch (error) {
    if (!(error instanceof PartGone)) throw error;
    logFailure("a part of a repository is gone", error.message, { repositoryId: error.repositoryId });
    return { state: "unimported", repositories: repositories.filter(({ id }) => id === error.repositoryId) };
  }
}

async function resolveOnce(
  env: Pick<Env, "BLOBS">,
  software: ApplianceSoftware,
  signal?: AbortSignal,
): Promise<SoftwareResolution> {
  const waiting = unimported(software);
  if (waiting.length > 0) return { state: "unimported", repositories: waiting };
  const key = questionOf(software);
  const known = cache.get(key);
  if (known) return known.answer;
  using lease = await solverPool.acquire(packageSetOf(software));
  if (!lease.isLoaded) {
    await load(env.BLOBS, lease.solver, software.repositories);
    lease.loaded();
  }
  signal?.throwIfAborted();
  // The same question may have been answered while this request waited for the solver.
  const { answer, lasts } = cache.get(key) ?? attempt(lease.solver, jobsOf(software));
  if (lasts) cache.set(key, { weight: answer.state === "solved" ? answer.packages.length + 1 : 1, answer, lasts });
  return answer;
}

/** Solves, or answers that it is not possible in the solver's limits. `lasts`: the same question has the same answer. */
function attempt(solver: Solver, jobs: Job[]): { answer: Answer; lasts: boolean } {
  try {
    return { answer: solve(solver, jobs), lasts: true };
  } catch (error) {
    if (!(error instanceof SolverCrashed)) throw error;
    logFailure("a selection of packages ended the solver", error);
    return { answer: tooComplex, lasts: error.cause instanceof SearchTooLong };
  }
}

const tooComplex: Answer = {
  state: "unsolvable",
  problems: [{ text: "the dependencies of these packages are too complex: remove what you added last", ways: [] }],
};

/** Everything that an answer depends on, as one text. */
export const questionOf = (software: ApplianceSoftware): string =>
  JSON.stringify([packageSetOf(software), jobsOf(software)]);

/** The answer, if this isolate has cached it. */
export const remembered = (software: ApplianceSoftware): SoftwareResolution | undefined =>
  unimported(software).length > 0 ? undefined : cache.get(questionOf(software))?.answer;

/** name-version-release.arch of an image's packages. Undefined if the software does not resolve. */
export type Image = ReadonlySet<string> | undefined;

export const imageOf = (resolution: SoftwareResolution): Image =>
  resolution.state === "solved" ? new Set(resolution.packages.map(nevra)) : undefined;

/** The number of packages that only one of two images has. A changed version counts on both sides. */
export function countChanges(before: Image, after: Image): { added: number; removed: number } | undefined {
  return before && after && { added: after.difference(before).size, removed: before.difference(after).size };
}

async function load(blobs: R2Bucket, solver: Solver, repositories: Repository[]): Promise<void> {
  // Reads all parts at the same time, because the solver holds the bytes of all parts anyway while it loads.
  const read = await Promise.all(
    repositories.map(({ id, parts }) => Promise.all(parts.map((key) => readPart(blobs, id, key)))),
  );
  for (const [nth, { id, priority }] of repositories.entries()) {
    const repository = solver.addRepository(aliasOf(id), { priority });
    for (const part of read[nth] ?? []) {
      await rest();
      repository.loadPart(part);
    }
  }
}

async function readPart(blobs: R2Bucket, repositoryId: number, key: string): Promise<Uint8Array> {
  const blob = await blobs.get(key);
  if (!blob) throw new PartGone(repositoryId, key);
  return new Uint8Array(await blob.arrayBuffer());
}

/** The sweep removes the parts of a replaced import after an hour. */
class PartGone extends Error {
  readonly repositoryId: number;

  constructor(repositoryId: number, key: string) {
    super(`the part ${key} of repository ${repositoryId} is gone`);
    this.repositoryId = repositoryId;
  }
}

function solve(solver: Solver, jobs: Job[]): Answer {
  const resolution = solver.solve(jobs, { recommended: false });
  if (resolution.state === "unsolvable") {
    const { problems, unmatched } = resolution;
    return { state: "unsolvable", problems: problems.map((problem) => shown(solver, { jobs, unmatched }, problem)) };
  }
  const { packages, kinds } = resolution;
  const patterns = jobs.flatMap((job) => patternsOf(solver, job, [...packages, ...kinds]));
  return { state: "solved", packages, patterns };
}

function patternsOf(solver: Solver, job: Job, packages: ResolvedPackage[]): ResolvedPattern[] {
  if (job.kind !== "installPattern") return [];
  const providing =
    solver.packageType === "deb"
      ? solver.providers(job.name).filter(({ name }) => name === job.name)
      : [...solver.providers("pattern()", job.name), ...solver.providers(`pattern:${job.name}`)];
  const providers = new Set(providing.map(nevra));
  const by = packages.find((one) => providers.has(nevra(one)));
  return by ? [{ name: job.name, by }] : [];
}

function shown(
  solver: Solver,
  { jobs, unmatched }: { jobs: Job[]; unmatched: number[] },
  { text, solutions }: Problem,
): SoftwareProblem {
  const ways = solutions.map((steps) => {
    const drops = steps.flatMap(({ dropsJob = -1 }) => jobs[dropsJob] ?? []);
    const text = steps.map((step) => step.text).join(", ");
    return { text, drops: drops.length === steps.length ? drops : undefined };
  });
  const pinned = solutions.flatMap(([step, ...more]) => {
    const job = more.length === 0 && step?.dropsJob !== undefined ? jobs[step.dropsJob] : undefined;
    return job?.kind === "install" && (job.version ?? job.repository) !== undefined ? [job.name] : [];
  });
  const install = pinned.find((name) => solver.info(name) !== undefined);
  const dropped = solutions.flatMap(([step, ...more]) => (more.length === 0 ? [step?.dropsJob] : []));
  const unknown = unmatched.filter((at) => dropped.includes(at)).flatMap((at) => unknownIn(solver, jobs[at]))[0];
  return { text, ways, ...(install === undefined ? {} : { install }), ...(unknown && { unknown }) };
}

/** The name in a job, if it matches no package because the name is unknown, and not because of a pin. */
function unknownIn(solver: Solver, job: Job | undefined): UnknownName[] {
  if (job?.kind === "installPattern") return [{ kind: "pattern", name: job.name }];
  return job?.kind === "install" && solver.info(job.name) === undefined ? [{ kind: "package", name: job.name }] : [];
}
