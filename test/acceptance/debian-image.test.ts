import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseAccel } from "../../builder-agent/src/doctor/acceleration.ts";
import { countDifferent } from "../../scripts/verify/seeds/facts.ts";
import { type FirstBootProgram, firstBootPrograms } from "../../scripts/verify/seeds/seed-texts.ts";
import { bootWithSeed } from "../../scripts/verify/seeds/seeded-machine.ts";
import { typeAsRoot } from "./support/at-screen.ts";
import { downloadDisk } from "./support/disk.ts";
import { modifiedIn } from "./support/modified-files.ts";
import { ownDeb } from "./support/own-deb.ts";
import { listed } from "./support/own-software.ts";
import { personOf, type Person } from "./support/person.ts";
import { answerIn, askingProgram, isOver } from "./support/questions.ts";
import { startAsItIs, until, type Service } from "./support/service.ts";
import { startSession, type Session } from "./support/session.ts";

// Follows Debian 12 from a mirror to a booted machine, as `npm start` offers it. It is imported, cloned, configured,
// built, started as a testdrive, and queried over its serial line. One build and one boot serve almost all tests.

const jeos = 11;
const folder = mkdtempSync(join(tmpdir(), "kiln-debian-"));
let service: Service;
let tux: Person;
let applianceId: string;
let buildId: string;
/** Builds of the template with a program for the first boot. They run while the first tests do. */
const seededBuilds = new Map<FirstBootProgram, string>();
let session: Session;

/** Commands that run in the booted system, by name. */
const questions = {
  // These run after the boot has ended.
  services:
    "systemctl is-system-running --wait; systemctl is-active ssh; systemctl is-enabled ssh kiln-host-keys kiln-machine-identity; systemctl --failed --no-legend",
  packages: "dpkg-query --show --showformat '${Package} ${Version}\\n'",
  broken: "dpkg --audit; dpkg --verify kiln-greeter",
  own: "cat /var/lib/greeted; id --user --name greeter",
  user: "id clerk; getent passwd clerk",
  // The card gets its address in the background.
  address:
    "for try in $(seq 60); do ip -4 -brief address | grep -q 10.0.2 && break; sleep 1; done; ip -4 -brief address",
  firewall: "nft list ruleset",
  locale: "cat /etc/default/locale /etc/timezone; locale -a; grep XKBLAYOUT /etc/default/keyboard",
  identity: "ls /etc/ssh | grep -c 'host.*key$'; wc -c < /etc/machine-id; cat /etc/hostname",
  scripts: "wc -l < /srv/seen-by-the-build-script; until cat /srv/boot-script; do sleep 1; done",
  leftovers: "ls /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/kiln /image; ls /var/lib/apt/lists",
  change: "echo 'changed in the machine' > /etc/motd; chmod 640 /etc/motd; sync",
} as const;

const configuration = `<configuration>
  <locale>
    <keyboard_layout>german</keyboard_layout><language>de_DE.UTF-8</language>
    <timezone><location>Europe/Vienna</location></timezone>
  </locale>
  <network><type>dhcp</type></network>
  <firewall><enabled>true</enabled><open_port>ssh</open_port></firewall>
  <users>
    <user><uid>0</uid><name>root</name><password>linux</password></user>
    <user>
      <uid>1500</uid><name>clerk</name><password>counter</password>
      <group>tellers</group><shell>/bin/sh</shell><homedir>/srv/clerk</homedir>
    </user>
  </users>
  <scripts>
    <build><enabled>true</enabled><script>dpkg-query --show &gt; /srv/seen-by-the-build-script</script></build>
    <boot><enabled>true</enabled><script>echo booted &gt; /srv/boot-script</script></boot>
  </scripts>
  <checks>
    <check><kind>command</kind><command>systemctl is-active ssh</command><text>active</text></check>
    <check><kind>memory</kind><megabytes>400</megabytes></check>
    <check><kind>disk</kind><path>/var</path><megabytes>1500</megabytes></check>
  </checks>
</configuration>`;

/** The limit for everything before the first test. That takes three minutes on an idle machine. */
const longestSeconds = 3500;

