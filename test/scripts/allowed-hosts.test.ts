import { describe, expect, it } from "vitest";
import { parseHost, resolveHosts } from "../../scripts/launch/allowed-hosts.ts";

describe("resolveHosts", () => {
  it("keeps names for those who check names, and addresses for workerd", async () => {
    const hosts = ["10.1.2.3:8080", "[fd00::1]", "localhost"].map(parseHost);
    const { names, cidrs } = await resolveHosts(hosts);
    expect(names).toEqual(["10.1.2.3:8080", "[fd00::1]", "localhost"]);
    expect(cidrs).toEqual(expect.arrayContaining(["10.1.2.3/32", "fd00::1/128", "127.0.0.1/32"]));
  });

  it("refuses a name without an address", async () => {
    // RFC 6761: never has one.
    await expect(resolveHosts([parseHost("mirror.invalid")])).rejects.toThrow(/mirror\.invalid.*no address/);
  });
});
