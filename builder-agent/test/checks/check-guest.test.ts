import { PNG } from "pngjs";
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

/** A machine that writes a text to its serial console, and switches itself off. */
function switchingItselfOff(text: string): Buffer {
  // As above; then SLP_EN to the ACPI register PM1a_CNT
  const code = "31c0 8ed8 be1b7c baf803 fc ac 84c0 7403 ee ebf8 ba0406 b80020 ef f4";
  return bootSector(code + Buffer.from(`${text}\0`).toString("hex"));
}

/** A machine that writes a text to its serial console, and removes the text from its disk. */
function breakingItself(text: string): Buffer {
  // As above; then the first byte of the text = 0; int 13h writes the sector; sti; hlt, forever
  const write = "31c0 8ed8 8ec0 be2c7c baf803 fc ac 84c0 7403 ee ebf8";
  const remove = "c6062c7c00 b80103 b90100 ba8000 bb007c cd13 fb f4 ebfd";
  return bootSector(write + remove + Buffer.from(`${text}\0`).toString("hex"));
}

async function checked(
  sector: Buffer,
  checks: Check[],
  { screens = new Map(), snapshots = "off" }: { screens?: ReadonlyMap<number, Buffer>; snapshots?: "on" | "off" } = {},
) {
  await using session = await startSession({
    sector,
    snapshots,
    change: (claim) => ({ ...claim, hasNetwork: true, checks }),
  });
  for (const [build, png] of screens) session.service.screens.set(build, png);
  await session.ended;
  const [report] = session.service.checked;
  return { report, reason: session.reason()[0] };
}

/** The picture with a white area at its top left. */
function painted(png: Buffer, part: { width: number; height: number }): Buffer {
  const picture = PNG.sync.read(png);
  for (let row = 0; row < part.height; row += 1)
    picture.data.fill(255, row * picture.width * 4, (row * picture.width + part.width) * 4);
  return PNG.sync.write(picture);
}

const screen = (build: number, more: Partial<Check> = {}) =>
  completeCheck({ kind: "screen", build, seconds: 5, ...more });

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

  it("cannot run a command if nothing in the machine does", async () => {
    const { report } = await checked(writing("mini login: "), [
      completeCheck({ kind: "command", command: "true", seconds: 1 }),
    ]);

    expect(report?.results[0]).toMatchObject({ outcome: "not_run" });
    expect(report?.results[0]?.seen).toMatch(
      /^The image has no program that runs commands for checks\. Build it again/,
    );
  });

  it("compares the screen with that of an earlier build, outside what it is to ignore", async () => {
    const sector = writing("mini login: ");
    const { report: earlier } = await checked(sector, [completeCheck({ kind: "login", seconds: 60 })]);
    const equal = Buffer.from(earlier?.screen ?? "", "base64");
    const { width, height } = PNG.sync.read(equal);
    const screens = new Map([
      [1, equal],
      [2, painted(equal, { width: width / 2, height })],
      [3, PNG.sync.write(new PNG({ width: 8, height: 8 }))],
      [4, Buffer.from("no picture")],
      [5, PNG.sync.write(new PNG({ width: 4000, height: 1 }))],
    ]);
    const left = `0,0,${width / 2},${height}`;

    const { report } = await checked(
      sector,
      [
        screen(1, { seconds: 60 }),
        screen(2),
        screen(2, { mask: left, seconds: 60 }),
        screen(2, { percent: 40, seconds: 60 }),
        ...[3, 4, 5, 6].map((build) => screen(build)),
      ],
      { screens },
    );

    expect(report?.results.map(({ outcome }) => outcome)).toEqual([
      "passed",
      "failed",
      "passed",
      "passed",
      "failed",
      "not_run",
      "not_run",
      "not_run",
    ]);
    expect(report?.results[1]?.seen).toMatch(/^\d\d(\.\d)? % of the screen matches that of build 2\.$/);
    expect(report?.results[4]?.seen).toBe(
      `The screen has ${width} × ${height} pixels, but that of build 3 has 8 × 8 pixels.`,
    );
    expect(report?.results[7]?.seen).toMatch(/^Build 6 has no screen to compare with/);
  });

  it("restarts a machine that has passed, and cuts its power", async () => {
    const { report, reason } = await checked(writing("Kernel 1\r\nmini login: "), [
      completeCheck({ kind: "second_boot" }),
      completeCheck({ kind: "console_text", text: "Kernel 1", seconds: 60 }),
      completeCheck({ kind: "login", seconds: 60 }),
      completeCheck({ kind: "power_cut" }),
    ]);

    expect(reason).toBe("The checks have ended.");
    expect(report?.results.map(({ outcome }) => outcome)).toEqual(["passed", "passed", "passed", "passed"]);
    expect(report?.results[0]?.seen).toMatch(/^On the second boot, everything was .* A login prompt came after \d/);
    expect(report?.results[3]?.seen).toMatch(/^After the power cut, everything was /);
    expect(report?.console.match(/Kernel 1/g)).toHaveLength(3);
  });

  it("names what a machine does not do when it boots from a disk that it has changed", async () => {
    const { report } = await checked(breakingItself("mini login: "), [
      completeCheck({ kind: "login", seconds: 3 }),
      completeCheck({ kind: "second_boot" }),
      completeCheck({ kind: "power_cut" }),
    ]);

    expect(report?.results.map(({ outcome }) => outcome)).toEqual(["passed", "failed", "not_run"]);
    expect(report?.results[1]?.seen).toBe(
      "On the second boot: There was no login prompt. There is nothing on the serial console. " +
        "Expected: A login prompt is on the serial console within 3 s.",
    );
  });

  it("does not restart a machine that has not passed", async () => {
    const { report } = await checked(writing("Kernel 1\r\n"), [
      completeCheck({ kind: "second_boot" }),
      completeCheck({ kind: "console_text", text: "Kernel 2", seconds: 1 }),
    ]);

    expect(report?.results.map(({ outcome }) => outcome)).toEqual(["not_run", "failed"]);
    expect(report?.results[0]?.seen).toBe("The machine was not restarted, because another check had not passed.");
  });

  it("does not restart a machine that has switched itself off", async () => {
    const { report, reason } = await checked(switchingItselfOff("mini login: "), [
      completeCheck({ kind: "login", seconds: 60 }),
      completeCheck({ kind: "console_lacks", text: "panic" }), // waits until the machine has settled
      completeCheck({ kind: "second_boot" }),
      completeCheck({ kind: "power_cut" }),
    ]);

    expect(reason).toBe("The checks have ended.");
    expect(report?.results.map(({ outcome }) => outcome)).toEqual(["passed", "passed", "failed", "not_run"]);
    expect(report?.results[2]?.seen).toBe("The machine switched itself off.");
  });

  it("keeps a machine that has failed, after its picture was taken", async () => {
    const [prompt, text] = [
      completeCheck({ kind: "login", seconds: 60 }),
      { kind: "console_text", seconds: 1 } as const,
    ];
    const on = { snapshots: "on" } as const;
    const { report } = await checked(writing("mini login: "), [prompt, completeCheck({ ...text, text: "no" })], on);
    expect(report).toMatchObject({ isMachineKept: true, screen: expect.stringMatching(/^iVBOR/) });

    const { report: good } = await checked(writing("mini login: "), [prompt], on);
    expect(good).toMatchObject({ isMachineKept: false });
    const { report: off } = await checked(writing("mini login: "), [prompt, completeCheck({ ...text, text: "no" })]);
    expect(off).toMatchObject({ isMachineKept: false });
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
