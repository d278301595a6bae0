import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Arch } from "#lib/contract/index";
import type { AdminClient } from "../admin/client.ts";
import { type AllowedHosts, type GivenHost, resolveHosts, writtenHost } from "./allowed-hosts.ts";
import { type AptProxy, aptProxyOf } from "./apt-proxy.ts";
import type { BuilderState } from "./builder.ts";
import { importWarning, readCatalogue } from "./catalogue-file.ts";
import { Complaint } from "./complaint.ts";
import { debianMirrors, type DebianMirrors, hostsOf, publicMirrors } from "./debian-mirrors.ts";
import { diskUseMb } from "./disk-use.ts";
import { loadOnce } from "./loaded.ts";
import type { AddedArchitecture, LaunchOptions } from "./options.ts";
import { print, seconds, warn } from "./progress.ts";
import { projectRoot } from "./project.ts";
import type { Stops } from "./stops.ts";

const releases = ["debian-12", "debian-13"];
const addedReleases = {
  arm64: { arch: "aarch64", releases: ["debian-12-arm64", "debian-13-arm64"] },
  i386: { arch: "i586", releases: ["debian-12-i386"] },
} as const satisfies Record<AddedArchitecture, { arch: Arch; releases: string[] }>;
const lookEveryMs = 1_000;
const dnsPatienceMs = 5_000;

/** How this start can offer Debian. */
export type Debian = {
  mirrors: DebianMirrors;
  hosts: AllowedHosts;
  /** Undefined if the mirrors are reached directly. */
  proxy: AptProxy | undefined;
};

/**
 * Finds the mirrors of Debian, and opens their hosts to the repositories of catalogues. Undefined if Debian cannot be
 * offered, which is reported unless it was switched off.
 */
export async function debianFor(
  { withDebian, debianMirror }: Pick<LaunchOptions, "withDebian" | "debianMirror">,
  isOwnPort: (port: number) => boolean,
  signal: AbortSignal,
): Promise<Debian | undefined> {
  if (!withDebian) return undefined;
  const given = debianMirror && { archive: debianMirror, security: `${debianMirror}-security` };
  const mirrors = given || (await debianMirrors(signal));
  const mirrorHosts = hostsOf(mirrors);
  const proxy = await aptProxyOf(mirrorHosts, signal);
  const isProxied = (one: GivenHost) => proxy?.hosts.includes(writtenHost(one)) === true;
  // Perhaps only the proxy can resolve the name of a mirror.
  const direct = mirrorHosts.filter((one) => !isProxied(one));
  try {
    const hosts = await patiently(() => resolveHosts(direct, isOwnPort), signal);
    return { mirrors, hosts: { ...hosts, names: mirrorHosts.map(writtenHost) }, proxy };
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    warn(`The mirror of Debian, ${new URL(mirrors.archive).host}, has no address. Is there a network?`);
    warn(
      "Until the next start, Debian is not loaded. If it was loaded before, it can be built, unless the mirror has a",
    );
    warn("private address.");
    return undefined;
  }
}

/** Repeats a lookup for some seconds if it fails, because after a boot, DNS may be later than Kiln. */
async function patiently<T>(lookUp: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const until = Date.now() + dnsPatienceMs; ; await sleep(lookEveryMs, undefined, { signal })) {
    try {
      return await lookUp();
    } catch (error) {
      if (!(error instanceof Complaint) || Date.now() >= until) throw error;
    }
  }
}

/**
 * Loads the templates of Debian. Importing their repositories takes up to a minute, so this runs after the start, and
 * only reports.
 */
export function offerDebian(offer: Offer, stops: Stops): void {
  const stopping = new AbortController();
  void loadReleases(offer, stopping.signal);
  // The stop does not wait for this, because the service may take a minute to answer. Stopping the service ends the
  // request.
  stops.push(() => stopping.abort());
}

type Offer = {
  admin: AdminClient;
  state: string;
  debian: Debian;
  agent: BuilderState;
  added: readonly AddedArchitecture[];
};

