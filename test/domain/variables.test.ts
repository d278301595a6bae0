import { expect, it } from "vitest";
import wranglerToml from "../../wrangler.toml?raw";
import { variableNames, variableProblem } from "#domain/variables";

const key = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

it("knows each variable of wrangler.toml, and the optional secret", () => {
  const section = /^\[vars\]\n(.*?)\n\n\[/ms.exec(wranglerToml)?.[1] ?? "";
  const named = [...section.matchAll(/^([A-Z_]+) = /gm)].map(([, name]) => name);
  expect([...variableNames].toSorted()).toEqual(
    ["MAIL_TOKEN", ...named.filter((name) => name !== "QUEUE_API_TOKEN")].toSorted(),
  );
});

it.each([
  ["MAX_BUILDS", "8"],
  ["ACCOUNT_QUOTA_GB", "0.5"],
  ["LOG_REQUESTS", "0.01"],
  ["LOG_REQUESTS", "1"],
  ["ACCOUNT_RATES", ""],
  ["ACCOUNT_RATES", "builds=20, clones=0 packages_a_day=5000000"],
  ["ATTESTATION_RETIRED_KEYS", ""],
  ["ATTESTATION_RETIRED_KEYS", `${key} ${key}`],
  ["MAIL_FROM", "kiln@example.org"],
  ["DB", "another binding"],
])("accepts %s=%j", (name, value) => {
  expect(variableProblem({ [name]: value })).toBeUndefined();
});

it.each([
  ["MODE", "production"],
  ["MAX_BUILDS", ""],
  ["MAX_BUILDS", "-1"],
  ["MAX_BUILDS", "1.5"],
  ["MAX_UPLOAD_MB", "2G"],
  ["KEEP_IMAGES_DAYS", "30 days"],
  ["LOG_REQUESTS", "10"],
  ["ACCOUNT_RATES", "build=20"],
  ["ACCOUNT_RATES", "builds:20"],
  ["ATTESTATION_RETIRED_KEYS", key.slice(1)],
])("refuses %s=%j", (name, value) => {
  expect(variableProblem({ [name]: value })).toMatch(new RegExp(`^${name}: `));
});
