import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { encryptedMachines, tangThumbprint } from "./encrypted-machine.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-open-disk-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const machine = encryptedMachines(dir, "passphrase");
const withTpm = encryptedMachines(dir, "tpm");
const withServer = encryptedMachines(dir, "tang");

const opened = "opened p2 p3 as kiln-root";
const asked = "asked: The passphrase of this machine's disk:";
const asksForNew = ["asked: New passphrase for the disk of this machine:", "asked: The same passphrase again:"];
const encrypting = "The disk is being encrypted. If the power fails, that goes on at the next boot.";

// All tests are in one file, because blkid looks at the disks of all tests that run.
describe("a machine with a passphrase", () => {
  it("asks for a new one until it is long enough and the same twice, encrypts the root, and opens it", () => {
    const said = machine(String.raw`boot 'short\nlong enough\nother enough\nlong enough\nlong enough\n'`);
    expect(said).toEqual([
      "up",
      asksForNew[0],
      ...asksForNew,
      ...asksForNew,
      "encrypted",
      opened,
      "A passphrase has at least 8 characters.",
      "These were two different passphrases.",
      encrypting,
    ]);
  });

  it("opens it at the next boot, and refuses another passphrase", () => {
    const ask = String.raw`boot 'long enough\nlong enough\n' > /dev/null; boot 'wrong\nlong enough\n'`;
    expect(machine(ask)).toEqual(["up", asked, asked, opened, "That is not the passphrase."]);
  });

  // The order of steps: make the header, copy its body, copy its head, encrypt.
  it.each([
    [1, "new"],
    [2, "new"],
    [3, "new"],
    [4, "same"],
  ])("comes up after a power cut before step %i, with a %s passphrase", (cut, passphrase) => {
    const next = passphrase === "new" ? String.raw`second one\nsecond one\n` : String.raw`wrong\nfirst one\n`;
    const ask = String.raw`boot 'first one\nfirst one\n' ${cut}; boot '${next}'`;
    const [first, ...said] = machine(ask);
    expect(first).toBe("down");
    expect(said.filter((line) => ["up", "encrypted", opened].includes(line))).toEqual(["up", "encrypted", opened]);
  });

  it("encrypts nothing twice after a power cut between the last block and the end of the log", () => {
    const cut = `printf logs | dd of="$disk"p2 bs=1 seek=70000 conv=notrunc 2> /dev/null`;
    const ask = String.raw`boot 'long enough\nlong enough\n' > /dev/null; ${cut}; boot 'long enough\n'`;
    expect(machine(ask)).toEqual(["up", asked, opened]);
  });

  it.each([
    ["goes on", "more", ["repaired", "encrypted", opened]],
    ["has finished", "done", ["repaired", opened]],
  ])("repairs the blocks that a power cut left half written, and then %s", (_, repaired, done) => {
    const cut = `printf cuts | dd of="$disk"p2 bs=1 seek=70000 conv=notrunc 2> /dev/null; export REPAIRED=${repaired}`;
    const ask = String.raw`boot 'long enough\nlong enough\n' > /dev/null; ${cut}; boot 'wrong\nlong enough\n'`;
    const [state, ...said] = machine(ask);
    expect(state).toBe("up");
    expect(said.filter((line) => !line.startsWith("asked: ")).slice(0, done.length)).toEqual(done);
    expect(said).toContain("That is not the passphrase.");
  });

  it("asks again if the disk could not be opened, at the first boot too", () => {
    const ask = String.raw`: > /run/busy; boot 'long enough\nlong enough\nlong enough\n'`;
    const said = machine(ask);
    expect(said.slice(0, 6)).toEqual(["up", ...asksForNew, "encrypted", asked, opened]);
    expect(said.at(-1)).toBe("The disk could not be opened, for the reason above. Enter the passphrase to try again.");
  });

  it("shows that the header is damaged, and asks again", () => {
    const tear = `printf torn | dd of="$disk"p2 bs=1 seek=70000 conv=notrunc 2> /dev/null`;
    const ask = String.raw`boot 'long enough\nlong enough\n' > /dev/null; ${tear}; boot 'long enough\n'`;
    const said = machine(ask);
    expect(said.slice(0, 3)).toEqual(["down", asked, asked]);
    expect(said).toContain(
      "The header of the disk's encryption (/dev/p2) is damaged: restore its backup in another system.",
    );
  });

  it("waits for a header that was destroyed, and opens the disk with its backup", () => {
    const ask = String.raw`boot 'long enough\nlong enough\n' > /dev/null
      cp "$disk"p2 /run/backup; for n in 2 3; do dd if=/dev/zero of="$disk"p$n bs=1M count=1 2> /dev/null; done
      printf '#!/bin/sh\n! grep -q "restore the header" /dev/shm/console || cp /run/backup %s\n' "$disk"p2 | fake sleep
      boot 'long enough\n'`;
    expect(machine(ask)).toEqual([
      "up",
      asked,
      opened,
      "No disk has the system, or a whole header of its encryption: attach it, or restore the header's backup.",
    ]);
  });

  it("touches nothing if the place of the header is in use", () => {
    const sums = 'sha256sum < "$disk"p3';
    const ask = String.raw`mkfs.ext4 -q "$disk"p2; before=$(${sums}); boot 'long enough\nlong enough\n'
      [ "$before" = "$(${sums})" ] && echo same`;
    const said = machine(ask);
    expect(said).toEqual(expect.arrayContaining(["down", "same"]));
    expect(said.join("\n")).toContain("p2 is not the empty one");
    expect(said).not.toContain("encrypted");
  });
});

