import { env } from "cloudflare:workers";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { listRpms } from "#storage/rpms";
import { app } from "../../src/app.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { rpmOf } from "../support/packages.ts";
import {
  base,
  blobCount,
  expectNothingLeft,
  form,
  listed,
  pair,
  send,
  tarOf,
  uploaded,
} from "../support/rpm-uploads.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);

beforeAll(loadTemplates);

describe("the disk quota", () => {
  const settings = { ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) };

  it("counts uploads, and the contents of archives", async () => {
    const tux = await signedIn();
    const tar = await pair();
    await uploaded(send(tux, form(tar)));
    const [row] = await listRpms(db, tux.accountId, base);
    expect(row?.storedBytes).toBe(tar.byteLength + rpmOf("one").byteLength + rpmOf("two").byteLength);
    const used = await app.fetch(
      new Request("https://kiln.test/api/v2/user/account", {
        headers: { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` },
      }),
      { ...env, ACCOUNT_QUOTA_GB: String((row?.storedBytes ?? 0) / 2 ** 30 / 0.5) },
    );
    expect((await readXml(used)).account.disk_quota.used).toBe("50%");
  });

  it("refuses what does not fit, and says what to do", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const answer = await send(tux, form(rpmOf("a", { payload: "p".repeat(3000) })), { settings });
    expect(await expectError(answer, 400, "unknown_error")).toMatch(/quota/);
    await expectNothingLeft(tux, blobs);
  });

  it("refuses an archive whose packages do not fit in addition", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const tar = await tarOf({ "a.rpm": rpmOf("a", { payload: "p".repeat(1500) }) });
    const answer = await send(tux, form(Uint8Array.from(gzipSync(tar))), {
      settings: { ACCOUNT_QUOTA_GB: String(1000 / 2 ** 30) },
    });
    await expectError(answer, 400, "unknown_error");
    await expectNothingLeft(tux, blobs);
  });

  it("is not exceeded by many simultaneous uploads", async () => {
    const tux = await signedIn();
    const answers = await Promise.all(
      ["a", "b", "c", "d", "e"].map((name) =>
        send(tux, form(rpmOf(name, { payload: "p".repeat(1000) })), { settings }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(await listed(tux)).toHaveLength(2);
  });

  it("lets new content replace old content", async () => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(rpmOf("a", { payload: "p".repeat(1800) })), { settings }));
    const path = `/rpms/${rpm.id}`;
    const again = form(rpmOf("a", { payload: "q".repeat(1900) }));
    expect((await send(tux, again, { method: "PUT", path, settings })).status).toBe(200);
  });
});
