/** The agents on the operator's page. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { operate, signedIn } from "../support/client.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { pageOf, textOf } from "../support/html.ts";
import { operatorsBrowser, type Operator } from "../support/operator.ts";
import { patienceMs } from "../support/patience.ts";
import { bootableBuild, claimTestdrive, dial } from "../support/testdrives.ts";

let ops: Operator["ops"];
let firefox: Operator["firefox"];
let send: Operator["send"];
beforeEach(async () => {
  ({ ops, firefox, send } = await operatorsBrowser());
});

const agentOf = async (name: string) => {
  const { agents } = await (await operate("GET", "/agents")).json<{ agents: { name: string; drainedAt: unknown }[] }>();
  return agents.find((agent) => agent.name === name);
};

/** The cells of an agent's row, after its name. */
async function rowOf(name: string): Promise<(string | null)[]> {
  const rows = [...(await pageOf(firefox.get("/service"))).querySelectorAll("[aria-labelledby=agents] tbody tr")];
  const row = rows.find((each) => each.textContent?.includes(name));
  return [...(row?.querySelectorAll("td") ?? [])].map(({ textContent }) => textContent);
}

describe("the agents on /service", () => {
  it("drains an agent: it gets no work until it is told to go on", async () => {
    const name = `agent-${crypto.randomUUID().slice(0, 8)}`;
    const added = await (await operate("POST", "/agents", { name })).json<{ token: string }>();
    const claim = () => claimTestdrive(null, added.token);
    await send("/service/agents", { agent: name, drained: "yes" });
    expect((await agentOf(name))?.drainedAt).not.toBeNull();
    expect(textOf(await pageOf(firefox.get("/service")), "#result")).toBe(`${name} gets no new work.`);
    const tux = await signedIn();
    const build = await bootableBuild(tux);
    const posted = tux.post("/testdrives", { build_id: build.id });
    await scheduler.wait(300);
    expect(await (await claim()).json()).toEqual({ testdrive: null });
    await send("/service/agents", { agent: name, drained: "no" });
    expect(await (await claim()).json()).toMatchObject({ testdrive: { buildId: build.id } });
    await posted;
    expect((await send("/service/agents", { agent: "nobody", drained: "yes" })).status).toBe(422);
    await operate("DELETE", `/agents/${name}`);
  });

  it("shows what a connected agent reports of its host, and nothing of one that reports nothing", async () => {
    const name = `agent-${crypto.randomUUID().slice(0, 8)}`;
    const { token: secret } = await (await operate("POST", "/agents", { name })).json<{ token: string }>();
    const { webSocket } = await dial("/agent/socket", { authorization: `Bearer ${secret}` });
    webSocket?.accept();
    webSocket?.send('{"type":"of another version"}');
    expect((await rowOf(name)).slice(2, 6)).toEqual(["0", "0", "–", "–"]);
    const slots = { builds: 2, testdrives: 8 };
    webSocket?.send(JSON.stringify({ type: "report", load: 70, freeGb: 212, slots }));
    await vi.waitFor(
      async () => expect((await rowOf(name)).slice(2, 6)).toEqual(["0 of 2", "0 of 8", "70 %", "212 GB"]),
      patienceMs,
    );
    expect(await agentOf(name)).toMatchObject({ load: 70, freeGb: 212, slots });
    webSocket?.close();
    await operate("DELETE", `/agents/${name}`);
  });

  it("shows the state of an agent in a word", async () => {
    const name = `agent-${crypto.randomUUID().slice(0, 8)}`;
    const agent = await fakeAgent(name);
    const drain = (drained: string) => send("/service/agents", { agent: name, drained });
    const states: string[] = [];
    const note = async () => states.push((await rowOf(name))[0]?.trim() ?? "");
    await note();
    await drain("yes");
    await note();
    await drain("no");
    const build = await bootableBuild(ops);
    const posted = ops.post("/testdrives", { build_id: build.id });
    await vi.waitFor(
      async () =>
        expect(await (await claimTestdrive(null, agent.token)).json()).toMatchObject({
          testdrive: { buildId: build.id },
        }),
      patienceMs,
    );
    await note();
    await drain("yes");
    await note();
    await drain("no");
    await agent.hello({ hasRoom: false });
    await note();
    expect(states).toEqual(["Ready", "Drained", "At work", "Draining", "Disk almost full"]);
    await posted;
  });

  it("shows builds of an agent that only upload apart from its slots", async () => {
    const agent = await fakeAgent();
    const [first, second] = [await createAppliance(ops), await createAppliance(ops)];
    for (const appliance of [first, second]) await agent.claimsBuild(await startBuild(ops, appliance));
    const { webSocket } = await dial("/agent/socket", { authorization: `Bearer ${agent.token}` });
    webSocket?.accept();
    const slots = { builds: 1, testdrives: 0 };
    webSocket?.send(JSON.stringify({ type: "report", load: 70, freeGb: 212, slots }));
    await vi.waitFor(
      async () =>
        expect(textOf(await pageOf(firefox.get("/service")), "[aria-labelledby=agents]")).toContain(
          "1 of 1, 1 uploading",
        ),
      patienceMs,
    );
    webSocket?.close();
  });
});
