import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pngOf } from "../picture/png-maker.ts";
import { downloadDisk, type Disk } from "./support/disk.ts";
import { eula, fullConfiguration } from "./support/full-configuration.ts";
import { bootDisk } from "./support/guest.ts";
import { foreignRepository, listed, selectSoftware, uploadOwnNote, type Listed } from "./support/own-software.ts";
import { newPerson, type Person } from "./support/person.ts";
import { sharedService } from "./support/shared-service.ts";

// One appliance with a value in every field and software from every source: built once, inspected, and booted once.

const keyFile = new URL("../fixtures/repodata/signed/stranger.key", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "kiln-configuration-"));
let tux: Person;
let applianceId: string;
let buildId: string;
let disk: Disk;
/** The packages that the appliance would have without a ban. */
let unbanned: Listed[];

beforeAll(async () => {
  const service = await sharedService("with-agent");
  tux = await newPerson(service, "configuration");
  const { appliance } = await tux.rest.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  applianceId = appliance.id;
  await configure(applianceId);
  await uploadOwnNote(tux, folder, appliance.basesystem);
  unbanned = await selectSoftware(tux, applianceId, foreignRepository(service.elsewhere));
  buildId = await startBuild();
  const seen = await tux.rest.watchBuild(buildId, 400);
  expect(seen.at(-1)).toMatchObject({ state: "finished", message: "Finished" });
  const { builds } = await tux.rest.call("GET", "/builds", { appliance_id: applianceId });
  disk = await downloadDisk(builds.build.download_url, folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const startBuild = async (): Promise<string> =>
  (await tux.rest.call("POST", "/running_builds", { appliance_id: applianceId, image_type: "oem" })).build.id;

async function configure(id: string): Promise<void> {
  await tux.send("PUT", `/appliances/${id}/configuration`, { body: fullConfiguration });
  for (const name of ["tzdata", "nftables"]) await tux.rest.call("POST", `/appliances/${id}/cmd/add_package`, { name });
  await tux.rest.call("POST", `/appliances/${id}/cmd/add_package`, { name: "hello", version: "1.0" });
  await tux.addFile(id, "counter = 7\n", {
    filename: "settings.conf",
    path: "/etc/kiosk",
    owner: "clerk",
    group: "tellers",
    permissions: "0640",
  });
  await tux.addFile(id, "#!/bin/sh\necho it's me\n", {
    filename: "it's me",
    path: "/lib/kiosk $(x)",
    permissions: "4755",
  });
  await tux.addFile(id, 'echo "LOGIN $(id -un) on $(tty)" > login-seen\n', {
    filename: ".profile",
    path: "/srv/clerk",
    owner: "1234",
    group: "tellers",
  });
  await tux.addFile(id, "never", { filename: "disabled", path: "/etc", enabled: "false" });
  const key = { name: "stranger", target: "rpm", key: readFileSync(keyFile, "utf8") };
  await tux.rest.call("POST", `/appliances/${id}/gpg_keys`, key);
  for (const name of ["logo", "background"]) {
    const picture = new FormData();
    picture.set("file", new Blob([pngOf(32, 32)]), `${name}.png`);
    await tux.send("POST", `/appliances/${id}/configuration/${name}`, { body: picture });
  }
}

const log = async (): Promise<string> => JSON.stringify((await tux.rest.call("GET", `/builds/${buildId}`)).build);

describe("an image", () => {
  it("contains enabled overlay files with their owners and modes", async () => {
    expect(disk.read("/etc/kiosk/settings.conf")).toBe("counter = 7\n");
    expect(disk.stat("/etc/kiosk/settings.conf")).toMatch(/^0640 1234:/);
    expect(disk.stat("/usr/lib/kiosk $(x)/it's me")).toBe("04755 65534:65534");
    expect(disk.link("/lib")).toBe("usr/lib");
    expect(disk.read("/etc/disabled")).toBe("");
    expect(disk.read("/image/config.sh")).toBe("");
    const sent = await tux.rest.file(`/appliances/${applianceId}/image_files`, {
      build_id: buildId,
      path: "/etc/kiosk/settings.conf",
    });
    expect(sent).toBe("counter = 7\n");
  });

  it("has its users with groups, shells, homes and SHA-512 passwords", () => {
    const [, tellers] = /^tellers:x:(\d+):/m.exec(disk.read("/etc/group")) ?? [];
    expect(disk.read("/etc/passwd")).toMatch(new RegExp(`^clerk:x:1234:${tellers}:.*:/srv/clerk:/bin/sh$`, "m"));
    expect(disk.stat("/srv/clerk")).toMatch(new RegExp(`^0\\d+ 1234:${tellers}$`));
    expect(disk.read("/etc/shadow")).toMatch(/^clerk:\$6\$/m);
    expect(disk.read("/etc/shadow")).toMatch(/^root:\$6\$/m);
  });

  it("has its language, keyboard, time zone and network", () => {
    expect(disk.read("/etc/locale.conf")).toBe("LANG=de_DE.UTF-8\n");
    expect(disk.read("/etc/vconsole.conf")).toBe("KEYMAP=de\n");
    expect(disk.link("/etc/localtime")).toBe("/usr/share/zoneinfo/Europe/Vienna");
    expect(disk.read("/etc/hostname")).toBe("kiosk7.example.org\n");
    expect(disk.read("/etc/hosts")).toContain("10.11.12.13 kiosk7.example.org kiosk7\n");
    expect(disk.read("/etc/resolv.conf")).toBe("nameserver 10.11.12.2\nnameserver 10.11.12.3\n");
  });

  it("contains its release file and its installation profile", async () => {
    const { appliance } = await tux.rest.call("GET", `/appliances/${applianceId}`);
    const tell = `eval "$1"; printf '%s\n' "$NAME" "$VERSION" "$DESCRIPTION" "$WEBSITE"`;
    const told = execFileSync("sh", ["-c", tell, "sh", disk.read("/etc/kiln-release")], { encoding: "utf8" });
    expect(told).toBe(`${appliance.name}\n0.0.7\nSells tickets; it's "the" kiosk\nhttp://kiosk.example/\n`);
    expect(disk.read("/autoinst.xml")).toBe("<profile/>");
  });

  it("has the configured disk size", () => {
    expect(statSync(disk.file).size).toBe(700 * 2 ** 20);
  });

  it("starts enabled autostarts and contains nothing that is disabled", () => {
    expect(disk.read("/usr/lib/kiln/autostarts/1.user")).toBe("clerk\n");
    expect(disk.read("/usr/lib/kiln/autostarts/2")).toBe("");
  });

  it("trusts exactly its own keys", () => {
    const database = disk.extract("/usr/lib/sysimage/rpm");
    const keys = execFileSync("rpm", ["--dbpath", database, "-qa", "gpg-pubkey", "--qf", "%{SUMMARY}\n"], {
      encoding: "utf8",
    });
    expect(keys.trim().split("\n")).toHaveLength(1);
    expect(keys).toContain("tranger");
  });

  it("went through the build script, whose output is logged", async () => {
    expect(disk.read("/etc/build-script-was-here")).toBe("as root in /, with kiosk7.example.org\n1\n");
    expect(await log()).toContain("the build script says hello");
  });

  it("has no host key and no machine-id of the machine that built it", () => {
    expect(disk.stat("/etc/ssh")).toMatch(/^0755 /);
    for (const path of ["/etc/ssh/ssh_host_rsa_key", "/etc/machine-id"]) expect(disk.read(path)).toBe("");
  });

  it("reports what all its machines share, and says nothing of the template's files", async () => {
    const shared = (await log()).match(/kiln: note: (?:All machines|Everyone) [^\\"]*/g);
    expect(shared).toEqual(["kiln: note: Everyone with this image has the credentials of AWS: /root/.aws/credentials"]);
    expect(await log()).not.toContain("forgotten");
  });

  it("notes in its log, once each, what lacks packages", async () => {
    const notes = (await log()).match(/kiln: note: [^:]* is enabled: /g) ?? [];
    expect(notes.map((note) => /note: (?:a )?(.*) is enabled/.exec(note)?.[1])).toEqual([
      "Xen host mode",
      "live installer",
      "WebYaST",
    ]);
  });

  it("stores database passwords as verifiers, readable only by root", () => {
    expect(disk.read("/usr/lib/kiln/databases/pgsql.sql")).toMatch(
      /ALTER ROLE "tickets" LOGIN PASSWORD 'SCRAM-SHA-256\$4096:/,
    );
    expect(disk.read("/usr/lib/kiln/databases/pgsql.sql")).not.toContain("s3same");
    expect(disk.stat("/usr/lib/kiln/databases/pgsql.sql")).toBe("0600 0:0");
  });

  it.each(["logo", "background"])("contains the %s", (name) => {
    expect(disk.stat(`/usr/share/kiln/${name}.png`)).toBe("0644 0:0");
    expect(disk.read(`/usr/share/kiln/${name}.png`)).toMatch(/^.PNG\r\n/);
  });

  it("contains the pinned version, although a newer one exists", async () => {
    expect(disk.read("/usr/share/hello/version")).toMatch(/^hello 1\.0/);
    const installed = await tux.rest.call("GET", `/appliances/${applianceId}/software/installed`, {
      build_id: buildId,
    });
    const [hello] = JSON.stringify(installed).match(/\{[^{}]*"#text":"hello"[^{}]*\}/) ?? [];
    expect(hello).toContain('"@version":"1.0-1"');
  });
});

const names = (of: readonly Listed[]): string[] => of.map(({ software }) => software.split(" ")[0] ?? "").toSorted();

/** Name and version of all packages in the image's rpm database. */
function inDatabase(): string[] {
  const query = ["--dbpath", disk.extract("/usr/lib/sysimage/rpm"), "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\n"];
  const all = execFileSync("rpm", query, { encoding: "utf8" }).trim().split("\n");
  return all.filter((one) => !one.startsWith("gpg-pubkey ")).toSorted((one, other) => one.localeCompare(other));
}

describe("the software of an image", () => {
  it("is exactly what was resolved, according to rpm and its database", async () => {
    const installed = await listed(tux, applianceId, buildId);
    expect(installed).toEqual(await listed(tux, applianceId));
    expect(installed.map(({ software }) => software)).toEqual(inDatabase());
    // A dependency of the uploaded package, from a repository of the distribution.
    expect(installed.map(({ software }) => software)).toContain("hello 1.0-1");
  });

  it("includes the uploaded package", async () => {
    expect(disk.read("/usr/share/own-note/note")).toBe("made by own-note\n");
    expect((await listed(tux, applianceId, buildId)).map(({ software }) => software)).toContain("own-note 1.0-1");
  });

  it("includes the package of a user-imported repository, with its source", async () => {
    expect(disk.read("/usr/share/foreign-note/note")).toBe("made by foreign-note\n");
    const expected = { repository: "Elsewhere", software: "foreign-note 1.0-1" };
    expect(await listed(tux, applianceId, buildId)).toContainEqual(expected);
  });

  it("replaces a banned package with another provider", async () => {
    expect(names(unbanned)).toContain("webdemo-pro");
    expect(disk.read("/usr/share/webdemo-pro/version")).toBe("");
    expect(disk.read("/usr/share/webdemo/version")).toBe("webdemo 2.3-1\n");
    const others = names(unbanned).filter((name) => name !== "webdemo-pro");
    expect(names(await listed(tux, applianceId, buildId))).toEqual([...others, "webdemo"].toSorted());
  });
});

describe("a machine that boots the image", () => {
  it("asks for its licence once, starts as configured, logs in", async () => {
    {
      await using guest = bootDisk(disk.file);
      expect(await guest.says("Do you accept this licence?", 800)).toContain(eula);
      await guest.type("what\nyes\n");
      const said = await guest.says("END\n", 800);
      // The prompt may already follow.
      expect(said.slice(0, said.indexOf("END\n"))).not.toContain("login:");
      const report = reportIn(said);
      expect(report).toContain("host=kiosk7.example.org\n");
      expect(report).toContain("address=10.11.12.13/24\nroute=10.11.12.1\n");
      expect(report).toContain("swap=/var/lib/kiln/swap 65532\n");
      expect(report).toContain("started=by clerk\n");
      expect(report).toContain("boots=1\n");
      expect(report).toMatch(/clock=CES?T\n/);
      expect(report).toMatch(/kernel=.* kiln\.counter=7 printk\.time=1\n/);
      expect(report).toContain("note=made by own-note\n");
      expect(report).toMatch(/policy drop;[^]*tcp dport 22 accept\n\s*tcp dport 8080 accept\n/);
      await guest.says("login:", 300);
      await guest.type("root\n");
      await guest.says("Password:", 300);
      await guest.type("linux\n");
      await guest.says("bash-", 300);
      // The user logs in at the same time, on the other console.
      const seen = "until grep -q tty /srv/clerk/login-seen; do sleep 1; done 2> /dev/null; cat /srv/clerk/login-seen";
      await guest.type(`id -Gn clerk; ${seen}; sync; poweroff -f\n`);
      await guest.says("tellers\nLOGIN clerk on /dev/tty1\n", 300);
      await guest.ended;
    }
    await using again = bootDisk(disk.file);
    const said = await again.says("END\n", 800);
    expect(said).not.toContain("licence");
    expect(reportIn(said)).toContain("boots=2\n");
    expect(reportIn(said)).toContain("swap=/var/lib/kiln/swap 65532\n");
  });
});

const reportIn = (said: string): string => /REPORT\n([^]*)END\n/.exec(said)?.[1] ?? "";

describe("a build script that fails", () => {
  it("fails the build with one clear sentence", async () => {
    const script =
      "<configuration><scripts><build><enabled>true</enabled><script>echo no &gt;&amp;2; exit 3</script></build></scripts><version>0.0.8</version></configuration>";
    await tux.send("PUT", `/appliances/${applianceId}/configuration`, { body: script });

    const seen = await tux.rest.watchBuild(await startBuild(), 300);

    expect(seen.at(-1)).toMatchObject({
      state: "failed",
      message: "The build script of the appliance ended with exit code 3.",
    });
  });
});
