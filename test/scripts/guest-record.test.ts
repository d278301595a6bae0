import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { projectRoot } from "../../scripts/launch/project.ts";
import { closureOf } from "../../scripts/test/closure.ts";
import type { TestEvent } from "../../scripts/test/event.ts";
import { guestDigest, knownFiles } from "../../scripts/test/guest-digest.ts";
import { recordFile } from "../../scripts/test/guest-record.ts";
import { runGuests } from "../../scripts/test/run-guests.ts";
import { emptyFolder } from "./folder.ts";

const test = "test/acceptance/guest-a.test.ts";
const other = "test/acceptance/guest-b.test.ts";

function write(root: string, files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
}

const checkout = {
  [test]: 'import { run } from "../../builder-agent/src/guest/run.ts";\nimport { name } from "#lib/kiwi/name";',
  "builder-agent/src/guest/run.ts":
    'const init = new URL(`../../guest/${name}`, import.meta.url);\nconst root = new URL("../../..", import.meta.url);',
  "builder-agent/guest/init.sh": "mount /proc",
  "builder-agent/guest/README.md": "What runs in the guest.",
  "src/lib/kiwi/name.ts": 'export { name } from "./other-name.ts";',
  "src/lib/kiwi/other-name.ts": "export const name = 1;",
  "src/lib/kiwi/lonely.ts": "export const lonely = 1;",
  "package-lock.json": "{}",
};

/** The digest in a new clone with these files. */
function digestWith(changes: Record<string, string> = {}, facts = ["qemu 7.2"]): string {
  const root = emptyFolder();
  const files = { ...checkout, ...changes };
  write(root, files);
  return guestDigest(test, { root, known: Object.keys(files), facts });
}

describe("the digest of a guest test", () => {
  it("is the same in another clone, in whatever order git lists the files", () => {
    const root = emptyFolder();
    write(root, checkout);
    const known = Object.keys(checkout).toReversed();
    expect(guestDigest(test, { root, known, facts: ["qemu 7.2"] })).toBe(digestWith());
  });

  it.each([
    ["the test", test, `${checkout[test]};run();`],
    ["a file that it calls through others", "src/lib/kiwi/other-name.ts", "export const name = 2;"],
    ["a script of the guest", "builder-agent/guest/init.sh", "mount /sys"],
    ["the installed npm packages", "package-lock.json", "[]"],
  ])("changes with one byte of %s", (_, file, text) => {
    expect(digestWith({ [file]: text })).not.toBe(digestWith());
  });

  it("changes with a new script of the guest, and with a package of the host", () => {
    expect(digestWith({ "builder-agent/guest/new.sh": "" })).not.toBe(digestWith());
    expect(digestWith({}, ["qemu 7.3"])).not.toBe(digestWith());
  });

  it("changes with every source of a whole service that it starts, except those of the pages", () => {
    const service = { [test]: 'run("scripts/start.mjs");', "scripts/start.mjs": "", "src/app.ts": "app = 1;" };
    const digest = digestWith(service);
    expect(digestWith({ ...service, "src/app.ts": "app = 2;" })).not.toBe(digest);
    expect(digestWith({ ...service, "src/new.ts": "" })).not.toBe(digest);
    expect(digestWith({ ...service, "src/web/pages/front.tsx": "" })).toBe(digest);
  });

  it.each([
    ["a file that it does not call", "src/lib/kiwi/lonely.ts", "export const lonely = 2;"],
    ["a new file", "src/lib/kiwi/new.ts", ""],
    ["notes", "builder-agent/guest/README.md", "Other words."],
    ["a comment and a line break", "src/lib/kiwi/other-name.ts", "/** A name. */\nexport const name =\n  1; // one"],
    ["a type", "src/lib/kiwi/other-name.ts", "export const name: number = 1;"],
  ])("does not change with %s", (_, file, text) => {
    expect(digestWith({ [file]: text })).toBe(digestWith());
  });

  it.each([
    ["guest-build", ["builder-agent/src/main.ts", "test/acceptance/support/hostile-build.sh"], ["src/app.ts"]],
    ["guest-formats", ["builder-agent/src/testdrive/kernel-start.ts", "templates/tiny.json"], ["src/app.ts"]],
    ["debian-image", ["scripts/launch.ts", "builder-agent/src/main.ts"], ["cli/src/main.ts"]],
    ["formats", ["scripts/start.mjs", "test/acceptance/support/boot.ts"], ["cli/src/main.ts"]],
    ["configuration-image", ["scripts/start.mjs", "test/fixtures/repodata/signed/stranger.key"], ["cli/src/main.ts"]],
    ["builds", ["scripts/start.mjs", "builder-agent/src/main.ts"], ["cli/src/main.ts"]],
    ["agent-build", ["builder-agent/shims/reproducible_times.py", "src/lib/kiwi/description.ts"], ["src/app.ts"]],
    ["uefi-medium", ["test/acceptance/support/uefi.ts", "src/lib/kiwi/description.ts"], ["src/app.ts"]],
  ])("covers what %s runs", (name, called, foreign) => {
    const files = closureOf(projectRoot, [`test/acceptance/${name}.test.ts`], knownFiles(projectRoot));
    const every = [
      "builder-agent/guest/init.sh",
      "builder-agent/shims/loaded.py",
      "builder-agent/src/guest/run-guest.ts",
    ];
    expect(files).toEqual(expect.arrayContaining([...every, ...called]));
    for (const file of foreign) expect(files).not.toContain(file);
  });
});

