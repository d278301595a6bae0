import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { administer } from "../../scripts/admin/commands.ts";
import { answers } from "./admin-answers.ts";

let service: Server;
let isOn: boolean;
let asked: string[];
let printed: string;
let warned: string;
/** Answers of the service that come before all others, one after the other. */
let pages: unknown[];
const root = new URL("../..", import.meta.url).pathname;

/** Answers like the admin routes (test/api/read-only.test.ts and test/web/agreement.test.ts test the real ones). */
beforeEach(async () => {
  [isOn, asked, printed, warned, pages] = [false, [], "", "", []];
  service = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    asked.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`.trim());
    const told = JSON.parse(body || "{}") as { on?: boolean; paused?: boolean };
    isOn = told.on ?? told.paused ?? false;
    const mode = { on: isOn, paused: isOn, since: isOn ? "2026-11-20T10:00:00.000Z" : null };
    response.end(JSON.stringify(pages.shift() ?? answers[request.url ?? ""] ?? mode));
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  vi.spyOn(process.stdout, "write").mockImplementation((text) => Boolean((printed += String(text))));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => Boolean((warned += String(text))));
});
afterEach(async () => {
  vi.restoreAllMocks();
  service.close();
  await once(service, "close");
});

function serviceUrl(): string {
  const address = service.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

const run = (...words: string[]) => administer(words, { KILN_URL: serviceUrl(), KILN_ADMIN_SECRET: "secret" });

/** A file with this content, until the test ends. */
function fileOf(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "kiln-admin-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "secret"), content);
  return join(folder, "secret");
}

describe("npm run admin -- health, metrics", () => {
  afterEach(() => {
    process.exitCode = undefined;
  });

  it("says that work flows", async () => {
    await run("health");
    expect([printed, process.exitCode]).toEqual(["Work flows.\n", undefined]);
  });

  it("prints why it does not, and fails", async () => {
    const reasons = [{ code: "no_agents", message: "No agent is alive, and 3 builds are queued." }];
    service.removeAllListeners("request");
    service.on("request", (_, response) => {
      response.writeHead(503).end(JSON.stringify({ ok: false, version: "0.1.0", wasm: true, reasons }));
    });
    await run("health");
    expect([printed, process.exitCode]).toEqual(["No agent is alive, and 3 builds are queued.\n", 1]);
  });

  it("prints the metrics as they are", async () => {
    service.removeAllListeners("request");
    service.on("request", (_, response) => response.end("kiln_build_slots 8\n"));
    await run("metrics");
    expect(printed).toBe("kiln_build_slots 8\n");
  });
});

describe("npm run admin -- read-only", () => {
  it.each([
    ["on", 'PUT /admin/read-only Bearer secret {"on":true}', "on since 2026-11-20T10:00:00.000Z"],
    ["off", 'PUT /admin/read-only Bearer secret {"on":false}', "is off"],
    ["status", "GET /admin/read-only Bearer secret", "is off"],
  ])("%s sends the request and prints the current state", async (word, request, words) => {
    await run("read-only", word);

    expect(asked).toEqual([request]);
    expect(printed).toContain(words);
  });

  it.each([[["read-only"]], [["read-only", "maybe"]], [["read-only", "on", "now"]]])(
    "refuses %j without a request to the service",
    async (words) => {
      await expect(run(...words)).rejects.toThrow(/no command|takes no argument/);
      expect(asked).toEqual([]);
    },
  );
});

describe("npm run admin", () => {
  it.each([
    [["account"], /^There is no command "account"\.\n\nThere are:\n {2}account add NAME\n {2}account export NAME\n/],
    [["accounts"], /^There is no command "accounts"\.\n\nnpm run admin -- COMMAND/],
    [["account", "rekey", ""], /^account rekey takes one NAME\.$/],
    [["account", "add", "ada", "--email", ""], /^account add needs --email ADDRESS\.$/],
    [["account", "list", "--url", "ftp://kiln.example.org"], /^--url ftp:.*give a URL like/],
    [["templates", "load", "/absent.json"], /^There is no file \/absent\.json\.$/],
    [["templates", "load", "/"], /^\/ cannot be read \(EISDIR\)\.$/],
  ])("explains what is wrong with %j", async (words, message) => {
    await expect(run(...words)).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });

  it("refuses an admin secret that cannot be sent in a header", async () => {
    const env = { KILN_URL: "http://127.0.0.1:1", KILN_ADMIN_SECRET: "two\nlines" };
    await expect(administer(["account", "list"], env)).rejects.toThrow(/^KILN_ADMIN_SECRET contains a space/);
  });
});

describe("npm run admin -- keys", () => {
  const next = { column: "configurations", after: 7 };
  const page = { changed: 2, unreadable: [], left: 0, next: null };

  it("reencrypt continues page by page, and says when the old key is not needed", async () => {
    pages = [{ ...page, left: 40, next }, page, { ...page, changed: 0 }];
    await run("keys", "reencrypt");
    expect(asked).toEqual([
      "POST /admin/keys/reencrypt Bearer secret {}",
      `POST /admin/keys/reencrypt Bearer secret {"from":${JSON.stringify(next)}}`,
    ]);
    expect(printed).toBe(
      "2 changed, 40 left to read.\nEncrypted 4 values with the first key. Run this again until it finds nothing to do.\n",
    );
    await run("keys", "reencrypt");
    expect(printed).toContain("No other key is needed.");
  });

  it("names what no key decrypts, and fails", async () => {
    pages = [{ ...page, unreadable: [next].map(({ column, after: row }) => ({ column, row })) }];
    await expect(run("keys", "reencrypt")).rejects.toThrow(
      /^Changed 2 values\. .*decrypts 1 others .*: configurations 7\./,
    );
  });

  it("rehash says how many keys work again", async () => {
    pages = [page];
    await run("keys", "rehash");
    expect([asked, printed]).toEqual([["POST /admin/keys/rehash Bearer secret {}"], "2 API keys work again.\n"]);
  });
});

describe("npm run admin -- deletions", () => {
  it.each([
    ["pause", 'PUT /admin/deletions Bearer secret {"paused":true}', "have been paused since 2026-11-20T10:00:00.000Z"],
    ["resume", 'PUT /admin/deletions Bearer secret {"paused":false}', "are not paused."],
    ["status", "GET /admin/deletions Bearer secret", "are not paused."],
  ])("%s sends the request and prints the current state", async (word, request, words) => {
    await run("deletions", word);

    expect(asked).toEqual([request]);
    expect(printed).toContain(words);
  });
});

describe("npm run admin -- agreements list", () => {
  it("prints who accepted which text", async () => {
    await run("agreements", "list");

    expect(asked).toEqual(["GET /admin/agreements Bearer secret"]);
    expect(printed).toMatch(/ACCOUNT +BASE SYSTEM/);
    expect(printed).toMatch(/rhea +SLES11_SP1 +2026-11-20T10:00:00.000Z +yes +abab/);
  });
});

describe("npm run admin -- builds", () => {
  it.each([
    ["queued", "/queue", "10:00:00.000Z +Waiting: no builder"],
    ["running", "/queue/running", "10:00:00.000Z"],
    ["failed", "/queue/failures", "11:00:00.000Z +no systemctl"],
  ])("%s lists them", async (word, path, rest) => {
    await run("builds", word);

    expect(asked).toEqual([`GET /admin${path} Bearer secret`]);
    expect(printed).toMatch(new RegExp(`12 +rhea +Kiosk +0.0.2 +oem +2026-11-20T${rest}\n`));
  });

  it.each([
    ["cancel", "DELETE /admin/queue/12 Bearer secret", "Cancelled the build 12."],
    ["again", "POST /admin/queue/failures/12/again Bearer secret", "Build 13 makes the image of build 12 again."],
  ])("%s one", async (word, request, words) => {
    await run("builds", word, "12");

    expect(asked).toEqual([request]);
    expect(printed).toContain(words);
  });
});

describe("npm run admin -- tokens", () => {
  it("lists what an account has", async () => {
    await run("tokens", "list", "rhea");

    expect(printed).toMatch(/7 +nightly +build +1004 +2026-11-20 +never +2026-11-21T09:00:00.000Z/);
  });

  it("revokes one", async () => {
    await run("tokens", "revoke", "7");

    expect(asked).toEqual(["DELETE /admin/tokens/7 Bearer secret"]);
    expect(printed).toContain("Revoked the token 7");
  });
});

describe("npm run admin -- sessions", () => {
  it("lists what an account has", async () => {
    await run("sessions", "list", "rhea");

    expect(printed).toMatch(/5 +Firefox on Linux +192\.0\.2\.\* +2026-11-20 +2026-11-21T09:00:00.000Z +2026-11-28/);
  });

  it.each([
    [["rhea", "5"], "DELETE /admin/accounts/rhea/sessions/5 Bearer secret", "Revoked the session 5"],
    [["rhea"], "DELETE /admin/accounts/rhea/sessions Bearer secret", "Signed rhea out of all browsers"],
  ])("revoke %j", async (words, request, text) => {
    await run("sessions", "revoke", ...words);

    expect(asked).toEqual([request]);
    expect(printed).toContain(text);
  });
});

describe("npm run admin -- account", () => {
  it.each([
    ["lock", 'PUT /admin/accounts/rhea/lock Bearer secret {"locked":true}', "Locked rhea"],
    ["remove", "DELETE /admin/accounts/rhea Bearer secret", "Removed rhea"],
    ["unlock", 'PUT /admin/accounts/rhea/lock Bearer secret {"locked":false}', "Unlocked rhea"],
    ["password", "PUT /admin/accounts/rhea/password Bearer secret {}", "battery staple   (shown this once)"],
  ])("%s", async (word, request, words) => {
    await run("account", word, "rhea");

    expect(asked).toEqual([request]);
    expect(printed).toContain(words);
  });

  it.each([
    [[], "GET /admin/accounts/rhea/quota Bearer secret", "50 GB (its own)\n"],
    [["50"], 'PUT /admin/accounts/rhea/quota Bearer secret {"gb":50}', "of rhea is 50 GB (its own)."],
    [["default"], 'PUT /admin/accounts/rhea/quota Bearer secret {"gb":null}', "of rhea is"],
  ])("quota %j", async (words, request, text) => {
    await run("account", "quota", "rhea", ...words);

    expect(asked).toEqual([request]);
    expect(printed).toContain(text);
  });

  it.each([["fifty"], ["50GB"], ["50", "60"]])("quota refuses %s", async (...words) => {
    await expect(run("account", "quota", "rhea", ...words)).rejects.toThrow(/number of GB|at most one value/);
    expect(asked).toEqual([]);
  });

  it.each(["battery staple", "battery staple\n", "battery staple\r\n"])(
    "reads a password from a file: %j",
    async (text) => {
      const file = fileOf(text);

      await run("account", "password", "rhea", "--password-file", file);

      expect(asked).toEqual(['PUT /admin/accounts/rhea/password Bearer secret {"password":"battery staple"}']);
      expect([printed, warned]).toEqual(["rhea has the new password.\n", ""]);
    },
  );

  it("reads a secret from standard input", async () => {
    const env = { ...process.env, KILN_URL: serviceUrl(), KILN_ADMIN_SECRET: "secret" };
    const args = ["scripts/admin.ts", "account", "password", "rhea", "--password-file", "-"];
    const command = spawn(process.execPath, args, { cwd: root, env, stdio: ["pipe", "ignore", "inherit"] });
    command.stdin.end("battery staple\n");
    await once(command, "exit");

    expect(asked).toEqual(['PUT /admin/accounts/rhea/password Bearer secret {"password":"battery staple"}']);
  });

  it.each([
    [["--password-file", "/absent"], /^There is no file \/absent\.$/],
    [["--password-file", "/dev/null"], /^The password is empty\.$/],
    [["--password", "a", "--password-file", "/dev/null"], /^Give --password or --password-file, not both\.$/],
    [["--api-key-file", "/dev/null"], /belongs to account add/],
  ])("explains what is wrong with %j", async (words, message) => {
    await expect(run("account", "password", "rhea", ...words)).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });

  it("refuses two secrets from one standard input, and a secret of two lines", async () => {
    const both = ["--api-key-file", "-", "--password-file", "-"];
    await expect(run("account", "add", "rhea", "--email", "e@f", ...both)).rejects.toThrow(/only one of the two/);
    const file = fileOf("battery\nstaple\n");
    await expect(run("account", "password", "rhea", "--password-file", file)).rejects.toThrow(/single line/);
  });

  it("takes a password from the command line, does not print it, and says who can see it", async () => {
    await run("account", "password", "rhea", "--password", "battery staple");

    expect(asked).toEqual(['PUT /admin/accounts/rhea/password Bearer secret {"password":"battery staple"}']);
    expect(printed).not.toContain("staple");
    expect(warned).toMatch(/^! Other users of this machine can see --password .*--password-file FILE/);
    await expect(run("account", "lock", "rhea", "--password", "x")).rejects.toThrow(/belongs to account add/);
  });
});

describe("npm run admin -- audit list", () => {
  it("prints what was done", async () => {
    await run("audit", "list", "--account", "rhea", "--before", "9");

    expect(printed).toMatch(/8 +2026-11-20T10:00:00.000Z +rhea +token.created +1 +key +token_id=7 scope=build/);
    await expect(run("agent", "list", "--account", "rhea")).rejects.toThrow(/belong to audit list/);
  });
});
