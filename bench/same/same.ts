import { execFile } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { imageFormats, imageTypes, type FrozenInput, type ImageType } from "../../builder-agent/src/contract.ts";
import { debianInput, type DebianWish } from "../../test/acceptance/support/debian-input.ts";
import { settingsWith } from "../../test/support/settings.ts";
import { sampleDistribution, serveDistribution, serveFiles } from "../../test/acceptance/support/local-build.ts";
import { resolvedTiny } from "../../test/acceptance/support/resolved-tiny.ts";
import { configScript } from "../../src/lib/kiwi/config-script.ts";
import { verdict, type Figure, type Measurement } from "../figure.ts";
import type { Place } from "../place.ts";
import { differingBytes, differingFiles, differingMembers } from "./differing.ts";
import type { Job } from "./build-once.ts";

const program = fileURLToPath(new URL("build-once.ts", import.meta.url));

/** The environments of a pair's two builds. The second build also starts later. */
const worlds = [
  {
    hostname: "first",
    state: { parent: "/tmp", name: "a" },
    umask: "022",
    cpus: "0-1",
    env: { TZ: "UTC", LANG: "C.UTF-8", LC_ALL: "C.UTF-8" },
  },
  {
    hostname: "second-host",
    // Images also have a directory of this name. KIWI creates the path of the packages in the root.
    state: { parent: "/var/tmp", name: "another/longer/place" },
    umask: "077",
    cpus: "0",
    env: { TZ: "Pacific/Chatham", LANG: "de_DE.UTF-8", LC_ALL: "C" },
  },
] as const;

type World = (typeof worlds)[number];

/** The formats that are made of the same KIWI image as the first of them. */
const kinds: readonly ImageType[][] = [...Map.groupBy(imageTypes, (type) => imageFormats[type].product).values()];

const diskSizeMb = 1500;
/** A disk for UEFI and BIOS, as the catalogues' boot loader makes it. */
const efi = { packages: ["grub-efi-amd64-bin"], firmware: "efi" } as const;
const volumes = {
  enabled: true,
  kind: "lvm" as const,
  volumeGroup: "system",
  volumes: [{ path: "/srv", sizeMb: 100 }],
};
const inVolumes = { packages: ["lvm2"], facts: { lvm: volumes } };
const onFileSystem = (fileSystem: "xfs" | "btrfs", tools: string) => ({
  packages: [tools],
  facts: { settings: settingsWith({ diskSizeMb, swapSizeMb: 0, fileSystem }) },
});

/** The disks of Debian that are compared, as changes to JeOS. */
const disks: Record<string, DebianWish> = {
  "debian-12": { release: "bookworm" },
  "debian-12-uefi": { release: "bookworm", ...efi },
  "debian-12-lvm": { release: "bookworm", ...inVolumes },
  "debian-13": { release: "trixie" },
  "debian-13-uefi": { release: "trixie", ...efi },
  "debian-13-lvm": { release: "trixie", ...inVolumes },
  "debian-13-xfs": { release: "trixie", ...onFileSystem("xfs", "xfsprogs") },
  "debian-13-btrfs": { release: "trixie", ...onFileSystem("btrfs", "btrfs-progs") },
};

/** Two builds of one frozen input in two different environments, byte for byte: `same/tiny`, `same/debian-12` … */
export const same: Measurement[] = [
  { name: "same/tiny", run: measureTiny },
  ...Object.entries(disks).map(([name, wish]) => ({
    name: `same/${name}`,
    run: (place: Place) => measureDebian(place, name, wish),
  })),
];

async function measureTiny(place: Place): Promise<Figure[]> {
  const distribution = sampleDistribution();
  using server = await serveDistribution(distribution);
  const figures: Figure[] = [];
  for (const formats of kinds) {
    const [imageType = "oem"] = formats;
    const input = await resolvedTiny(distribution, { imageType, requests: ["hello", "dracut-kiwi-live"] });
    const whole = { ...input, description: { ...input.description, "config.sh": configScript([]) } };
    figures.push(...(await tried("Tiny Linux", place, { input: whole, formats, url: server.url })));
  }
  return figures;
}

/** Only the disk. Its other formats are made like those of Tiny Linux. */
async function measureDebian(place: Place, name: string, wish: DebianWish): Promise<Figure[]> {
  const { input, folder } = debianInput({ ...wish, packages: ["console-setup", ...(wish.packages ?? [])] });
  using server = await serveFiles(folder, "/repositories/debian/");
  return await tried(`JeOS, ${name}`, place, { input, formats: ["oem"], url: server.url });
}

interface Pair {
  input: FrozenInput;
  formats: ImageType[];
  url: string;
}

/** A kind of image that cannot be built here also gets a line in the table. */
async function tried(system: string, place: Place, pair: Pair): Promise<Figure[]> {
  try {
    return await comparePair(system, place, pair);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    place.say(`${system}, ${pair.formats.join(", ")}: not built: ${why}`);
    return [{ what: `${system}, ${pair.formats.join(", ")}`, ...unbuilt }];
  }
}

const unbuilt = { ours: "not built", against: "", ratio: "", bar: "0 bytes", verdict: "missed" as const };

async function comparePair(system: string, place: Place, { input, formats, url }: Pair): Promise<Figure[]> {
  const folder = place.folder();
  const file = join(folder, "input.json");
  writeFileSync(file, JSON.stringify(input));
  const results: string[] = [];
  for (const [at, world] of worlds.entries()) {
    const stateDir = join(place.folder(world.state.parent), world.state.name);
    const into = join(folder, `result-${at}`);
    results.push(into);
    await buildIn(world, { input: file, formats, url, stateDir, into });
    place.say(`${system}, ${formats[0]}: built as ${world.hostname}`);
  }
  const [one = "", other = ""] = results;
  const root = differingFiles(join(one, "index"), join(other, "index"));
  for (const path of root) place.say(`  differs in the root: ${path}`);
  return formats.map((format) => figureOf(system, place, { format, one, other, root }));
}

async function buildIn({ hostname, umask, cpus, env }: World, job: Job): Promise<void> {
  mkdirSync(job.stateDir, { recursive: true });
  const file = `${job.into}.job`;
  writeFileSync(file, JSON.stringify(job));
  const inside = `hostname ${hostname}; umask ${umask}; exec taskset --cpu-list ${cpus} "$0" "$@"`;
  const args = ["--uts", "sh", "-c", inside, process.execPath, program, file];
  await promisify(execFile)("unshare", args, { env: { ...process.env, ...env }, maxBuffer: 2 ** 28 });
}

interface Compared {
  format: ImageType;
  one: string;
  other: string;
  /** The files that differ in the root. */
  root: readonly string[];
}

function figureOf(system: string, place: Place, { format, one, other, root }: Compared): Figure {
  const what = `${system}, ${format}`;
  const files = [join(one, format), join(other, format)] as const;
  const bytes = differingBytes(...files);
  if (bytes > 0) {
    const parts = differingMembers(...files).join(", ");
    place.say(`  ${what}: ${bytes} bytes differ${parts && `, in ${parts}`}; ${root.length} files of the root differ`);
  }
  return {
    what,
    ours: `${statSync(files[0]).size} bytes`,
    against: `${statSync(files[1]).size} bytes`,
    ratio: `${bytes} differ`,
    bar: "0 bytes",
    verdict: verdict(bytes === 0),
  };
}
