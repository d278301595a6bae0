/** Fetches the frozen packages, each compared with its frozen checksum: nothing else gets into the image. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { FrozenInput, FrozenPackage } from "../contract.ts";
import { checkOutside, OutsideRefused } from "../outside.ts";
import { RemoteRefusal, isWorthRetry, shortTries, withRetry } from "../retry.ts";
import { sentenceOf } from "../log.ts";
import { writeAll } from "../testdrive/write-all.ts";
import { BuildFailure } from "./build-failure.ts";
import { quietLimit } from "./quiet-limit.ts";

/** How this agent reaches the repositories of a build. */
export interface Reach {
  /** Base of the Worker, which serves `service:/…`. */
  url: string;
  /** What the Worker's door for agents wants to see: it serves the user repositories, `service:/user/ID`. */
  credentials: Record<string, string>;
  /** Where the Worker has the calls about this build, and with them the appliance's own files. */
  buildUrl?: string;
  allowHosts: readonly string[];
}

export interface PackageFetch {
  input: Pick<FrozenInput, "packages" | "repositories">;
  dir: string;
  reach: Reach;
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
}

/** More would gain nothing at one mirror, and would be rude. */
const atOnce = 6;
const maxPackageBytes = 4 * 1024 ** 3;

/** Puts every package of the input into `dir`. */
export async function fetchPackages(fetching: PackageFetch): Promise<void> {
  const { packages, repositories } = fetching.input;
  const urls = new Map(repositories.map(({ alias, url }) => [alias, url]));
  const failed = new AbortController();
  const signal = AbortSignal.any([fetching.signal, failed.signal]);
  const waiting = packages.values();
  let done = 0;
  const work = async () => {
    for (const one of waiting) {
      await fetchOne(one, { ...fetching, signal, base: urls.get(one.repository) });
      fetching.onProgress(++done / packages.length);
    }
  };
  // The first failure is the one to tell; the others would only say that they were stopped.
  const workers = Array.from({ length: atOnce }, work);
  await Promise.all(workers).catch(async (error: unknown) => {
    failed.abort(error);
    await Promise.allSettled(workers);
    throw error;
  });
}

interface OneFetch extends PackageFetch {
  /** Address of the package's repository. */
  base: string | undefined;
}

async function fetchOne(one: FrozenPackage, job: OneFetch): Promise<void> {
  if (job.base === undefined) throw new Error(`${nevra(one)} is of a repository that the build does not have`);
  const address = { base: job.base.replace(/\/+$/, ""), path: insideOnly(one.location) };
  try {
    await withRetry(() => receive(one, address, job), shortTries(job.signal));
  } catch (error) {
    job.signal.throwIfAborted();
    throw failureOf(error, one, job.base);
  }
}

interface Address {
  base: string;
  path: string;
}

async function receive(one: FrozenPackage, address: Address, job: OneFetch): Promise<void> {
  const quiet = quietLimit(job.signal);
  try {
    const answer = await ask(address, job, quiet.signal);
    // By its checksum: no name of a mirror's making comes near a path.
    await using file = await open(join(job.dir, `${one.checksum.value}.rpm`), "w", 0o644);
    const digest = createHash(one.checksum.type);
    let size = 0;
    for await (const bytes of answer.body ?? []) {
      quiet.heard();
      if (size + bytes.length > (one.size || maxPackageBytes)) throw new WrongPackage();
      await writeAll(file, bytes, size);
      digest.update(bytes);
      size += bytes.length;
    }
    if (digest.digest("hex") !== one.checksum.value) throw new WrongPackage();
  } finally {
    quiet.end();
  }
}

class WrongPackage extends Error {}

const maxRedirects = 5;

/** Mirrors send their clients on; every address on the way is looked at like the first. */
async function ask({ base, path }: Address, { reach }: OneFetch, signal: AbortSignal): Promise<Response> {
  const [, own, userRepository] = /^service:(\/user\/(\d+)$|\/.*)/.exec(base) ?? [];
  if (userRepository !== undefined) {
    const url = `${reach.url}/agent/user-repositories/${userRepository}/${path}`;
    return succeeded(await fetch(url, { headers: reach.credentials, redirect: "error", signal }));
  }
  if (own !== undefined) return succeeded(await fetch(`${reach.url}${own}/${path}`, { redirect: "error", signal }));
  let url = await checkOutside(`${base}/${path}`, reach);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const answer = await fetch(url, { redirect: "manual", signal });
    const next = answer.status >= 300 && answer.status < 400 ? answer.headers.get("location") : null;
    if (next === null) return succeeded(answer);
    await answer.body?.cancel();
    url = await checkOutside(URL.parse(next, url)?.href ?? next, reach);
  }
  throw new OutsideRefused(`${base} redirects without end.`);
}

function succeeded(answer: Response): Response {
  if (answer.ok) return answer;
  void answer.body?.cancel();
  throw new RemoteRefusal("GET", answer.status, "");
}

/** Our own trouble is tried again on another agent; a mirror's is told to the user. */
function failureOf(error: unknown, one: FrozenPackage, base: string): unknown {
  const kind = base.startsWith("service:") && isWorthRetry(error) ? "error" : "failed";
  const from = base.startsWith("service:") ? "of its repository" : `at ${base}`;
  const refresh = "Refresh the repository and build again.";
  if (error instanceof OutsideRefused) {
    return new BuildFailure({ kind, reason: `A repository cannot be used: ${error.message}` }, { cause: error });
  }
  if (error instanceof WrongPackage) {
    const reason = `${nevra(one)} ${from} is not the file that was chosen: its ${one.checksum.type} or size is another. ${refresh}`;
    return new BuildFailure({ kind, reason });
  }
  if (error instanceof RemoteRefusal && [403, 404, 410].includes(error.status)) {
    return new BuildFailure({ kind, reason: `${nevra(one)} is gone: HTTP ${error.status} ${from}. ${refresh}` });
  }
  if (!isWorthRetry(error) && !(error instanceof RemoteRefusal)) return error;
  const reason = `${nevra(one)} could not be downloaded ${from}: ${sentenceOf(error)}`.slice(0, 500);
  return new BuildFailure({ kind, reason }, { cause: error });
}

/** Locations come from a mirror's metadata; zypper too knows no others. `+` and `~` stay as they are. */
function insideOnly(location: string): string {
  const steps = location.split("/");
  if (steps.some((step) => step === "" || step === "." || step === "..")) {
    throw new BuildFailure({ kind: "failed", reason: `A repository names a file outside of itself: ${location}` });
  }
  return steps.map((step) => encodeURIComponent(step).replaceAll("%2B", "+")).join("/");
}

const nevra = ({ name, version, release, arch }: FrozenPackage) => `${name}-${version}-${release}.${arch}`;
