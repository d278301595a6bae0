import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { signedIn, type Client } from "../support/client.ts";
import { bytesOf } from "../support/fake-agent.ts";
import { galleryPath, publish, publishedAppliance, sendText } from "../support/gallery.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
let rhea: Client;
let id: number;
/** Publishes another appliance as `id`. It has no opinions yet. */
const publishAnother = async () => {
  ({ applianceId: id } = await publishedAppliance(tux));
};
beforeAll(async () => {
  [tux, rhea] = await Promise.all([signedIn(), signedIn()]);
  await publishAnother();
});

const ratingIn = async (answer: Response) => (await readXml(answer)).gallery.appliance;

const rate = (client: Client, rating: number | string) => client.post(galleryPath(id, "/rating"), { rating });
const rating = async () => await ratingIn(await rhea.get(galleryPath(id, "/rating")));

describe("ratings", () => {
  it("are none at first", async () => {
    await publishAnother();
    expect(await rating()).toEqual({ ratings: "0", average_rating: "0.0" });
  });

  it("count the last one per account, even if sent simultaneously", async () => {
    await publishAnother();
    expect(await ratingIn(await rate(rhea, 0))).toEqual({ ratings: "1", average_rating: "0.0" });
    expect(await ratingIn(await rate(rhea, 5))).toEqual({ ratings: "1", average_rating: "5.0" });
    await Promise.all([rate(tux, 4), rate(tux, 4), rate(tux, 4)]);
    expect(await rating()).toEqual({ ratings: "2", average_rating: "4.5" });
    await rate(await signedIn(), "4.0");
    expect(await rating()).toEqual({ ratings: "3", average_rating: "4.33333333333333" });
  });

  it.each(["6", "-1", "4.5", "five", "05", "5 "])("cannot be %s", async (given) => {
    const before = await rating();
    await expectError(await rate(rhea, given), 400, "invalid_rating");
    expect(await rating()).toEqual(before);
  });

  it("are required, in the query or in a form", async () => {
    await expectError(await rhea.post(galleryPath(id, "/rating")), 400, "missing_rating");
    await expectError(await rate(rhea, ""), 400, "missing_rating");
    expect((await sendText(rhea, "POST", galleryPath(id, "/rating"), { body: "rating=5" })).status).toBe(200);
  });
});

const say = (client: Client, body: BodyInit, query = "") =>
  sendText(client, "POST", galleryPath(id, `/comments${query}`), { body });
const commentsIn = async (answer: Response) => (await readXml(answer)).gallery.appliance.comments;
const idOfFirst = async (): Promise<string> => (await commentsIn(await say(rhea, "Hello"))).comment.id;
const comments = async () => await commentsIn(await rhea.get(galleryPath(id, "/comments")));

/** Adds comments like the first one, each with this much text. */
const fillComments = async (amount: number, characters: number) =>
  await openDatabase(env).run(
    sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${amount})
        INSERT INTO comments (appliance_id, account_id, text, created_at)
        SELECT appliance_id, account_id, printf('%.*c', ${characters}, 'x'), created_at FROM comments, n WHERE appliance_id = ${id}`,
  );

describe("comments", () => {
  it("are none at first, in the long form", async () => {
    await publishAnother();
    expect(await (await rhea.get(galleryPath(id, "/comments"))).text()).toContain(
      '<comments count="0">\n    </comments>',
    );
  });

  it("keep their text unchanged, under the display name", async () => {
    await publishAnother();

    const { comment } = await commentsIn(await say(rhea, "parent=7&text=100%25 + <b>more</b>"));

    expect(comment).toEqual({
      id: expect.stringMatching(/^\d+$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
      username: rhea.username,
      text: "parent=7&text=100%25 + <b>more</b>",
    });
  });

  it("can be replied to, oldest first", async () => {
    await publishAnother();
    const first = await idOfFirst();

    const all = await commentsIn(await say(tux, "Good to hear!", `?parent=${first}`));

    expect(Object.keys(all.comment[1])).toEqual(["id", "parent_id", "timestamp", "username", "text"]);
    expect(all).toMatchObject({
      "@count": "2",
      comment: [{ id: first }, { parent_id: first, username: tux.username }],
    });
    expect(await comments()).toEqual(all);
  });

  it.each([
    ["without text", "", "", "missing_parameter"],
    ["of only white space", " \n\t", "", "missing_parameter"],
    ["of only control characters", "\u0000\u0001", "", "missing_parameter"],
    ["that are too long", "x".repeat(64 * 1024 + 1), "", "invalid_value"],
    ["in invalid UTF-8", bytesOf("x").fill(0xff), "", "invalid_value"],
    ["to an unknown comment", "Yes", "?parent=999999999", "invalid_parent"],
    ["to an invalid comment", "Yes", "?parent=x", "invalid_parent"],
    ["to comment zero", "Yes", "?parent=0", "invalid_parent"],
  ])("are refused %s", async (_what, body, query, code) => {
    const before = await comments();
    await expectError(await say(rhea, body, query), 400, code);
    expect(await comments()).toEqual(before);
  });

  it.each([
    ["too many", 1000, 1],
    ["too long together", 17, 65_000],
  ])("are refused when there are %s", async (_what, amount, characters) => {
    await publishAnother();
    await idOfFirst();
    await fillComments(amount - 1, characters);
    const message = await expectError(await say(tux, "Me too"), 400, "unknown_error");
    expect(message).toMatch(/^An appliance can have at most 1000 comments, and 1000000 characters in them\./);
    expect(await comments()).toMatchObject({ "@count": String(amount) });
  });

  it("cannot reply to comments of other appliances", async () => {
    const { applianceId: other } = await publishedAppliance(rhea);
    await publishAnother();
    const first = await idOfFirst();

    const answer = await sendText(tux, "POST", galleryPath(other, `/comments?parent=${first}`), {
      body: "Where am I?",
    });
    await expectError(answer, 400, "invalid_parent");
  });

  it("never show an email address", async () => {
    for (const path of ["", "/comments", "/software"]) {
      expect(await (await rhea.get(galleryPath(id, path))).text()).not.toContain("@example.org");
    }
    expect(await (await rhea.get("/gallery/appliances?latest")).text()).not.toContain("@example.org");
  });

  it("are hidden while nothing is published, and then return", async () => {
    const before = await comments();
    await tux.delete(galleryPath(id, "/version/0.0.1"));
    await expectError(await say(rhea, "Hello?"), 403, "access_denied");
    await publish(tux, id);
    expect(await comments()).toEqual(before);
  });
});
