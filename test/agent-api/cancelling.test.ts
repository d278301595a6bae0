import { beforeEach, describe, expect, it, vi } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { patienceMs } from "../support/patience.ts";
import { codeOf, runningBuild } from "../support/running-build.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

describe("cancelling", () => {
  it("reaches the agent on its socket and with its next heartbeat", async () => {
    const { buildId, agent, attempt } = await runningBuild(tux);
    const { webSocket } = await agent.call("GET", "/socket", { headers: { upgrade: "websocket" } });
    const heard: unknown[] = [];
    webSocket?.addEventListener("message", ({ data }) => void heard.push(JSON.parse(String(data))));
    webSocket?.accept();

    await tux.delete(`/running_builds/${buildId}`);

    await vi.waitFor(() => expect(heard).toContainEqual({ type: "cancel", buildId }), patienceMs);
    expect(await (await attempt.beats()).json()).toEqual({ cancel: true });
    expect((await attempt.writesLog(0, "more")).status).toBe(410);
    expect((await attempt.finishes()).status).toBe(410);
    webSocket?.close();
  });

  it("notifies every agent's socket when a build starts", async () => {
    const agent = await fakeAgent();
    const { webSocket } = await agent.call("GET", "/socket", { headers: { upgrade: "websocket" } });
    const heard: unknown[] = [];
    webSocket?.addEventListener("message", ({ data }) => void heard.push(data));
    webSocket?.accept();
    webSocket?.send("ping");

    await startBuild(tux, await createAppliance(tux));

    await vi.waitFor(() => expect(heard).toEqual(expect.arrayContaining(["pong", '{"type":"wake"}'])), patienceMs);
    webSocket?.close();
  });

  it("refuses a request for the socket that is not a WebSocket upgrade", async () => {
    const agent = await fakeAgent();

    expect(await codeOf(await agent.call("GET", "/socket"))).toEqual([400, "invalid"]);
  });
});
