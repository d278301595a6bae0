import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packRoot, unpackRoot } from "../../src/prepared/archive.ts";
import { temporaryDir } from "../support/agent-place.ts";

const signal = new AbortController().signal;

/** A root as packages make it, packed, and unpacked with a different description. */
async function packAndUnpack(dir: string, spoil: (root: string) => void = () => {}): Promise<string> {
  const at = (name: string) => join(dir, name);
  const script = `
    mkdir -p root/image root/etc root/bin root/srv && cd root
    echo old > image/config.xml && echo script > image/config.sh
    echo one > etc/one && ln etc/one etc/twin && ln -s ../../../etc/shadow etc/soft
    echo su > bin/su && chown 1234:4321 bin/su && chmod 4750 bin/su && setcap cap_net_raw+ep bin/su
    mknod srv/null c 1 3 && mkfifo srv/fifo && chmod 1777 srv && touch -d @1000000000 etc/one`;
  execFileSync("bash", ["-euc", script], { cwd: dir });
  spoil(at("root"));
  mkdirSync(at("description"));
  writeFileSync(at("description/config.xml"), "new");
  await packRoot(at("root"), at("root.tar.zst"), { signal, onRead: () => {} });
  await unpackRoot(at("root.tar.zst"), { root: at("again"), description: at("description") }, signal);
  return at("again");
}

/** Everything in a tree except the description, with the capabilities of its one program. */
const list = (where: string) =>
  execFileSync(
    "bash",
    ["-c", "find . -printf '%P %M %U:%G %l %n %s %T@\\n' | grep -v '^image' | sort; getcap bin/su"],
    {
      cwd: where,
    },
  ).toString();

describe("the archive of a root", () => {
  it("restores owners, modes, links, devices, capabilities and times", async () => {
    await using dir = await temporaryDir();
    const root = await packAndUnpack(dir.path);

    expect(list(root)).toBe(list(join(dir.path, "root")));
    expect(list(root)).toContain("bin/su cap_net_raw");
    expect(lstatSync(join(root, "etc/one")).ino).toBe(lstatSync(join(root, "etc/twin")).ino);
    expect(readFileSync(join(root, "image/config.xml"), "utf8")).toBe("new");
    expect(readFileSync(join(root, "image/config.sh"), "utf8")).toBe("script\n");
  });

  it("follows no link that a build left in place of its description", async () => {
    await using dir = await temporaryDir();
    const outside = join(dir.path, "outside");
    mkdirSync(outside);
    const spoil = (root: string) => {
      rmSync(join(root, "image"), { recursive: true });
      symlinkSync(outside, join(root, "image"));
    };

    await expect(packAndUnpack(dir.path, spoil)).rejects.toThrow("no folder for its description");
    expect(existsSync(join(outside, "config.xml"))).toBe(false);
  });

  it("replaces a description that is a link, not its target", async () => {
    await using dir = await temporaryDir();
    writeFileSync(join(dir.path, "outside"), "mine");
    const root = await packAndUnpack(dir.path, (root) => {
      rmSync(join(root, "image/config.xml"));
      symlinkSync(join(dir.path, "outside"), join(root, "image/config.xml"));
    });
    expect(readFileSync(join(dir.path, "outside"), "utf8")).toBe("mine");
    expect(readFileSync(join(root, "image/config.xml"), "utf8")).toBe("new");
  });

  it("is refused if it is broken", async () => {
    await using dir = await temporaryDir();
    const file = join(dir.path, "broken");
    writeFileSync(file, "no archive");
    const place = { root: join(dir.path, "root"), description: dir.path };
    await expect(unpackRoot(file, place, signal)).rejects.toThrow("tar");
  });
});
