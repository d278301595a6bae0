import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { signCheckpoint, verifierKey } from "../../src/lib/attest/log/checkpoint.ts";
import { entryOf, writeProof } from "../../src/lib/attest/log/proof.ts";
import { nodesInTiles } from "../../src/lib/attest/log/tiles.ts";
import { consistencyProof, inclusionProof } from "../../src/lib/attest/log/tree.ts";
import { writeSubmission } from "../../src/lib/attest/log/witness.ts";
import { openSigningKey } from "../../src/lib/attest/signing-key.ts";
import { PlainLog } from "../../test/attest/log/plain-log.ts";
import { newMachine, type Machine } from "./support/machine.ts";
import { newKey, signedProvenance } from "./support/service.ts";

const key = newKey();
const signer = await openSigningKey(key.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"));
const origin = "kiln.test/log";
const name = "First.x86_64-0.0.1.oem.tar.gz";
const bills = { [`${name}.spdx.json`]: "{}", [`${name}.cdx.json`]: "{}" };
const provenance = signedProvenance({ [name]: "an image", ...bills }, key);
const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
const entry = entryOf({
  image: sha256("an image"),
  statement: sha256(Buffer.from(JSON.parse(provenance).payload, "base64")),
});

let machine: Machine;
const running: ChildProcess[] = [];
const at = (file: string) => join(machine.folder, file);

beforeEach(() => {
  machine = newMachine();
  for (const [file, content] of Object.entries({ [name]: "an image", ...bills, [`${name}.intoto.jsonl`]: provenance }))
    writeFileSync(at(file), content);
  writeFileSync(at("kiln.pem"), signer.pem);
  writeFileSync(at("logs.keys"), `# the log of a test\n${verifierKey(origin, signer)}\n`);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(stop));
  machine[Symbol.dispose]();
});

async function stop(one: ChildProcess): Promise<void> {
  if (one.exitCode !== null) return;
  one.kill("SIGTERM");
  await once(one, "exit");
}

interface Started {
  process: ChildProcess;
  key: string;
  url: string;
}

async function witness(state: string, called = "witness.test/one"): Promise<Started> {
  const words = ["log", "witness", "--name", called, "--logs", at("logs.keys"), "--state", at(state), "--port", "0"];
  const started = spawn(at("bin/kiln"), words, { env: machine.env, stdio: ["ignore", "pipe", "inherit"] });
  running.push(started);
  const lines: string[] = [];
  for await (const line of createInterface({ input: started.stdout })) if (lines.push(line) === 2) break;
  const [first = "", second = ""] = lines;
  return { process: started, key: first.replace("Key: ", ""), url: second.replace("Address: ", "") };
}

const logOf = (...entries: string[]) => {
  const log = new PlainLog();
  log.grow(entries);
  return log;
};
const noteOf = async (log: PlainLog) => await signCheckpoint({ origin, ...log.head }, signer);

/** Requests a cosignature with an honest proof. */
async function submit(url: string, log: PlainLog, old: number): Promise<{ status: number; text: string }> {
  const size = log.entries.length;
  const proof = old > size ? [] : await consistencyProof(old, size, nodesInTiles(size, log.read));
  const body = writeSubmission({ old, proof, note: await noteOf(log) });
  const answer = await fetch(`${url}/add-checkpoint`, { method: "POST", body });
  return { status: answer.status, text: await answer.text() };
}

it("cosigns a log that grows, and refuses one that was forked or rewound, also after a restart", async () => {
  const first = await witness("state");
  expect(await submit(first.url, logOf("a", "b"), 0)).toMatchObject({ status: 200 });
  expect(await submit(first.url, logOf("a", "b", "c"), 2)).toMatchObject({ status: 200 });
  await stop(first.process);

  const second = await witness("state");

  expect(second.key).toBe(first.key);
  expect(await submit(second.url, logOf("a", "b", "c", "d"), 0)).toEqual({ status: 409, text: "3\n" });
  expect(await submit(second.url, logOf("a", "x", "c", "d"), 3)).toMatchObject({ status: 422 });
  expect(await submit(second.url, logOf("a", "b"), 2)).toEqual({ status: 409, text: "3\n" });
  expect(await submit(second.url, logOf("a", "b", "c", "d"), 3)).toMatchObject({ status: 200 });
  const kept = await fetch(`${second.url}/${sha256(origin)}/checkpoint`);
  expect(await kept.text()).toContain(`${origin}\n4\n`);
  expect((await fetch(`${second.url}/${sha256("another")}/checkpoint`)).status).toBe(404);
});

it("refuses what is too long, or no submission", async () => {
  const { url } = await witness("state");
  const send = async (body: string) => (await fetch(`${url}/add-checkpoint`, { method: "POST", body })).status;
  expect(await send("hello")).toBe(400);
  expect(await send("x".repeat(100_000))).toBe(413);
});

it("says why it cannot start", async () => {
  const start = async (...more: string[]) =>
    await machine.kiln(["log", "witness", "--name", "w.test", "--logs", "logs.keys", "--state", "state", ...more]);
  const { url } = await witness("another");
  for (const port of [new URL(url).port, "many"])
    expect(await start("--port", port)).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot listen") });
  expect(await start("--name", "two words")).toMatchObject({ code: 64 });
  expect(await start("--logs", "kiln.pem")).toMatchObject({ code: 64 });
  expect(await machine.kiln(["log", "witness"])).toMatchObject({ code: 64 });
});

it("lets `kiln verify` demand a quorum of witnesses, without a network", async () => {
  const [one, other] = [await witness("one"), await witness("other", "witness.test/other")];
  const log = logOf("a", entry);
  const { text: line } = await submit(one.url, log, 0);
  const note = (await noteOf(log)) + line;
  const proof = { position: 1, hashes: await inclusionProof(1, 2, nodesInTiles(2, log.read)), note };
  writeFileSync(at(`${name}.tlog-proof`), writeProof(proof));
  writeFileSync(at("one.keys"), `${one.key}\n`);
  writeFileSync(at("both.keys"), `${one.key}\n${other.key}\n`);
  const verify = async (...more: string[]) => await machine.kiln(["verify", name, "--key", "kiln.pem", ...more]);

  const ended = await verify("--witnesses", "one.keys");
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(ended.stdout).toMatch(/Cosigned by +witness\.test\/one/);
  expect(await verify("--witnesses", "both.keys")).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("1 of 2 witnesses have cosigned"),
  });
  expect(await verify("--witnesses", "both.keys", "--quorum", "1")).toMatchObject({ code: 0 });
  for (const wrong of [
    ["--quorum", "1"],
    ["--witnesses", "both.keys", "--quorum", "3"],
    ["--witnesses", "logs.keys"],
  ])
    expect(await verify(...wrong)).toMatchObject({ code: 64 });
  writeFileSync(at("wrong.keys"), "# mine\nhttps://mira:secret@git.test\n");
  const wrong = await verify("--witnesses", "wrong.keys");
  expect(wrong).toMatchObject({ code: 64, stderr: expect.stringContaining("Line 2 of wrong.keys is not the key") });
  expect(wrong.stderr).not.toContain("secret");
  writeFileSync(at("twice.keys"), `${one.key}\n${one.key}\n`);
  expect(await verify("--witnesses", "twice.keys", "--quorum", "2")).toMatchObject({ code: 64 });
});
