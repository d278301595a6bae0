import { restClient } from "../../test/acceptance/support/rest.ts";
import { cloneJeos, postBuild } from "../place.ts";
import { finishBuild } from "./finished-build.ts";
import { authorizationOf, counted, type Scenario, type Stage } from "./scenario.ts";

const packages = 5_000;
const atOnce = 8;
const times = 20;

/**
 * Each draft compares two builds in which every package differs. No agent has made these builds, only their results.
 */
export const drafts: Scenario = {
  name: "drafts",
  what: `${times} drafts of release notes for ${packages.toLocaleString("en")} packages, ${atOnce} at the same time`,
  prepare: async (stage) => {
    const { account } = stage;
    const client = restClient(account);
    const id = await cloneJeos(client);
    await build(stage, await postBuild(client, id), "0.0.1");
    await client.call("POST", `/gallery/appliances/${id}/version/0.0.1`);
    await build(stage, await postBuild(client, id, { image_type: "oem", version: "0.0.2" }), "0.0.2");
    const url = `${account.url}/api/v2/user/gallery/appliances/${id}/version/0.0.2/release_notes_draft`;
    const headers = { authorization: authorizationOf(account) };
    const draft = async () => {
      const answer = await fetch(url, { headers });
      await answer.arrayBuffer();
      return answer.status;
    };
    return async () => {
      const statuses: number[] = [];
      const draftOn = async () => {
        while (statuses.length < times) statuses.push(await draft());
      };
      await Promise.all(Array.from({ length: atOnce }, draftOn));
      return counted(statuses);
    };
  },
};

/** One of these builds. All its packages have its version. */
async function build(stage: Stage, buildId: string, version: string): Promise<void> {
  const common = { version, release: "1", arch: "x86_64", license: "GPL-2.0-or-later" };
  const installed = Array.from({ length: packages }, (_, n) => ({ name: `package-${n}`, ...common }));
  await finishBuild(stage, buildId, { image: new Uint8Array(1), installed });
}
