import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askRepository } from "../src/packages/mirror.ts";
import { httpProxy } from "./support/http-proxy.ts";
import { fetchOutside, OutsideRefused } from "../src/outside.ts";

let server: Server;
let port: number;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.headers.host ?? "");
    response.end("reached");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

const resolve = async (host: string) => ({ "both.example": ["93.184.216.34", "10.0.0.1"] })[host] ?? [];
const refusal = (message: string) => new OutsideRefused(message);

describe("fetchOutside", () => {
  it.each([
    ["http://127.0.0.1/", "127.0.0.1"],
    ["http://2130706433/", "127.0.0.1"],
    ["http://0x7f.1/", "127.0.0.1"],
    ["https://[::1]:8443/", "[::1]:8443"],
    ["http://[::ffff:10.0.0.1]/", "[::ffff:a00:1]"],
    ["http://169.254.169.254/latest/meta-data", "169.254.169.254"],
    ["http://both.example/", "both.example"],
  ])("refuses %s as private", async (url, host) => {
    await expect(fetchOutside(url, { allowHosts: [], resolve })).rejects.toEqual(
      refusal(`${host} is an address in a private network.`),
    );
  });

  it.each([
    ["http://unknown.example/", "The host unknown.example is unknown."],
    ["ftp://public.example/", "The URL must be http or https, not ftp."],
    ["file:///etc/passwd", "The URL must be http or https, not file."],
    ["dir:///etc", "The URL must be http or https, not dir."],
    ["not a url", '"not a url" is not a valid URL.'],
  ])("refuses %s: %s", async (url, reason) => {
    await expect(fetchOutside(url, { allowHosts: [], resolve })).rejects.toEqual(refusal(reason));
  });

  it("refuses a name whose lookup fails", async () => {
    const rules = { allowHosts: [], resolve: () => Promise.reject(new Error("SERVFAIL")) };
    await expect(fetchOutside("http://a.example/", rules)).rejects.toEqual(refusal("The host a.example is unknown."));
  });

  it("resolves a name once, so it cannot become private afterwards", async () => {
    const answers = [["192.88.99.1"], ["127.0.0.1"]];
    let lookups = 0;
    const rebinding = async () => answers[lookups++] ?? ["127.0.0.1"];

    const rules = { allowHosts: [], resolve: rebinding };
    await expect(fetchOutside(`http://rebinding.example:${port}/`, rules)).rejects.toBeInstanceOf(OutsideRefused);

    expect(lookups).toBe(1);
    expect(asked).not.toContain(`rebinding.example:${port}`);
  });

  it("connects to the address that was checked", async () => {
    // No server here has a public address. The error shows that the connection was attempted.
    const rules = { allowHosts: [], resolve: async () => ["2000::1"] };
    const error: unknown = await fetchOutside(`http://public.example:${port}/`, rules).catch((error: unknown) => error);

    expect(error).toMatchObject({ cause: { address: "2000::1" } });
  });

  it.each([
    ["a host", () => ["127.0.0.1"]],
    ["a host and its port", () => [`127.0.0.1:${port}`]],
  ])("reaches %s that the operator allows", async (_, allowHosts) => {
    const answer = await fetchOutside(`http://127.0.0.1:${port}/`, { allowHosts: allowHosts(), resolve });
    expect(await answer.text()).toBe("reached");
  });

  it("refuses an allowed host at another port", async () => {
    await expect(
      fetchOutside(`http://127.0.0.1:${port}/`, { allowHosts: ["127.0.0.1:1"], resolve }),
    ).rejects.toBeInstanceOf(OutsideRefused);
  });
});

describe("fetchOutside with a proxy", () => {
  it("asks it for its hosts, which only it knows, and for no other", async () => {
    using proxy = await httpProxy({ "mirror.invalid": port });
    const rules = { allowHosts: [], proxy: { url: proxy.url, hosts: ["mirror.invalid:80"] } };

    const answer = await fetchOutside("http://mirror.invalid/dists/stable/InRelease", rules);
    const others = ["http://mirror.invalid:8080/", "https://mirror.invalid/", "http://other.invalid/"];

    expect(await answer.text()).toBe("reached");
    for (const url of others) await expect(fetchOutside(url, rules)).rejects.toBeInstanceOf(OutsideRefused);
    expect(proxy.asked).toEqual(["http://mirror.invalid/dists/stable/InRelease"]);
  });

  it("asks it only for repositories of catalogues", async () => {
    using proxy = await httpProxy({ "mirror.invalid": port });
    const reach = {
      url: "http://kiln.invalid",
      credentials: {},
      allowHosts: [],
      catalogueProxy: { url: proxy.url, hosts: ["mirror.invalid:80"] },
    };
    const ask = (isOfCatalogue: boolean) =>
      askRepository(
        { base: "http://mirror.invalid", path: "a.deb", isOfCatalogue },
        reach,
        new AbortController().signal,
      );

    expect(await (await ask(true)).text()).toBe("reached");
    await expect(ask(false)).rejects.toBeInstanceOf(OutsideRefused);
    expect(proxy.asked).toEqual(["http://mirror.invalid/a.deb"]);
  });
});
