import { execFileSync } from "node:child_process";
import { mkdirSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { differenceOf } from "../../builder-agent/src/run/difference.ts";
import { writeFileStore } from "../../builder-agent/src/run/file-store.ts";
import type { BuiltImage, ImageBuild } from "../../builder-agent/src/run/image.ts";
import { packImage, type PackedImage } from "../../builder-agent/src/run/pack.ts";
import { sharedSecrets } from "../../builder-agent/src/run/shared-secrets.ts";
import { FileEntry, type FrozenInput, type InstalledPackage, type Phase } from "../../builder-agent/src/contract.ts";
import { mountsBelow } from "../../builder-agent/src/leftovers.ts";
import { preparedKey } from "../../builder-agent/src/prepared/key.ts";
import { RootShare } from "../../builder-agent/src/prepared/share.ts";
import { openPreparedRoots, type PreparedRoots } from "../../builder-agent/src/prepared/store.ts";
import { silent, temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { configScript } from "#lib/kiwi/config-script";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// The agent's own code runs the real KIWI on the sample distribution. A server of files replaces the Worker. The disk
// and the network tree have the same packages. Each is built from scratch, and again from the root that the other one
// left.

const distribution = sampleDistribution();
const signal = new AbortController().signal;
let server: Awaited<ReturnType<typeof serveDistribution>>;
let state: Awaited<ReturnType<typeof temporaryDir>>;
beforeAll(async () => {
  server = await serveDistribution(distribution);
  state = await temporaryDir();
});
afterAll(async () => {
  server[Symbol.dispose]();
  await state[Symbol.asyncDispose]();
});

type Type = "oem" | "net";

async function frozen(imageType: Type): Promise<FrozenInput> {
  const input = await resolvedTiny(distribution, { imageType, requests: ["hello", "dracut-kiwi-live"] });
  return { ...input, description: { ...input.description, "config.sh": configScript([]) } };
}

/** The results of a build without its image. */
interface Built {
  input: FrozenInput;
  installed: InstalledPackage[];
  rawSize: number;
  /** Every path of its root, with its attributes. */
  root: Map<string, FileEntry>;
  packed: PackedImage;
  /** The report about secrets that all machines of the image would share. */
  shared: string[];
  /** Read with programs that are not part of Kiln. */
  packedSha256: string;
  packedNames: string[];
  /** The end of its first sector, and its files. */
  disk: { boot: string; files: string } | undefined;
  phases: Phase[];
  lines: string[];
  /** The archive of the root from which it was made. */
  archive: string | undefined;
}

/** Stores the root that a build prepares, or uses one that another build has stored. */
async function joined(roots: PreparedRoots, input: FrozenInput): Promise<RootShare> {
  const workDir = join(state.path, crypto.randomUUID());
  mkdirSync(workDir);
  const key = preparedKey(input, { builder: "test", isolation: "none" });
  return await RootShare.join({ roots, key, workDir, signal, onNote: silent });
}

const rootsOf = (maker: Type) => openPreparedRoots(join(state.path, maker), { maxBytes: 1e9, maxAgeMs: 1e9 });

const buildIn = <T>(
  input: FrozenInput,
  more: Partial<ImageBuild>,
  use: (built: BuiltImage, dir: string) => Promise<T>,
) => buildHere(input, { stateDir: state.path, url: server.url, ...more }, use);

async function makeBuild(imageType: Type, rootOf: Type): Promise<Built> {
  const input = await frozen(imageType);
  using share = await joined(await rootsOf(rootOf), input);
  const phases: Phase[] = [];
  const lines: string[] = [];
  const options = {
    share,
    onPhase: (phase: Phase) => void phases.push(phase),
    onLine: (line: string) => void lines.push(line),
  };
  return await buildIn(input, options, async (built, workDir) => {
    const store = await writeFileStore(built.root, { dir: workDir, signal });
    // Packing deletes this file.
    const isDisk = imageType === "oem";
    const disk = isDisk
      ? { boot: bytesAt(built.image, 510, 2).toString("hex"), files: tools("7z", "l", built.image) }
      : undefined;
    const packed = await packImage(built, input.imageName, { workDir, signal });
    return {
      input,
      installed: built.installed,
      rawSize: built.rawSize,
      root: entriesOf(store.index.path),
      shared: await sharedSecrets(built.root, signal),
      packed,
      packedSha256: tools("sha256sum", packed.path).split(" ")[0] ?? "",
      packedNames: tools("tar", "-tzf", packed.path).split("\n"),
      disk,
      phases,
      lines,
      archive: share.archive,
    };
  });
}

const builds = new Map<string, Promise<Built>>();

/** Built when a test first needs it, then shared by all tests. */
function builtOnce(imageType: Type, rootOf: Type): Promise<Built> {
  const found = builds.get(`${imageType} of ${rootOf}`) ?? makeBuild(imageType, rootOf);
  builds.set(`${imageType} of ${rootOf}`, found);
  return found;
}

const fromNothing = (imageType: Type) => builtOnce(imageType, imageType);

async function fromOther(imageType: Type): Promise<Built> {
  const other = imageType === "oem" ? "net" : "oem";
  await fromNothing(other);
  return await builtOnce(imageType, other);
}

const tools = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: "utf8" }).trim();

