import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { GuestCommands } from "../../src/checks/guest-commands.ts";
import { temporaryDir } from "../support/agent-place.ts";

async function connected() {
  const dir = await temporaryDir();
  const path = join(dir.path, "commands.sock");
  const server = createServer().listen(path);
  await once(server, "listening");
  const commands = new GuestCommands(path);
  const [guest] = (await once(server, "connection")) as [Socket];
  return {
    commands,
    guest,
    async [Symbol.asyncDispose]() {
      commands[Symbol.dispose]();
      guest.destroy();
      server.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}

it("knows commands by their numbers, whatever order they end in", async () => {
  await using place = await connected();
  const { commands, guest } = place;
  const asked = once(guest, "data");
  const ends = [commands.run("echo 'ä'"), commands.run("false")];
  guest.write(`rea`);
  const [line] = (await asked) as [Buffer];
  guest.write(`dy\n2 1 \n1 0 ${Buffer.from("ä\n").toString("base64")}\n`);

  expect(await Promise.all(ends)).toEqual([
    { exit: 0, output: "ä\n" },
    { exit: 1, output: "" },
  ]);
  expect(commands.isReady).toBe(true);
  expect(String(line)).toContain(`1 ${Buffer.from("echo 'ä'").toString("base64")}\n`);
});

it("gives a machine that has restarted the commands that it has not answered", async () => {
  await using place = await connected();
  const { commands, guest } = place;
  const end = commands.run("reboot");
  await once(guest, "data");
  const again = once(guest, "data");
  guest.write("ready\nready\n");

  expect(String(await again)).toBe(`1 ${Buffer.from("reboot").toString("base64")}\n`);
  guest.write("1 0 \n");
  expect(await end).toEqual({ exit: 0, output: "" });
});

it.each(["nonsense\n", "7 0 \n", "ready\n".repeat(6), "x".repeat(10_000)])(
  "no longer hears a machine that writes %.10j",
  async (text) => {
    await using place = await connected();
    const closed = once(place.guest.resume(), "close");
    place.guest.write(text);

    await closed;
    expect(place.guest.closed).toBe(true);
  },
);
