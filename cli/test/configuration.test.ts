import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Machine } from "./support/machine.ts";
import type { StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

const path = "/api/v2/user/appliances/1000/configuration";
const configuration = {
  users: [
    { name: "root", password: "linux" },
    { name: "mira", password: "" },
  ],
  databases: [{ type: "pgsql", users: [{ username: "shop", password: "till" }] }],
};

let machine: Machine;
let service: StandIn;

beforeAll(async () => {
  ({ machine, service } = await signedInMachine({ [path]: { configuration } }));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

const sent = () => service.requests.filter((one) => one.startsWith("PUT"));

describe("kiln config", () => {
  it.each([[[]], [["users"]], [["--json"]], [["databases"]]])("masks passwords, get 1000 %j", async (more) => {
    const { code, stdout } = await machine.kiln(["config", "get", "1000", ...more]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("password")]);
    expect(stdout).not.toMatch(/linux|till/);
    expect(stdout).toContain("********");
  });

  it("shows that a password is empty", async () => {
    const { stdout } = await machine.kiln(["config", "get", "1000", "users", "--json"]);
    expect(JSON.parse(stdout).users).toMatchObject([{ password: "********" }, { name: "mira", password: "" }]);
  });

  it("shows passwords on request", async () => {
    const { stdout } = await machine.kiln(["config", "get", "1000", "--show-secrets", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ configuration });
  });

  it("prints nothing for a setting without a value, and refuses other names", async () => {
    const empty = await machine.kiln(["config", "get", "1000", "network.hostname"]);
    expect(empty).toMatchObject({ code: 0, stdout: "\n" });
    const unknown = await machine.kiln(["config", "get", "1000", "network.hostnam"]);
    expect(unknown).toMatchObject({ code: 9, stderr: expect.stringContaining("There is no setting network.hostnam.") });
  });

  it("prints what the settings are after a change, without passwords", async () => {
    const network = { type: "dhcp", hostname: "kiosk" };
    const users = [{ name: "root" }]; // as the service shows them in a definition
    service.answers["PUT /api/v2/user/appliances/1000/definition"] = {
      definition: { configuration: { network, users } },
    };
    const settings = ["network.hostname=kiosk", 'users=[{"name":"root","password":"linux"}]'];
    const ended = await machine.kiln(["config", "set", "1000", ...settings]);
    expect(ended).toMatchObject({ code: 0, stdout: 'network.hostname: kiosk\nusers: [{"name":"root"}]\n' });
  });

  it.each([
    ["invalid_value", "configuration/network/ip: is used only with the type manual.", "network.ip: is used only with"],
    ["invalid_value", "configuration/users/user/name: must be a name.", "users.name: must be a name."],
    ["invalid_node", "The element configuration/network/hostnam is not known here.", "Did you mean network.hostname?"],
    ["invalid_node", "The element configuration/network/hst is not known here.", "`kiln config get APPLIANCE` shows"],
    ["invalid_node", "The element configuration/netwrk is not known here.", "Did you mean network?"],
  ])("names a refused setting as it was written: %s %s", async (code, message, shown) => {
    service.answers["PUT /api/v2/user/appliances/1000/definition"] = (_, response) =>
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { code, message } }));
    const ended = await machine.kiln(["config", "set", "1000", "network.ip=10.0.0.1"]);
    expect(ended).toMatchObject({ code: code === "invalid_node" ? 9 : 1, stderr: expect.stringContaining(shown) });
    expect(ended.stderr).not.toContain("/");
  });

  it("does not set a password to its mask", async () => {
    const before = sent().length;
    const ended = await machine.kiln(["config", "set", "1000", 'users=[{"name":"root","password":"********"}]']);
    expect(ended).toMatchObject({ code: 64, stderr: expect.stringContaining("users has a masked password.") });
    expect(sent()).toHaveLength(before);
  });
});
