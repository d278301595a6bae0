import { beforeAll, describe, expect, it } from "vitest";
import {
  expectDocument,
  formType,
  javaAccept,
  rubyForm,
  rubyType,
  startDialect,
  xmlType,
  type Dialect,
} from "./support/dialect.ts";
import { until } from "./support/service.ts";
import { exchange, length, request, type RequestParts } from "./support/wire.ts";

/** Sharing and the gallery, in the exact bytes of each client (compatibility.md, "Sharing", "Gallery", "Bodies"). */

let dialect: Dialect;
let ask: Dialect["ask"];
let id: string;
let published: string;

const user = "/api/v2/user";

beforeAll(async () => {
  dialect = await startDialect("gallery", "with-agent");
  ask = dialect.ask;
  id = await dialect.cloned();
  published = `${user}/gallery/appliances/${id}`;
  await dialect.addAccount("odo");
  const build = (await ask(`POST ${user}/running_builds?appliance_id=${id}`)).element("id");
  await until("the build has ended", 300, async () => {
    const state = (await ask(`GET ${user}/running_builds/${build}`)).element("state");
    if (state === "failed" || state === "error") throw new Error(`the build is ${state}`);
    return state === "finished";
  });
});

/** Clients send a text with various content types. Even with the type of a form, the text is not a form. */
const text = "First *public* release & more=yes + 100%\n<b>Grüße</b> name=x";
const shownText = "First *public* release &amp; more=yes + 100%\n&lt;b&gt;Grüße&lt;/b&gt; name=x";
const texts: [string, RequestParts][] = [
  ["Ruby's gem, PySUSEStudio, curl -d: as a form", { headers: [formType, length(text)], body: text }],
  ["curl -T, Java's library: without a type", { headers: [length(text)], body: text }],
  ["Qt: as XML", { headers: [xmlType, length(text)], body: text }],
  [
    "as a multipart form without its boundary",
    { headers: ["Content-Type: multipart/form-data", length(text)], body: text },
  ],
  ["as another one's form", { headers: [rubyType, length(text)], body: text }],
];

const nothing: [string, RequestParts][] = [
  ["the documentation's curl -X: neither type nor length", { headers: ["User-Agent: curl/7.21.3", "Accept: */*"] }],
  ["Qt: an empty form", { headers: [formType, "Content-Length: 0"] }],
  ["Java's library: a type without a body", { headers: [javaAccept, xmlType] }],
];

const withdraw = () => ask(`DELETE ${published}/version/0.0.1`);

describe("publishing", () => {
  it.each([...texts, ...nothing])("accepts %s", async (_, said) => {
    const answer = await ask(`POST ${published}/version/0.0.1`, said);

    expectDocument(answer);
    expect(answer.text).toContain(
      said.body === undefined ? "<release_notes/>" : `<release_notes>${shownText}</release_notes>`,
    );
    expect((await withdraw()).text).toBe("<success></success>\n");
  });

  it("accepts PySUSEStudio's trailing slash and missing version", async () => {
    expectDocument(await ask(`POST ${published}/version/0.0.1/`, { headers: [formType, length("x")], body: "x" }));
    for (const path of ["version", "version/"]) {
      const answer = await ask(`POST ${published}/${path}`, { headers: [formType, "Content-Length: 0"] });
      expectDocument(answer, "HTTP/1.1 400 Bad Request");
      expect(answer.element("code")).toBe("missing_version");
    }
    expectDocument(await withdraw());
  });
});

