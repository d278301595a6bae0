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
import { exchange, length, request, type RequestParts } from "./support/wire.ts";

/** The calls with parameters, in the exact bytes of each client that still makes them (compatibility.md, "Parameters", "Bodies"). */

let dialect: Dialect;
let ask: Dialect["ask"];
let appliance: string;

beforeAll(async () => {
  dialect = await startDialect("dialects");
  ask = dialect.ask;
  appliance = `/api/v2/user/appliances/${await dialect.cloned()}`;
});

describe("cloning an appliance", () => {
  const path = "/api/v2/user/appliances";

  it("accepts Ruby's gem: the query, and the same in a multipart form", async () => {
    const body = rubyForm(["name", "Kiosk + 1"], ["arch", "x86_64"], ["clone_from", "1"]);
    const query = "name=Kiosk%20%2B%201&arch=x86_64&clone_from=1";
    const headers = ["Accept: */*", rubyType, length(body)];

    const answer = await ask(`POST ${path}?${query}`, { headers, body });

    expectDocument(answer);
    expect(answer.element("name")).toBe("Kiosk + 1");
    expect(answer.element("arch")).toBe("x86_64");
  });

  it("accepts PySUSEStudio: everything in the body, with empty values", async () => {
    const body = "clone_from=1&name=Kiosk+2&arch=i686&version=";
    const headers = ["Accept-Encoding: identity", "Content-type: application/x-www-form-urlencoded", length(body)];

    const answer = await ask(`POST ${path}`, { headers, body });

    expectDocument(answer);
    expect([answer.element("name"), answer.element("arch")]).toEqual(["Kiosk 2", "i586"]);
  });

  it("accepts Java's library: the query, BASIC, no body, no length", async () => {
    const credentials = `Authorization: BASIC ${dialect.credentials}`;
    const headers = [credentials, "User-Agent: Java/1.7.0_51", javaAccept, "Connection: keep-alive"];

    const answer = await exchange(
      dialect.url,
      request(`POST ${path}?clone_from=1&name=Kiosk&arch=x86_64`, { headers }),
    );

    expectDocument(answer);
    expect(answer.element("name")).toBe("Kiosk");
  });

  it("accepts the documentation's curl -XPOST: no length, no type", async () => {
    const headers = ["User-Agent: curl/7.21.3", "Accept: */*"];

    expectDocument(await ask(`POST ${path}?clone_from=1`, { headers }));
  });

  it("accepts Qt: the query and an empty form, with empty values", async () => {
    const headers = [formType, "Content-Length: 0", "Accept-Encoding: gzip", "Accept-Language: de-DE,en,*"];

    const answer = await ask(`POST ${path}?clone_from=1&name=&arch=`, { headers });

    expectDocument(answer);
    expect(answer.element("arch")).toBe("i586");
  });

  it("accepts Python 2: a trailing slash on every path", async () => {
    const body = "clone_from=1&name=Slash";

    const answer = await ask("POST /api/v1/user/appliances/", { headers: [formType, length(body)], body });

    expectDocument(answer);
    expect(answer.element("name")).toBe("Slash");
    expect(answer.element("icon_url")).toMatch(/\/api\/v1\/user\/appliance_icon\/\d+$/);
  });

  it("accepts curl -F: a boundary of many dashes", async () => {
    const boundary = "------------------------d74496d66958873e";
    const body = rubyForm(["clone_from", "1"], ["name", "Dashes"]).replaceAll("6b002ccc", boundary);
    const headers = ["Accept: */*", length(body), `Content-Type: multipart/form-data; boundary=${boundary}`];

    expect((await ask(`POST ${path}`, { headers, body })).element("name")).toBe("Dashes");
  });

  it("answers invalid values with an error of exactly two elements", async () => {
    const answer = await ask(`POST ${path}?name=&arch=x86_64`, { headers: ["Content-Length: 0"] });

    expectDocument(answer, "HTTP/1.1 400 Bad Request");
    expect(answer.text).toMatch(
      /^<error>\n {2}<code>missing_parameter<\/code>\n {2}<message>[^<]+<\/message>\n<\/error>\n$/,
    );
  });
});

