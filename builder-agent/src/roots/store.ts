import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Sha256 } from "../contract.ts";
import { sha256OfFile } from "../file-hash.ts";
import { isBeingMade, makingDir } from "../files.ts";
import { outputOf } from "../process.ts";
import { RootFault } from "./definition.ts";
import { factsInside } from "./contents.ts";

const Release = z.object({
  url: z.string(),
  suite: z.string(),
  date: z.string(),
  validUntil: z.string().optional(),
  /** SHA-256 of its `InRelease`. */
  sha256: z.string(),
  /** Fingerprint of the key. */
  signedBy: z.string(),
  /** The index had expired, and the operator accepted it. */
  acceptedExpired: z.literal(true).optional(),
});
export type RootRelease = z.infer<typeof Release>;

/** The description of a builder root, in a file inside it. */
export const RootFacts = z.object({
  formatVersion: z.literal(1),
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  title: z.string(),
  /** KIWI's version. */
  builder: z.string(),
  /** Version of the kernel for guests. */
  kernel: z.string(),
  releases: z.array(Release),
  packages: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      architecture: z.string(),
      sha256: z.string(),
      suite: z.string(),
    }),
  ),
});
export type RootFacts = z.infer<typeof RootFacts>;

/** A builder root of this agent. Its directory is named by the digest of its file. */
export interface StoredRoot {
  facts: RootFacts;
  sha256: string;
  bytes: number;
  dir: string;
  /** The squashfs. */
  file: string;
  /** Milliseconds since 1970. */
  storedAt: number;
}

const rootsDir = (stateDir: string) => join(stateDir, "roots");

/** Sorted by name; roots of the same name are sorted by age, the newest first. */
export async function listRoots(stateDir: string): Promise<StoredRoot[]> {
  const dir = rootsDir(stateDir);
  const names = (await readdir(dir).catch((): string[] => [])).filter((name) => Sha256.safeParse(name).success);
  const roots = await Promise.all(names.map((name) => readRoot(join(dir, name), name)));
  return roots
    .flatMap((root) => root ?? [])
    .toSorted((a, b) =>
      a.facts.name === b.facts.name ? b.storedAt - a.storedAt : a.facts.name < b.facts.name ? -1 : 1,
    );
}

/** The newest root of that name. */
export const findRoot = async (stateDir: string, name: string): Promise<StoredRoot | undefined> =>
  (await listRoots(stateDir)).find(({ facts }) => facts.name === name);

/** Undefined if the root is damaged or is being deleted. */
async function readRoot(dir: string, sha256: string): Promise<StoredRoot | undefined> {
  const file = join(dir, "root.squashfs");
  try {
    const facts = RootFacts.parse(JSON.parse(await readFile(join(dir, "root.json"), "utf8")));
    const { size: bytes, mtimeMs: storedAt } = await stat(file);
    return { facts, sha256, bytes, dir, file, storedAt };
  } catch {
    return undefined;
  }
}

/** A directory to make or import a root in, on the disk where it will stay. */
export async function openRootWork(stateDir: string): Promise<{ path: string } & AsyncDisposable> {
  await mkdir(rootsDir(stateDir), { recursive: true, mode: 0o700 });
  const path = await makingDir(rootsDir(stateDir));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/**
 * Stores a squashfs from such a directory under its digest. A rename makes it complete. Deletes older roots of the same
 * name; builds that run in them have their own links.
 */
export async function storeRoot(stateDir: string, { path }: { path: string }, squashfs: string): Promise<StoredRoot> {
  const facts = await factsOf(squashfs);
  const sha256 = await sha256OfFile(squashfs);
  const made = join(path, "made");
  await mkdir(made);
  await writeFile(join(made, "root.json"), JSON.stringify(facts));
  await rename(squashfs, join(made, "root.squashfs"));
  // QEMU opens it again, as a user that owns nothing.
  await chmod(join(made, "root.squashfs"), 0o444);
  await synced(join(made, "root.squashfs"));
  await synced(join(made, "root.json"));
  const dir = join(rootsDir(stateDir), sha256);
  await rm(dir, { recursive: true, force: true });
  await rename(made, dir);
  for (const older of await listRoots(stateDir)) {
    if (older.facts.name === facts.name && older.sha256 !== sha256) await removeRoot(older);
  }
  const stored = await readRoot(dir, sha256);
  if (!stored) throw new Error(`${dir} is gone`);
  return stored;
}

export const removeRoot = ({ dir }: Pick<StoredRoot, "dir">): Promise<void> =>
  rm(dir, { recursive: true, force: true });

/** Deletes what interrupted commands left, and directories without a root. Returns their names. */
export async function clearRoots(stateDir: string): Promise<string[]> {
  const dir = rootsDir(stateDir);
  const good = new Set((await listRoots(stateDir)).map(({ sha256 }) => sha256));
  const names = (await readdir(dir).catch((): string[] => [])).filter((name) => !good.has(name) && !isBeingMade(name));
  for (const name of names) await rm(join(dir, name), { recursive: true, force: true });
  return names;
}

async function factsOf(squashfs: string): Promise<RootFacts> {
  const text = await outputOf("unsquashfs", ["-cat", squashfs, factsInside], AbortSignal.timeout(60_000)).catch(
    () => "",
  );
  try {
    return RootFacts.parse(JSON.parse(text));
  } catch {
    throw new RootFault("The file is not a builder root of Kiln.");
  }
}

async function synced(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}
