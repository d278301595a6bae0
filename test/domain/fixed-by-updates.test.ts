/** Finds the advisories that newer versions in the repositories fix. */
import { expect, it } from "vitest";
import { fixedByUpdates } from "#domain/advisories/fixed-by-updates";
import type { Affected } from "#domain/advisories/affected";

const affected = (packages: string[], fixed: string | undefined): Affected => ({
  id: "CVE-2026-1",
  aliases: [],
  state: fixed === undefined ? "open" : "fixed",
  source: "openssl",
  installed: "3.0.15-1",
  fixed,
  urgency: undefined,
  packages,
});
const repository = { id: 1, name: "main", priority: 10, purpose: null };
const update = (name: string, available: string) => ({
  name,
  arch: "amd64",
  installed: "1",
  available,
  isSecurity: true,
  repository,
});
const installed = [
  { name: "libssl3", version: "3.0.15-1", arch: "amd64", source: "openssl", sourceVersion: "3.0.15-1" },
  { name: "openssl-dev", version: "9-1", arch: "amd64", source: "openssl", sourceVersion: "3.0.15-1" },
];

it.each([
  ["has the fix", affected(["libssl3"], "3.0.17-1"), [update("libssl3", "3.0.17-1")], 1],
  ["has a later version", affected(["libssl3"], "3.0.17-1"), [update("libssl3", "3.0.18-1")], 1],
  ["has a version without the fix", affected(["libssl3"], "3.0.17-1"), [update("libssl3", "3.0.16-1")], 0],
  ["has a version before the fix", affected(["libssl3"], "3.0.17-1"), [update("libssl3", "3.0.17-1~bpo1")], 0],
  ["has only other packages", affected(["libssl3"], "3.0.17-1"), [update("bash", "9")], 0],
  ["has a package with versions of its own", affected(["openssl-dev"], "3.0.17-1"), [update("openssl-dev", "1-2")], 1],
  ["has a version, but there is no fix", affected(["libssl3"], undefined), [update("libssl3", "3.0.17-1")], 0],
])("a repository %s", (_, one, updates, count) => {
  expect(fixedByUpdates([one], { installed, updates, type: "deb" })).toHaveLength(count);
});
