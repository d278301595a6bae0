import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failureOf, noNotes, note } from "../../src/run/failure.ts";

const root = "/var/lib/kiln-agent/work/build-7-1/root";
const exit = { code: 1 } as const;
const notesOf = (lines: string[]) => lines.reduce(note, noNotes);
const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.log`, import.meta.url), "utf8").split("\n");
const error = (...lines: string[]) => notesOf([`[ ERROR   ]: 13:46:07 | ${lines[0]}`, ...lines.slice(1)]);
const problem = (text: string) => `[ DEBUG   ]: 13:46:07 | system: Problem: ${text}`;

describe("the message of a failed build", () => {
  it.each([
    [
      "prepare-broken-dep",
      "The software cannot be installed: nothing provides does-not-exist >= 7 needed by broken-dep-1.0-1.noarch.",
    ],
    ["prepare-no-such-package", "No provider of 'no-such-package' found."],
    ["prepare-bad-script", "config.sh failed: image/config.sh: line 3: nosuchcmd: command not found"],
  ])("for %s is KIWI's own", (name, reason) => {
    expect(failureOf(notesOf(recorded(name)), { exit, lastWords: "", root })).toEqual({
      kind: "failed",
      reason,
    });
  });

  it.each([
    ["one problem", ["a conflicts with b"], "The software cannot be installed: a conflicts with b."],
    ["a problem that zypper repeats", ["1: a", "1: a"], "The software cannot be installed: a."],
    ["two", ["1: a", "2: b"], "The software cannot be installed: a (and 1 more such problem)."],
    ["three", ["a", "b", "c"], "The software cannot be installed: a (and 2 more such problems)."],
  ])("explains %s", (_, texts, reason) => {
    expect(failureOf(notesOf(texts.map(problem)), { exit, lastWords: "", root }).reason).toBe(reason);
  });
});

describe("the message of packages that apt cannot install", () => {
  it.each([
    [
      "system:  openssh-server : Depends: libc6 (>= 9) but 2.36-9 is to be installed",
      "openssh-server : Depends: libc6 (>= 9) but 2.36-9 is to be installed",
    ],
    ["system: E: Version '1.0' for 'hello' was not found", "Version '1.0' for 'hello' was not found"],
    ["bootstrap: E: Couldn't find these debs: libfoo1", "Couldn't find these debs: libfoo1"],
  ])("is what it says: %s", (line, said) => {
    const notes = notesOf([
      `[ DEBUG   ]: 13:46:07 | ${line}`,
      "[ ERROR   ]: 13:46:08 | KiwiInstallPhaseFailed: System",
    ]);
    expect(failureOf(notes, { exit, lastWords: "", root }).reason).toBe(`The software cannot be installed: ${said}.`);
  });
});

it("skips the warnings before an error of apt", () => {
  const notes = error(
    "KiwiCommandError: chroot: stderr: W: Unable to read a/ - DirectoryExists",
    "E: No space for the list",
  );
  expect(failureOf(notes, { exit, lastWords: "", root }).reason).toBe("No space for the list");
});

describe("the message of a failing script", () => {
  const said = "[ DEBUG   ]: 14:08:26 | kiln: error: The build script of the appliance ended with exit code 3.";

  it("is from our config.sh, whatever else the script has printed", () => {
    const failed = ["[ ERROR   ]: 14:08:26 | KiwiScriptFailed: config.sh failed: words", "more words"];
    expect(failureOf(notesOf([said, ...failed]), { exit, lastWords: "", root })).toEqual({
      kind: "failed",
      reason: "The build script of the appliance ended with exit code 3.",
    });
  });

  it("is not used for a later failure of something else", () => {
    const notes = notesOf([said, "[ ERROR   ]: 14:08:26 | KiwiLoopSetupError: no loop device"]);
    expect(failureOf(notes, { exit, lastWords: "", root }).reason).toBe("no loop device");
  });
});

describe("the message of an image larger than its disk", () => {
  it.each(["kiwi_mount_manager", "kiwi_volumes"])("is explained to its owner, for KIWI's %s", (mount) => {
    const notes = error(
      `KiwiCommandError: rsync: stderr: rsync: [receiver] write failed on "/var/lib/kiln-agent/work/build-7-1/temp/${mount}.q9zxx3w9/usr/lib/xfs.ko": No space left on device (28)`,
      "rsync error: error in file IO (code 11) at receiver.c(657) [receiver=3.5.0]",
    );
    expect(failureOf(notes, { exit, lastWords: "", root })).toEqual({
      kind: "failed",
      reason: "The image does not fit on its disk, or on one of its volumes.",
    });
  });
});

describe("the message of a file missing from an image", () => {
  it("has the image's path, not the builder's", () => {
    const notes = error(
      `KiwiBootLoaderGrubFontError: unicode.pf2 not found in ['${root}/usr/share/grub2/unicode.pf2']`,
    );

    const { reason } = failureOf(notes, { exit, lastWords: "", root });

    expect(reason).toBe("unicode.pf2 not found in ['/usr/share/grub2/unicode.pf2']");
  });
});

describe("a failure that is not the user's fault", () => {
  it.each([
    [
      "a program that KIWI needs and does not find",
      error('KiwiCommandNotFound: Command "mksquashfs" not found'),
      'Command "mksquashfs" not found',
    ],
    ["a full disk", notesOf(["rsync: No space left on device (28)", problem("a")]), "The disk of the builder is full."],
    ["a KIWI without output", noNotes, "KIWI ended with exit code 1: Traceback"],
    [
      "the repository that the agent has made",
      notesOf(recorded("prepare-no-repository")),
      "Repository 'updates' is invalid.",
    ],
  ])("includes %s", (_, notes, reason) => {
    expect(failureOf(notes, { exit, lastWords: "Traceback", root })).toEqual({
      kind: "error",
      reason,
    });
  });

  it.each([
    [{ killedBy: "SIGKILL" } as const, ""],
    [{ code: 1 } as const, "unshare: sigprocmask unblock failed: Invalid argument"],
  ])("includes a KIWI that was killed: %o %s", (end, lastWords) => {
    expect(failureOf(noNotes, { exit: end, lastWords, root }).reason).toMatch(/^KIWI was killed on the builder/);
  });
});
