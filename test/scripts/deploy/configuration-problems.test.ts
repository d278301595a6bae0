import { join } from "node:path";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { type Checked, configurationProblems } from "../../../scripts/deploy/configuration-problems.ts";

const config = join(import.meta.dirname, "../../../wrangler.toml");
const read = (env: string): Checked => structuredClone(unstable_readConfig({ config, env }, { hideWarnings: true }));
const facts = {
  exports: ["Build", "Testdrive", "Switchboard", "Mailbox", "Events", "UserRepositoryIndex", "ImageLog"],
  keysPage: readFileSync("docs/operations/keys.md", "utf8"),
  workerdVersion: "1.20261023.1",
  today: new Date("2026-11-22"),
};

/** The problems of the repository's own configuration after a change to production. */
function problemsAfter(change: (production: Checked) => void, more: Partial<typeof facts> = {}) {
  const production = read("production");
  change(production);
  return configurationProblems(production, read(""), { ...facts, ...more });
}

describe("configurationProblems", () => {
  it("finds none in the repository", () => {
    expect(problemsAfter(() => {})).toEqual([]);
  });

  it.each<[string, (production: Checked) => void, string]>([
    ["a variable", ({ vars }) => delete vars["MAX_BUILDS"], "wrangler.toml: production does not bind MAX_BUILDS."],
    ["a queue", ({ queues }) => queues.producers?.pop(), "wrangler.toml: production does not bind CHORES."],
    [
      "an object",
      ({ durable_objects }) => durable_objects.bindings.pop(),
      "wrangler.toml: production does not bind IMAGE_LOG.",
    ],
    [
      "the files of the pages",
      (production) => delete production.assets,
      "wrangler.toml: production does not bind ASSETS.",
    ],
    ["a throttle", ({ ratelimits }) => ratelimits?.pop(), "wrangler.toml: production does not bind ADDRESS_THROTTLE."],
    [
      "a secret",
      ({ secrets }) => secrets?.required?.shift(),
      "wrangler.toml: production does not require the secret ADMIN_SECRET.",
    ],
    [
      "a migration",
      ({ migrations }) => migrations.pop(),
      "wrangler.toml: [[migrations]] does not create the class ImageLog.",
    ],
    [
      "a consumer of dead letters",
      ({ queues }) => (queues.consumers = queues.consumers?.filter(({ queue }) => queue !== "kiln-dead-imports")),
      "wrangler.toml: nothing consumes the dead letters of kiln-dead-imports.",
    ],
  ])("names %s that production lacks", (_, change, problem) => {
    expect(problemsAfter(change)).toContain(problem);
  });

  it("names a secret that is never made and not described", () => {
    const problems = problemsAfter(({ secrets }) => secrets?.required?.push("NEW_SECRET"));
    expect(problems).toEqual([
      "npm run deploy cannot make the secret NEW_SECRET.",
      "docs/operations/keys.md does not describe the secret NEW_SECRET.",
    ]);
  });

  it("names a class that the bundle does not export", () => {
    expect(problemsAfter(() => {}, { exports: facts.exports.slice(1) })).toEqual([
      "src/index.ts does not export the class Build.",
    ]);
  });

  it.each([
    ["1.20261001.0", "2026-11-22", "compatibility_date 2026-10-20 is newer than workerd 1.20261001.0 knows."],
    ["1.20261023.1", "2026-10-01", "compatibility_date 2026-10-20 is in the future."],
  ])("checks the compatibility date: workerd %s on %s", (workerdVersion, today, problem) => {
    expect(problemsAfter(() => {}, { workerdVersion, today: new Date(today) })).toEqual([problem]);
  });
});
