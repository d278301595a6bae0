import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { resolve } from "#domain/software/resolution";
import type { ApplianceSoftware } from "#domain/software/resolution-request";
import { solverModule } from "#lib/solver/module";
import { openSolver } from "#lib/solver/solver";
import { openDatabase } from "#storage/db";
import type { Repository } from "#storage/repositories";
import { primaryXmlOf } from "../solver/repo-dsl.ts";

/** The choice of one package, from a repository with these. */
async function choosing(name: string, packages: string[]): Promise<ApplianceSoftware> {
  const part = (await openSolver(solverModule)).addRepository("part");
  part.readPrimary(new TextEncoder().encode(primaryXmlOf(packages)));
  part.finish();
  await env.BLOBS.put("test-parts/complex.solv", part.write("solving"));
  const row = { id: 1, name: "main", priority: 99, revision: "revision", parts: ["test-parts/complex.solv"] };
  return {
    arch: "x86_64",
    imageType: "oem",
    settings: { firstBoot: "none", automaticUpdates: "none", diskEncryption: "none", fileSystem: "ext4" },
    baseSystem: undefined,
    // Resolution reads only these columns.
    repositories: [row as Repository],
    selection: [{ kind: "package", name, version: null, repositoryId: null }],
  };
}

it("a search that is too long is a problem, and others are still solved", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const services = { env, db: openDatabase(env) };
  const terms = Array.from({ length: 18 }, (_, at) => `(x${at} and y${at})`);
  const packages = [
    `a-1.0 requires (${terms.join(" or ")})`,
    ...terms.flatMap((_, at) => [`x${at}-1.0`, `y${at}-1.0`]),
  ];

  const answer = await resolve(services, await choosing("a", packages));
  expect(answer).toMatchObject({ state: "unsolvable", problems: [{ text: expect.stringContaining("too complex") }] });
  // It is remembered.
  expect(await resolve(services, await choosing("a", packages))).toBe(answer);
  expect(await resolve(services, await choosing("x1", packages))).toMatchObject({ packages: [{ name: "x1" }] });
});
