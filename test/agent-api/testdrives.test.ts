import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { attemptHeader, TestdriveClaimAnswer, type ClaimOnce } from "#lib/contract/index";
import { operate, signedIn, visit } from "../support/client.ts";
import {
  claimTestdrive,
  bootableBuild,
  db,
  dial,
  dialAsAgent,
  objectOf,
  startDrive,
  until,
} from "../support/testdrives.ts";
import type { Build } from "#storage/builds";
import { listNewTestdrives } from "#storage/testdrives";

const bearer = `Bearer ${env.AGENT_TOKEN}`;
const newAgent = async (): Promise<string> => {
  const answer = await operate("POST", "/agents", { name: `a-${crypto.randomUUID().slice(0, 8)}` });
  return (await answer.json<{ token: string }>()).token;
};

/** Waits until agents can claim the testdrive of that build. */
const untilClaimable = (build: Build) =>
  until(async () => {
    const row = (await listNewTestdrives(db, new Date(0))).find(({ buildId }) => buildId === build.id);
    return row && (await objectOf(row).look()) ? true : undefined;
  });

const claims = async (token?: string, once?: ClaimOnce) =>
  TestdriveClaimAnswer.parse(await (await claimTestdrive(null, token, once)).json()).testdrive;

describe("POST /agent/testdrives/claim", () => {
  it("returns what the agent needs, with the user's password", async () => {
    const { id, vnc, claim } = await startDrive(await signedIn());

    expect(claim).toEqual({
      testdriveId: id,
      token: expect.stringMatching(new RegExp(`^\\d+\\.${id}\\.[\\w-]{36}\\.[\\w-]{32}\\.[0-9a-f]{64}$`)),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      password: vnc.password,
      buildId: expect.any(Number),
      imageType: "oem",
      hasNetwork: false,
      arch: "x86_64",
      hasSecureBoot: false,
      wantsScreen: false,
      memoryMb: 512,
      image: {
        fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz",
        size: 1000,
        rawSize: 5000,
        sha256: "b".repeat(64),
        compressed: true,
      },
    });
  });

  it("returns null if no testdrive waits", async () => {
    expect(await (await claimTestdrive()).json()).toEqual({ testdrive: null });
  });

  it("gives a testdrive to only one of many concurrent agents", async () => {
    const tux = await signedIn();
    const build = await bootableBuild(tux);
    const tokens = [await newAgent(), await newAgent(), await newAgent()];
    const posted = tux.post("/testdrives", { build_id: build.id });
    await untilClaimable(build);

    const claims = await until(async () => {
      const answers = await Promise.all(tokens.map((token) => claimTestdrive(null, token)));
      const found = await Promise.all(answers.map(async (answer) => TestdriveClaimAnswer.parse(await answer.json())));
      return found.some(({ testdrive }) => testdrive) ? found : undefined;
    });

    expect(claims.filter(({ testdrive }) => testdrive)).toHaveLength(1);
    expect((await posted).status).toBe(200);
  });

  it("returns the oldest testdrive first", async () => {
    const [tux, tix] = [await signedIn(), await signedIn()];
    const [older, newer] = [await bootableBuild(tux), await bootableBuild(tix)];
    const first = tux.post("/testdrives", { build_id: older.id });
    await untilClaimable(older);
    const second = tix.post("/testdrives", { build_id: newer.id });
    await untilClaimable(newer);

    const claimed: number[] = [];
    await until(async () => {
      const { testdrive } = TestdriveClaimAnswer.parse(await (await claimTestdrive()).json());
      if (testdrive) claimed.push(testdrive.buildId);
      return claimed.length === 2 ? true : undefined;
    });

    expect(claimed).toEqual([older.id, newer.id]);
    await Promise.all([first, second]);
  });

  it("refuses a caller without a token and an invalid body", async () => {
    expect((await claimTestdrive(null, "wrong")).status).toBe(401);
    expect((await claimTestdrive({ host: "", port: 0 })).status).toBe(400);
    const noBody = await visit("/agent/testdrives/claim", { method: "POST", headers: { authorization: bearer } });
    expect(noBody.status).toBe(400);
  });
});

describe("a repeated claim", () => {
  const nonce = crypto.randomUUID();

  /** Claims a testdrive with another agent. The answer is lost. */
  async function lostClaim() {
    const [tux, token] = [await signedIn(), await newAgent()];
    const build = await bootableBuild(tux);
    const posted = tux.post("/testdrives", { build_id: build.id });
    const lost = await until(async () => (await claims(token, { nonce })) ?? undefined);
    expect(lost.buildId).toBe(build.id);
    await posted;
    return { lost, token, tux };
  }

  it("gets the same answer, whose token opens the session", async () => {
    const { lost, token } = await lostClaim();
    const again = await claims(token, { nonce, isRepeated: true });
    expect(again).toEqual(lost);
    const headers = { authorization: `Bearer ${token}`, [attemptHeader]: lost.token };
    expect((await dial(`/agent/testdrives/${lost.testdriveId}/control`, headers)).status).toBe(101);
  });

  it("gets nothing with another nonce, without one, or from another agent", async () => {
    const { token } = await lostClaim();
    expect(await claims(token, { nonce: crypto.randomUUID(), isRepeated: true })).toBeNull();
    expect(await claims(token, { isRepeated: true })).toBeNull();
    expect(await claims(await newAgent(), { nonce, isRepeated: true })).toBeNull();
  });

  it("gets nothing after the session's end", async () => {
    const { lost, token, tux } = await lostClaim();
    await tux.delete(`/testdrives/${lost.testdriveId}`);
    expect(await claims(token, { nonce, isRepeated: true })).toBeNull();
  });
});

describe("the agent's sockets", () => {
  it.each(["control", "viewers/plain-x"])("refuses any agent but the attempt's own at %s", async (path) => {
    const drive = await startDrive(await signedIn());
    const url = `/agent/testdrives/${drive.id}/${path}`;
    const token = { [attemptHeader]: drive.claim.token };
    const status = async (headers: Record<string, string>) => (await dial(url, headers)).status;

    expect(await status(token)).toBe(401);
    expect(await status({ authorization: bearer })).toBe(400);
    expect(await status({ authorization: bearer, [attemptHeader]: "wrong" })).toBe(410);
    expect(await status({ authorization: `Bearer ${await newAgent()}`, ...token })).toBe(410);
    expect((await visit(url, { headers: { authorization: bearer, ...token } })).status).toBe(400);
  });

  it("answers 410 for an unknown session or viewer", async () => {
    const drive = await startDrive(await signedIn());

    expect((await dialAsAgent({ ...drive, id: 987_654 }, "control")).status).toBe(410);
    expect((await dialAsAgent(drive, "viewers/plain-nobody")).status).toBe(410);
  });
});
