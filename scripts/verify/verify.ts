import { mkdtempSync, rmSync, existsSync } from "node:fs";
import { join } from "node:path";
import { architectures, type ImageType } from "#lib/contract/index";
import { Catalogue, packageTypeOfBase, reasonAgainst } from "#model/catalogue";
import { chooseAccel } from "../../builder-agent/src/doctor/acceleration.ts";
import { adminClient, type AdminClient } from "../admin/client.ts";
import { readCatalogue } from "../launch/catalogue-file.ts";
import { Complaint } from "../launch/complaint.ts";
import { agentStateOf } from "../launch/isolation.ts";
import { projectRoot } from "../launch/project.ts";
import { readOrMakeSecrets } from "../launch/secrets.ts";
import { bootOf } from "./boot.ts";
import { apiClient, type Client } from "./client.ts";
import { startGuest, uefi } from "./guest.ts";
import { importRepositories } from "./imports.ts";
import { type ConfigurationName, configurations } from "./matrix/configurations.ts";
import { titleOf as imageTitle } from "./matrix/images.ts";
import type { VerifyOptions } from "./options.ts";
import { checkPromises } from "./promises.ts";
import type { StepRecord } from "./step-record.ts";
import { Shell } from "./shell.ts";
import { bootSeconds, loginPrompt, watchTestdrive } from "./testdrive.ts";
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { readReady, readyFile, type Ready } from "../launch/ready-file.ts";

type Template = Catalogue["sets"][number]["templates"][number];

/** The data that the steps of one run share. */
type Run = {
  catalogue: Catalogue;
  options: VerifyOptions & { state: string };
  record: StepRecord;
  client: Client;
  /** Whether to try an image, by its title in the report. */
  isWanted: (title: string) => boolean;
  /** Describes where images are built. */
  builders: string;
  signal: AbortSignal;
};

export const catalogueOf = (base: string): Catalogue =>
  Catalogue.parse(readCatalogue(join(projectRoot, "templates", `${base}.json`)));

/** Imports, resolves, builds and boots. Adds each step to the record. */
export async function verify(
  catalogue: Catalogue,
  options: Run["options"],
  { record, signal, isWanted }: Pick<Run, "record" | "signal" | "isWanted">,
): Promise<void> {
  const templates = chosenTemplates(catalogue, options.templates);
  const of = catalogue.baseSystem.title;
  const opened = await record.step({ of, what: "start the service", seen: ({ ready }) => ready.url }, () =>
    openService(options.state, launchOptions(catalogue, options)),
  );
  if (!opened) return;
  await using service = opened;
  const admin = adminClient(service.ready.url, readOrMakeSecrets(options.state).ADMIN_SECRET);
  const imported = await record.step({ of, what: "import the repositories", seen: (seen: string) => seen }, () =>
    importRepositories(admin, catalogue, { signal }),
  );
  if (imported === undefined) return;
  const client = apiClient(service.ready, signal);
  const run = { catalogue, options, record, client, builders: await builderOf(admin), signal, isWanted };
  for (const template of templates)
    for (const configuration of options.configurations) await verifyTemplate({ template, configuration }, run);
}

function chosenTemplates({ name, sets }: Catalogue, wanted: readonly number[]): Template[] {
  const all = sets.flatMap(({ templates }) => templates);
  const unknown = wanted.find((id) => !all.some(({ applianceId }) => applianceId === id));
  if (unknown !== undefined) throw new Complaint(`${name} has no template ${unknown}.`);
  return wanted.length === 0 ? all : all.filter(({ applianceId }) => wanted.includes(applianceId));
}

/** If the base system is a deb one, the launcher itself offers Debian, from this machine's own mirrors. */
const launchOptions = ({ baseSystem }: Catalogue, { launch }: VerifyOptions): string[] =>
  packageTypeOfBase(baseSystem) === "deb" ? launch : ["--no-debian", ...launch];

async function builderOf(admin: AdminClient): Promise<string> {
  const agents = await admin.agents();
  return agents.every(({ capabilities }) => capabilities?.["isolation"] === "vm") ? "in a guest" : "on the host";
}

/** The facts that the steps of an appliance share. */
type Configured = { template: Template; configuration: ConfigurationName };

/** The appliance's name in the report, or that of one of its images. */
const titleOf = ({ template: { name }, configuration }: Configured, format = ""): string =>
  imageTitle({ template: name, configuration, format });

