/** Who may see, continue and end an upload that takes several requests. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, withKey, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { tokenOf } from "../support/tokens.ts";
import { begun, expectRefused, offsetOf, tusClient, type TusClient } from "../support/uploads.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

let tux: Client;
let tus: TusClient;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  tus = tusClient(tux);
  applianceId = await createAppliance(tux);
});

const aFile = () => ({ appliance_id: applianceId, filename: "model.bin" });

describe("someone else", () => {
  it("can neither see, continue nor end an upload", async () => {
    const id = await begun(tus, aFile(), 5);
    const stranger = tusClient(await signedIn());
    expect((await stranger.head(id)).status).toBe(404);
    await expectRefused(await stranger.send(id, 0, "hello"), 404);
    await expectRefused(await stranger.end(id), 404);
    expect(await offsetOf(tus, id)).toBe(0);
  });

  it("cannot with a token for another appliance, or one that only reads", async () => {
    const id = await begun(tus, aFile(), 5);
    const reader = tusClient(withKey(tux, (await tokenOf(tux)).secret));
    const other = { scope: "publish", appliance_id: await createAppliance(tux) };
    const ofOther = tusClient(withKey(tux, (await tokenOf(tux, other)).secret));
    expect((await reader.head(id)).status).toBe(200);
    await expectError(await reader.send(id, 0, "hello"), 403, "access_denied");
    await expectError(await ofOther.send(id, 0, "hello"), 403, "access_denied");
    await expectError(await ofOther.begin(aFile(), 5), 403, "access_denied");
    const inHeader = { "upload-metadata": `appliance_id ${btoa(String(applianceId))},filename ${btoa("a")}` };
    const { upload } = await readXml(await ofOther.begin({ appliance_id: other.appliance_id }, 5, inHeader));
    expect(upload.appliance_id).toBe(String(other.appliance_id));
    await expectError(await ofOther.begin({}, 5, inHeader), 403, "access_denied");
    // The query names the token's appliance as `appliance_id[]`. The header names another appliance, or another
    // purpose.
    const listed = { "appliance_id[]": other.appliance_id };
    await expectError(await ofOther.begin(listed, 5, inHeader), 403, "access_denied");
    const forPackage = { "upload-metadata": `base_system ${btoa("tiny-1.0")}` };
    await expectError(await ofOther.begin(listed, 5, forPackage), 403, "access_denied");
  });
});