/** A machine with UEFI and a TPM. */
const sealed = (ask: string) => withTpm(`mkdir /run/efi; echo tpm-1 > /run/tpm; echo start-1 > /run/started\n${ask}`);

const askedForEither = "asked: The passphrase or recovery key of this machine's disk:";
const recoveryKey = /^([b-lnrt-v]{8}-){7}[b-lnrt-v]{8}$/;
describe("a machine with a TPM", () => {
  it("shows a recovery key, encrypts the root, and opens it", () => {
    const said = sealed("boot ''");
    expect(said.slice(0, 4)).toEqual(["up", expect.stringMatching(/^asked: Write it down now/), "encrypted", opened]);
    expect(said.filter((line) => recoveryKey.test(line))).toHaveLength(1);
  });

  it("has another recovery key than others", () => {
    const [one] = sealed("boot ''").filter((line) => recoveryKey.test(line));
    const [other] = sealed("boot ''").filter((line) => recoveryKey.test(line));
    expect(one).not.toBe(other);
  });

  it("asks nobody at the next boot", () => {
    expect(sealed("boot '' > /dev/null; boot ''")).toEqual(["up", opened]);
  });

  it.each([
    ["another TPM", "echo tpm-2 > /run/tpm"],
    ["a changed start", "echo start-2 > /run/started"],
  ])("asks for the recovery key with %s, and is bound to it afterwards", (_, change) => {
    const said = sealed(
      String.raw`boot '' > /dev/null; tr -d '\r' < /dev/shm/console | grep -x '.\{71\}' > /run/recovery
      ${change}; boot "wrong\n$(cat /run/recovery)\n"; boot ''`,
    );
    expect(said.slice(0, 4)).toEqual(["up", askedForEither, askedForEither, opened]);
    expect(said).toContain(
      "The TPM does not open the disk: it is another one, or the machine did not start as before.",
    );
    expect(said).toContain("That is not the passphrase or recovery key.");
    expect(said.slice(-2)).toEqual(["up", opened]);
  });

  it("asks for a new passphrase without a TPM", () => {
    const said = sealed(String.raw`rm /run/tpm; boot 'long enough\nlong enough\n'; boot 'long enough\n'`);
    expect(said.slice(0, 5)).toEqual(["up", ...Array(2).fill(expect.stringMatching(/^asked: /)), "encrypted", opened]);
    expect(said.slice(-4)).toEqual([
      "up",
      askedForEither,
      opened,
      expect.stringContaining("This machine has no TPM 2.0"),
    ]);
  });

  it("gives the key to nothing that runs later", () => {
    const keep = `dd if="$disk"p2 bs=64k skip=272 count=1 2> /dev/null | tr -d '\\0' > /run/sealed`;
    const get = "systemd-creds decrypt /run/sealed /run/got && echo got || echo refused";
    expect(sealed(`boot '' > /dev/null; ${keep}; ${get}; : > /run/locked; ${get}`)).toEqual(["refused", "got"]);
  });

  // The order of steps: seal the key, write it, make the header, copy its body, copy its head, encrypt.
  it.each([1, 2, 3, 4, 5, 6])("comes up after a power cut before step %i, although nobody is there", (cut) => {
    const [first, ...said] = sealed(`boot '' ${cut}; boot ''`);
    expect(first).toBe("down");
    expect(said.filter((line) => ["up", "encrypted", opened].includes(line))).toEqual(["up", "encrypted", opened]);
  });
});

