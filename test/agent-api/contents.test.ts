/** The appliance's own files, as the agent downloads them for a build. */
import { beforeAll, expect, it } from "vitest";
import { attemptHeader } from "#lib/contract/index";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { bytesOf, fakeAgent, sha256, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { send, uploadFile } from "../support/files.ts";
import { sweepIn } from "../support/sweep.ts";
import { pngOf } from "../picture/png-maker.ts";

beforeAll(loadTemplates);

const fetchContent = (agent: FakeAgent, { claim }: Attempt, blobId: string, token = claim.token) =>
  agent.call("GET", `/builds/${claim.buildId}/contents/${blobId}`, { headers: { [attemptHeader]: token } });

const bytesIn = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());

/** A claimed build of an appliance with one file. */
async function building(content = "hello") {
  const tux = await signedIn();
  const applianceId = await createAppliance(tux);
  const query = { filename: "motd", path: "/etc", owner: "root", group: "wheel", permissions: "0640" };
  const file = await uploadFile(tux, applianceId, content, { query });
  const agent = await fakeAgent();
  const attempt = await agent.claimsBuild(await startBuild(tux, applianceId));
  const [frozen] = attempt.claim.input.files ?? [];
  if (!frozen) throw new Error("no file is frozen");
  return { tux, applianceId, file, agent, attempt, frozen };
}

it("freezes files with their paths and owners for the attempt", async () => {
  const { agent, attempt, frozen } = await building();

  expect(frozen).toMatchObject({ path: "/etc/motd", mode: 0o640, owner: "root", group: "wheel", size: 5 });
  expect(frozen.sha256).toBe(sha256(bytesOf("hello")));
  const answer = await fetchContent(agent, attempt, frozen.blobId);
  expect([answer.status, await bytesIn(answer)]).toEqual([200, bytesOf("hello")]);
  expect(attempt.claim.input.description["config.sh"]).toContain("'/etc/motd' '0640' 'root' 'wheel'");
});

it("keeps frozen files for a build after the appliance's are deleted", async () => {
  const { tux, file, agent, attempt, frozen } = await building();
  await tux.delete(`/files/${file.id}`);
  await sweepIn(2 * 60 * 60_000);
  expect(await bytesIn(await fetchContent(agent, attempt, frozen.blobId))).toEqual(bytesOf("hello"));
});

it("serves frozen files only to the attempt that builds with them", async () => {
  const [one, other] = [await building("one"), await building("other")];
  const foreign = await fetchContent(one.agent, one.attempt, other.frozen.blobId);
  expect([foreign.status, await foreign.json()]).toMatchObject([404, { error: { code: "no_content" } }]);
  expect((await fetchContent(one.agent, one.attempt, one.frozen.blobId, "another-token")).status).toBe(410);
  expect((await fetchContent(one.agent, one.attempt, "..%2f..%2fbuilds")).status).toBe(404);
  const path = `/builds/${one.attempt.claim.buildId}/contents/${one.frozen.blobId}`;
  expect((await one.agent.call("GET", path)).status).toBe(400);
  expect((await visit(`/agent${path}`, { headers: { [attemptHeader]: one.attempt.claim.token } })).status).toBe(401);
});

it("omits disabled files and includes the pictures", async () => {
  const tux = await signedIn();
  const applianceId = await createAppliance(tux);
  await uploadFile(tux, applianceId, "off", { query: { enabled: "false" } });
  const picture = pngOf(8, 8);
  const answer = await send(tux, picture, { method: "PUT", path: `/appliances/${applianceId}/configuration/logo` });
  expect(answer.status).toBe(200);
  const agent = await fakeAgent();

  const attempt = await agent.claimsBuild(await startBuild(tux, applianceId));

  const files = attempt.claim.input.files ?? [];
  expect(files.map(({ path }) => path)).toEqual(["/usr/share/kiln/logo.png"]);
  const logo = await fetchContent(agent, attempt, files[0]?.blobId ?? "");
  expect(await bytesIn(logo)).toEqual(picture);
});

it("freezes password hashes and no passwords", async () => {
  const tux = await signedIn();
  const applianceId = await createAppliance(tux);
  const configuration = `<configuration><databases><database><type>mysql</type><users><user><username>shop</username>
    <password>very-secret</password><database_list>shop</database_list></user></users></database></databases>
    <users><user><name>root</name><password>most-secret</password></user></users></configuration>`;
  const path = `/appliances/${applianceId}/configuration`;
  expect((await send(tux, configuration, { method: "PUT", path })).status).toBe(200);
  const agent = await fakeAgent();

  const { claim } = await agent.claimsBuild(await startBuild(tux, applianceId));

  expect(JSON.stringify(claim.input)).not.toMatch(/(very|most)-secret/);
  expect(claim.input.description["config.xml"]).toContain('password="$6$');
  expect(claim.input.description["root/usr/lib/kiln/databases/mysql.sql"]).toMatch(/AS '\*[0-9A-F]{40}'/);
});
