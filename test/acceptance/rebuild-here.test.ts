/** A stranger rebuilds a published image from its provenance, without an account, a token, or the service's state. */
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { signedStatement } from "#lib/attest/signed-statement";
import { openSigningKey } from "#lib/attest/signing-key";
import { newMachine, run, type Ended, type Machine } from "../../cli/test/support/machine.ts";
import { forgingService } from "./support/forging-service.ts";
import { addAccount, sharedService } from "./support/shared-service.ts";

const agent = fileURLToPath(new URL("../../builder-agent/src/main.ts", import.meta.url));
const image = "First.x86_64-0.0.1.oem.tar.gz";
const provenance = `${image}.intoto.jsonl`;

let machine: Machine;
let service: string;

beforeAll(async () => {
  const account = await addAccount(await sharedService("with-agent"), "publisher");
  service = account.url;
  machine = newMachine();
  await does(["login", service, "--account", account.username], `${account.api_key}\n`);
  await does(["clone", "1", "First"]);
  await does(["build", "First", "--follow"]);
  await does(["publish", "First", "0.0.1", "--yes"]);
  await does(["channel", "set", "First", "stable", "--version", "0.0.1"]);
  await does(["download", "First"]);
  writeFileSync(at("bin/kiln-agent"), `#!/bin/sh\nexec ${process.execPath} ${agent} "$@"\n`, { mode: 0o755 });
});
afterAll(() => machine[Symbol.dispose]());

const at = (file: string) => join(machine.folder, file);

async function does(words: readonly string[], input = "") {
  const ended = await machine.kiln(words, { input });
  expect(ended, `kiln ${words.join(" ")}: ${ended.stderr}`).toMatchObject({ code: 0 });
}

async function idOf(name: string): Promise<number> {
  const { stdout } = await machine.kiln(["show", name, "--json"]);
  return (JSON.parse(stdout) as { appliance: { id: number } }).appliance.id;
}

/** `kiln-agent rebuild`, without access to the operator's data. */
const rebuild = (...words: string[]): Promise<Ended> =>
  run(at("bin/kiln-agent"), ["rebuild", ...words], {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" },
    input: "",
    cwd: machine.folder,
  });

const bare = (...words: string[]) => rebuild("--bare", "--service", service, ...words);

/** The single line that a rebuild prints. */
function lineOf(ended: Ended, code: number): string {
  expect(ended, `${ended.stdout}${ended.stderr}`).toMatchObject({ code });
  expect(ended.stdout.trimEnd().split("\n"), ended.stdout).toHaveLength(1);
  return ended.stdout.trimEnd();
}

/** A provenance with false facts, signed with a key that the stranger trusts. */
async function signedAnew(name: string, change: (statement: Statement) => void): Promise<string[]> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
  const { payload } = JSON.parse(readFileSync(at(provenance), "utf8")) as { payload: string };
  const statement = JSON.parse(Buffer.from(payload, "base64").toString()) as Statement;
  change(statement);
  writeFileSync(at(`${name}.intoto.jsonl`), await signedStatement(statement, await openSigningKey(pkcs8)));
  writeFileSync(at(`${name}.pem`), publicKey.export({ format: "pem", type: "spki" }));
  return [`${name}.intoto.jsonl`, "--key", `${name}.pem`];
}

interface Statement {
  subject: { name: string; digest: { sha256: string } }[];
  predicate: { runDetails: { builder: Record<string, unknown> } };
}

it("makes the same bytes from nothing but the provenance, by the commands of docs/rebuilds.md", async () => {
  const page = readFileSync(new URL("../../docs/rebuilds.md", import.meta.url), "utf8");
  const [, written = ""] = /\n## Without the service\n[^]*?```bash\n([^]*?)```/.exec(page) ?? [];
  const commands = written
    .replace("https://kiln.example.org", service)
    .replace("tux/1004", `publisher/${await idOf("First")}`)
    .replaceAll("sudo ", "")
    .replace("rebuild ", "rebuild --bare ");
  mkdirSync(at("stranger"));
  const env = { PATH: machine.env["PATH"] ?? "", HOME: "/nonexistent" };

  const ended = await run("bash", ["-ec", commands], { env, input: "", cwd: at("stranger") });

  expect(lineOf(ended, 0)).toMatch(
    new RegExp(`^Same bytes: ${image} was built again here, with the SHA-256 [0-9a-f]{64}\\.$`),
  );
});

it("finds an image that the service says was built, and was not", async () => {
  const words = await signedAnew("changed-after-the-build", ({ subject }) => {
    for (const one of subject) if (one.name === image) one.digest.sha256 = "0".repeat(64);
  });

  const line = lineOf(await bare(...words), 2);

  expect(line).toMatch(/^Other bytes: .* differs: the SHA-256 of what was built here is [0-9a-f]{64}, and .* 0{64}\./);
});

it("finds a changed package of a mirror, and does not build with it", async () => {
  using forger = await forgingService(service, /\.rpm$/, (bytes) =>
    Buffer.concat([bytes.subarray(1), Buffer.from("x")]),
  );

  expect(lineOf(await bare("--service", forger.url, provenance), 4)).toMatch(
    /^\S+ from its repository is not the file that was chosen: its sha256 or size differs\.$/,
  );
});

it("is what `kiln rebuild` does with a provenance, with the key of the login", async () => {
  mkdirSync(at("swapped"));
  for (const file of [image, provenance]) copyFileSync(at(file), at(`swapped/${file}`));
  appendFileSync(at(`swapped/${image}`), "more");

  const ended = await machine.kiln(["rebuild", `swapped/${provenance}`, "--bare"]);

  expect(lineOf(ended, 6)).toMatch(new RegExp(`^${image} is not the image that was built: its SHA-256 is `));
});