beforeAll(async () => {
  service = await startAsItIs();
  tux = personOf(service.stateDir, service.ready());
  await until("Debian 12 can be built", 1800, () => {
    expect(service.output()).not.toMatch(/has no address|Debian is not offered|could not be/);
    return service.output().includes("✓ debian-12:");
  });
  applianceId = (await tux.rest.call("POST", "/appliances", { clone_from: jeos, arch: "x86_64" })).appliance.id;
  await configure();
  const params = { appliance_id: applianceId, image_type: "oem" };
  buildId = (await tux.rest.call("POST", "/running_builds", params)).build.id;
  expect((await tux.rest.watchBuild(buildId, 3000)).at(-1)).toMatchObject({ state: "finished" });
  // With a network, the machine has a network card to check.
  session = await startSession(tux, { build_id: buildId, network: "on" });
  // A name that is typed in the same way on any keyboard.
  await typeAsRoot(session.viewer, "tell", () => session.serial().includes("<services>"));
  await until("the machine has answered", 1800, () => isOver(session.serial()));
  // Not earlier: on a slow machine, systemd would give up the login that answers.
  for (const program of firstBootPrograms) seededBuilds.set(program, await startSeededBuild(program));
}, longestSeconds * 1000);

afterAll(async () => {
  session?.viewer.close();
  await service?.stop();
  rmSync(folder, { recursive: true });
});

async function startSeededBuild(program: FirstBootProgram): Promise<string> {
  const { id } = (await tux.rest.call("POST", "/appliances", { clone_from: jeos, arch: "x86_64" })).appliance;
  const body = `<configuration><settings><first_boot>${program}</first_boot></settings></configuration>`;
  await tux.send("PUT", `/appliances/${id}/configuration`, { body });
  return (await tux.rest.call("POST", "/running_builds", { appliance_id: id, image_type: "oem" })).build.id;
}

async function configure(): Promise<void> {
  await tux.send("PUT", `/appliances/${applianceId}/configuration`, { body: configuration });
  const program = { filename: "tell", path: "/usr/local/bin", permissions: "0755" };
  await tux.addFile(applianceId, askingProgram(questions), program);
  const body = new FormData();
  body.set("file", await ownDeb(folder), "kiln-greeter.deb");
  await tux.send("POST", "/rpms?base_system=debian-12", { body });
  await tux.rest.call("POST", `/appliances/${applianceId}/cmd/add_user_repository`);
  await tux.rest.call("POST", `/appliances/${applianceId}/cmd/add_package`, { name: "kiln-greeter" });
  const statusNow = async () =>
    JSON.stringify((await tux.rest.call("GET", `/appliances/${applianceId}/status`)).status);
  // An upload waits at most 30 s for its import, and Debian 13 is imported at the same time.
  await until("the own package is imported", 300, async () => !(await statusNow()).includes("still being imported"));
  const status = await statusNow();
  expect(JSON.parse(status).state, status).toBe("ok");
}

const answers = (name: keyof typeof questions): string[] => answerIn(session.serial(), name);

interface Billed {
  name: string;
  versionInfo: string;
  sourceInfo?: string;
  licenseDeclared: string;
  primaryPackagePurpose: string;
  checksums?: { algorithm: string; checksumValue: string }[];
  externalRefs?: { referenceLocator: string }[];
}

/** The packages in the bill of materials. */
async function billed(): Promise<Billed[]> {
  const { packages } = JSON.parse(await tux.rest.file(`/builds/${buildId}/attestations/spdx`)) as {
    packages: Billed[];
  };
  return packages.filter((one) => one.primaryPackagePurpose === "LIBRARY");
}

