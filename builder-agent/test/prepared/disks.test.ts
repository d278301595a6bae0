import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPreparedDisks } from "../../src/prepared/disks.ts";
import { openDigests } from "../../src/upload/checksum.ts";
import { temporaryDir } from "../support/agent-place.ts";

const [one, two] = ["1".repeat(64), "2".repeat(64)] as const;
const roomy = { maxBytes: 1e9, maxAgeMs: 60_000 };
const digests = { ...openDigests(1024).result(), size: 7 };

async function place(limits = roomy) {
  const dir = await temporaryDir();
  const at = (name: string) => join(dir.path, name);
  const disks = await openPreparedDisks(at("disks"), limits);
  let count = 0;
  /** Stores a disk as a build does, which moves the disk away in between. */
  const keep = async (key: string, text: string) => {
    const work = at(`made-${++count}`);
    mkdirSync(work);
    const written = Object.fromEntries(
      ["raw", "packages", "files", "index"].map((name) => {
        writeFileSync(join(work, name), `${text} ${name}`);
        return [name, join(work, name)] as const;
      }),
    );
    const path = (name: string) => written[name] ?? "";
    await using slot = await disks.begin(key, { image: path("raw"), packages: path("packages") });
    renameSync(path("raw"), join(work, "moved"));
    const file = (name: string) => ({ path: path(name), fileName: name, digests });
    await slot.publish({
      entries: 3,
      files: file("files"),
      index: file("index"),
      shared: ["a key"],
      services: { cron: ["cron.service"] },
    });
  };
  const taken = async (key: string) => {
    const work = at(`taken-${++count}`);
    const target = join(work, "target");
    mkdirSync(target, { recursive: true });
    return { work, target, store: await disks.take(key, { target, workDir: work }) };
  };
  return { dir: dir.path, at, disks, keep, taken, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}

describe("prepared disks", () => {
  it("are unchanged, with the file store of their root", async () => {
    await using here = await place();
    await here.keep(one, "first");

    const { target, store } = await here.taken(one);
    expect(readdirSync(target).toSorted()).toEqual(["disk.packages", "disk.raw"]);
    expect(readFileSync(join(target, "disk.raw"), "utf8")).toBe("first raw");
    expect(store).toMatchObject({
      entries: 3,
      shared: ["a key"],
      services: { cron: ["cron.service"] },
      files: { fileName: "files.zst", digests },
      index: { digests },
    });
    expect(readFileSync(store?.index.path ?? "", "utf8")).toBe("first index");
    expect((await here.taken(two)).store).toBeUndefined();
  });

  it("are deleted and not used if they are incomplete", async () => {
    await using here = await place();
    await here.keep(one, "first");
    truncateSync(here.at(`disks/${one}/files.zst`), 1);

    const { work, target, store } = await here.taken(one);
    expect([store, readdirSync(target), readdirSync(work)]).toEqual([undefined, [], ["target"]]);
    expect(existsSync(here.at(`disks/${one}`))).toBe(false);
  });

  it("are deleted after a host restart, which may have lost writes", async () => {
    await using here = await place();
    await here.keep(one, "first");
    const facts = here.at(`disks/${one}/facts.json`);
    const { boot, ...others } = JSON.parse(readFileSync(facts, "utf8"));
    expect(boot).toMatch(/^[0-9a-f-]{36}\n$/);
    writeFileSync(facts, JSON.stringify({ ...others, boot: boot.replaceAll(/[0-9a-f]/g, "0") }));

    expect((await here.taken(one)).store).toBeUndefined();
    expect(existsSync(here.at(`disks/${one}`))).toBe(false);
  });

  it("require a file store; incomplete ones are deleted", async () => {
    await using here = await place();
    writeFileSync(here.at("raw"), "x");
    {
      await using _ = await here.disks.begin(one, { image: here.at("raw"), packages: here.at("raw") });
    }
    expect(readdirSync(here.at("disks"))).toEqual([]);
    await here.disks.begin(one, { image: here.at("raw"), packages: here.at("raw") });
    await openPreparedDisks(here.at("disks"), roomy);
    expect(readdirSync(here.at("disks"))).toEqual([]);
  });

  it("are deleted if they are too many", async () => {
    await using here = await place({ ...roomy, maxBytes: 5 * 4096 });
    await here.keep(one, "first");
    await new Promise((resolve) => setTimeout(resolve, 20));
    await here.keep(two, "second");
    expect((await here.taken(one)).store).toBeUndefined();
    expect((await here.taken(two)).store).toBeDefined();
  });
});
