import { describe, expect, it } from "vitest";
import { orderOf, type FileEntry } from "#contract/index";
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

/** An index of these names. */
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

const told = async (from: Record<string, Made>, to: Record<string, Made>, range: Partial<FileRange> = {}) =>
  (await compare(from, to, range)).changes.map(({ change, path }) => `${change} ${path}`);

describe("the files of two images", () => {
  it.each<[string, Record<string, Made>, Record<string, Made>, string[]]>([
    ["the same", { "/a": {} }, { "/a": {} }, []],
    ["one that came and one that went", { "/a": {} }, { "/b": {} }, ["removed /a", "added /b"]],
    ["another content of another size", { "/a": { content: "x" } }, { "/a": { content: "xy" } }, ["changed /a"]],
    ["another content of the same size", { "/a": { content: "a" } }, { "/a": { content: "b" } }, ["changed /a"]],
    ["a checksum that one side does not have", { "/a": { sha256: undefined } }, { "/a": {} }, []],
    ["another place in the store", { "/a": { offset: 5, length: 9 } }, { "/a": {} }, []],
    ["another mode", { "/a": { mode: 0o600 } }, { "/a": {} }, ["changed /a"]],
    ["another owner", { "/a": { owner: "web" } }, { "/a": {} }, ["changed /a"]],
    ["another number of the same owner", { "/a": { uid: 7 } }, { "/a": {} }, []],
    ["another number without a name", { "/a": { uid: 7, owner: undefined } }, { "/a": {} }, ["changed /a"]],
    ["another kind", { "/a": { type: "d" } as Made }, { "/a": {} }, ["changed /a"]],
    [
      "another target",
      { "/a": { type: "l", target: "/x" } as Made },
      { "/a": { type: "l", target: "/y" } as Made },
      ["changed /a"],
    ],
    ["one side that is empty", {}, { "/": {}, "/a": {}, "/a/b": {} }, ["added /", "added /a", "added /a/b"]],
    [
      "names whose order is not that of their letters",
      { "/a-b": {}, "/a": {} },
      { "/a": {}, "/a/b": {}, "/ä": {} },
      ["added /a/b", "removed /a-b", "added /ä"],
    ],
  ])("%s", async (_what, from, to, expected) => {
    expect(await told(from, to)).toEqual(expected);
  });

  it("are told of with what each of them is", async () => {
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
    ["behind a file", { after: "/etc/a" }, ["/etc/b", "/etc-x", "/usr"]],
    ["behind a directory", { after: "/etc" }, ["/etc/a", "/etc/b", "/etc-x", "/usr"]],
    ["behind what is not there", { after: "/etc/aa" }, ["/etc/b", "/etc-x", "/usr"]],
    ["in a directory, behind a file", { path: "/etc", after: "/etc/a" }, ["/etc/b"]],
    ["in a directory, behind all of it", { path: "/etc", after: "/usr" }, []],
    ["in a directory, behind what comes before it", { path: "/etc", after: "/bin" }, ["/etc", "/etc/a", "/etc/b"]],
  ])("is %s", async (_what, range, expected) => {
    expect(await told({}, to, range)).toEqual(expected.map((path) => `added ${path}`));
  });

  it("comes in pages that together are the whole, each once", async () => {
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

  it("ends a page after so many names, also where none of them differs", async () => {
    const { changes, next } = await compare(to, { ...to, "/usr/x": {} }, {}, 3);
    expect([changes, next]).toEqual([[], "/etc/b"]);
    const rest = await compare(to, { ...to, "/usr/x": {} }, { after: next }, 3);
    expect(rest.changes.map(({ path }) => path)).toEqual(["/usr/x"]);
  });
});
