/** The steps of an image at its first boot and at later ones. */
import { describe, expect, it } from "vitest";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "./support/facts.ts";

const filesOf = (change: Partial<ImageFacts> = {}) => descriptionFiles({ ...plain, ...change });
const steps = (change: Partial<ImageFacts>) =>
  Object.keys(filesOf(change)).filter((path) => path.startsWith("root/usr/lib/kiln/"));

describe("boot steps", () => {
  it("are only the boot program if nothing is configured", () => {
    expect(steps({})).toEqual(["root/usr/lib/kiln/boot"]);
  });

  it("show licences in order", () => {
    const files = filesOf({ eulas: ["First", "Second\n"] });
    expect(files["root/usr/share/kiln/eulas/01.txt"]).toBe("First\n");
    expect(files["root/usr/share/kiln/eulas/02.txt"]).toBe("Second\n");
    expect(files["root/usr/lib/kiln/accept-eulas"]).toMatch(/^#!/);
  });

  it("create swap, and skip it at boot if root is in memory", () => {
    const settings = { ...plain.settings, swapSizeMb: 128 };
    expect(filesOf({ settings })["root/usr/lib/kiln/swap"]).toContain("\nsize_mb=128\n");
    expect(filesOf({ settings, imageType: "iso" })["root/usr/lib/kiln/swap"]).toBe(
      filesOf({ settings })["root/usr/lib/kiln/swap"],
    );
    expect(filesOf({ settings })["root/usr/lib/kiln/swap"]).toContain(
      "overlay | tmpfs | ramfs | rootfs | squashfs) exit 0",
    );
    expect(steps({ settings: { ...settings, swapSizeMb: 0 } })).not.toContain("root/usr/lib/kiln/swap");
  });

  it("start each enabled autostart as its user", () => {
    const one = { command: '/usr/bin/a "b" 100%', description: "50% off\\", enabled: true, user: "clerk" };
    const files = filesOf({ autostarts: [{ ...one, enabled: false }, one] });
    expect(files["root/usr/lib/kiln/autostarts/1"]).toBe(`#!/bin/sh\n${one.command}\n`);
    expect(files["root/usr/lib/kiln/autostarts/1.user"]).toBe("clerk\n");
    const unit = files["root/image/kiln/units/kiln-autostart-1.service"];
    expect(unit).toContain("\nDescription=50%% off/\n");
    expect(unit).toContain("\nUser=clerk\n");
    expect(files["root/usr/lib/kiln/autostarts/2"]).toBeUndefined();
  });

  it("run the boot script if it is enabled", () => {
    const boot = { enabled: true, script: "#!/bin/sh\necho up" };
    expect(filesOf({ scripts: { ...plain.scripts, boot } })["root/usr/lib/kiln/boot-script"]).toBe(
      "#!/bin/sh\necho up\n",
    );
  });
});

describe("databases", () => {
  const users = [
    { username: "a", verifier: "V1", databases: ["shop", "my_db"] },
    { username: "b", verifier: "V2", databases: ["shop"] },
  ];

  it("are created with their users in PostgreSQL", () => {
    const sql = filesOf({ databases: [{ type: "pgsql", users }] })["root/usr/lib/kiln/databases/pgsql.sql"];
    expect(sql).toContain(`ALTER ROLE "a" LOGIN PASSWORD 'V1';`);
    expect(sql).toContain(`CREATE DATABASE "shop" OWNER "a"`);
    expect(sql).toContain('GRANT ALL ON DATABASE "shop" TO "a", "b";');
  });

  it("are created with their users in MySQL, with escaped wildcards", () => {
    const sql = filesOf({ databases: [{ type: "mysql", users }] })["root/usr/lib/kiln/databases/mysql.sql"];
    expect(sql).toContain("CREATE USER IF NOT EXISTS 'b'@'localhost' IDENTIFIED WITH mysql_native_password AS 'V2';");
    expect(sql).toContain("GRANT ALL ON `my\\_db`.* TO 'a'@'localhost';");
  });

  it("are not created without users", () => {
    expect(Object.keys(filesOf({ databases: [{ type: "mysql", users: [] }] })).join()).not.toContain("databases");
  });
});
