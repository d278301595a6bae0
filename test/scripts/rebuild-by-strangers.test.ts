/** `kiln-agent rebuild` with a stand-in for the service and for KIWI: its results and its messages. */
import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { provenanceOf } from "#lib/attest/provenance";
import { billOf } from "#lib/attest/sbom";
import { signedStatement } from "#lib/attest/signed-statement";
import { openSigningKey, type SigningKey } from "#lib/attest/signing-key";
import { parsePackages } from "../../builder-agent/src/run/result.ts";
import { facts } from "../attest/bills.ts";
import { fakeKiwi, temporaryDir } from "../../builder-agent/test/support/agent-place.ts";
import { fileAt, frozenInput } from "../../builder-agent/test/support/frozen-input.ts";

const program = fileURLToPath(new URL("../../builder-agent/src/main.ts", import.meta.url));
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const name = facts.image.fileName;
const image = "an image";
const input = { ...frozenInput(), sourceDate: 1_767_225_600 };
const text = JSON.stringify(input);
/** The packages that the stand-in for KIWI reports. */
const inImage = parsePackages(
  readFileSync(new URL("../../builder-agent/test/fixtures/example.packages", import.meta.url), "utf8"),
);

/** The files of a service. */
const files = new Map<string, string>();
const server = createServer((request, response) => {
  const url = decodeURIComponent(request.url ?? "");
  const [, location] = /^\/repositories\/tiny\/\w+\/(.+\.rpm)$/.exec(url) ?? [];
  const file = files.get(url) ?? (location === undefined ? undefined : fileAt(location));
  response.writeHead(file === undefined ? 404 : 200).end(file);
});

let service: string;
let key: SigningKey;
let dir: Awaited<ReturnType<typeof temporaryDir>>;
const at = (file: string) => join(dir.path, file);

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  key = await newKey();
  dir = await temporaryDir();
});
afterAll(async () => {
  server.close();
  await dir[Symbol.asyncDispose]();
});
beforeEach(async () => {
  files.clear();
  files.set("/.well-known/kiln-attestation-keys.json", JSON.stringify({ keys: [{ kid: key.id, pem: key.pem }] }));
  files.set("/published/12/input.json", text);
  writeFileSync(at(name), image);
  writeFileSync(at(`${name}.intoto.jsonl`), await signed(statement()));
});

async function newKey(): Promise<SigningKey> {
  const pkcs8 = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" });
  return await openSigningKey(pkcs8.toString("base64"));
}

/** The service's statement about the image. */
function statement(
  builtIn?: { name: string; sha256: string },
  digest = sha256(image),
  frozen = text,
  packages = inImage,
): object {
  const about = { ...facts, image: { ...facts.image, sha256: digest }, builtIn };
  const bill = billOf(about, { input, installed: packages, baseUrl: service });
  const documents = [".spdx.json", ".cdx.json"].map((suffix) => ({ name: name + suffix, sha256: sha256(suffix) }));
  const origin = { input, inputSha256: sha256(frozen), buildId: 12, builderId: service, baseUrl: service, documents };
  return provenanceOf(bill, origin);
}

const signed = (about: object, by = key) => signedStatement(about, by);

/** Returns the exit code and the printed line. */
async function rebuild(...words: string[]): Promise<[code: unknown, line: string]> {
  const args = [program, "rebuild", `${name}.intoto.jsonl`, "--bare", ...words];
  const env = {
    PATH: process.env["PATH"] ?? "",
    KILN_AGENT_KIWI: fakeKiwi,
    HOME: dir.path,
    KILN_AGENT_ALLOW_HOSTS: service.slice("http://".length),
  };
  return await new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: dir.path, env }, (error, stdout) =>
      resolve([error?.code ?? 0, stdout.trimEnd()]),
    ),
  );
}
const ofService = () => rebuild("--service", service);

it("a changed provenance", async () => {
  const envelope = JSON.parse(await signed(statement())) as { payload: string };
  const changed = Buffer.from(envelope.payload, "base64").toString().replace(sha256(image), sha256("mine"));
  const payload = Buffer.from(changed).toString("base64");
  writeFileSync(at(`${name}.intoto.jsonl`), JSON.stringify({ ...envelope, payload }));

  expect(await ofService()).toEqual([6, "The signature is wrong: the provenance was changed."]);
});

const unknown = (kid: string) => [6, `The provenance is signed with a key that you did not name: ${kid}.`];

it("a key that is neither the given one nor the service's", async () => {
  const other = await newKey();
  writeFileSync(at("other.pem"), other.pem);
  expect(await rebuild("--key", "other.pem")).toEqual(unknown(key.id));
  writeFileSync(at(`${name}.intoto.jsonl`), await signed(statement(), other));
  expect(await ofService()).toEqual(unknown(other.id));
});

it("a swapped image", async () => {
  writeFileSync(at(name), "a swapped image");

  const [code, line] = await ofService();

  expect([code, line]).toEqual([
    6,
    `${name} is not the image that was built: its SHA-256 is ${sha256("a swapped image")}, and the provenance names ${sha256(image)}.`,
  ]);
});

it("the provenance of another image", async () => {
  writeFileSync(at("Second.tar.gz"), "another image");
  const line = `The provenance is about ${name}, and not about Second.tar.gz: the SHA-256 differs.`;

  expect(await rebuild("--service", service, "--image", "Second.tar.gz")).toEqual([6, line]);
});

