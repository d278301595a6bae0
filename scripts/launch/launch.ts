import { mkdirSync } from "node:fs";
import { type AdminClient, adminClient } from "../admin/client.ts";
import { localUrl } from "./address.ts";
import { type AllowedHosts, resolveHosts } from "./allowed-hosts.ts";
import { isVncPort } from "./agent-configuration.ts";
import { startBuilder } from "./builder.ts";
import { bundleWorker, isBundled } from "./bundle.ts";
import { loadContents } from "./contents.ts";
import { startEmbedded } from "./embedded.ts";
import { firstAccount } from "./first-account.ts";
import { type Debian, debianFor, offerDebian } from "./debian.ts";
import { checkGuestOrigin } from "./guest-origin.ts";
import { canBuild, isRoot, preparePackages, prepareSample } from "./host.ts";
import { agentStateOf, chooseIsolation, lookAhead } from "./isolation.ts";
import { enable32BitPrograms } from "./programs-32-bit.ts";
import { childMark, endLeftovers } from "./leftovers.ts";
import { givenVariables, type LaunchOptions } from "./options.ts";
import { checkPort } from "./port.ts";
import { print, step } from "./progress.ts";
import { removeReady, writeReady } from "./ready-file.ts";
import { findSampleDistribution } from "./sample-distribution.ts";
import { readOrMakeSecrets, type Secrets } from "./secrets.ts";
import { lockState, type StateLock } from "./state-lock.ts";
import type { Stops } from "./stops.ts";
import { showSummary } from "./summary.ts";

/**
 * Starts the whole service on this machine. `stops` gets a function for everything started, even if it fails half-way.
 */
export async function launch(options: LaunchOptions, stops: Stops, signal: AbortSignal): Promise<void> {
  const startedAt = Date.now();
  const lock = await takeState(options, stops, signal);
  await checkPort(options.host, options.port);
  const isOwnPort = (port: number) => port === options.port || isVncPort(port);
  const allowed = await resolveHosts(options.allowHosts, isOwnPort);
  const secrets = readOrMakeSecrets(options.state);

  if (options.withAgent) lookAhead(agentStateOf(options.state));
  const { lacking, sample, service } = await together(signal, async (ending) => {
    const found = findSampleDistribution();
    const packages = found.then((one) => preparePackages(options, one, ending));
    const start = { options, secrets, allowed, isOwnPort, packages };
    // Both run in parallel, because querying apt takes as long as starting the Worker, and their first builds take as
    // long, too.
    const [made, started] = await Promise.all([
      packages.then(async (lacks) => prepareSample(await found, lacks, ending)),
      startService(start, stops, ending),
    ]);
    return { lacking: await packages, sample: made, service: started };
  });
  const { url, admin, variables, debian } = service;
  const isAble = canBuild(lacking);
  const willBuild = options.withAgent && isAble && isRoot();
  const isolation = willBuild ? await chooseIsolation(agentStateOf(options.state), signal) : "vm";
  if (willBuild && isolation === "none") await enable32BitPrograms(agentStateOf(options.state), signal);
  const hosts = { allowHosts: allowed.names, catalogueHosts: debian?.hosts.names ?? [], catalogueProxy: debian?.proxy };
  const builder = startBuilder({ options, canBuild: isAble, secrets, url, ...hosts, isolation, variables }, stops);
  await loadContents(admin, options.state, sample);
  const account = await firstAccount(admin, options.state);
  const agent = await builder.firstState(admin, startedAt);
  signal.throwIfAborted();

  const ready = { url, username: account.username, api_key: account.apiKey };
  builder.watch((pid) => writeReady(options.state, { ...ready, agent_pid: pid }));
  stops.push(() => {
    lock.announceStopping();
    removeReady(options.state);
  });
  const shownIsolation = agent.state === "none" ? undefined : isolation;
  const baseUrl = String(variables["BASE_URL"] ?? "");
  const { state: stateDirectory } = options;
  const typedAt = Number(process.env["KILN_STARTED_AT"] ?? startedAt);
  showSummary({ url, baseUrl, account, stateDirectory, startedAt: typedAt, agent, isolation: shownIsolation });
  if (debian) offerDebian({ admin, state: options.state, debian, agent, added: options.added }, stops);
}

/** Runs tasks in parallel. If one fails, the others are aborted, as by Ctrl-C. */
async function together<T>(signal: AbortSignal, works: (ending: AbortSignal) => Promise<T>): Promise<T> {
  const failing = new AbortController();
  try {
    return await works(AbortSignal.any([signal, failing.signal]));
  } catch (error) {
    failing.abort();
    throw error;
  }
}

/** Locks the state directory, and ends processes that an earlier launcher left behind. */
async function takeState({ state }: LaunchOptions, stops: Stops, signal: AbortSignal): Promise<StateLock> {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const lock = await lockState(state, signal);
  stops.push(() => lock.release());
  removeReady(state);
  const ended = await endLeftovers(state);
  if (ended > 0) print(`  Ended ${ended} processes that an earlier start left behind.`);
  // From here on every child has the mark.
  process.env[childMark] = state;
  return lock;
}

type ServiceStart = {
  options: LaunchOptions;
  secrets: Secrets;
  allowed: AllowedHosts;
  isOwnPort: (port: number) => boolean;
  /** Resolves when apt has installed what a new bundle needs. */
  packages: Promise<unknown>;
};

type StartedService = {
  url: string;
  admin: AdminClient;
  variables: Record<string, unknown>;
  debian: Debian | undefined;
};

/** Starts the Worker, and waits until it answers. */
async function startService(
  { options, secrets, allowed, isOwnPort, packages }: ServiceStart,
  stops: Stops,
  signal: AbortSignal,
): Promise<StartedService> {
  checkGuestOrigin(options);
  if (!isBundled()) await packages;
  // Listing the mirrors of apt may take seconds, and so may bundling.
  const [bundle, debian] = await Promise.all([bundleWorker(signal), debianFor(options, isOwnPort, signal)]);
  const bindings = {
    ALLOW_HOSTS: allowed.names.join(","),
    CATALOGUE_HOSTS: debian?.hosts.names.join(",") ?? "",
    PROXIED_HOSTS: debian?.proxy?.hosts.join(",") ?? "",
    ...givenVariables(options),
    ...secrets,
  };
  const { host, port, state: stateDirectory } = options;
  const url = localUrl(host, port);
  const admin = adminClient(url, secrets.ADMIN_SECRET);
  await step("Service", async () => {
    const given = {
      bundle,
      host,
      port,
      stateDirectory,
      bindings,
      outsideCidrs: [...allowed.cidrs, ...(debian?.hosts.cidrs ?? [])],
      catalogueProxy: debian?.proxy?.address,
    };
    stops.push((await startEmbedded(given)).stop);
    await admin.health();
  });
  signal.throwIfAborted();
  return { url, admin, variables: { ...bundle.worker.bindings, ...bindings }, debian };
}
