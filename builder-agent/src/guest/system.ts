import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { isAccessible, isBeingMade, makingDir } from "../files.ts";
import { outputOf } from "../process.ts";
import { kernelInside } from "../roots/contents.ts";
import { hostTools } from "../roots/of-build.ts";
import type { StoredRoot } from "../roots/store.ts";
import { makeBuilderRoot, rootSources } from "./builder-root.ts";
import { guestScript, makeKernel, writeInitialArchive } from "./kernel.ts";

/** Read-only files that are the same for every guest. */
export interface GuestSystem {
  kernel: string;
  initrd: string;
  root: string;
  /** Changes whenever one of the files does. */
  key: string;
}

/** Increase it if the code that makes the files changes. The key already covers changes of packages and scripts. */
const makerVersion = 2;

/**
 * The guest's system below `stateDir`, from a builder root or from this host's packages. It is made again, which takes
 * seconds, when the root, the packages or our scripts have changed.
 */
export async function openGuestSystem(stateDir: string, root?: StoredRoot): Promise<GuestSystem> {
  // A root that was made again from the same packages has the same digest, but lacks the guest files.
  const name = root ? `${stateDir} ${root.sha256} ${root.storedAt}` : `${stateDir} ${hostTools}`;
  const known = systems.get(name) ?? (root ? ofRoot(root) : ofHost(stateDir));
  systems.set(name, known);
  known.catch(() => systems.delete(name)); // the next build tries again
  return await known;
}

/** The systems by name. Builds that start at the same time share one attempt to make one. */
const systems = new Map<string, Promise<GuestSystem>>();

async function ofHost(stateDir: string): Promise<GuestSystem> {
  const sources = rootSources();
  if (sources.missing.length > 0) throw new Error(`packages for the guest are missing: ${sources.missing.join(", ")}`);
  const versions = sources.packages.map(({ name, version }) => `${name} ${version}`);
  const key = await keyOf(versions);
  const home = await madeOnce(join(stateDir, "guest"), key, async (made, workDir) => {
    const kernel = await makeKernel(made, workDir);
    await makeBuilderRoot(sources, { kernel, workDir, into: join(made, "root.squashfs") });
  });
  return { kernel: join(home, "vmlinuz"), initrd: join(home, "initrd.gz"), root: join(home, "root.squashfs"), key };
}

/** A root has the kernel and its modules; only the initial archive has our scripts. */
async function ofRoot({ dir, file, sha256, facts }: StoredRoot): Promise<GuestSystem> {
  const key = await keyOf([sha256]);
  const home = await madeOnce(join(dir, "guest"), key, async (made, workDir) => {
    const tree = join(workDir, "tree");
    const wanted = ["usr/lib/modules", "usr/bin/busybox", kernelInside];
    await outputOf("unsquashfs", ["-no-progress", "-dest", tree, file, ...wanted], AbortSignal.timeout(120_000));
    await copyFile(join(tree, kernelInside), join(made, "vmlinuz"));
    const kernel = { version: facts.kernel, modulesDir: join(tree, "usr") };
    const busybox = join(tree, "usr/bin/busybox");
    await writeInitialArchive(kernel, { busybox, workDir, into: join(made, "initrd.gz") });
  });
  return { kernel: join(home, "vmlinuz"), initrd: join(home, "initrd.gz"), root: file, key };
}

async function keyOf(facts: readonly string[]): Promise<string> {
  const scripts = await Promise.all((["init.sh", "builder.sh"] as const).map((name) => readFile(guestScript(name))));
  const hash = createHash("sha256").update([makerVersion, ...facts, ...scripts].join("\n"));
  return hash.digest("hex").slice(0, 32);
}

type Make = (made: string, workDir: string) => Promise<void>;

/** The directory `dir/key` with the files of `make`. */
async function madeOnce(dir: string, key: string, make: Make): Promise<string> {
  const home = join(dir, key);
  if (!(await isAccessible(home))) await makeWhole(dir, home, make);
  return home;
}

/**
 * A rename at the end makes it complete. Deletes earlier and interrupted versions. The doctor and the agent may do this
 * at the same time.
 */
async function makeWhole(dir: string, home: string, make: Make): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(dir)) {
    if (name !== basename(home) && !isBeingMade(name)) await rm(join(dir, name), { recursive: true, force: true });
  }
  const workDir = await makingDir(dir);
  try {
    const made = join(workDir, "made");
    await mkdir(made);
    await make(made, workDir);
    // QEMU opens kernel and RAM disk again, as a user that owns nothing.
    for (const name of await readdir(made)) await chmod(join(made, name), 0o644);
    await rename(made, home).catch(async (error: unknown) => {
      if (!(await isAccessible(home))) throw error;
    });
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}
