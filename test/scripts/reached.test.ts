import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readImports } from "../../scripts/test/imports.ts";
import { reachedBy } from "../../scripts/test/reached.ts";
import { emptyFolder } from "./folder.ts";

const imports = (entries: Record<string, string[]>) => new Map(Object.entries(entries));
const service = imports({
  "src/index.ts": ["src/app.ts", "src/queues/sweep.ts"],
  "src/app.ts": ["src/api/files.ts", "src/api/rating.ts", "src/web/pages/account/tokens.tsx"],
  "src/api/files.ts": ["src/domain/contents/overlay-file.ts"],
  "src/api/rating.ts": ["src/domain/gallery/opinions.ts"],
  "src/queues/sweep.ts": ["src/domain/contents/overlay-file.ts"],
  "src/domain/contents/overlay-file.ts": ["src/storage/overlay-files.ts"],
  "test/storage/overlay-files.test.ts": ["src/storage/overlay-files.ts", "test/support/client.ts"],
  "test/queues/sweep.test.ts": ["src/queues/sweep.ts", "test/support/client.ts"],
  "test/api/gallery-opinions.test.ts": ["test/support/client.ts"],
  "test/api/every-call.test.ts": ["src/queues/sweep.ts"],
  "test/api/pages.test.ts": ["src/app.ts"],
  "test/web/account.test.ts": [],
  "test/web/account/name.test.ts": [],
  "test/web/account-less.test.ts": [],
  "test/web/accounting.test.ts": [],
  "test/api/account-removal.test.ts": [],
  "test/acceptance/overlay-file.test.ts": [],
  "builder-agent/test/overlay-file.test.ts": [],
});

describe("the tests that a change reaches", () => {
  it.each<[string, string, string[]]>([
    ["the test itself", "test/api/pages.test.ts", ["test/api/pages.test.ts"]],
    [
      "its folder's tests and indirect importers, except through the Worker's entry",
      "src/domain/contents/overlay-file.ts",
      ["test/queues/sweep.test.ts", "test/storage/overlay-files.test.ts"],
    ],
    [
      "those of a page's folder",
      "src/web/pages/account/tokens.tsx",
      ["test/web/account-less.test.ts", "test/web/account.test.ts", "test/web/account/name.test.ts"],
    ],
    [
      "those that name the folder and the file",
      "src/domain/accounts/removal.ts",
      [
        "test/api/account-removal.test.ts",
        "test/web/account-less.test.ts",
        "test/web/account.test.ts",
        "test/web/account/name.test.ts",
      ],
    ],
    ["tests of what a route file calls", "src/api/rating.ts", ["test/api/gallery-opinions.test.ts"]],
  ])("include %s", (_what, file, tests) => {
    expect(reachedBy([file], service)).toEqual({ tests, further: 0, untested: [] });
  });

  it("are the nearest of many, with a count of the rest", () => {
    const importers = Array.from({ length: 9 }, (_, i) => [`test/far-${i}.test.ts`, ["test/support/a.ts"]]);
    const many = imports({
      ...Object.fromEntries(importers),
      "test/support/a.ts": ["src/b.ts"],
      "test/near.test.ts": ["src/b.ts"],
    });

    const { tests, further } = reachedBy(["src/b.ts"], many);

    expect(tests).toContain("test/near.test.ts");
    expect([tests.length, further]).toEqual([8, 2]);
  });

  it("are none for a file without tests, which is reported", () => {
    expect(reachedBy(["README.md", "src/lonely.ts"], service)).toEqual({
      tests: [],
      further: 0,
      untested: ["README.md", "src/lonely.ts"],
    });
  });
});

it("follow imports of every kind, and no packages", () => {
  const root = emptyFolder();
  const files = { "src/a.ts": "", "src/b.tsx": "", "src/c.json": "{}", "src/d.txt": "", "test/e.test.ts": "" };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(root, file, ".."), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  writeFileSync(
    join(root, "test/e.test.ts"),
    `import { it } from "vitest";\nimport "#a";\nexport * from "#b";\nimport c from "../src/c.json";\nimport type {\n  D,\n} from "../src/d.txt?raw";\nawait import("../src/a.ts");\n`,
  );

  expect(readImports(root, ["test/e.test.ts"]).get("test/e.test.ts")).toEqual([
    "src/a.ts",
    "src/b.tsx",
    "src/c.json",
    "src/d.txt",
    "src/a.ts",
  ]);
});
