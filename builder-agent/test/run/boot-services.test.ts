import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bootServices, withServices } from "../../src/run/boot-services.ts";
import { treeAt } from "../../src/run/root-walk.ts";
import { temporaryDir } from "../support/agent-place.ts";

const { signal } = new AbortController();
let dir: Awaited<ReturnType<typeof temporaryDir>>;
let root: string;
beforeEach(async () => {
  dir = await temporaryDir();
  root = join(dir.path, "root");
  mkdirSync(root);
});
afterEach(() => dir[Symbol.asyncDispose]());

const at = (path: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  return join(root, path);
};
/** As dpkg lists the files of a package. */
const brings = (name: string, ...paths: string[]) =>
  writeFileSync(at(`/var/lib/dpkg/info/${name}.list`), ["/.", "/usr", ...paths, ""].join("\n"));
const named = (name: string) => ({ name, version: "1", release: "1", arch: "all" });
const enable = (unit: string, target = "multi-user.target") =>
  symlinkSync(`/lib/systemd/system/${unit}`, at(`/etc/systemd/system/${target}.wants/${unit}`));

it("finds the units that start at boot, by the package that brings each", async () => {
  brings("nginx-common", "/lib/systemd/system/nginx.service", "/usr/share/doc/nginx.service");
  brings("openssh-server", "/usr/lib/systemd/system/ssh.service", "/usr/lib/systemd/system/ssh.socket");
  brings("systemd:amd64", "/lib/systemd/system/getty@.service", "/lib/systemd/system/fstrim.timer");
  brings("idle", "/lib/systemd/system/idle.service");
  enable("nginx.service");
  enable("ssh.socket", "sockets.target");
  enable("getty@tty1.service", "getty.target");
  enable("fstrim.timer", "timers.target");
  expect(await bootServices(treeAt(root), signal)).toEqual({
    "nginx-common": ["nginx.service"],
    "openssh-server": ["ssh.socket"],
    systemd: ["getty@tty1.service"],
  });
});

it("omits masked units, and units that no package brings", async () => {
  brings("nginx-common", "/lib/systemd/system/nginx.service");
  enable("nginx.service");
  enable("own.service");
  symlinkSync("/dev/null", at("/etc/systemd/system/nginx.service"));
  expect(await bootServices(treeAt(root), signal)).toEqual({});
});

it("reads nothing outside the root", async () => {
  writeFileSync(join(dir.path, "list"), "/lib/systemd/system/nginx.service\n");
  enable("nginx.service");
  symlinkSync(join(dir.path, "list"), at("/var/lib/dpkg/info/nginx.list"));
  expect(await bootServices(treeAt(root), signal)).toEqual({});
  rmSync(at("/var/lib/dpkg/info/nginx.list"));
  linkSync(join(dir.path, "list"), at("/var/lib/dpkg/info/nginx.list")); // a file of the root itself
  expect(await bootServices(treeAt(root), signal)).toEqual({ nginx: ["nginx.service"] });
});

it("adds them to the packages that are reported", () => {
  const [nginx, constructor] = [named("nginx"), named("constructor")];
  expect(withServices([nginx, constructor], { nginx: ["nginx.service"] })).toEqual([
    { ...nginx, services: ["nginx.service"] },
    constructor,
  ]);
});