describe("a publication", () => {
  beforeAll(async () => {
    expectDocument(await ask(`POST ${published}/version/0.0.1`, { headers: [formType, length(text)], body: text }));
  });

  it.each([...texts, ...nothing])("accepts new release notes from %s", async (_, said) => {
    const answer = await ask(`PUT ${published}/version/0.0.1`, said);

    expectDocument(answer);
    expect(answer.text).toContain(
      said.body === undefined ? "<release_notes/>" : `<release_notes>${shownText}</release_notes>`,
    );
  });

  it.each([
    "latest",
    "popular",
    "latest=&page=1&per_page=10",
    "popular=%27%27&per_page=5",
    "popular=''&per_page=5",
    "latest=''&page=&per_page=",
    "search",
    "search=latest&page=1&per_page=10",
    "search=Just+enough",
    "search=Just%20enough",
    "query=popular",
    "query=latest&",
  ])("is found by ?%s", async (query) => {
    const answer = await ask(`GET ${user}/gallery/appliances?${query}`, { headers: ["Accept: */*"] });

    expectDocument(answer);
    expect(answer.text).toMatch(
      /^<gallery>\n {2}<appliances count="\d+">\n {4}<pages>\d+<\/pages>\n {4}<current_page>1</,
    );
    // Other test files may also have published versions, so this one may be on a later page.
    const found = [answer.text];
    const unpaged = query.replace(/&page=\d*/, "");
    for (let page = 2; page <= Number(answer.element("pages")); page++)
      found.push((await ask(`GET ${user}/gallery/appliances?${unpaged}&page=${page}`)).text);
    expect(found.join("")).toContain(`<id>${id}</id>`);
  });

  it.each<[string, string, RequestParts]>([
    [
      "Ruby's gem: the query, and the same in a form",
      "?rating=4",
      { headers: [rubyType, length(rubyForm(["rating", "4"]))], body: rubyForm(["rating", "4"]) },
    ],
    ["PySUSEStudio: the body", "", { headers: [formType, length("rating=4")], body: "rating=4" }],
    ["Java's library: only the query", "?rating=4", { headers: [javaAccept] }],
    ["Qt: the query and an empty form", "?rating=4", { headers: [formType, "Content-Length: 0"] }],
  ])("accepts a rating from %s", async (_, query, said) => {
    const answer = await ask(`POST ${published}/rating${query}`, said);

    expectDocument(answer);
    expect([answer.element("ratings"), answer.element("average_rating")]).toEqual(["1", "4.0"]);
  });

  it.each(texts)("accepts a comment from %s", async (_, said) => {
    const answer = await ask(`POST ${published}/comments`, said);
    expectDocument(answer);
    expect(answer.text).toContain(`<text>${shownText}</text>`);

    const parent = /<comment>\s*<id>(\d+)</.exec(answer.text)?.[1];
    const reply = await ask(`POST ${published}/comments?parent=${parent}`, said);
    expect(reply.text).toContain(`<parent_id>${parent}</parent_id>`);
  });

  it("refuses PySUSEStudio's empty comment", async () => {
    const answer = await ask(`POST ${published}/comments?parent=`, { headers: [formType, "Content-Length: 0"] });

    expectDocument(answer, "HTTP/1.1 400 Bad Request");
    expect(answer.element("code")).toBe("missing_parameter");
  });

  it.each(["logo", "background", "background."])(
    "shows its %s as PNG, whatever image type is requested",
    async (name) => {
      for (const accept of [javaAccept, "Accept: image/jpg", "Accept: application/xml"]) {
        const answer = await ask(`GET ${published}/${name}`, { headers: [accept] });
        expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
        expect(answer.body.subarray(1, 4).toString()).toBe("PNG");
      }
      const head = await ask(`HEAD ${published}/${name}`, {}, "HEAD");
      expect([head.status, head.body.length]).toEqual([200, 0]);
    },
  );

  it("can be cloned by Java's library, without body or length", async () => {
    const headers = [`Authorization: BASIC ${dialect.credentials}`, "User-Agent: Java/1.7.0_51", javaAccept];

    expectDocument(
      await exchange(dialect.url, request(`POST ${user}/appliances?clone_from=${id}&arch=x86_64`, { headers })),
    );
  });

  it("lists its software without a version, and with an empty one", async () => {
    for (const query of ["", "?version=", "?version=0.0.1", "?"]) {
      const answer = await ask(`GET ${published}/software${query}`);
      expectDocument(answer);
      expect(answer.text).toMatch(/<installed_software count="\d+">/);
    }
  });
});

const sharing = () => `${user}/appliances/${id}/sharing`;

describe("sharing", () => {
  it.each<[string, string, RequestParts]>([
    ["Ruby's gem: an empty form", "odo", { headers: [formType, "Content-Length: 0"] }],
    ["the documentation's curl -XPOST", "odo", { headers: ["User-Agent: curl/7.21.3"] }],
    ["Java's library: a percent-encoded name", "%6Fdo", { headers: [javaAccept, xmlType] }],
    ["Python 2: a trailing slash", "odo/", {}],
  ])("accepts %s", async (_, name, said) => {
    const added = await ask(`POST ${sharing()}/${name}`, said);
    expectDocument(added);
    expect(added.text).toContain('<read_users count="1">\n    <username>odo</username>');

    const removed = await ask(`DELETE ${sharing()}/${name}`, said);
    expectDocument(removed);
    expect(removed.text).toBe(
      `<appliance>\n  <id>${id}</id>\n  <read_users count="0">\n  </read_users>\n</appliance>\n`,
    );
  });

  it.each(["nobody+at+all", "nobody%20at%20all", "%ff", "%00", ".."])(
    "refuses an unknown user called %s",
    async (name) => {
      const answer = await ask(`POST ${sharing()}/${name}`, { headers: ["Content-Length: 0"] });

      expectDocument(answer, answer.statusLine);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    },
  );
});
