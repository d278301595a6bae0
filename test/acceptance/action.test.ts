import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runJob, type Job, type JobEnd } from "../../cli/test/action/runner.ts";
import { newMachine, type Machine } from "../../cli/test/support/machine.ts";
import { newPerson, type Person } from "./support/person.ts";
import { sharedService } from "./support/shared-service.ts";

// The steps of action.yml with the real command line, the real service and real builds.

interface Kiosk {
  memory: number;
  packages: string[];
  greeting: string;
}

/** The file at each push. Some pushes change it, the others only other files. */
const pushes: Partial<Kiosk>[] = [
  { memory: 256, packages: [], greeting: "Welcome" },
  {},
  { memory: 384 },
  { packages: ["hello"] },
  {},
  { greeting: "Welcome back" },
  {},
  { packages: [] },
  { memory: 256, greeting: "Welcome" },
  {},
];

let mira: Person;
let machine: Machine;
beforeAll(async () => {
  mira = await newPerson(await sharedService("with-agent"), "action");
  machine = newMachine();
  const key = await fetch(`${mira.ready.url}/.well-known/kiln-attestation.pem`);
  writeFileSync(join(machine.folder, "kiln.pem"), await key.text());
});
afterAll(() => machine[Symbol.dispose]());

/** Writes the files of a push. The greeting is in a separate file. */
function checkOut({ memory, packages, greeting }: Kiosk): void {
  const lines = [
    "name: Kiosk",
    "base_system: tiny-1.0",
    `packages: [${["busybox", ...packages].join(", ")}]`,
    `configuration: { settings: { memory_size: ${memory} } }`,
    "files: [{ path: /etc/motd, owner: root, group: root, content: { file: texts/motd } }]",
  ];
  mkdirSync(join(machine.folder, "texts"), { recursive: true });
  writeFileSync(join(machine.folder, "texts/motd"), `${greeting}\n`);
  writeFileSync(join(machine.folder, "kiosk.yaml"), `${lines.join("\n")}\n`);
}

/** The comment needs GitHub; cli/test/action has a stand-in for it. */
const job = (event: Job["event"]): Promise<JobEnd> =>
  runJob({
    event,
    inputs: {
      file: "kiosk.yaml",
      url: mira.ready.url,
      account: mira.ready.username,
      token: mira.ready.api_key,
      key: "kiln.pem",
      types: "oem",
    },
    api: "http://127.0.0.1:1",
    workspace: machine.folder,
    env: machine.env,
    without: ["Install kiln", "Comment"],
  });

it(
  "follows a file through ten pushes, and plans nothing for one that is unchanged",
  { timeout: 3_600_000 },
  async () => {
    let kiosk: Kiosk = { memory: 0, packages: [], greeting: "" };
    const appliances = new Set<string | undefined>();
    const images: string[] = [];
    for (const [nth, changed] of pushes.entries()) {
      kiosk = { ...kiosk, ...changed };
      checkOut(kiosk);
      const isChanged = String(Object.keys(changed).length > 0);
      const pull = await job("pull_request");
      expect([nth, pull.failed, pull.outputs["changes"], pull.log]).toEqual([nth, undefined, isChanged, pull.log]);

      const push = await job("push");
      expect(push.failed, push.log).toBeUndefined();
      appliances.add(push.outputs["appliance"]);
      images.push(basename(push.outputs["images"] ?? ""));
      const after = await job("pull_request");
      expect([nth, after.failed, after.outputs["changes"]], after.log).toEqual([nth, undefined, "false"]);
    }

    expect(images).toEqual(pushes.map((_, nth) => `Kiosk.x86_64-0.0.${nth + 1}.oem.tar.gz`));
    expect(appliances.size).toBe(1);
    for (const image of images) expect(existsSync(join(machine.folder, "images", `${image}.intoto.jsonl`))).toBe(true);
  },
);
