/** The signatures of repositories and the source date in a frozen input. */
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";

beforeAll(loadTemplates);

async function claimedInput() {
  const tux = await signedIn();
  const applianceId = await createAppliance(tux);
  const buildId = await startBuild(tux, applianceId);
  const { claim } = await (await fakeAgent()).claimsBuild(buildId);
  const edited = await env.DB.prepare("SELECT last_edited_at AS at FROM appliances WHERE id = ?")
    .bind(applianceId)
    .first<number>("at");
  return { ...claim.input, editedSeconds: Math.floor((edited ?? 0) / 1000) };
}

it("lists each repository's signing keys, or null if it is unsigned", async () => {
  const unsigned = await claimedInput();
  expect(unsigned.repositories.map(({ trust }) => trust)).toEqual(unsigned.repositories.map(() => null));

  const [{ id } = expect.fail("it has no repository")] = unsigned.repositories;
  const keys = [{ name: "Tiny", fingerprint: "ab".repeat(20), armour: "-----BEGIN PGP PUBLIC KEY BLOCK-----" }];
  await env.DB.prepare("UPDATE repositories SET revision = ?, signer = ?, signing_keys = ? WHERE id = ?")
    .bind("0".repeat(64), "AB".repeat(20), JSON.stringify(keys), id)
    .run();
  const signed = await claimedInput();
  expect(signed.repositories.find((one) => one.id === id)?.trust).toEqual({
    index: "repodata/repomd.xml",
    indexSha256: "0".repeat(64),
    signedBy: "ab".repeat(20),
    keys,
  });
});

it("uses the time of the last change as its source date", async () => {
  const { sourceDate, editedSeconds } = await claimedInput();
  expect(sourceDate).toBeGreaterThanOrEqual(editedSeconds);
  expect(sourceDate).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
});
