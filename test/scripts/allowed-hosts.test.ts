import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { parseHost, resolveHosts } from "../../scripts/launch/allowed-hosts.ts";

const isOwnPort = (port: number) => port === 8787;

describe("resolveHosts", () => {
  it("keeps names for our own checks, and adds addresses for workerd", async () => {
    const hosts = ["10.1.2.3:8080", "[fd00::1]", "localhost:8080"].map(parseHost);
    const { names, cidrs } = await resolveHosts(hosts, isOwnPort);
    expect(names).toEqual(["10.1.2.3:8080", "[fd00::1]", "localhost:8080"]);
    expect(cidrs).toEqual(expect.arrayContaining(["10.1.2.3/32", "fd00::1/128", "127.0.0.1/32"]));
  });

  it("refuses a name without an address", async () => {
    // RFC 6761: this name never has an address.
    await expect(resolveHosts([parseHost("mirror.invalid")], isOwnPort)).rejects.toThrow(/mirror\.invalid.*no address/);
  });

  it.each(["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"])(
    "requires a port with %s",
    async (host) => {
      await expect(resolveHosts([parseHost(host)], isOwnPort)).rejects.toThrow(/Add a port/);
      await expect(resolveHosts([parseHost(`${host}:8787`)], isOwnPort)).rejects.toThrow(/Kiln itself uses this port/);
      await expect(resolveHosts([parseHost(`${host}:8080`)], isOwnPort)).resolves.toMatchObject({
        names: [`${host}:8080`],
      });
    },
  );

  it("requires a port with every address of this machine", async () => {
    const address =
      Object.values(networkInterfaces())
        .flat()
        .find((each) => each?.family === "IPv4")?.address ?? "";
    await expect(resolveHosts([parseHost(address)], isOwnPort)).rejects.toThrow(/Add a port/);
  });
});
