import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeFileStore } from "../../builder-agent/src/build/file-store.ts";
import type { FrozenInput, InstalledPackage } from "../../builder-agent/src/contract.ts";
import { preparedKey } from "../../builder-agent/src/prepared/key.ts";
import { RootShare } from "../../builder-agent/src/prepared/share.ts";
import { openPreparedRoots, type PreparedRoots } from "../../builder-agent/src/prepared/store.ts";
import { silent, temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// Real KIWI: an image from another format's root has the packages and files of one that was made from nothing.

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

interface Built {
  installed: InstalledPackage[];
  /** path → what the file store's index says of it, without where its content lies there. */
  files: Map<string, string>;
}

async function build(input: FrozenInput, share?: RootShare): Promise<Built> {
  const options = { stateDir: state.path, url: server.url, ...(share && { share }) };
  return await buildHere(input, options, async (built, workDir) => {
    const store = await writeFileStore(built.root, { dir: workDir, signal });
    return { installed: built.installed, files: filesOf(store.index.path) };
  });
}

async function joined(roots: PreparedRoots, input: FrozenInput): Promise<RootShare> {
  const workDir = join(state.path, crypto.randomUUID());
  mkdirSync(workDir);
  const key = preparedKey(input, { builder: "test", isolation: "none" });
  return await RootShare.join({ roots, key, workDir, signal, onNote: silent });
}

function filesOf(index: string): Map<string, string> {
  const lines = gunzipSync(readFileSync(index)).toString().split("\n");
  const entries = lines.filter((line) => line.startsWith('{"path"')).map((line) => JSON.parse(line));
  return new Map(entries.map((entry) => [entry.path, JSON.stringify({ ...entry, offset: 0, length: 0 })]));
}

/** What two full builds of the same input differ in, too: what `system create` makes up, and when rpm and zypper ran. */
const madeUp = [
  /^\/boot\/(initramfs-.*|mbrid)$/,
  /^\/config\.bootoptions$/,
  /^\/etc\/(fstab|sysconfig\/bootloader)$/,
  /^\/usr\/lib\/sysimage\/rpm\/rpmdb\.sqlite$/,
  /^\/var\/log\/(zypp|YaST2)(\/|$)/,
];

describe("a root that was prepared for another format", () => {
  it("makes the image that a full build makes", async () => {
    const roots = await openPreparedRoots(join(state.path, "prepared"), { maxBytes: 1e9, maxAgeMs: 1e9 });
    // With what a medium needs, both types have the same packages.
    const requests = ["hello", "syslinux", "dracut-kiwi-live"];
    const oem = await resolvedTiny(distribution, { requests });
    const iso = await resolvedTiny(distribution, { requests, imageType: "iso" });
    using first = await joined(roots, oem);
    await build(oem, first);
    using second = await joined(roots, iso);

    const shared = await build(iso, second);
    const full = await build(iso);

    expect([first.archive, second.archive]).toEqual([undefined, expect.any(String)]);
    expect(execFileSync("zstd", ["--quiet", "--test", second.archive ?? ""]).toString()).toBe("");
    expect(shared.installed).toEqual(full.installed);
    const names = new Set([...shared.files.keys(), ...full.files.keys()]);
    const differing = [...names].filter((path) => shared.files.get(path) !== full.files.get(path));
    expect(differing.filter((path) => !madeUp.some((pattern) => pattern.test(path)))).toEqual([]);
  });
});
