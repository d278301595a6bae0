import { createHash } from "node:crypto";
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeBuilderRoot, rootSources } from "./builder-root.ts";
import { makeKernel } from "./kernel.ts";
import { guestScript } from "./scripts.ts";

/** Read-only files that are the same for every guest. */
export interface GuestSystem {
  kernel: string;
  initrd: string;
  root: string;
  /** Changes whenever one of the files does. */
  key: string;
}

/** Counts up when the makers change in a way that neither a package nor a script shows. */
const makerVersion = 1;

/** The guest's system below `stateDir`; made, which takes seconds, when packages of the host or our scripts have changed. */
export async function openGuestSystem(stateDir: string): Promise<GuestSystem> {
  const known = systems.get(stateDir) ?? prepare(join(stateDir, "guest"));
  systems.set(stateDir, known);
  known.catch(() => systems.delete(stateDir)); // another build may have more luck
  return await known;
}

/** Builds start side by side, and one of them is enough to make it. */
const systems = new Map<string, Promise<GuestSystem>>();

async function prepare(dir: string): Promise<GuestSystem> {
  const sources = rootSources();
  if (sources.missing.length > 0) throw new Error(`packages for the guest are missing: ${sources.missing.join(", ")}`);
  const versions = sources.packages.map(({ name, version }) => `${name} ${version}`);
  const scripts = await Promise.all((["init.sh", "builder.sh"] as const).map((name) => readFile(guestScript(name))));
  const hash = createHash("sha256").update([makerVersion, ...versions, ...scripts].join("\n"));
  const key = hash.digest("hex").slice(0, 32);
  const home = join(dir, key);
  const isThere = await access(home).then(
    () => true,
    () => false,
  );
  if (!isThere) await make(dir, home, sources);
  return { kernel: join(home, "vmlinuz"), initrd: join(home, "initrd.gz"), root: join(home, "root.squashfs"), key };
}

/** A rename makes it whole; what an earlier version or an interrupted one left goes. */
async function make(dir: string, home: string, sources: ReturnType<typeof rootSources>): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(dir)) {
    if (name !== basename(home)) await rm(join(dir, name), { recursive: true, force: true });
  }
  const workDir = await mkdtemp(join(dir, "making-"));
  try {
    const made = join(workDir, "made");
    await mkdir(made);
    const kernel = await makeKernel(made, workDir);
    await makeBuilderRoot(sources, { kernel, workDir, into: join(made, "root.squashfs") });
    // QEMU opens kernel and archive again, as a user that owns nothing.
    for (const name of await readdir(made)) await chmod(join(made, name), 0o644);
    await rename(made, home);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}
