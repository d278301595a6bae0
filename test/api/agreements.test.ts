import { beforeEach, describe, expect, it } from "vitest";
import { accept, loadWithAgreement, tinyBase } from "../support/agreements.ts";
import { expectQueued } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { expectError, readXml } from "../support/xml.ts";

const agreement = { title: "Tiny Enterprise Agreement", text: "Keep the rules." };
const page = `https://kiln.test/agreements/${tinyBase}`;

let tux: Client;
let appliance: number;
beforeEach(async () => {
  tux = await signedIn();
  appliance = await createAppliance(tux);
  await loadWithAgreement(agreement);
});

const build = (params = {}) => tux.post("/running_builds", { appliance_id: appliance, ...params });
const statusOf = async (id: number) => (await readXml(await tux.get(`/appliances/${id}/status`))).status;
const runningBuilds = async () =>
  (await readXml(await tux.get(`/running_builds?appliance_id=${appliance}`))).running_builds.running_build;

describe("an appliance on a base system with an agreement", () => {
  it("is not built until its owner accepts it at the URL given", async () => {
    const message = await expectError(await build(), 400, "sle_agreement_missing");

    expect(message).toContain(agreement.title);
    expect(message.endsWith(page)).toBe(true);
    expect(await runningBuilds()).toBeUndefined();
    await accept(tux);
    await expectQueued(await startBuild(tux, appliance), appliance);
  });

  it("gets the agreement's error before its configuration's", async () => {
    await tux.post(`/appliances/${appliance}/cmd/add_package`, { name: "broken-dep" });

    await expectError(await build(), 400, "sle_agreement_missing");
    await expectError(await build({ force: 1 }), 400, "sle_agreement_missing");
    await accept(tux);
    await expectError(await build(), 400, "configuration_error");
  });

  it("has an issue with the page's URL, until it is accepted", async () => {
    const { state, issues } = await statusOf(appliance);

    // A reload of the catalogue checks its repositories again, which adds warnings after this issue.
    const [first] = [issues.issue].flat();
    expect({ state, first }).toEqual({ state: "error", first: { type: "error", text: expect.stringContaining(page) } });
    await accept(tux);
    expect((await statusOf(appliance)).state).toBe("ok");
  });

  it("has an agreement that only its owner can accept", async () => {
    await accept(await signedIn());

    await expectError(await build(), 400, "sle_agreement_missing");
    expect((await statusOf(1)).state).toBe("error");
  });

  it("requires each new text to be accepted, and each only once", async () => {
    await accept(tux);
    await loadWithAgreement({ ...agreement, text: "Keep other rules." });

    await expectError(await build(), 400, "sle_agreement_missing");
    await loadWithAgreement(agreement);
    await expectQueued(await startBuild(tux, appliance), appliance);
  });

  it("needs no acceptance after the catalogue drops the agreement", async () => {
    await loadWithAgreement();

    expect((await statusOf(appliance)).state).toBe("ok");
    await expectQueued(await startBuild(tux, appliance), appliance);
  });
});