async function loadReleases(offer: Offer, signal: AbortSignal): Promise<void> {
  const { admin, state, agent, added } = offer;
  const { mirrors } = offer.debian;
  if (agent.state === "ready" && !agent.capabilities.packageTypes?.includes("deb")) {
    return warn("Debian is not offered, because this machine's agent cannot build it. To see why, run npm run doctor.");
  }
  const buildable = added.filter((architecture) => canBuild(agent, architecture));
  for (const release of [...releases, ...buildable.flatMap((architecture) => addedReleases[architecture].releases)]) {
    try {
      await loadRelease(admin, { state, release, mirrors }, signal);
    } catch (error) {
      if (signal.aborted) return;
      warn(
        `The templates of ${release} could not be loaded: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

function canBuild(agent: BuilderState, architecture: AddedArchitecture): boolean {
  if (agent.state !== "ready" || agent.capabilities.arches.includes(addedReleases[architecture].arch)) return true;
  warn(
    `Debian for ${architecture} is not offered, because this machine's agent cannot build it. To see why, run npm run doctor.`,
  );
  return false;
}

type Release = { state: string; release: string; mirrors: DebianMirrors };

async function loadRelease(admin: AdminClient, { state, release, mirrors }: Release, signal: AbortSignal) {
  const startedAt = Date.now();
  const catalogue = withMirrors(readCatalogue(join(projectRoot, "templates", `${release}.json`)), mirrors);
  const hash = createHash("sha256").update(JSON.stringify(catalogue)).digest("hex");
  await loadOnce(state, release, hash, async () => {
    print(`  ${release}: importing its repositories from ${new URL(mirrors.archive).host} …`);
    await admin.loadCatalogue(catalogue.name, catalogue);
    const problems = await importsOf(watched(admin, release, startedAt), catalogue.name, signal);
    for (const each of problems) warn(importWarning(each));
    if (problems.length > 0) return;
    const took = seconds(Date.now() - startedAt);
    const usedMb = await diskUseMb(join(state, "worker"));
    print(`✓ ${release}: its templates can be built (${took}; the service's data takes ${usedMb} MB)`);
  });
}

/** The same calls, which also print a line for each repository of a catalogue when its import has ended. */
export function watched(admin: Catalogues, catalogue: string, startedAt: number): Catalogues {
  const reported = new Set<string>();
  return {
    catalogues: async () => {
      const listed = await admin.catalogues();
      const repositories = listed.find(({ name }) => name === catalogue)?.repositories ?? [];
      for (const { name, state, packages = 0 } of repositories) {
        if (state !== "ready" || reported.has(name)) continue;
        reported.add(name);
        const counted = `${reported.size} of ${repositories.length} repositories`;
        print(`  ${catalogue}: ${name} has ${packages} packages (${counted}, ${seconds(Date.now() - startedAt)})`);
      }
      return listed;
    },
  };
}

type Catalogues = Pick<AdminClient, "catalogues">;

/** Replaces the catalogue's public mirrors by this machine's mirrors. Images still refer to the public ones. */
export function withMirrors<T extends object>(catalogue: T, mirrors: DebianMirrors): T {
  const byUrl = new Map([
    [publicMirrors.archive, mirrors.archive],
    [publicMirrors.security, mirrors.security],
  ]);
  const others = [...byUrl].filter(([ours, mirror]) => ours !== mirror).map(([ours, mirror]) => [mirror, ours]);
  return JSON.parse(JSON.stringify(catalogue), (key, value: unknown) => {
    if (key === "url" && typeof value === "string") return byUrl.get(value) ?? value;
    if (key !== "baseSystem" || others.length === 0) return value;
    return { ...Object(value), publicMirrors: Object.fromEntries(others) };
  }) as T;
}

/** Waits until no repository of the catalogue is being imported, and returns the failed imports. */
export async function importsOf(admin: Catalogues, catalogue: string, signal: AbortSignal) {
  for (;;) {
    const known = (await admin.catalogues()).find(({ name }) => name === catalogue)?.repositories ?? [];
    if (known.every(({ state }) => state !== "importing")) {
      return known.flatMap(({ name, problem }) => (problem === null ? [] : [{ name, problem }]));
    }
    await sleep(lookEveryMs, undefined, { signal });
  }
}
