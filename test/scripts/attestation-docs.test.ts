import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { billOf } from "#lib/attest/sbom";
import { cycloneDxOf } from "#lib/attest/cyclonedx";
import { signedEnvelope } from "#lib/attest/dsse";
import { statementType } from "#lib/attest/envelope";
import { provenanceOf } from "#lib/attest/provenance";
import { openSigningKey } from "#lib/attest/signing-key";
import { spdxOf } from "#lib/attest/spdx";
import { facts, input, installed } from "../attest/bills.ts";
import { verifyingCommands } from "./attestation-commands.ts";
import { emptyFolder } from "./folder.ts";

// The exact commands of docs/api/attestations.md, run on files that Kiln's code has signed.

const image = "an image";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const files = new Map<string, string>();
const server = createServer((request, response) => {
  const file = files.get(decodeURIComponent(request.url ?? ""));
  response.writeHead(file === undefined ? 404 : 200).end(file);
});

let service = "";
const name = facts.image.fileName;
const download = `/download/token/${name}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  service = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const pkcs8 = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" });
  const key = await openSigningKey(pkcs8.toString("base64"));
  const bill = billOf(
    { ...facts, image: { ...facts.image, sha256: sha256(image) } },
    { input, installed: installed.slice(0, 3), baseUrl: service },
  );
  const documents = { ".spdx.json": JSON.stringify(spdxOf(bill)), ".cdx.json": JSON.stringify(cycloneDxOf(bill)) };
  const statement = provenanceOf(bill, {
    input,
    inputSha256: "e".repeat(64),
    buildId: 12,
    builderId: service,
    baseUrl: service,
    documents: Object.entries(documents).map(([suffix, text]) => ({ name: name + suffix, sha256: sha256(text) })),
  });
  files.set(download, image);
  for (const [suffix, text] of Object.entries(documents)) files.set(download + suffix, text);
  const payload = new TextEncoder().encode(JSON.stringify(statement));
  files.set(`${download}.intoto.jsonl`, await signedEnvelope(statementType, payload, key));
  const keys = [
    { kid: "0".repeat(64), pem: "another" },
    { kid: key.id, pem: key.pem },
  ];
  files.set("/.well-known/kiln-attestation-keys.json", JSON.stringify({ keys }));
});
afterAll(() => void server.close());

const commands = () => verifyingCommands({ service, download: service + download });

const follow = () =>
  promisify(execFile)("bash", ["-e", "-o", "pipefail", "-c", commands()], { cwd: emptyFolder(), encoding: "utf8" });

/** Serves a changed file at a path while `act` runs. */
async function whileChanged(path: string, change: (file: string) => string, act: () => Promise<void>): Promise<void> {
  const before = files.get(path) ?? "";
  expect(change(before)).not.toBe(before);
  files.set(path, change(before));
  await act().finally(() => files.set(path, before));
}

describe("the documented commands", () => {
  it("verify signature, image and bills, and show signer and contents", async () => {
    const { stdout } = await follow();

    expect(stdout).toContain("Signature Verified Successfully");
    for (const suffix of ["", ".spdx.json", ".cdx.json"]) expect(stdout).toContain(`${name}${suffix}: OK`);
    expect(stdout).toContain(`${service}\nKiosk\nbusybox 1.0-1\nlibc++ 2:1.0-1\nmine 1.0-1\n`);
  });

  it.each([
    ["image", "", (file: string) => `${file}.`, /FAILED/],
    ["bill", ".spdx.json", (file: string) => file.replace("busybox", "busyb0x"), /FAILED/],
    ["statement", ".intoto.jsonl", (file: string) => changedPayload(file), /Signature Verification Failure/],
    ["type", ".intoto.jsonl", (file: string) => file.replace("in-toto+json", "in-toto+jsom"), /Verification Failure/],
  ])("fail with another %s", async (_what, suffix, change, expected) => {
    await whileChanged(download + suffix, change, async () => {
      const failed: { code: number; stdout: string } = await follow().then(
        ({ stdout }) => ({ code: 0, stdout }),
        (error) => error,
      );
      expect(failed.code).not.toBe(0);
      expect(failed.stdout).toMatch(expected);
    });
  });

  it("fail with a key that the service does not know", async () => {
    await whileChanged(
      "/.well-known/kiln-attestation-keys.json",
      () => '{"keys":[]}',
      async () => await expect(follow()).rejects.toThrow(),
    );
  });
});

function changedPayload(envelope: string): string {
  const { payload, ...rest } = JSON.parse(envelope);
  const statement = Buffer.from(payload, "base64").toString().replace('"0.0.1"', '"0.0.2"');
  return JSON.stringify({ payload: Buffer.from(statement).toString("base64"), ...rest });
}
