import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Turns } from "./turns.ts";

export interface StoreLimits {
  /** Of all archives together. */
  maxBytes: number;
  /** An archive that nobody has used for so long goes. */
  maxAgeMs: number;
}

/** Archives of prepared roots on this host, by the key of the root (key.ts). */
export interface PreparedRoots {
  /** Ends all waiting for that root's turn: one build prepares it, and those that come meanwhile find it. */
  turn(key: string, signal: AbortSignal): Promise<() => void>;
  /** Puts the archive at `into`, on the same disk. False: there is none, or none that is whole. */
  take(key: string, into: string): Promise<boolean>;
  /** Keeps an archive that lies on the same disk and is not written any more. */
  keep(key: string, file: string): Promise<void>;
  forget(key: string): Promise<void>;
  /** Removes all: the disk is needed. */
  giveUp(): Promise<void>;
}

/**
 * An archive is `KEY.SHA256.tar.zst`, and only a finished file is ever linked there; one that a crash or a build's script
 * has damaged is known by its digest. Its modification time is when it was last used.
 */
export async function openPreparedRoots(dir: string, limits: StoreLimits): Promise<PreparedRoots> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const turns = new Turns();
  await evict(dir, limits);
  return {
    turn: (key, signal) => turns.take(key, signal),
    async take(key, into) {
      await evict(dir, limits);
      const kept = (await archivesIn(dir)).find((each) => each.key === key);
      if (!kept || !(await linked(kept.path, into))) return false;
      if ((await sha256Of(into)) === kept.sha256) {
        const now = new Date();
        await utimes(into, now, now); // it is the same file
        return true;
      }
      await Promise.all([kept.path, into].map((path) => rm(path, { force: true })));
      return false;
    },
    async keep(key, file) {
      await linked(file, join(dir, `${key}.${await sha256Of(file)}.tar.zst`));
      await evict(dir, limits);
    },
    async forget(key) {
      const kept = (await archivesIn(dir)).filter((each) => each.key === key);
      await Promise.all(kept.map(({ path }) => rm(path, { force: true })));
    },
    giveUp: () => evict(dir, { ...limits, maxBytes: 0 }),
  };
}

/** False: it is gone meanwhile. What is there already under the new name is the same. */
async function linked(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return true;
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined);

async function sha256Of(file: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), digest);
  return digest.digest("hex");
}

/** The least recently used ones first. */
async function evict(dir: string, { maxBytes, maxAgeMs }: StoreLimits): Promise<void> {
  const archives = (await archivesIn(dir)).toSorted((a, b) => a.usedAt - b.usedAt);
  let total = archives.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes, usedAt } of archives) {
    if (total <= maxBytes && Date.now() - usedAt <= maxAgeMs) continue;
    await rm(path, { force: true });
    total -= bytes;
  }
}

async function archivesIn(dir: string) {
  // Somebody may have tidied it away: then nothing is kept, and builds go on.
  const names = await readdir(dir).catch(() => []);
  const named = names.flatMap((name) => {
    const [, key, sha256] = /^([0-9a-f]{64})\.([0-9a-f]{64})\.tar\.zst$/.exec(name) ?? [];
    return key !== undefined && sha256 !== undefined ? [{ key, sha256, path: join(dir, name) }] : [];
  });
  const found = await Promise.all(
    named.map(async (each) => {
      const facts = await stat(each.path).catch(() => undefined); // gone meanwhile
      return facts && { ...each, bytes: facts.size, usedAt: facts.mtimeMs };
    }),
  );
  return found.filter((each) => each !== undefined);
}
