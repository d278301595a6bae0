import { afterEach, describe, expect, it } from "vitest";
import { administer } from "../../scripts/admin/commands.ts";
import { asked, pages, printed, run, serveAdminRoutes, service } from "./admin-service.ts";

serveAdminRoutes();

describe("npm run admin -- health, metrics", () => {
  afterEach(() => {
    process.exitCode = undefined;
  });

  it("reports that work flows", async () => {
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
    pages.push({ ...page, left: 40, next }, page, { ...page, changed: 0 });
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
    pages.push({ ...page, unreadable: [next].map(({ column, after: row }) => ({ column, row })) });
    await expect(run("keys", "reencrypt")).rejects.toThrow(
      /^Changed 2 values\. .*decrypts 1 others .*: configurations 7\./,
    );
  });

  it("rehash reports how many keys work again", async () => {
    pages.push(page);
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
