import { describe, expect, it } from "vitest";
import { GuestConsole } from "../../src/checks/guest-console.ts";

function consoleOf(texts: readonly string[], ...chunks: (string | Buffer)[]) {
  const logins: number[] = [];
  const console = new GuestConsole({ texts, onLogin: () => logins.push(1) });
  for (const chunk of chunks) console.take(Buffer.from(chunk));
  return { shown: texts.filter((text) => console.hasShown(text)), end: console.end, logins: logins.length };
}

describe("GuestConsole", () => {
  it("finds texts that come in pieces, with control sequences in them", () => {
    const { shown, end } = consoleOf(
      ["Started Web", "Stopped"],
      "[\u001b[0;3",
      "2m OK \u001b[0m] Star",
      "ted Web\r\r\n",
    );
    expect(shown).toEqual(["Started Web"]);
    expect(end).toBe("[ OK ] Started Web\n");
  });

  it("finds a text long before the end of the output", () => {
    const { shown, end } = consoleOf(["early"], "early\n", "x".repeat(200_000));
    expect(shown).toEqual(["early"]);
    expect(end.length).toBe(16 * 1024);
  });

  it.each([
    "\r\ntiny login: ",
    "Welcome\ntiny login: root (automatic login)\n",
    "tiny login: ",
    "debian login: [   12.345678] random: crng init done\r\n",
    "debian login: [   12.345678][    T1] random: crng init done\r\n",
    "debian login: [\u001b[0;32m  OK  \u001b[0m] Reached target Multi-User System.\r\n",
    "debian login: ci-info: no authorized SSH keys fingerprints found for user debian.\r\n",
  ])("takes %j for a login prompt", (output) => {
    expect(consoleOf([], output).logins).toBe(1);
  });

  it("notices a prompt in its piece, although a message follows in the next", () => {
    expect(consoleOf([], "debian lo", "gin: ", "a message\r\n").logins).toBe(1);
  });

  it.each(["[ OK ] ", "login: x ", "\r", "\u001b]", "[   ", "login: [ 1."])(
    "needs linear time for %j again and again, in one piece or in many",
    (pattern) => {
      const flood = pattern.repeat(2 ** 18 / pattern.length);
      const pieces = Array.from({ length: 2 ** 10 }, (_, index) => flood.slice(index * 16, index * 16 + 16));
      const started = performance.now();
      consoleOf(["text"], flood, "\n", ...pieces);
      expect(performance.now() - started).toBeLessThan(1_000);
    },
  );

  it.each(["Last login: today\n", "Reached target Login Prompts.\n", "no prompt for login: denied here\n"])(
    "takes %j for no login prompt",
    (output) => {
      expect(consoleOf([], output).logins).toBe(0);
    },
  );

  it("notes what systemd says of units, in pieces and in colours, each failure once", () => {
    const console = new GuestConsole({ texts: [], onLogin: () => {} });
    const take = (text: string) => console.take(Buffer.from(text));
    take("[\u001b[0;32m  OK  \u001b[0m] Started \u001b[0;1;39mcron.service\u001b[0m.\r\n");
    expect([console.showsUnits, console.failedUnits]).toEqual([true, []]);
    take("[\u001b[0;1;31mFAILED\u001b[0m] Failed to start \u001b[0;1;39mdesk.ser");
    expect(console.failedUnits).toEqual([]);
    take("vice\u001b[0m - The desk.\r\nSee 'systemctl status desk.service' for details.\r\n");
    take("[FAILED] Failed to mount /srv.\r\n");
    expect(console.failedUnits).toEqual(["Failed to start desk.service - The desk.", "Failed to mount /srv."]);
  });

  it("knows that a quiet systemd says nothing of its units", () => {
    const console = new GuestConsole({ texts: [], onLogin: () => {} });
    console.take(Buffer.from("Debian GNU/Linux 13 desk ttyS0\r\n\r\ndesk login: "));
    expect(console.showsUnits).toBe(false);
  });

  it("keeps no byte that a terminal would obey", () => {
    const { end } = consoleOf([], Buffer.from([0x61, 0x07, 0x1b, 0x5d, 0x30, 0x3b, 0x78, 0x07, 0x9b, 0x62]));
    expect(end).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(end.startsWith("a")).toBe(true);
  });
});