const eventsOf = (file: string, state: "passed" | "failed"): TestEvent[] => [
  { type: "file began", file },
  { type: "test ended", file, test: "builds", state: "passed", reason: "" },
  { type: "test ended", file, test: "boots", state, reason: "" },
  { type: "file ended", file, reason: undefined },
];

describe("a run of the guest tests", () => {
  let root: string;
  let digests: Map<string, string>;
  let said: string[];
  beforeEach(() => {
    root = emptyFolder();
    write(root, { [test]: "" });
    digests = new Map([
      [test, "1".repeat(64)],
      [other, "2".repeat(64)],
    ]);
    said = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  });

  /** Runs the tests that are due. The tests in `failing` fail. Returns their files, and the tally. */
  async function runOnce({ isAll = false, failing = [] as string[], meanwhile = () => {} } = {}) {
    const ran: string[] = [];
    const tally = await runGuests({
      root,
      isAll,
      digestsNow: () => new Map(digests),
      async run(env, onEvent) {
        ran.push(...[test, other].filter((file) => !Object.values(env).join().split(",").includes(file)));
        const events = ran.flatMap((file) => eventsOf(file, failing.includes(file) ? "failed" : "passed"));
        events.forEach(onEvent);
        meanwhile();
        const failures = ran.filter((file) => failing.includes(file)).map((file) => `${file}: boots: no`);
        return { passed: 2 * ran.length - failures.length, failures };
      },
    });
    return { ran, tally };
  }

  const recorded = () =>
    JSON.parse(readFileSync(join(root, recordFile), "utf8")).map((each: { test: string; digest: string }) => each.test);

  it("records what passed, and the next run lists it instead", async () => {
    expect(await runOnce()).toEqual({ ran: [test, other], tally: { passed: 4, failures: [] } });
    expect(recorded()).toEqual([test, other]);

    expect(await runOnce()).toEqual({ ran: [], tally: { passed: 0, failures: [], skipped: 4 } });
    expect(
      said.filter((line) => /^Not run: .* Its digest 1{12} passed on \d{4}-\d\d-\d\d, on /.test(line)),
    ).toHaveLength(1);
    expect((await runOnce({ isAll: true })).ran).toEqual([test, other]);
    expect(recorded()).toEqual([test, other]);
  });

  it("runs a test again when its digest is new", async () => {
    await runOnce();
    digests.set(test, "3".repeat(64));
    expect(await runOnce()).toEqual({ ran: [test], tally: { passed: 2, failures: [], skipped: 2 } });
    digests.set(test, "1".repeat(64));
    expect((await runOnce()).ran).toEqual([]);
  });

  it("does not record what failed, nor what has changed meanwhile", async () => {
    await runOnce({ failing: [test] });
    expect(recorded()).toEqual([other]);
    const meanwhile = () => void digests.set(test, "4".repeat(64));
    await runOnce({ meanwhile });
    expect(recorded()).toEqual([other]);
    expect((await runOnce()).ran).toEqual([test]);
    expect(recorded()).toEqual([test, other]);
  });
});
