import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { administer } from "../../scripts/admin/commands.ts";
import { adminClient } from "../../scripts/admin/client.ts";
import { d1Of } from "../../scripts/backup/snapshot.ts";
import { bundleWorker } from "../../scripts/launch/bundle.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { readOrMakeSecrets } from "../../scripts/launch/secrets.ts";
import { lockState } from "../../scripts/launch/state-lock.ts";
import tiny from "../../templates/tiny.json" with { type: "json" };
import { rpmOf } from "../support/packages.ts";
import { emptyFolder } from "./folder.ts";

/** KILN_REHEARSED_APPLIANCES=1000 runs a larger rehearsal. */
const appliances = Number(process.env["KILN_REHEARSED_APPLIANCES"] ?? 12);
const Made = z.object({ definition: z.looseObject({ id: z.coerce.number(), files: z.array(z.unknown()) }) });
const Stored = z.object({ content: z.object({ sha256: z.string(), upload: z.string() }) });

const folder = mkdtempSync(join(tmpdir(), "kiln-backup-"));
const state = join(folder, "state");
const archive = join(folder, "kiln.tar");
const port = ownPort(2);
const url = `http://127.0.0.1:${port}`;
let printed = "";
let basic: string;
let service: Awaited<ReturnType<typeof startEmbedded>>;
let lock: Awaited<ReturnType<typeof lockState>>;

/** No agent and no sweeps, because they change rows all the time. */
async function start(stateDirectory: string): Promise<void> {
  const secrets = readOrMakeSecrets(stateDirectory);
  const limits = { MAX_APPLIANCES_PER_ACCOUNT: "10000", ACCOUNT_RATES: "software=0 uploads=0" };
  lock = await lockState(stateDirectory);
  const place = { host: "127.0.0.1", port, stateDirectory, cronEveryMs: 2 ** 31 - 1 };
  service = await startEmbedded({
    bundle: await bundleWorker(),
    ...place,
    bindings: { ...limits, ...secrets },
    outsideCidrs: [],
  });
}

async function stop(): Promise<void> {
  await service.stop();
  lock.release();
}