it("a signed statement or a file that is not a provenance", async () => {
  writeFileSync(at(`${name}.intoto.jsonl`), await signed({ ...statement(), predicateType: "urn:kiln:rebuild:1" }));
  expect(await ofService()).toEqual([6, "The signed statement is not the provenance of an image of Kiln."]);

  writeFileSync(at(`${name}.intoto.jsonl`), "[]");
  expect(await ofService()).toEqual([6, "The file is not a signed provenance, or it is damaged."]);
});

it("a changed frozen input", async () => {
  const other = text.replace("Kiosk", "Mine");
  files.set("/published/12/input.json", other);
  const line = `The frozen input from the service is not the one in the provenance: its SHA-256 is ${sha256(other)}, not ${sha256(text)}.`;

  expect(await ofService()).toEqual([6, line]);
});

it("a changed builder root, and one that is missing", async () => {
  const root = { name: "debian-13", sha256: "1".repeat(64) };
  writeFileSync(at(`${name}.intoto.jsonl`), await signed(statement(root)));
  writeFileSync(at("root.squashfs"), "another root");
  const changed = `The builder root: root.squashfs has the SHA-256 ${sha256("another root")} instead of ${root.sha256}.`;

  expect(await rebuild("--service", service, "--root", "root.squashfs")).toEqual([6, changed]);
  expect(await ofService()).toEqual([
    4,
    `It was built in the builder root debian-13 with the SHA-256 ${root.sha256}. Get that file from the operator of the service, and name it with --root FILE.`,
  ]);
});

it("says which input the service does not give out", async () => {
  files.delete("/published/12/input.json");

  expect(await ofService()).toEqual([
    4,
    "The image is not in the gallery of the service, so its frozen input cannot be downloaded.",
  ]);
});

it("reads the key from standard input, and the service from the provenance that the key has signed", async () => {
  const args = [program, "rebuild", `${name}.intoto.jsonl`, "--key", "-"];
  files.delete("/published/12/input.json");
  const line = await new Promise<string>((resolve) => {
    const child = execFile(process.execPath, args, { cwd: dir.path }, (_, stdout) => resolve(stdout));
    child.stdin?.end(key.pem);
  });

  expect(line).toMatch(/^The image is not in the gallery/);
});

it("asks the service that the user names, whatever the provenance names", async () => {
  const elsewhere = JSON.stringify(statement()).replaceAll(service, "https://elsewhere.invalid");
  writeFileSync(at(`${name}.intoto.jsonl`), await signed(JSON.parse(elsewhere)));
  files.delete("/published/12/input.json");

  expect(await ofService()).toEqual([expect.any(Number), expect.stringMatching(/^The image is not in the gallery/)]);
});

it.each(["kiln.example.org", "ftp://kiln.example.org", "https://"])("asks no service at %j", async (address) => {
  const line = `${address} is not the address of a service: write it as https://kiln.example.org.`;
  expect(await rebuild("--service", address)).toEqual([64, line]);
});

it("trusts no key that only the provenance leads to", async () => {
  const [code, line] = await rebuild();

  expect(code).toBe(64);
  expect(line).toBe("Name the service that built the image with --service URL, or its public key with --key FILE.");
});

describe("what is built", () => {
  beforeEach(() => rmSync(at(name)));

  it("has the bytes that the service states, or others", async () => {
    const [code, line] = await ofService();
    expect([code, line]).toEqual([
      2,
      expect.stringMatching(/^Other bytes: .* names [0-9a-f]{64}\. It was built with the tools/),
    ]);
    const [, built = ""] = /what was built here is ([0-9a-f]{64})/.exec(line) ?? [];
    writeFileSync(at(`${name}.intoto.jsonl`), await signed(statement(undefined, built)));

    expect(await ofService()).toEqual([0, `Same bytes: ${name} was built again here, with the SHA-256 ${built}.`]);

    writeFileSync(at(`${name}.intoto.jsonl`), await signed(statement(undefined, built, text, inImage.slice(1))));
    expect(await ofService()).toEqual([2, expect.stringMatching(/^Other packages: /)]);
  });

  it("has no package that a mirror has changed", async () => {
    const [changed] = input.packages;
    files.set(`/repositories/tiny/${changed?.repository}/${changed?.location}`, "another package");

    const [code, line] = await ofService();

    expect(code).toBe(4);
    expect(line).toMatch(
      new RegExp(
        `^${changed?.name}-.* from its repository is not the file that was chosen: its sha256 or size differs\\.$`,
      ),
    );
  });

  it("has the service's copy of a package that its mirror no longer has", async () => {
    const [gone] = input.packages;
    const mirror = { alias: gone?.repository ?? "", id: 1, name: "Mirror", url: `${service}/mirror` };
    const theirs = {
      ...input,
      repositories: [mirror, ...input.repositories.filter(({ alias }) => alias !== mirror.alias)],
    };
    const only = {
      ...theirs,
      packages: theirs.packages.filter((one) => one === gone || one.repository !== mirror.alias),
    };
    expect(only.packages.length).toBeGreaterThan(0);
    files.set("/published/12/input.json", JSON.stringify(only));
    const packages = [{ id: 5, repositoryId: 1, checksum: `sha256:${gone?.checksum.value}`, pieces: 1 }];
    files.set("/published/12/stored-packages", JSON.stringify({ packages }));
    files.set("/published/12/stored-packages/5/1", fileAt(gone?.location ?? ""));
    writeFileSync(at(`${name}.intoto.jsonl`), await signed(statement(undefined, undefined, JSON.stringify(only))));

    const [code, line] = await ofService();

    expect([code, line]).toEqual([2, expect.stringMatching(/^Other bytes: /)]);
  });
});
