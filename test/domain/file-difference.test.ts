import { describe, expect, it } from "vitest";
import { orderOf, type FileEntry } from "#lib/contract/index";
import { fileDifference, type FileRange } from "#domain/difference/files";

type Made = Partial<FileEntry> & { content?: string };

const entry = (path: string, { content = "", ...more }: Made = {}): FileEntry =>
  ({
    path,
    type: "f",
    mode: 0o644,
    uid: 0,
    gid: 0,
    owner: "root",
    group: "root",
    size: content.length,
    sha256: content.padEnd(64, "0"),
    offset: 0,
    length: 1,
    ...more,
  }) as FileEntry;

/** An index of files with these names. */
function indexOf(names: Record<string, Made>) {
  const entries = Object.entries(names)
    .map(([path, made]) => entry(path, made))
    .toSorted((one, other) => (orderOf(one.path) < orderOf(other.path) ? -1 : 1));
  return {
    async *entriesFrom(order: string) {
      yield* entries.filter(({ path }) => orderOf(path) >= order);
    },
  };
}

const compare = (from: Record<string, Made>, to: Record<string, Made>, range: Partial<FileRange> = {}, most?: number) =>
  fileDifference(indexOf(from), indexOf(to), { path: "/", limit: 100, ...range }, most);

const describeChanges = async (from: Record<string, Made>, to: Record<string, Made>, range: Partial<FileRange> = {}) =>
  (await compare(from, to, range)).changes.map(({ change, path }) => `${change} ${path}`);

describe("the files of two images", () => {
  it.each<[string, Record<string, Made>, Record<string, Made>, string[]]>([
    ["the same files", { "/a": {} }, { "/a": {} }, []],
    ["one added file and one removed file", { "/a": {} }, { "/b": {} }, ["removed /a", "added /b"]],
    ["other content of another size", { "/a": { content: "x" } }, { "/a": { content: "xy" } }, ["changed /a"]],
    ["other content of the same size", { "/a": { content: "a" } }, { "/a": { content: "b" } }, ["changed /a"]],
    ["a checksum that one side lacks", { "/a": { sha256: undefined } }, { "/a": {} }, []],
    ["another place in the store", { "/a": { offset: 5, length: 9 } }, { "/a": {} }, []],
    ["another mode", { "/a": { mode: 0o600 } }, { "/a": {} }, ["changed /a"]],
    ["another owner", { "/a": { owner: "web" } }, { "/a": {} }, ["changed /a"]],
    ["another uid of the same owner", { "/a": { uid: 7 } }, { "/a": {} }, []],
    ["another uid without a name", { "/a": { uid: 7, owner: undefined } }, { "/a": {} }, ["changed /a"]],
    ["another kind", { "/a": { type: "d" } as Made }, { "/a": {} }, ["changed /a"]],
    [
      "another target",
      { "/a": { type: "l", target: "/x" } as Made },
      { "/a": { type: "l", target: "/y" } as Made },
      ["changed /a"],
    ],
    ["an empty side", {}, { "/": {}, "/a": {}, "/a/b": {} }, ["added /", "added /a", "added /a/b"]],
    [
      "names whose order is not alphabetical",
      { "/a-b": {}, "/a": {} },
      { "/a": {}, "/a/b": {}, "/ä": {} },
      ["added /a/b", "removed /a-b", "added /ä"],
    ],
  ])("compares %s", async (_what, from, to, expected) => {
    expect(await describeChanges(from, to)).toEqual(expected);
  });

  it("lists changes with the attributes of both sides", async () => {
    const { changes } = await compare({ "/a": { mode: 0o4755, content: "x" } }, { "/a": { type: "d" } as Made });
    expect(changes).toEqual([
      {
        change: "changed",
        path: "/a",
        from: { type: "f", mode: 0o4755, owner: "root", group: "root", size: 1, sha256: "x".padEnd(64, "0") },
        to: { type: "d", mode: 0o644, owner: "root", group: "root" },
      },
    ]);
  });
});

describe("a range of files", () => {
  const to = { "/etc": {}, "/etc/a": {}, "/etc/b": {}, "/etc-x": {}, "/usr": {} };

  it.each<[string, Partial<FileRange>, string[]]>([
    ["a directory", { path: "/etc" }, ["/etc", "/etc/a", "/etc/b"]],
    ["one file", { path: "/etc/a" }, ["/etc/a"]],
    ["nothing", { path: "/et" }, []],
    ["after a file", { after: "/etc/a" }, ["/etc/b", "/etc-x", "/usr"]],
    ["after a directory", { after: "/etc" }, ["/etc/a", "/etc/b", "/etc-x", "/usr"]],
    ["after a missing file", { after: "/etc/aa" }, ["/etc/b", "/etc-x", "/usr"]],
    ["in a directory, after a file", { path: "/etc", after: "/etc/a" }, ["/etc/b"]],
    ["in a directory, after all of it", { path: "/etc", after: "/usr" }, []],
    ["in a directory, after a path before it", { path: "/etc", after: "/bin" }, ["/etc", "/etc/a", "/etc/b"]],
  ])("contains %s", async (_what, range, expected) => {
    expect(await describeChanges({}, to, range)).toEqual(expected.map((path) => `added ${path}`));
  });

  it("comes in pages that together contain each file once", async () => {
    for (const limit of [1, 2, 3, 5]) {
      const seen: string[] = [];
      let after: string | undefined;
      for (let page = 0; page < 10; page += 1) {
        const { changes, next } = await compare({}, to, { limit, after });
        expect(changes.length).toBeLessThanOrEqual(limit);
        seen.push(...changes.map(({ path }) => path));
        if (next === undefined) break;
        after = next;
      }
      expect(seen).toEqual(["/etc", "/etc/a", "/etc/b", "/etc-x", "/usr"]);
    }
  });

  it("ends a page after a number of names, even without differences", async () => {
    const { changes, next } = await compare(to, { ...to, "/usr/x": {} }, {}, 3);
    expect([changes, next]).toEqual([[], "/etc/b"]);
    const rest = await compare(to, { ...to, "/usr/x": {} }, { after: next }, 3);
    expect(rest.changes.map(({ path }) => path)).toEqual(["/usr/x"]);
  });
});
