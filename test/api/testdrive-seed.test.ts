import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { findTestdrive } from "#storage/testdrives";
import { signedIn } from "../support/client.ts";
import { bootableBuild, db, objectOf, openControl, report, startDrive, untilRowIs } from "../support/testdrives.ts";
import { expectError } from "../support/xml.ts";

const secret = "k9-of-the-seed";
const seed = {
  user_data: `#cloud-config\npassword: ${secret}`,
  meta_data: "instance-id: a",
  network_config: "version: 2",
};

/** The whole storage of the session's object. */
const storedIn = (drive: { uid: string }): Promise<string> =>
  runInDurableObject(objectOf(drive), async (_object, { storage }) =>
    JSON.stringify([...storage.kv.list()].concat([...(await storage.list())])),
  );

describe("POST testdrives with data for the first boot", () => {
  it("gives it to the agent that runs the testdrive, and stores it nowhere", async () => {
    const drive = await startDrive(await signedIn(), undefined, seed);

    expect(drive.claim.seed).toEqual({
      userData: seed.user_data,
      metaData: seed.meta_data,
      networkConfig: seed.network_config,
    });
    expect(await storedIn(drive)).not.toContain(secret);
    expect(JSON.stringify(await findTestdrive(db, drive.id))).not.toContain(secret);
    report(await openControl(drive), { type: "ready" });
    await untilRowIs(drive, "running");
    expect(await storedIn(drive)).not.toContain(secret);
    const { results } = await env.DB.prepare("SELECT * FROM idempotent_answers").all();
    expect(JSON.stringify(results)).not.toContain(secret);
  });

  it("gives nothing without it", async () => {
    expect((await startDrive(await signedIn())).claim).not.toHaveProperty("seed");
  });

  it("refuses what cloud-init would ignore, before a testdrive exists", async () => {
    const tux = await signedIn();
    const build = await bootableBuild(tux);
    const answer = await tux.post("/testdrives", { build_id: build.id, user_data: "hostname: a" });
    await expectError(answer, 400, "invalid_value");
    expect(await (await tux.get("/testdrives")).text()).not.toContain("<testdrive>");
  });
});
