import { describe, expect, it, vi } from "vitest";
import { DownloadFailed, type OutsideEnv } from "#domain/outside";
import { fileNameOf, openWebFile, parseWebAddress } from "#domain/contents/web-upload";
import { expectRefusal } from "../support/refusal.ts";
import { fakeFtp } from "../support/ftp.ts";
import { patienceMs } from "../support/patience.ts";

type Answers = Record<string, (request: Request) => Response | Promise<Response>>;

/** A network of these hosts. `asked` lists the requested URLs. */
function network(answers: Answers) {
  const asked: Request[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    asked.push(request);
    const answer = answers[url];
    if (!answer) throw new Error(`internal error; no server at ${url}`);
    return await answer(request);
  };
  return { asked, fetcher: { fetch } as unknown as Fetcher };
}

const text = (body: string) => () => new Response(body);
const to = (location: string) => () => new Response(null, { status: 302, headers: { location } });

async function fetched(env: Partial<OutsideEnv>, url: string, limits?: Parameters<typeof openWebFile>[2]) {
  const rules = { BASE_URL: "https://kiln.example.org", ...env };
  return await new Response((await openWebFile(rules, new URL(url), limits)).body).text();
}

describe("a download from the web", () => {
  it("uses the public network", async () => {
    const { fetcher, asked } = network({ "http://a.example.org/motd": text("hello") });
    expect(await fetched({ OUTSIDE: fetcher }, "http://a.example.org/motd")).toBe("hello");
    expect(asked[0]?.redirect).toBe("manual");
  });

  it("uses the private network for hosts that the operator allows", async () => {
    const inside = network({ "http://files.lan:8080/motd": text("inside") });
    const outside = network({ "http://files.lan/motd": text("outside") });
    const env = { OUTSIDE: outside.fetcher, OUTSIDE_LISTED: inside.fetcher, ALLOW_HOSTS: "files.lan:8080" };
    expect(await fetched(env, "http://files.lan:8080/motd")).toBe("inside");
    expect(await fetched(env, "http://files.lan/motd")).toBe("outside");
  });

  it("follows redirects, and sends credentials only to the first host", async () => {
    const { fetcher, asked } = network({
      "http://a.example.org/1": to("/2"),
      "http://a.example.org/2": to("//b.example.org/3"),
      "http://b.example.org/3": text("hello"),
    });
    expect(await fetched({ OUTSIDE: fetcher }, "http://tux:p%40ss@a.example.org/1")).toBe("hello");
    const basic = `Basic ${btoa("tux:p@ss")}`;
    expect(asked.map(({ headers }) => headers.get("authorization"))).toEqual([basic, basic, null]);
  });

  it("accepts an empty file, and an answer without a body", async () => {
    const { fetcher } = network({
      "http://a.example.org/1": text(""),
      "http://a.example.org/2": () => new Response(null, { status: 204 }),
    });
    expect(await fetched({ OUTSIDE: fetcher }, "http://a.example.org/1")).toBe("");
    expect(await fetched({ OUTSIDE: fetcher }, "http://a.example.org/2")).toBe("");
  });

  it("uses FTP on the same network, with a single host", async () => {
    const server = fakeFtp({ motd: "hello" });
    const hosts: string[] = [];
    const connect = (address: SocketAddress) => {
      hosts.push(address.hostname);
      return server.connectTo(address.port);
    };
    const env = { OUTSIDE: { connect } as unknown as Fetcher };
    expect(await fetched(env, "ftp://ftp.example.org/motd")).toBe("hello");
    expect(hosts).toEqual(["ftp.example.org", "ftp.example.org"]);
  });
});

