import { truncateSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { scanned } from "../../src/run/artifacts.ts";
import { bootServices } from "../../src/run/boot-services.ts";
import { addLicencesAndSources } from "../../src/run/debian-licences.ts";
import { parseDebPackages } from "../../src/run/result.ts";
import type { Found, RootTree } from "../../src/run/root-walk.ts";
import { temporaryDir } from "../support/agent-place.ts";

let dir: string;
beforeEach(async () => {
  const temporary = await temporaryDir();
  onTestFinished(() => temporary[Symbol.asyncDispose]());
  dir = temporary.path;
});

const entry = { type: "f", mode: 0o644, uid: 0, gid: 0, size: 0, target: "", hostPath: "/none" } as const;

const treeOf = (entries: () => AsyncGenerator<Found>): RootTree => ({
  entries,
  owners: async () => ({ users: new Map(), groups: new Map() }),
});

/** A tree in which many names are links to one file, as a guest's result has it. */
const linkedTree = (paths: string[], size: number, more: Found[] = []) =>
  treeOf(async function* () {
    for (const path of paths) yield { ...entry, path, size, hostPath: join(dir, "linked") };
    yield* more;
  });

function writeLinked(text: string, size: number): void {
  writeFileSync(join(dir, "linked"), text);
  truncateSync(join(dir, "linked"), size);
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

describe("a scan of a root", () => {
  it.each<[string, (root: RootTree, signal: AbortSignal) => Promise<unknown>]>([
    ["secrets and services", (root, signal) => scanned(root, { files: [] }, signal)],
    ["services", bootServices],
    ["licences", (root, signal) => addLicencesAndSources(join(dir, "list"), root, signal)],
  ])("for %s ends when its build is stopped", async (_, work) => {
    await writeFile(join(dir, "list"), "");
    const stopping = new AbortController();
    const endless = treeOf(async function* () {
      for (let number = 0; number < 20_000_000; number++) yield { ...entry, path: `/etc/${number}` };
    });
    const timer = setTimeout(() => stopping.abort(new Error("stopped")), 10);
    await expect(work(endless, stopping.signal)).rejects.toThrow("stopped");
    clearTimeout(timer);
  });

  it("reads 256 MiB of dpkg's lists at most", async () => {
    const bytes = 8 * 1024 * 1024;
    writeLinked("/lib/systemd/system/web.service\n", bytes);
    const lists = names(40).map((name) => `/var/lib/dpkg/info/${name}.list`);
    const path = "/etc/systemd/system/multi-user.target.wants/web.service";
    const root = linkedTree(lists, bytes, [{ ...entry, type: "l", path }]);
    expect(await bootServices(root, new AbortController().signal)).toEqual({ p31: ["web.service"] });
  });

  it("reads 256 MiB of copyright files at most", async () => {
    const bytes = 2 * 1024 * 1024;
    writeLinked("Format: https://www.debian.org/copyright-format/1.0/\nLicense: MIT\n", bytes);
    const list = join(dir, "list");
    await writeFile(list, ["p127", "p128"].map((name) => `${name}|None|1.0|None|amd64|None|None\n`).join(""));
    const root = linkedTree(
      names(130).map((name) => `/usr/share/doc/${name}/copyright`),
      bytes,
    );
    await addLicencesAndSources(list, root, new AbortController().signal);
    const licences = parseDebPackages(await readFile(list, "utf8")).map(({ license }) => license);
    expect(licences).toEqual(["MIT", undefined]);
  });
});
