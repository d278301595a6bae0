/** The public log queries the witnesses that the operator has configured, and serves their cosignatures. */
import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it, vi } from "vitest";
import { isSignedBy, readCheckpoint, type Checkpoint } from "#lib/attest/log/checkpoint";
import { cosignatureLine, cosignersOf } from "#lib/attest/log/cosignature";
import { readKey, writeKey, type NamedKey } from "#lib/attest/log/note";
import { readProof } from "#lib/attest/log/proof";
import { judge, readSubmission } from "#lib/attest/log/witness";
import { publicKeyFrom } from "#lib/attest/signing-key";
import { signedIn, visit, type Client } from "../support/client.ts";
import { publishedAppliance } from "../support/gallery.ts";
import { sweepIn } from "../support/sweep.ts";
import { readXml } from "../support/xml.ts";

/** A witness at a URL. It answers like the real one. */
class Witness {
  readonly #key: KeyObject;
  readonly named: NamedKey;
  seen: Checkpoint | undefined;
  requests = 0;
  isAway = false;

  constructor(name: string) {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    this.#key = privateKey;
    const x = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
    this.named = { name, type: "witness", key: publicKeyFrom(x) };
  }

  get setting(): string {
    return `${writeKey(this.named)} https://${this.named.name}/`;
  }

  answer(text: string, logs: readonly NamedKey[]): Response {
    this.requests += 1;
    if (this.isAway) return new Response("away", { status: 502 });
    const submission = readSubmission(text) ?? expect.fail("not a submission");
    const verdict = judge(submission, logs, () => this.seen);
    if ("why" in verdict) return new Response(`${verdict.size ?? verdict.why}\n`, { status: verdict.status });
    this.seen = verdict;
    const signed = (message: Buffer) => sign(null, message, this.#key);
    return new Response(cosignatureLine(submission.note, { witness: this.named, sign: signed, at: 1_700_000_000 }));
  }
}

let tux: Client;
let one: Witness;
let other: Witness;
beforeEach(async () => {
  tux = await signedIn();
  one = new Witness("one.test");
  other = new Witness("other.test");
});

async function sweepWith(...witnesses: Witness[]): Promise<void> {
  const logs = (await (await visit("/log/keys")).text()).split("\n").flatMap((line) => readKey(line) ?? []);
  using _ = vi.spyOn(globalThis, "fetch").mockImplementation(async (to, init) => {
    const found = witnesses.find(({ named }) => String(to) === `https://${named.name}/add-checkpoint`);
    return found?.answer(String(init?.body), logs) ?? expect.fail(`a request to ${String(to)}`);
  });
  await sweepIn(0, { WITNESSES: witnesses.map(({ setting }) => setting).join(", ") });
}

const noteNow = async () => await (await visit("/log/checkpoint")).text();
const cosigned = (note: string) => cosignersOf(note, [one.named, other.named]).map(({ name }) => name);

it("gets the cosignatures of a new checkpoint, and serves them with it and with proofs", async () => {
  const { buildId } = await publishedAppliance(tux);
  expect(cosigned(await noteNow())).toEqual([]);

  await sweepWith(one, other);

  const note = await noteNow();
  expect(cosigned(note)).toEqual(["one.test", "other.test"]);
  const { keys } = await (await visit("/.well-known/kiln-attestation-keys.json")).json<{ keys: { pem: string }[] }>();
  expect(isSignedBy(note, keys)).toBe(true);
  const { build } = await readXml(await tux.get(`/builds/${buildId}`));
  const proof = readProof(await (await visit(`${new URL(build.download_url).pathname}.tlog-proof`)).text());
  expect(proof?.note).toBe(note);
});

it("asks each witness once for a checkpoint, and proves that the next one continues it", async () => {
  await publishedAppliance(tux);
  await sweepWith(one);
  const first = one.requests;
  await sweepWith(one);
  expect(one.requests).toBe(first);
  await publishedAppliance(tux);
  await sweepWith(one);
  expect(one.requests).toBe(first + 1);
  expect(one.seen).toEqual(readCheckpoint(await noteNow()));
});

it("asks a witness again that was away, and keeps what the other one has signed", async () => {
  await publishedAppliance(tux);
  one.isAway = true;
  await sweepWith(one, other);
  expect(cosigned(await noteNow())).toEqual(["other.test"]);
  one.isAway = false;
  await sweepWith(one, other);
  expect(cosigned(await noteNow())).toEqual(["one.test", "other.test"]);
});

it("keeps the cosignatures of older entries while a witness is away", async () => {
  const proofOf = async (buildId: number) => {
    const { build } = await readXml(await tux.get(`/builds/${buildId}`));
    return readProof(await (await visit(`${new URL(build.download_url).pathname}.tlog-proof`)).text())?.note ?? "";
  };
  const { buildId: earlier } = await publishedAppliance(tux);
  await sweepWith(one, other);
  one.isAway = true;
  const { buildId: later } = await publishedAppliance(tux);
  await sweepWith(one, other);
  expect(cosigned(await proofOf(earlier))).toEqual(["one.test", "other.test"]);
  expect(cosigned(await proofOf(later))).toEqual(["other.test"]);
});

it("learns from a witness what it has seen last, and proves from there", async () => {
  await publishedAppliance(tux);
  one.seen = readCheckpoint(await noteNow());
  await publishedAppliance(tux);
  await sweepWith(one);
  expect(cosigned(await noteNow())).toEqual(["one.test"]);
});

it("serves no cosignature of a witness that has seen another history, or signs with another key", async () => {
  await publishedAppliance(tux);
  const now = readCheckpoint(await noteNow()) ?? expect.fail("no checkpoint");
  one.seen = { ...now, root: Buffer.alloc(32, 7) };
  await sweepWith(one);
  one.seen = { ...now, size: now.size + 1 };
  await sweepWith(one);
  expect(cosigned(await noteNow())).toEqual([]);
  const impostor = new Witness("one.test");
  Object.defineProperty(impostor, "setting", { value: one.setting });
  await sweepWith(impostor);
  expect(cosignersOf(await noteNow(), [one.named, impostor.named])).toEqual([]);
});

it("goes on without witnesses if their setting cannot be read", async () => {
  await publishedAppliance(tux);
  await sweepIn(0, { WITNESSES: "nonsense https://one.test" });
  expect(readCheckpoint(await noteNow())).toBeDefined();
  expect(env.WITNESSES).toBe("");
});