describe("a failing download", () => {
  const { fetcher, asked } = network({
    "http://a.example.org/404": () => new Response("There is nothing here.", { status: 404 }),
    "http://a.example.org/circle": to("http://a.example.org/circle"),
    "http://a.example.org/loopback": to("http://127.0.0.1:8787/admin"),
    "http://a.example.org/decimal": to("http://2130706433/"),
    "http://a.example.org/self": to("https://kiln.example.org/api"),
    "http://a.example.org/file": to("file:///etc/passwd"),
    "http://a.example.org/ftp": to("ftp://ftp.example.org/a"),
    "http://a.example.org/nowhere": to("http://"),
    "http://a.example.org/broken": () => new Response(brokenStream()),
  });
  const env = { OUTSIDE: { ...fetcher, connect: refusing } as unknown as Fetcher };

  it.each([
    ["http://a.example.org/404", /^a\.example\.org answered 404\.$/],
    ["http://a.example.org/circle", /redirects too often/],
    ["http://a.example.org/loopback", /must not connect to http:\/\/127\.0\.0\.1:8787/],
    ["http://a.example.org/decimal", /must not connect to http:\/\/127\.0\.0\.1/],
    ["http://a.example.org/self", /must not connect to https:\/\/kiln\.example\.org/],
    ["http://a.example.org/file", /must not connect to/],
    ["http://a.example.org/ftp", /must not connect to ftp:\/\/ftp\.example\.org/],
    ["http://a.example.org/nowhere", /redirects to an invalid URL/],
    ["http://a.example.org/broken", /interrupted the download/],
    ["http://unknown.example.org/", /^http:\/\/unknown\.example\.org\/ cannot be reached\.$/],
    ["http://tux:secret@unknown.example.org/", /^http:\/\/unknown\.example\.org\/ cannot be reached\.$/],
    ["http://[::1]/", /must not connect to/],
    ["http://0x7f.1/", /must not connect to/],
    ["ftp://10.0.0.1/a", /must not connect to/],
    ["ftp://localhost:2121/a", /must not connect to/],
    ["ftp://ftp.example.org/a", /^ftp\.example\.org cannot be reached\.$/],
  ])("fails for %s", async (url, reason) => {
    const failed = await fetched(env, url).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(DownloadFailed);
    expect(String((failed as Error).message)).toMatch(reason);
    expect(asked.map((request) => request.url).filter((one) => !/example\.org/.test(one))).toEqual([]);
  });

  it("fails if the FTP server returns an error", async () => {
    const server = fakeFtp({});
    const OUTSIDE = { connect: ({ port }: SocketAddress) => server.connectTo(port) } as unknown as Fetcher;
    await expect(fetched({ OUTSIDE }, "ftp://ftp.example.org/a")).rejects.toThrow("ftp.example.org answered 550.");
  });

  it.each([
    ["if the server stops sending", { silenceMs: 50, totalMs: 60_000 }, /stopped sending/],
    ["if it takes too long", { silenceMs: 60_000, totalMs: 50 }, /takes too long/],
  ])("fails %s", async (_, limits, reason) => {
    const cancelled = vi.fn();
    const { fetcher: slow } = network({ "http://a.example.org/": () => new Response(silentStream(cancelled)) });
    await expect(fetched({ OUTSIDE: slow }, "http://a.example.org/", limits)).rejects.toThrow(reason);
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalled(), patienceMs);
  });

  it("fails if a slow source passes the time limit", async () => {
    const cancelled = vi.fn();
    const { fetcher } = network({ "http://a.example.org/": () => new Response(slowStream(cancelled)) });
    const rules = { BASE_URL: "https://kiln.example.org", OUTSIDE: fetcher };
    const limits = { silenceMs: 60_000, totalMs: 500 };
    const reader = (await openWebFile(rules, new URL("http://a.example.org/"), limits)).body.getReader();
    const readOn = async () => {
      for (;;) {
        await reader.read();
        await scheduler.wait(20);
      }
    };

    await expect(readOn()).rejects.toThrow("takes too long");
    expect(cancelled).toHaveBeenCalled();
  });

  it("fails if no server answers", async () => {
    const { fetcher: mute } = network({
      "http://a.example.org/": ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    const limits = { silenceMs: 50, totalMs: 60_000 };
    await expect(fetched({ OUTSIDE: mute }, "http://a.example.org/", limits)).rejects.toThrow(/cannot be reached/);
  });
});

describe("parseWebAddress", () => {
  it.each([
    ["motd", "invalid_protocol"],
    ["//a.example.org/motd", "invalid_protocol"],
    ["file:///etc/passwd", "invalid_protocol"],
    ["gopher://a.example.org/", "invalid_protocol"],
    ["javascript:alert(1)", "invalid_protocol"],
    ["http:a.example.org", "invalid_protocol"],
    ["http://", "invalid_value"],
    ["http://a b/", "invalid_value"],
    ["http://[::g]/", "invalid_value"],
    [`http://a.example.org/${"a".repeat(2000)}`, "invalid_value"],
    ["ftp://ftp.example.org/pub/", "invalid_value"],
    ["ftp://ftp.example.org/a%0d%0ab", "invalid_value"],
  ])("refuses %s", (url, code) => expectRefusal(() => parseWebAddress(url), code));

  it.each([
    ["HTTP://A.example.org/motd", "motd"],
    ["https://a.example.org/x/my%20motd?version=2#top", "my motd"],
    ["ftp://a.example.org/x/motd;type=a", "motd"],
    ["http://a.example.org/%zz", "%zz"],
    ["http://a.example.org/x/", undefined],
    ["http://a.example.org", undefined],
  ])("takes the file name of %s as %s", (url, name) => {
    expect(fileNameOf(parseWebAddress(url))).toBe(name);
  });
});

const refusing = () => {
  throw new Error("proxy request failed, cannot connect to the specified address");
};

function brokenStream(): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  void (async () => {
    await writer.write(new Uint8Array(10));
    await writer.abort(new Error("Network connection lost."));
  })();
  return readable;
}

/** Never ends: there is always one more byte. */
function slowStream(cancelled: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    pull: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: cancelled,
  });
}

function silentStream(cancelled: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({ type: "bytes", pull: () => new Promise(() => {}), cancel: cancelled });
}
