import { gunzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeFileStore } from "../../builder-agent/src/build/file-store.ts";
import { packImage } from "../../builder-agent/src/build/pack.ts";
import { FileEntry, type FrozenInput, type ImageType } from "../../builder-agent/src/contract.ts";
import { temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { configScript } from "#kiwi/config-script";
import { buildHere, sampleDistribution, serveDistribution } from "./support/local-build.ts";
import { resolvedTiny } from "./support/resolved-tiny.ts";

// Two builds of one frozen input by the agent's own code and the real KIWI (decision 28).

const distribution = sampleDistribution();
let server: Awaited<ReturnType<typeof serveDistribution>>;
beforeAll(async () => void (server = await serveDistribution(distribution)));
afterAll(() => server[Symbol.dispose]());

async function frozen(imageType: ImageType): Promise<FrozenInput> {
  const input = await resolvedTiny(distribution, { imageType });
  return { ...input, description: { ...input.description, "config.sh": configScript([]) } };
}

/** What a build comes to: every name of its root with what it is, and the digest of the file to download. */
async function built(input: FrozenInput): Promise<{ root: Map<string, FileEntry>; sha256: string; said: string[] }> {
  await using state = await temporaryDir();
  const said: string[] = [];
  const onLine = (line: string) => void said.push(line);
  return await buildHere(input, { stateDir: state.path, url: server.url, onLine }, async (image, workDir) => {
    const signal = new AbortController().signal;
    const store = await writeFileStore(image.root, { dir: workDir, signal });
    const packed = await packImage(image, input.imageName, { workDir, signal });
    return { root: entriesOf(store.index.path), sha256: sha256Of(packed.path), said };
  });
}

const sha256Of = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** An index is gzip members of lines, one entry each, and a table behind them. */
function entriesOf(index: string): Map<string, FileEntry> {
  const lines = gunzipSync(readFileSync(index)).toString().split("\n");
  const entries = lines.flatMap((line) => {
    const parsed = line.startsWith('{"path"') ? FileEntry.parse(JSON.parse(line)) : undefined;
    return parsed ? [[parsed.path, withoutPlace(parsed)] as const] : [];
  });
  return new Map(entries);
}

/** Where a content lies in the store depends on those before it. */
const withoutPlace = (entry: FileEntry): FileEntry => (entry.type === "f" ? { ...entry, offset: 0, length: 1 } : entry);

function differing(one: Map<string, FileEntry>, other: Map<string, FileEntry>): string[] {
  const paths = [...new Set([...one.keys(), ...other.keys()])];
  return paths.filter((path) => JSON.stringify(one.get(path)) !== JSON.stringify(other.get(path)));
}

describe("the same input built twice", () => {
  it("as a disk has the same files, by name, owner, mode and content", async () => {
    const input = await frozen("oem");
    const [first, second] = [await built(input), await built(input)];

    expect(first.root.size).toBeGreaterThan(500);
    expect(first.root.get("/usr/lib/sysimage/rpm/rpmdb.sqlite")?.type).toBe("f");
    expect(differing(first.root, second.root)).toEqual([]);
    expect(first.said.join("\n")).toContain("Tiny main has signed packages");
  });

  it("for booting from a network is the same file to download, byte for byte", async () => {
    const input = await frozen("net");
    const [first, second] = [await built(input), await built(input)];

    expect(first.sha256).toBe(second.sha256);
    expect(differing(first.root, second.root)).toEqual([]);
  });
});