describe("changing the selection", () => {
  it.each(["add_package", "remove_package", "ban_package", "unban_package"])(
    "accepts Ruby's gem: cmd/%s with the name twice",
    async (command) => {
      const body = rubyForm(["name", "hello"]);
      const headers = ["Accept: */*", rubyType, length(body)];

      const answer = await ask(`POST ${appliance}/cmd/${command}?name=hello`, { headers, body });

      expectDocument(answer);
      expect(answer.element("state")).toBe("changed");
    },
  );

  it("accepts Ruby's gem: a name with pluses, and an empty form", async () => {
    const path = `${appliance}/cmd/add_package?name=gcc-c%2B%2B&version=&repository_id=`;

    const answer = await ask(`POST ${path}`, { headers: [formType, "Content-Length: 0"] });

    expectDocument(answer);
    expect(answer.element("state")).toBe("broken");
    expect((await ask(`GET ${appliance}/status`)).text).toContain("gcc-c++");
    expect((await ask(`POST ${appliance}/cmd/remove_package?name=gcc-c++`)).element("state")).toBe("equal");
    expect((await ask(`POST ${appliance}/cmd/remove_package?name=gcc-c%2B%2B`)).element("state")).toBe("changed");
  });

  it("accepts Python 2: DELETE to remove a pattern", async () => {
    const body = "name=greeter";
    const added = await ask(`POST ${appliance}/cmd/add_pattern`, { headers: [formType, length(body)], body });
    expect(added.element("state")).toBe("changed");

    expectDocument(await ask(`DELETE ${appliance}/cmd/remove_pattern/?name=greeter`));
  });

  it("accepts PySUSEStudio: repo_id in the body", async () => {
    const { text } = await ask("GET /api/v2/user/repositories?base_system=&filter=");
    const body = `repo_id=${/<id>(\d+)<\/id>/.exec(text)?.[1]}`;

    for (const command of ["remove_repository", "add_repository"]) {
      const answer = await ask(`POST ${appliance}/cmd/${command}`, { headers: [formType, length(body)], body });

      expectDocument(answer);
      expect(answer.text).toMatch(/^<repositories type="array">/);
    }
  });
});

describe("starting a build", () => {
  it.each<[string, string, RequestParts]>([
    ["Ruby's gem", "&force=true&multi=true", { headers: [xmlType, "Content-Length: 0"] }],
    ["Java's library", "&force=true&image_type=oem&version=0.0.1", { headers: [javaAccept] }],
    ["suseviclient", "&force=1&image_type=oem", { headers: ["User-Agent: curl/7.21.3", "Accept: */*"] }],
    ["Qt", "&force=1&version=&image_type=&multi=0", { headers: [formType, "Content-Length: 0"] }],
    ["Ruby's gem with a form", "&force=true", { headers: [formType, "Content-Length: 0"] }],
  ])("accepts %s", async (_, parameters, said) => {
    const id = await dialect.cloned();

    const answer = await ask(`POST /api/v2/user/running_builds?appliance_id=${id}${parameters}`, said);

    expectDocument(answer);
    expect(answer.text).toMatch(/^<build>\n {2}<id>\d+<\/id>\n/);
    const again = await ask(`POST /api/v2/user/running_builds?appliance_id=${id}&image_type=oem`);
    expectDocument(again, "HTTP/1.1 400 Bad Request");
    expect(again.element("code")).toBe("image_already_exists");
    expectDocument(await ask(`DELETE /api/v2/user/running_builds/${answer.element("id")}`));
  });

  it("accepts PySUSEStudio's body with True and a wrong id", async () => {
    const body = `appliance_id=${await dialect.cloned()}&force=True&version=&image_type=`;
    const answer = await ask("POST /api/v2/user/running_builds", { headers: [formType, length(body)], body });
    expectDocument(answer);
    await ask(`DELETE /api/v2/user/running_builds/${answer.element("id")}`);

    const bug = "appliance_id=%3Cbuilt-in+function+id%3E&force=True&version=&image_type=";
    const refused = await ask("POST /api/v2/user/running_builds", { headers: [formType, length(bug)], body: bug });
    expectDocument(refused, "HTTP/1.1 400 Bad Request");
    expect(refused.element("code")).toBe("invalid_appliance_id");
  });
});

describe("reading", () => {
  it("accepts bare keys and a bare question mark", async () => {
    for (const path of ["template_sets?", "template_sets?latest", "appliances?latest&", "account/?", "api_version"]) {
      expectDocument(await ask(`GET /api/v2/user/${path}`, { headers: ["Accept: application/xml"] }));
    }
  });

  it.each([
    ["GET /api/v2/user/template_sets/%ff%zz", 404, "invalid_template_set"],
    ["GET /api/v2/user/appliances/%00", 404, "invalid_appliance_id"],
    ["GET /api/v2/user/builds?appliance_id=%zz&%=%ff", 400, "invalid_appliance_id"],
    ["GET /api/v2/user/appliances/0/", 404, "invalid_appliance_id"],
    ["GET /api/v1/user/appliances/0", 400, "invalid_appliance_id"],
    ["GET /api/v2/user/nothing", 404, "unknown_error"],
    ["GET /api/v2/user", 404, "unknown_error"],
    ["GET /api//v2/user/account", 404, "unknown_error"],
    ["POST /api/v2/user/account", 400, "wrong_http_method"],
    ["PUT /api/v2/user/testdrives", 400, "wrong_http_method"],
    ["POST /api/v2/user/testdrives?build_id=0", 400, "invalid_build_id"],
    ["POST /api/v2/user/repositories?url=&name=", 400, "missing_url"],
  ])("refuses %s with %i %s", async (line, status, code) => {
    const answer = await ask(line);

    expectDocument(answer, answer.statusLine);
    expect([answer.status, answer.element("code")]).toEqual([status, code]);
    expect(answer.headers.has("allow")).toBe(code === "wrong_http_method");
  });
});
