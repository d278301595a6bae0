/** Forges images and their files, and records which check detects it: `npm run bench -- proof/forged`. */
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { forgingService } from "../../test/acceptance/support/forging-service.ts";
import { verdict, type Figure } from "../figure.ts";
import { buildForgeries, type BuildForgery, type KiwiMoment } from "./build-forgeries.ts";
import { fileForgeries, type FileForgery } from "./file-forgeries.ts";
import { ownRpm, type Workshop } from "./workshop.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const moments: readonly KiwiMoment[] = ["before-prepare", "after-prepare", "after-create"];

/** The forgeries that one run tries. */
export interface Forgeries {
  builds: readonly BuildForgery[];
  files: readonly FileForgery[];
  services: readonly ServiceForgery[];
}

/** Answers that can be changed by the service, or by someone between it and the stranger. */
interface ServiceForgery {
  what: string;
  path: RegExp;
}

export const everyForgery: Forgeries = {
  builds: buildForgeries,
  files: fileForgeries,
  services: [
    { what: "another frozen input", path: /\/input\.json$/ },
    { what: "another package from the mirror", path: /\/hello-1\.1-.*\.rpm$/ },
    { what: "another file of the appliance from the service", path: /\/contents\// },
  ],
};

type Say = (line: string) => void;

/** Tries forgeries in a new workshop. The verdict "missed" means that no check has detected the forgery. */
export async function proveForged(workshop: Workshop, forgeries: Forgeries, say: Say): Promise<Figure[]> {
  const forger = await Forger.start(workshop);
  await forger.prepare();
  const builds = new Map<BuildForgery, string>();
  for (const forgery of forgeries.builds) {
    builds.set(forgery, await forger.build("Forged", forgery));
    say(`forged: ${forgery.what}`);
  }
  await forger.stop();
  await workshop.agent("second");
  const figures = await provenFiles(workshop, forgeries, say);
  for (const [{ what }, buildId] of builds)
    figures.push(said(say, { what, ...(await foundByRebuild(workshop, buildId)) }));
  return figures;
}

/** An agent on a host whose root user forges the images. */
class Forger {
  readonly #folder: string;
  readonly #workshop: Workshop;
  #stop = async (): Promise<void> => {};

  private constructor(workshop: Workshop) {
    this.#workshop = workshop;
    this.#folder = join(workshop.folder, "forgery");
  }

  static async start(workshop: Workshop): Promise<Forger> {
    const forger = new Forger(workshop);
    const folder = forger.#folder;
    mkdirSync(folder);
    const kiwi = join(folder, "kiwi");
    copyFileSync(here("forging-kiwi.sh"), kiwi);
    for (const name of ["hello", "backdoor"]) ownRpm(folder, name);
    const env = { NODE_OPTIONS: `--import=${here("lying-agent.ts")}`, KILN_FORGERY: folder };
    const agent = await workshop.agent("forger", { kiwi }, env);
    forger.#stop = () => agent.kill("SIGTERM");
    return forger;
  }

  /** The appliances, and honest images of them. */
  async prepare(): Promise<void> {
    const { kiln, folder } = { kiln: this.#workshop.kiln.bind(this.#workshop), folder: this.#workshop.folder };
    const motd = join(folder, "motd");
    writeFileSync(motd, "Welcome.\n");
    for (const name of ["First", "Second", "Forged"]) {
      await kiln(["clone", "1", name]);
      await kiln(["add", name, "hello"]);
      await kiln(["file", "add", name, motd, "--path", "/etc"]);
    }
    await this.build("Second", { what: "nothing", kiwi: { "after-create": 'cp "$target"/*.raw "$here/other.raw"' } });
    for (const _ of ["0.0.1", "0.0.2"]) await this.build("First", { what: "nothing" });
  }

  /** Builds the next version of an appliance with a forgery. Returns the id of the build. */
  async build(appliance: string, { kiwi = {}, report }: BuildForgery): Promise<string> {
    for (const moment of moments) this.#write(moment, kiwi[moment]);
    this.#write("report.json", report && JSON.stringify(report));
    const ended = await this.#workshop.kiln(["build", appliance, "--follow", "--json"]);
    const [, id = ""] = /"id": ?(\d+)/.exec(ended) ?? [];
    return id;
  }

  #write(name: string, text: string | undefined): void {
    const file = join(this.#folder, name);
    rmSync(file, { force: true });
    if (text !== undefined) writeFileSync(file, text);
  }

  async stop(): Promise<void> {
    await this.#stop();
  }
}

interface Found {
  by: string;
  isFound: boolean;
  line: string;
}

/** The second agent builds the input again. If it detects nothing, a stranger builds it. */
async function foundByRebuild(workshop: Workshop, buildId: string): Promise<Found> {
  const { code, stdout, stderr } = await workshop.machine.kiln(["rebuild", buildId]);
  if (code !== 0) return { by: "the second agent", isFound: code === 2, line: oneLine(stdout || stderr) };
  const version = await versionOf(workshop, buildId);
  const image = await workshop.publish("Forged", version);
  const ended = await workshop.rebuildElsewhere(`${image}.intoto.jsonl`);
  return { by: "kiln-agent rebuild", isFound: ended.code !== 0, line: oneLine(ended.stdout || ended.stderr) };
}

async function versionOf(workshop: Workshop, buildId: string): Promise<string> {
  const { builds } = JSON.parse(await workshop.kiln(["builds", "Forged", "--json"])) as {
    builds: { id: number; version: string }[];
  };
  return builds.find(({ id }) => String(id) === buildId)?.version ?? "";
}

/** Verifies honest images first, because a check that also refuses those proves nothing. */
async function provenFiles(workshop: Workshop, { files, services }: Forgeries, say: Say): Promise<Figure[]> {
  const older = await workshop.publish("First", "0.0.1");
  await workshop.publish("Second");
  await workshop.publish("First", "0.0.2");
  for (const name of ["First", "Second"]) await workshop.kiln(["rebuild", name]);
  const other = await workshop.download("Second");
  const honest = await workshop.download("First", "0.0.2");
  await workshop.kiln(["verify", honest, "--rebuilt", "--logged"]);
  const figures: Figure[] = [];
  for (const { what, forge, options = [] } of files) {
    const image = copied(workshop, honest);
    forge({ image, older, other });
    const { code, stdout, stderr } = await workshop.machine.kiln(["verify", image, ...options]);
    const found = { by: "kiln verify", isFound: code === 6, line: oneLine(stderr || stdout) };
    figures.push(said(say, { what, ...found }));
  }
  for (const { what, path } of services)
    figures.push(said(say, { what, ...(await foundThrough(workshop, path, honest)) }));
  return figures;
}

/** A copy of an image with the files next to it. */
function copied(workshop: Workshop, image: string): string {
  const folder = join(workshop.folder, "forged-files");
  rmSync(folder, { recursive: true, force: true });
  cpSync(dirname(image), folder, { recursive: true });
  return join(folder, basename(image));
}

async function foundThrough(workshop: Workshop, path: RegExp, image: string): Promise<Found> {
  const key = join(dirname(image), "kiln.pem");
  if (!existsSync(key))
    writeFileSync(key, await (await fetch(`${workshop.url}/.well-known/kiln-attestation.pem`)).text());
  using forged = await forgingService(workshop.url, path, (bytes) =>
    Buffer.concat([bytes.subarray(0, -1), Buffer.from(" ")]),
  );
  const words = ["--service", forged.url, "--key", key];
  const ended = await workshop.rebuildElsewhere(`${image}.intoto.jsonl`, words);
  return {
    by: "kiln-agent rebuild",
    isFound: ended.code === 4 || ended.code === 6,
    line: oneLine(ended.stdout || ended.stderr),
  };
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, " ").slice(0, 160);

function said(say: Say, { what, by, isFound, line }: { what: string } & Found): Figure {
  const ratio = isFound ? "found" : "not found";
  say(`${what}: ${ratio} by ${by}: ${line}`);
  return { what, ours: by, against: line, ratio, bar: "found", verdict: verdict(isFound) };
}
