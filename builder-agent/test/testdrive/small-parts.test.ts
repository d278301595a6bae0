import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { CreditWindow } from "../../src/testdrive/credit-window.ts";
import { keepSerialLog } from "../../src/testdrive/serial-log.ts";
import { TcpViewers } from "../../src/testdrive/qmp-events.ts";
import { temporaryDir } from "../support/agent-place.ts";

describe("CreditWindow", () => {
  it("closes when a window is in transit, and opens with credit", () => {
    const window = new CreditWindow("credit-1", 1_000);
    window.sent(1_000);
    expect(window.room).toBe(0);
    window.credit(400);
    expect(window.room).toBe(400);
  });

  it("does not grow with credit for more than was sent", () => {
    const window = new CreditWindow("credit-1", 1_000);
    window.sent(10);
    window.credit(1_000_000);
    expect(window.room).toBe(1_000);
  });

  it("does not limit a plain viewer before its first credit", () => {
    const window = new CreditWindow("plain-1", 1_000);
    window.sent(5_000);
    expect(window.room).toBe(Number.POSITIVE_INFINITY);
    window.credit(4_500);
    expect(window.room).toBe(500);
  });
});

describe("keepSerialLog", () => {
  it("keeps the latest output that fits into the file", async () => {
    await using dir = await temporaryDir();
    const path = join(dir.path, "serial.log");
    const lines = Array.from({ length: 500 }, (_, index) => Buffer.from(`line ${index}\n`));
    await keepSerialLog(path, Readable.from([...lines, Buffer.from("login: ")]), 1_000);
    const text = await readFile(path, "utf8");
    expect(text.length).toBeLessThanOrEqual(1_000);
    expect(text.endsWith("line 498\nline 499\nlogin: ")).toBe(true);
  });
});

const event = (name: string, family: string, service: string) => ({
  event: name,
  data: { server: { family, host: "127.0.0.1", service: "5901" }, client: { family, host: "127.0.0.1", service } },
});

describe("TcpViewers", () => {
  it("counts clients of the TCP address, and reports only changes", () => {
    const viewers = new TcpViewers();
    const counts = [
      event("VNC_INITIALIZED", "ipv4", "40001"),
      event("VNC_INITIALIZED", "ipv6", "40002"),
      event("VNC_DISCONNECTED", "ipv4", "49999"), // connected, and left without sending the password
      event("VNC_DISCONNECTED", "ipv4", "40001"),
    ].map((each) => viewers.note(each));
    expect(counts).toEqual([1, 2, undefined, 1]);
  });

  it.each([event("VNC_INITIALIZED", "unix", ""), event("VNC_CONNECTED", "ipv4", "1"), { event: "RESET", data: {} }])(
    "does not count %j",
    (other) => {
      expect(new TcpViewers().note(other)).toBeUndefined();
    },
  );
});
