import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { preloaded } from "../../src/run/preloaded.ts";
import { endOf, run } from "../../src/process.ts";
import { temporaryDir } from "../support/agent-place.ts";

const signal = new AbortController().signal;

/** Prints its arguments and the places where it would look for modules. */
const program = `#!/usr/bin/python3
import sys
with open(sys.argv[1], "w") as said:
    print(__name__, sys.argv[0], sys.argv[2:], sys.path[0], repr(sys.stdin.read()), file=said)
sys.exit(7)
`;

const fails = () => Promise.reject(new Error("a package is missing"));

async function programIn(dir: string, text: string) {
  const file = join(dir, "program");
  writeFileSync(file, text, { mode: 0o755 });
  return file;
}

describe("a program that is loaded ahead", () => {
  it("starts when its input is ready, with its own arguments", async () => {
    await using dir = await temporaryDir();
    const file = await programIn(dir.path, program);
    const [command = "", ...args] = (await preloaded("program", `/nowhere:${dir.path}`)) ?? [];
    const said = join(dir.path, "said");
    let hadBegun: boolean | undefined;

    const exit = await run(command, [...args, said, "--of", "its own"], {
      signal,
      input: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        hadBegun = existsSync(said);
      },
    });

    expect(endOf(exit)).toBe("exit code 7");
    expect(hadBegun).toBe(false);
    expect(readFileSync(said, "utf8")).toBe(`__main__ ${file} ['--of', 'its own'] ${dir.path} ''\n`);
  });

  it("does not wait for the disk, nor do its children", async () => {
    await using dir = await temporaryDir();
    // A pipe cannot be synchronised: the kernel answers EINVAL.
    const asks = "import os; os.fsync(os.pipe()[0])";
    const file = await programIn(
      dir.path,
      `#!/usr/bin/python3\n${asks}\nos.execv("/usr/bin/python3", ["-", "-c", "${asks}"])\n`,
    );
    const [command = "", ...args] = (await preloaded(file, "")) ?? [];

    expect(endOf(await run(command, args, { signal, input: async () => {} }))).toBe("exit code 0");
    expect(endOf(await run("/usr/bin/python3", ["-c", asks], { signal }))).toBe("exit code 1");
  });

  it("never starts if waiting fails", async () => {
    await using dir = await temporaryDir();
    const [command = "", ...args] = (await preloaded(await programIn(dir.path, program), "")) ?? [];
    const said = join(dir.path, "said");

    await expect(run(command, [...args, said], { signal, input: fails })).rejects.toThrow("a package is missing");

    expect(existsSync(said)).toBe(false);
  });

  it.each([
    ["a script of another language", "#!/bin/sh\nexit 0\n"],
    ["Python through env, which may find another Python here", "#!/usr/bin/env python3\n"],
    ["a binary", "\u007fELF"],
  ])("cannot be %s", async (_what, text) => {
    await using dir = await temporaryDir();
    expect(await preloaded(await programIn(dir.path, text), "")).toBeUndefined();
  });

  it("cannot be a missing program", async () => {
    expect(await preloaded("no-such-program", "/usr/bin:/bin")).toBeUndefined();
    expect(await preloaded("/no/such/program", "/usr/bin:/bin")).toBeUndefined();
  });
});