function bytesAt(file: string, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(openSync(file, "r"), bytes, { position });
  return bytes;
}

/** An index is gzip members of lines, one entry each, followed by a table. */
function entriesOf(index: string): Map<string, FileEntry> {
  const lines = gunzipSync(readFileSync(index)).toString().split("\n");
  const entries = lines.filter((line) => line.startsWith('{"path"')).map((line) => FileEntry.parse(JSON.parse(line)));
  return new Map(entries.map((entry) => [entry.path, withoutPlace(entry)]));
}

/** A content's offset in the store depends on the files before it. */
const withoutPlace = (entry: FileEntry): FileEntry => (entry.type === "f" ? { ...entry, offset: 0, length: 1 } : entry);

function differing(one: Map<string, FileEntry>, other: Map<string, FileEntry>): string[] {
  const paths = [...new Set([...one.keys(), ...other.keys()])];
  return paths.filter((path) => JSON.stringify(one.get(path)) !== JSON.stringify(other.get(path)));
}

const loopFiles = () =>
  execFileSync("losetup", ["--list", "--noheadings", "--output", "BACK-FILE"], { encoding: "utf8" });

async function expectNothingLeft(): Promise<void> {
  expect(await mountsBelow(state.path)).toEqual([]);
  expect(loopFiles()).not.toContain(state.path);
  expect(readdirSync(join(state.path, "work"))).toEqual([]);
}

describe("a KIWI run by the agent", () => {
  it("makes a bootable disk with the package, packed as NAME/NAME.raw", async () => {
    const disk = await fromNothing("oem");

    expect(differenceOf(disk.input.packages, disk.installed)).toBeUndefined();
    const hello = { name: "hello", version: "1.1", release: "1", arch: "noarch", license: "MIT" };
    expect(disk.installed).toContainEqual(hello);
    expect(disk.rawSize).toBe(512 * 1024 * 1024);
    expect(disk.disk).toEqual({ boot: "55aa", files: expect.stringContaining("usr/bin/hello") });
    expect(disk.packedNames).toEqual(["Kiosk.x86_64-0.0.1.oem/", "Kiosk.x86_64-0.0.1.oem/Kiosk.x86_64-0.0.1.oem.raw"]);
    expect(disk.packed.digests).toMatchObject({ sha256: disk.packedSha256 });
    expect(disk.packed.digests.size).toBeLessThan(disk.rawSize / 2);
    expect(disk.phases).toEqual(["Preparing the build", "Creating the image"]);
    expect(disk.lines.some((line) => /\( *\d+\/\d+\) Installing: hello-/.test(line))).toBe(true);
    expect(disk.lines.join("\n")).toContain("Tiny main has signed packages");
    expect(disk.shared).toEqual([]);
  });

  it("explains why conflicting packages cannot be installed", async () => {
    const input = await frozen("oem");
    const packages = input.packages.filter(({ name }) => name !== "libgreet");

    const failed = buildIn({ ...input, packages }, {}, async () => {});

    await expect(failed).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/No provider of 'libgreet=1\.1-1' found/),
    });
    await expectNothingLeft();
  });

  it("leaves nothing when it is stopped while packages are installed", async () => {
    await expectStopped(/Installing: kernel-default/, await frozen("oem"));
  });

  it("leaves no loop device or partitions when stopped with one", async () => {
    await fromNothing("oem");
    const input = await frozen("oem");
    using share = await joined(await rootsOf("oem"), input);

    await expectStopped(/Syncing system to image/, input, share);

    expect((await fromOther("oem")).rawSize).toBeGreaterThan(0);
  });
});

async function expectStopped(moment: RegExp, input: FrozenInput, share?: RootShare): Promise<void> {
  const stop = new AbortController();
  const onLine = (line: string) => void (moment.test(line) && stop.abort(new Error("stopped")));

  const stopped = buildIn(input, { signal: stop.signal, onLine, ...(share && { share }) }, async () => {});

  await expect(stopped).rejects.toThrow("stopped");
  await expectNothingLeft();
}

// Decisions 28 and 29: two builds of one frozen input, one of them from a root prepared for another format.
describe("one input built from nothing and from another format's root", () => {
  it("gives the same disk, byte for byte", async () => {
    const [full, shared] = [await fromNothing("oem"), await fromOther("oem")];

    expect([full.archive, shared.archive]).toEqual([undefined, expect.any(String)]);
    expect(execFileSync("zstd", ["--quiet", "--test", shared.archive ?? ""]).toString()).toBe("");
    expect(shared.installed).toEqual(full.installed);
    expect(full.root.size).toBeGreaterThan(500);
    expect(full.root.get("/usr/lib/sysimage/rpm/rpmdb.sqlite")?.type).toBe("f");
    expect(differing(full.root, shared.root)).toEqual([]);
    expect(shared.packedSha256).toBe(full.packedSha256);
  });

  it("gives the same network tree, byte for byte", async () => {
    const [full, shared] = [await fromNothing("net"), await fromOther("net")];

    expect([full.archive, shared.archive]).toEqual([undefined, expect.any(String)]);
    expect(shared.lines.some((line) => /\) Installing: /.test(line))).toBe(false);
    expect(shared.packedSha256).toBe(full.packedSha256);
    expect(differing(full.root, shared.root)).toEqual([]);
  });
});