async function verifyTemplate(configured: Configured, run: Run): Promise<void> {
  const { record, client, catalogue, options } = run;
  const { template, configuration } = configured;
  const of = titleOf(configured);
  const formats = options.formats.filter((format) => run.isWanted(titleOf(configured, format)));
  if (formats.length === 0) return;
  const { label, change, packages } = configurations[configuration];
  const added = packages ? packages(catalogue.baseSystem) : [];
  if (added === undefined) return record.cannot({ of, what: "build" }, `The base system has no packages for ${label}.`);
  const appliance = await record.step(
    { of, what: "resolve", seen: ({ packages }: { packages: number }) => `${packages} packages` },
    async () => {
      const id = await client.clone(template.applianceId, template.arch);
      for (const name of added) await client.addPackage(id, name);
      if (change) await client.configure(id, change);
      const issues = await client.issuesOf(id);
      if (issues.length > 0) throw new Complaint(issues.join("; "));
      return { id, packages: await client.packagesOf(id) };
    },
  );
  if (!appliance) return;
  for (const format of formats) await verifyFormat({ ...configured, appliance: appliance.id, format }, run);
}

type Format = Configured & { appliance: number; format: ImageType };

async function verifyFormat(wanted: Format, run: Run): Promise<void> {
  const { appliance, format } = wanted;
  const { record, client, catalogue, options, signal } = run;
  const of = titleOf(wanted, format);
  const why = reasonAgainst(catalogue.baseSystem, format);
  if (why !== undefined) return record.cannot({ of, what: "build" }, why);
  const built = await record.step(
    { of, what: "build", seen: ({ size }: { size: number }) => `an image of ${size} MB, made ${run.builders}` },
    () => client.build(appliance, format),
  );
  if (!built) return;
  // A testdrive has no web server for a net image.
  if (options.withTestdrives && format !== "net") {
    await record.step({ of, what: "boot in a testdrive", seen: () => "`login:` on the serial line" }, async () => {
      await watchTestdrive(await client.startTestdrive(built.id), { state: options.state, signal });
    });
  }
  await record.step({ of, what: "boot, log in, check the promises", seen: (seen: string) => seen }, () =>
    bootAndCheck(built.download_url, wanted, run),
  );
}

async function bootAndCheck(
  download: string,
  { template, configuration, format }: Format,
  { options, client, signal }: Run,
): Promise<string> {
  const { arch } = template;
  const folder = mkdtempSync(join(options.state, "verify-"));
  try {
    const file = join(folder, download.split("/").at(-1) ?? "image");
    await client.download(download, file);
    const { memorySizeMb: memoryMb } = template.configuration.settings;
    const promises = { units: [], ports: [], commands: [], ...template.promises };
    const { firmware, promises: more = [] } = configurations[configuration];
    const commands = [...promises.commands, ...more];
    using boot = await bootOf({ file, folder, format });
    await using guest = await startGuest({
      boot,
      arch,
      firmware: firmware === undefined && architectures[arch].hasBios ? [] : uefi(arch),
      memoryMb: Math.max(memoryMb, boot.memoryMb),
      accel: await chooseAccel({ accel: "auto", stateDir: agentStateOf(options.state) }, arch),
      ports: promises.ports,
      signal,
    });
    await guest.console.says(loginPrompt, { within: bootSeconds });
    const root = template.configuration.users.find(({ uid }) => uid === 0);
    if (!root?.password) throw new Complaint("The template has no root user with a password to log in with.");
    const shell = await Shell.logIn(guest.console, { name: root.name, password: root.password });
    return await checkPromises({ ...promises, commands }, { shell, portOf: guest.portOf, signal });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first start also builds Tiny Linux, and installs missing packages on the host. */
const startSeconds = 900;
const lookEveryMs = 200;

type VerifiedService = AsyncDisposable & { ready: Ready };

/** Uses the service that runs in the state directory, or starts one and stops it at the end. */
async function openService(state: string, options: readonly string[]): Promise<VerifiedService> {
  const running = existsSync(readyFile(state)) ? readReady(state) : undefined;
  if (running) return { ready: running, [Symbol.asyncDispose]: async () => {} };
  const port = options.includes("--port") ? [] : ["--port", String(await freePort())];
  const args = ["scripts/start.mjs", "--state", state, ...port, ...options];
  const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: ["ignore", "inherit", "inherit"] });
  const ended = new Promise<void>((resolve) => child.on("error", () => resolve()).on("close", () => resolve()));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  const until = Date.now() + startSeconds * 1000;
  while (Date.now() < until && child.exitCode === null && child.signalCode === null) {
    const ready = readReady(state);
    if (ready) return { ready, [Symbol.asyncDispose]: stop };
    await sleep(lookEveryMs);
  }
  await stop();
  throw new Complaint("The service did not start.");
}
