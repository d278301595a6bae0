import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { shims } from "../../builder-agent/src/run/kiwi.ts";

const folder = mkdtempSync(join(tmpdir(), "prompt-output-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads the output of a program with KIWI NG's own class. */
const reader = `
import json, sys
from kiwi.command import Command
from kiwi.command_process import CommandIterator
output = CommandIterator(Command.call(["sh", "-c", sys.argv[1]]))
answers = list(output)
lines = [line for line in answers if line is not None]
facts = {"asked": len(answers), "lines": lines, "errors": output.get_error_output(), "code": output.get_error_code()}
with open(sys.argv[2], "w") as result:
    json.dump(facts, result)
`;
const program = join(folder, "reader");
writeFileSync(program, reader);

function read(script: string): { asked: number; lines: string[]; errors: string; code: number } {
  const result = join(folder, "result");
  execFileSync("/usr/bin/python3", [join(shims, "loaded.py"), program, script, result], { input: "", stdio: "pipe" });
  return JSON.parse(readFileSync(result, "utf8"));
}

describe("the output of a program that KIWI NG runs", () => {
  it("arrives in whole lines, with the errors and the exit code", () => {
    expect(read("printf 'one\\n\\ntwo '; echo wrong >&2; printf 'words\\nno end'; exit 3")).toMatchObject({
      lines: ["one", "", "two words"],
      errors: "wrong\n",
      code: 3,
    });
  });

  it("is not read byte by byte", () => {
    const { asked, lines } = read("seq 20000");

    expect(lines).toEqual(Array.from({ length: 20_000 }, (_, n) => String(n + 1)));
    expect(asked).toBeLessThan(21_000);
  });

  it("counts until its last writer has ended", () => {
    expect(read("(sleep 0.5; echo later) & echo first").lines).toEqual(["first", "later"]);
  });
});
