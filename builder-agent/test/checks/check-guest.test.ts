import { describe, expect, it } from "vitest";
import { completeCheck, type Check } from "../../src/contract.ts";
import { eventually } from "../support/agent-place.ts";
import { bootSector, startSession } from "../testdrive/session.ts";

/** A machine that writes a text to its serial console. */
function writing(text: string): Buffer {
  // si = the text; dx = 0x3f8; until the byte is 0: out; then hlt, forever
  const code = "31c0 8ed8 be167c baf803 fc ac 84c0 7403 ee ebf8 f4 ebfd";
  return bootSector(code + Buffer.from(`${text}\0`).toString("hex"));
}

async function checked(sector: Buffer, checks: Check[]) {
  await using session = await startSession({
    sector,
    change: (claim) => ({ ...claim, hasNetwork: true, checks }),
  });
  await session.ended;
  const [report] = session.service.checked;
  return { report, reason: session.reason()[0] };
}

describe("checks of a machine", () => {
  it("finds what came, and names what did not", async () => {
    const { report, reason } = await checked(writing("Kernel 1\r\n\x1b[1mmini login: "), [
      completeCheck({ kind: "login", seconds: 60 }),
      completeCheck({ kind: "console_text", text: "Kernel 1", seconds: 60 }),
      completeCheck({ kind: "console_text", text: "Kernel 2", seconds: 1 }),
      completeCheck({ kind: "console_lacks", text: "panic" }),
      completeCheck({ kind: "console_lacks", text: "Kernel" }),
      completeCheck({ kind: "port_open", port: 22, seconds: 1 }),
      completeCheck({ kind: "port_closed", port: 23 }),
    ]);

    expect(reason).toBe("The checks have ended.");
    expect(report?.results.map(({ outcome }) => outcome)).toEqual([
      "passed",
      "passed",
      "failed",
      "passed",
      "failed",
      "failed",
      "not_run",
    ]);
    expect(report?.results[2]?.seen).toBe(
      "The text did not come. The last line on the serial console is “mini login:”.",
    );
    expect(report?.results[5]?.seen).toBe("The machine did not answer.");
    expect(report).toMatchObject({ isEmulated: true, console: "Kernel 1\nmini login: " });
    expect(report?.loginSeconds).toBeGreaterThan(0);
    expect(
      Buffer.from(report?.screen ?? "", "base64")
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
  });

  it("proves nothing by what a machine does not do before it has booted", async () => {
    const { report } = await checked(writing("Kernel 1\r\n"), [
      completeCheck({ kind: "login", seconds: 1 }),
      completeCheck({ kind: "console_lacks", text: "panic" }),
    ]);

    expect(report?.results.map(({ outcome }) => outcome)).toEqual(["failed", "not_run"]);
    expect(report?.loginSeconds).toBeNull();
  });

  it("reports nothing if the session ends first", async () => {
    await using session = await startSession({
      sector: writing("Kernel 1\r\n"),
      change: (claim) => ({ ...claim, checks: [completeCheck({ kind: "login" })] }),
    });
    await session.ready();
    session.service.order({ type: "stop", reason: "The operator stopped it." });
    await session.ended;
    await eventually("the reason", () => session.reason().length > 0);

    expect(session.reason()).toEqual(["The operator stopped it."]);
    expect(session.service.checked).toEqual([]);
  });
});
