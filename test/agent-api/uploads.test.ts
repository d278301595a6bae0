import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { partBytes } from "#lib/contract/index";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn, type Client } from "../support/client.ts";
import { bytesOf, sha256 } from "../support/fake-agent.ts";
import { codeOf, runningBuild } from "../support/running-build.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(one.byteLength + other.byteLength);
  whole.set(one);
  whole.set(other, one.byteLength);
  return whole;
}

describe("an upload", () => {
  const first = new Uint8Array(partBytes).fill(1);
  const last = bytesOf("the last part");
  const image = last;

  it("resumes after the recorded parts", async () => {
    const whole = joined(first, last);
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload(whole.byteLength);
    expect((await attempt.sendsPart(1, first)).status).toBe(200);

    const state = await attempt.opensUpload(whole.byteLength);

    expect(state).toEqual({
      partBytes,
      complete: false,
      parts: [{ number: 1, sha256: sha256(first), size: partBytes }],
    });
    expect((await attempt.sendsPart(1, first)).status).toBe(200);
    expect((await attempt.sendsPart(2, last)).status).toBe(200);
    expect((await attempt.completesUpload(whole)).status).toBe(200);
    expect((await attempt.completesUpload(whole)).status).toBe(200);
    expect((await attempt.opensUpload(whole.byteLength)).complete).toBe(true);
    const stored = await env.BLOBS.get(`builds/${attempt.uid}/image-1`);
    expect(sha256((await stored?.bytes()) ?? bytesOf(""))).toBe(sha256(whole));
  });

  it("does not record a part whose digest differs from the announced one", async () => {
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload(image.byteLength);

    const answer = await attempt.sendsPart(1, image, { announced: sha256(bytesOf("something else")) });

    expect(await codeOf(answer)).toEqual([400, "wrong_digest"]);
    expect((await attempt.opensUpload(image.byteLength)).parts).toEqual([]);
  });

  it("forgets a part that is sent again with other bytes", async () => {
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload(image.byteLength);
    await attempt.sendsPart(1, image);
    const other = image.toReversed();

    await attempt.sendsPart(1, other, { announced: sha256(bytesOf("a lie")) });
    expect((await attempt.opensUpload(image.byteLength)).parts).toEqual([]);
    await attempt.sendsPart(1, other);

    expect((await attempt.opensUpload(image.byteLength)).parts).toMatchObject([{ sha256: sha256(other) }]);
  });

  it.each([
    ["the first of two is not 16 MiB long", partBytes + 5, 1, 5],
    ["the last has the wrong size", 20, 1, 5],
    ["its number is too high", 5, 2, 5],
  ])("refuses a part when %s", async (_what, size, number, partSize) => {
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload(size);

    const answer = await attempt.sendsPart(number, new Uint8Array(partSize));

    expect(await codeOf(answer)).toEqual([400, "wrong_part"]);
  });

  it("refuses a part before the upload is opened", async () => {
    const { attempt } = await runningBuild(tux);

    expect(await codeOf(await attempt.sendsPart(1, image))).toEqual([409, "no_upload"]);
  });

  it("does not complete with missing parts or a wrong digest", async () => {
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload(image.byteLength);
    expect(await codeOf(await attempt.completesUpload(image))).toEqual([409, "incomplete"]);
    await attempt.sendsPart(1, image);

    expect(await codeOf(await attempt.completesUpload(image.toReversed()))).toEqual([400, "wrong_digest"]);
    expect((await attempt.completesUpload(image)).status).toBe(200);
  });

  it("is complete even if R2's answer was lost", async () => {
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload(image.byteLength);
    await attempt.sendsPart(1, image);
    await attempt.completesUpload(image);
    await runInDurableObject(await objectOfBuild(attempt.claim.buildId), (_build, { storage }) => {
      storage.sql.exec("UPDATE artifacts SET stored = NULL");
    });

    expect((await attempt.completesUpload(image)).status).toBe(200);
    expect((await attempt.opensUpload(image.byteLength)).complete).toBe(true);
  });

  it("can be opened before its size is known", async () => {
    const whole = joined(first, last);
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload();
    await attempt.sendsPart(1, first);

    expect((await attempt.opensUpload()).parts).toMatchObject([{ number: 1, size: partBytes }]);
    expect((await attempt.sendsPart(2, last)).status).toBe(200);
    expect((await attempt.completesUpload(whole)).status).toBe(200);

    expect((await env.BLOBS.head(`builds/${attempt.uid}/image-1`))?.size).toBe(whole.byteLength);
  });

  it.each([
    ["larger than 16 MiB", 1, partBytes + 1],
    ["after R2's last part", 10_001, 5],
  ])("of unknown size refuses a part that is %s", async (_what, number, partSize) => {
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload();

    expect(await codeOf(await attempt.sendsPart(number, new Uint8Array(partSize)))).toEqual([400, "wrong_part"]);
  });

  it("of unknown size cannot have a short part before its last", async () => {
    const { attempt } = await runningBuild(tux);
    await attempt.opensUpload();
    await attempt.sendsPart(1, last);
    await attempt.sendsPart(2, first);

    expect(await codeOf(await attempt.completesUpload(joined(last, first)))).toEqual([400, "wrong_part"]);
  });

  it("refuses an artifact of an unknown name", async () => {
    const { attempt } = await runningBuild(tux);

    expect(await codeOf(await attempt.call("artifacts/shadow", { size: 1, fileName: "x" }))).toEqual([400, "invalid"]);
  });
});