describe("a disk of Debian 12", () => {
  it("has exactly the packages that were resolved, all configured", async () => {
    const resolved = (await listed(tux, applianceId)).map(({ software }) => software);
    expect(resolved.length).toBeGreaterThan(150);
    // The two documents have no epochs.
    const installed = answers("packages").map((one) => one.replace(/ \d+:/, " "));
    expect(installed.toSorted()).toEqual(resolved.toSorted());
    expect(answers("broken")).toEqual([]);
  });

  it("has a package of the account's own, whose script has run after what it depends on", () => {
    expect(answers("own")).toEqual(["hello from our own package", "greeter"]);
  });

  it("has a bill of materials with each package that dpkg lists, its checksum and its origin", async () => {
    const bill = await billed();
    expect(bill.map((one) => `${one.name} ${one.versionInfo}`).toSorted()).toEqual(answers("packages").toSorted());
    for (const { name, checksums, externalRefs, sourceInfo } of bill) {
      expect(checksums, name).toEqual([
        { algorithm: "SHA256", checksumValue: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ]);
      expect(externalRefs?.[0]?.referenceLocator, name).toMatch(`pkg:deb/debian/${encodeURIComponent(name)}@`);
      expect(sourceInfo, name).toMatch(name === "kiln-greeter" ? /repository tux Debian 12/ : /repository Debian 12/);
    }
    const licensed = bill.filter(({ licenseDeclared }) => licenseDeclared !== "NOASSERTION");
    expect(licensed.length).toBeGreaterThan(bill.length * 0.8);
  });

  it("has the users", () => {
    expect(answers("user").join("\n")).toMatch(/uid=1500\(clerk\) gid=\d+\(tellers\)[^]*:\/srv\/clerk:\/bin\/sh$/);
  });

  it("has an address from DHCP, on a card of whatever name", () => {
    expect(answers("address").join("\n")).toMatch(/^en\S+ +UP +10\.0\.2\.15\/24/m);
  });

  it("runs its services, and none has failed", () => {
    expect(answers("services")).toEqual(["running", "active", "enabled", "enabled", "enabled"]);
  });

  it("lets only the open ports in", () => {
    expect(answers("firewall").join("\n")).toMatch(/policy drop;[^]*tcp dport 22 accept/);
  });

  it("speaks the language, and has the time zone and the keyboard", () => {
    expect(answers("locale")).toEqual(
      expect.arrayContaining(["LANG=de_DE.UTF-8", "Europe/Vienna", "de_DE.utf8", 'XKBLAYOUT="de"']),
    );
  });

  it("shares no secret with other machines of its image", async () => {
    const log = JSON.stringify((await tux.rest.call("GET", `/builds/${buildId}`)).build);
    expect(log).toContain("Kiln: Creating the image");
    expect(log).not.toMatch(/kiln: note: (?:All machines|Everyone)/);
  });

  it("has made its SSH host keys and its machine id itself, and not the build host's name", () => {
    expect(answers("identity")).toEqual(["3", "33"]);
  });

  it("ran the scripts: that of the build with all packages, that of the boot at the end", () => {
    expect(answers("scripts")).toEqual([String(answers("packages").length), "booted"]);
  });

  it("has nothing left of its build", () => {
    expect(answers("leftovers")).toEqual([]);
  });

  it("has run the commands of its checks in a machine of their own", async () => {
    const ended = await until("its checks have ended", 3000, async () => {
      const run = (await tux.rest.call("GET", `/builds/${buildId}/checks`)).check_runs.check_run;
      return ["waiting", "running"].includes(run.state) ? undefined : run;
    });
    expect(ended, JSON.stringify(ended)).toMatchObject({ state: "passed" });
  });

  it("keeps a file that was changed in its machine", async () => {
    const [motd] = await modifiedIn(tux, session, "/etc/motd");
    expect(motd).toMatchObject({ path: "/etc/motd", change: "changed", owner: "root", permissions: "640" });
    expect(motd?.difference).toMatch(/^\+changed in the machine$/m);

    await tux.send("POST", `/testdrives/${session.id}/modified_files/keep?path=/etc/motd`);

    const { files } = await tux.rest.call("GET", "/files", { appliance_id: applianceId });
    const kept = [files.file].flat().find(({ filename }: { filename: string }) => filename === "motd");
    expect(kept).toMatchObject({ path: "/etc", owner: "root", permissions: "640" });
    expect(await tux.rest.file(`/files/${kept.id}/data`)).toBe("changed in the machine\n");
  });
});

it.for(firstBootPrograms)(
  "becomes two machines by two seeds for %s, each opened by its own key only",
  async (program, { signal }) => {
    const id = seededBuilds.get(program) ?? "";
    expect((await tux.rest.watchBuild(id, 3000)).at(-1)).toMatchObject({ state: "finished" });
    const { build } = await tux.rest.call("GET", `/builds/${id}`);
    const own = mkdtempSync(join(folder, `${program}-`));
    const { file: image } = await downloadDisk(build.download_url, own);
    const accel = await chooseAccel({ accel: "auto", stateDir: own });

    const machines = await Promise.all(
      ["seed-1", "seed-2"].map((name) =>
        bootWithSeed({ image, program, folder: own, accel, user: "debian", signal }, name),
      ),
    );

    expect(countDifferent(machines)).toMatch(/^2 host names, 2 machine-ids, .* no two are equal$/);
  },
);
