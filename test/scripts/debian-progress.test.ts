import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { importWarning } from "../../scripts/launch/catalogue-file.ts";
import { importsOf, watched } from "../../scripts/launch/debian.ts";
import { diskUseMb } from "../../scripts/launch/disk-use.ts";

let printed = "";
afterEach(() => void vi.restoreAllMocks());

const repository = (name: string, state: "importing" | "ready" | "failed", packages: number) => ({
  name,
  url: "http://deb.example.org",
  state,
  packages,
  problem: state === "failed" ? "no answer" : null,
  importedAt: null,
});

it("reports each repository once, when its import has ended", async () => {
  vi.spyOn(process.stdout, "write").mockImplementation((line) => ((printed += String(line)), true));
  const answers = [
    [repository("main", "importing", 0), repository("updates", "ready", 7), repository("security", "importing", 0)],
    [repository("main", "ready", 60_000), repository("updates", "ready", 7), repository("security", "failed", 0)],
  ];
  const catalogues = async () => [{ name: "debian-12", repositories: answers.shift() ?? [] }];

  const problems = await importsOf(
    watched({ catalogues }, "debian-12", Date.now()),
    "debian-12",
    new AbortController().signal,
  );

  expect(problems).toEqual([{ name: "security", problem: "no answer" }]);
  expect(
    printed
      .replaceAll(/\d\.\d s/g, "N s")
      .trim()
      .split("\n"),
  ).toEqual([
    "debian-12: updates has 7 packages (1 of 3 repositories, N s)",
    "  debian-12: main has 60000 packages (2 of 3 repositories, N s)",
  ]);
});

it("measures what all files below a folder take", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-disk-"));
  mkdirSync(join(folder, "a/b"), { recursive: true });
  for (const name of ["one", "a/two", "a/b/three"]) writeFileSync(join(folder, name), Buffer.alloc(2_000_000, 1));
  expect(await diskUseMb(folder)).toBe(6);
  rmSync(folder, { recursive: true });
});

it.each(["The mirror was silent", "The mirror was silent."])("warns with one full stop after %j", (problem) => {
  expect(importWarning({ name: "security", problem })).toBe(
    "security could not be imported: The mirror was silent. The import is retried every half hour.",
  );
});
