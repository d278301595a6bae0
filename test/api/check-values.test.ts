/** Which checks an appliance may have, and how omitted fields are completed. */
import { beforeAll, describe, expect, it } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { putConfiguration } from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";

let tux: Client;
beforeAll(async () => {
  tux = await signedIn();
});

describe("the values of checks", () => {
  it("are completed by their kind", async () => {
    const id = await createAppliance(tux);
    await putConfiguration(tux, id, { checks: [{ kind: "https" }, { kind: "units" }] });
    const answer = await tux.get(`/appliances/${id}/configuration`, { headers: { accept: "application/json" } });
    expect((await answer.json<{ configuration: object }>()).configuration).toMatchObject({
      checks: [{ kind: "https", port: 443, path: "/", status: 200, seconds: 300 }, { kind: "units" }],
    });
  });

  it.each<[object, string]>([
    [{ checks: [{ kind: "reboot" }] }, "checks/check/kind"],
    [{ checks: [{ kind: "port_open" }] }, "checks/check/port: must be 1 to 65535"],
    [{ checks: [{ kind: "port_open", port: 65_536 }] }, "checks/check/port: must be 1 to 65535"],
    [{ checks: [{ kind: "console_text" }] }, "checks/check/text: must be one line"],
    [{ checks: [{ kind: "login", port: 80 }] }, "checks/check/port: has no meaning for the kind login"],
    [{ checks: [{ kind: "units", seconds: 5 }] }, "checks/check/seconds: has no meaning for the kind units"],
    [{ checks: [{ kind: "http", path: "//other.example.org/" }] }, "checks/check/path: must begin with /"],
    [{ checks: [{ kind: "http", path: "/a\r\nHost: x" }] }, "checks/check/path"],
    [{ checks: [{ kind: "screen" }] }, "checks/check/build: must be the id of a build"],
    [{ checks: [{ kind: "screen", build: 1, percent: 101 }] }, "checks/check/percent: must be 1 to 100"],
    [{ checks: [{ kind: "screen", build: 1, mask: "1,2,3" }] }, "checks/check/mask: must be rectangles such as"],
    [{ checks: [{ kind: "login", seconds: 1201 }] }, "checks/check/seconds: must be 1 to 1200"],
    [{ checks: Array.from({ length: 21 }, () => ({ kind: "login" })) }, "checks: must not be more than 20"],
    [{ checks: [], settings: { publish_when: "checked" } }, "settings/publish_when: needs a check"],
  ])("refuses %j", async (configuration, message) => {
    const answer = await putConfiguration(tux, await createAppliance(tux), configuration);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(message);
  });
});