/** A machine in a network with DHCP and with the key server of its image. */
const served = (ask: string) =>
  withServer(`: > /run/dhcp; mkdir -p /run/systemd/netif; echo 'DNS=10.0.2.3 10.0.2.4' > /run/systemd/netif/state
    echo ${tangThumbprint} > /run/server\n${ask}`);
const keepRecoveryKey = String.raw`tr -d '\r' < /dev/shm/console | grep -x '.\{71\}' > /run/recovery`;
const withRecoveryKey = 'boot "wrong\\n$(cat /run/recovery)\\n"';
const refuses = "The key server http://tang does not open the disk: it does not answer, or no longer has its key.";
describe("a machine with a key server", () => {
  it("shows a recovery key, encrypts the root, and opens it", () => {
    const said = served("boot ''");
    expect(said.slice(0, 4)).toEqual(["up", expect.stringMatching(/^asked: Write it down now/), "encrypted", opened]);
    expect(said.filter((line) => recoveryKey.test(line))).toHaveLength(1);
  });

  it("asks nobody at the next boot", () => {
    expect(served("boot '' > /dev/null; boot ''")).toEqual(["up", opened]);
  });

  it("finds the server by name, and leaves no network behind", () => {
    const said = served("boot '' > /dev/null; cat /etc/resolv.conf /run/units; grep -v ' lo' /run/links | head -n 2");
    expect(said.slice(0, 2)).toEqual(["nameserver 10.0.2.3", "nameserver 10.0.2.4"]);
    expect(said.slice(2, 4)).toEqual([
      "start systemd-networkd.service",
      "stop systemd-networkd.socket systemd-networkd.service",
    ]);
  });

  it.each([
    ["while the server is away", ": > /run/server", refuses],
    ["if the server has another key", "echo other > /run/server", refuses],
    [
      "without an address",
      "rm /run/dhcp",
      "This machine gets no address by DHCP, so its disk needs the passphrase or recovery key.",
    ],
  ])("asks for the recovery key %s, and nobody again when it is back", (_, change, why) => {
    const back = `: > /run/dhcp; echo ${tangThumbprint} > /run/server`;
    const said = served(`boot '' > /dev/null; ${keepRecoveryKey}; ${change}; ${withRecoveryKey}; ${back}; boot ''`);
    expect(said.slice(0, 4)).toEqual(["up", askedForEither, askedForEither, opened]);
    expect(said).toContain(why);
    expect(said.slice(-2)).toEqual(["up", opened]);
  });

  it("is bound to the server when a key was typed that the server does not know", () => {
    const said = served(
      String.raw`: > /run/server; boot 'long enough\nlong enough\n'; echo ${tangThumbprint} > /run/server
      boot 'long enough\n'; boot ''`,
    );
    expect(said).toContain(
      "The key server http://tang does not answer, or its key is not the one that the image expects, so the disk of this machine needs a passphrase.",
    );
    expect(said.slice(-2)).toEqual(["up", opened]);
  });

  // The order of steps: seal the key, write it, make the header, copy its body, copy its head, encrypt.
  it.each([1, 2, 3, 4, 5, 6])("comes up after a power cut before step %i, although nobody is there", (cut) => {
    const [first, ...said] = served(`boot '' ${cut}; boot ''`);
    expect(first).toBe("down");
    expect(said.filter((line) => ["up", "encrypted", opened].includes(line))).toEqual(["up", "encrypted", opened]);
  });
});