beforeAll(async () => {
  vi.spyOn(process.stdout, "write").mockImplementation((text) => Boolean((printed += String(text))));
  mkdirSync(state, { mode: 0o700 });
  await start(state);
  const admin = adminClient(url, readOrMakeSecrets(state).ADMIN_SECRET);
  await admin.loadCatalogue("tiny", tiny);
  const { username, apiKey } = await admin.addAccount({ username: "tux", email: "tux@example.org" });
  basic = `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
});

afterAll(async () => {
  await stop();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(path: string, body?: Uint8Array<ArrayBuffer> | string, authorization = basic): Promise<Response> {
  const type = typeof body === "string" ? "application/json" : "application/octet-stream";
  const headers = { authorization, accept: "application/json", ...(body && { "content-type": type }) };
  return await fetch(`${url}/api/v2/user${path}`, { headers, ...(body && { method: "POST", body }) });
}

/** Makes an appliance with its own file. Returns its id. */
async function makeAppliance(name: string): Promise<number> {
  const { content } = Stored.parse(await (await ask("/contents", Buffer.from(`I am ${name}.`))).json());
  const files = [{ path: "/etc/motd", ...content }];
  const definition = { name, base_system: "tiny-1.0", arch: "x86_64", files, packages: [{ name: "hello" }] };
  return Made.parse(await (await ask("/definitions", JSON.stringify({ definition }))).json()).definition.id;
}

/** The account's appliances as documents, with the content of their files. */
async function wholeAccount(authorization = basic): Promise<Record<string, unknown>> {
  const Listed = z.object({ appliances: z.array(z.object({ id: z.coerce.number() })) });
  const { appliances: all } = Listed.parse(await (await ask("/appliances", undefined, authorization)).json());
  const found: Record<string, unknown> = {};
  for (const { id } of all) {
    const { definition } = Made.parse(
      await (await ask(`/appliances/${id}/definition`, undefined, authorization)).json(),
    );
    const Files = z.object({ files: z.array(z.object({ id: z.coerce.number() })) });
    const { files } = Files.parse(await (await ask(`/files?appliance_id=${id}`, undefined, authorization)).json());
    const contents = await Promise.all(
      files.map(async (file) => await (await ask(`/files/${file.id}/data`, undefined, authorization)).text()),
    );
    found[definition.id] = { definition, contents };
  }
  return found;
}

/** Digests of every table and every other part of a state directory. */
function tablesOf(stateDirectory: string): Record<string, string> {
  const worker = join(stateDirectory, "worker");
  using database = new DatabaseSync(join(worker, d1Of(worker)), { readOnly: true });
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'")
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => {
      const rows = database.prepare(`SELECT * FROM "${String(name)}"`).all();
      return [String(name), createHash("sha256").update(JSON.stringify(rows)).digest("hex")];
    }),
  );
}

describe("backup and restore", () => {
  it("makes the same service again, of one that runs", async () => {
    for (let made = 0; made < appliances; made += 4) {
      await Promise.all([0, 1, 2, 3].map((one) => makeAppliance(`Kiosk ${made + one}`)));
    }
    const before = { tables: tablesOf(state), account: await wholeAccount() };
    expect(Object.keys(before.account).length).toBeGreaterThanOrEqual(appliances);

    await administer(["backup", archive, "--state", state], {});
    expect(printed).toMatch(
      /kiln\.tar: \d+ appliances, 0 builds, \d+ stored files, and the secrets\.\nThe service was paused/,
    );
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    expect(readdirSync(state).filter((name) => name.startsWith("backup-"))).toEqual([]);

    await makeAppliance("Made after the backup");
    await stop();
    const restored = join(folder, "restored");
    await administer(["restore", archive, "--state", restored], {});
    expect(tablesOf(restored)).toEqual(before.tables);
    expect(readFileSync(join(restored, "secrets.json"))).toEqual(readFileSync(join(state, "secrets.json")));
    await start(restored);
    expect(await wholeAccount()).toEqual(before.account);
    await makeAppliance("Made after the restore");
  });

  it("has each file that a row names, whatever is written and deleted meanwhile", async () => {
    const running = join(folder, "restored");
    const busy = { isOver: false };
    const write = async () => {
      for (let nth = 0; !busy.isOver; nth++) {
        const id = await makeAppliance(`Busy ${nth}`);
        if (nth % 2 === 0)
          await fetch(`${url}/api/v2/user/appliances/${id}`, { method: "DELETE", headers: { authorization: basic } });
      }
    };
    const writers = [write(), write(), write()];
    const names = ["a", "b", "c"];
    for (const name of names) await administer(["backup", join(folder, name), "--state", running], {});
    busy.isOver = true;
    await Promise.all(writers);

    for (const name of names) {
      const one = join(folder, `of-${name}`);
      await administer(["restore", join(folder, name), "--state", one], {});
      expect(lostContents(one)).toEqual([]);
    }
  });

  it("refuses what is not whole, and leaves nothing behind", async () => {
    const cut = join(emptyFolder(), "cut.tar");
    execFileSync("cp", [archive, cut]);
    truncateSync(cut, Math.floor(statSync(cut).size / 2));
    const place = join(emptyFolder(), "new");
    await expect(administer(["restore", cut, "--state", place], {})).rejects.toThrow(/cut off or damaged, or the disk/);
    await expect(administer(["restore", import.meta.filename, "--state", place], {})).rejects.toThrow(
      /is not a backup/,
    );
    await expect(administer(["restore", archive, "--state", state], {})).rejects.toThrow(/is not empty/);
    await expect(administer(["backup", archive, "--state", state], {})).rejects.toThrow(/already exists/);
    await expect(administer(["backup", `${archive}2`], { KILN_URL: url })).rejects.toThrow(/not for one at a URL/);
    await expect(administer(["restore"], {})).rejects.toThrow(/takes one FILE/);
    expect(readdirSync(join(place, ".."))).toEqual([]);
  });
});

describe("account export and import", () => {
  it("makes the same appliances in another account, and none twice", async () => {
    const there = ["--url", url] as const;
    const env = { KILN_ADMIN_SECRET: readOrMakeSecrets(state).ADMIN_SECRET };
    const admin = adminClient(url, env.KILN_ADMIN_SECRET);
    const [file, again] = [join(folder, "tux.tar"), join(folder, "ada.tar")];
    const users = [
      { name: "root", password: "secret one" },
      { name: "ann", password: "secret two", group: "users" },
    ];
    const made = await ask(
      "/definitions",
      JSON.stringify({ definition: { name: "With people", base_system: "tiny-1.0", configuration: { users } } }),
    );
    const { definition } = Made.parse(await made.json());
    const stated = { status: "not_affected", justification: "component_not_present", text: "It has no busybox." };
    await fetch(`${url}/api/v2/user/appliances/${definition.id}/vex/CVE-2026-1234`, {
      method: "PUT",
      body: new URLSearchParams(stated),
      headers: { authorization: basic },
    });
    const form = new FormData();
    form.set("file", new Blob([rpmOf("counter")]), "counter.rpm");
    await fetch(`${url}/api/v2/user/rpms?base_system=tiny-1.0`, {
      method: "POST",
      body: form,
      headers: { authorization: basic },
    });

    await admin.setQuota("tux", 5);

    await administer(["account", "export", "tux", file, ...there], env);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await administer(["account", "import", "ada", file, ...there], env);
    expect(printed).toMatch(/Added the account ada with the password/);
    expect(printed).toContain("account quota ada 5\n");
    const ada = `Basic ${Buffer.from(`ada:${await admin.apiKey("ada")}`).toString("base64")}`;
    const [was, is] = [await wholeAccount(), await wholeAccount(ada)];
    expect(withoutIds(is)).toEqual(withoutIds(was));

    await administer(["account", "import", "ada", file, ...there], env);
    expect(printed).toMatch(new RegExp(`Made 0 appliances; ${Object.keys(was).length} were there already\\.\n$`));
    await administer(["account", "export", "ada", again, ...there], env);
    expect(archived(again)).toEqual({ ...archived(file), username: "ada", quotaGb: null });
    expect(JSON.stringify(archived(again))).toContain("secret two");
    expect(JSON.stringify(archived(again))).toContain(JSON.stringify([{ advisory: "CVE-2026-1234", ...stated }]));
  });
});

const withoutIds = (account: Record<string, unknown>) =>
  Object.values(account).map((one) => JSON.stringify(one).replace(/"id":\d+,/g, ""));

/** The content of an account's archive, without the service's ids. */
const archived = (file: string): Record<string, unknown> =>
  JSON.parse(
    execFileSync("tar", ["-xOf", file, "account.json"], { encoding: "utf8" }).replace(/"id": \d+,/g, ""),
  ) as Record<string, unknown>;

/** Contents that are in rows, but not in the bucket. */
function lostContents(stateDirectory: string): unknown[] {
  const worker = join(stateDirectory, "worker");
  const bucket = readdirSync(join(worker, "r2/miniflare-R2BucketObject")).find((name) =>
    /^[0-9a-f]{64}\.sqlite$/.test(name),
  );
  using database = new DatabaseSync(join(worker, d1Of(worker)), { readOnly: true });
  database.exec(`ATTACH '${join(worker, "r2/miniflare-R2BucketObject", bucket ?? "")}' AS bucket`);
  expect(database.prepare("SELECT count(*) AS n FROM overlay_files").get()?.["n"]).toBeGreaterThan(0);
  return database
    .prepare(
      "SELECT blob_id FROM overlay_files WHERE 'contents/' || blob_id NOT IN (SELECT key FROM bucket._mf_objects)",
    )
    .all();
}
