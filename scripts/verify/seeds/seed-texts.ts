import type { Seed } from "#lib/contract/index";
import { firstRandomFile } from "./facts.ts";

/** The values that a seed gives to its machine. */
interface Wanted {
  /** The host name. */
  name: string;
  user: string;
  /** The public SSH key of the user. */
  key: string;
}

export const sshPort = 22;

/** A machine prints it on its serial line when its seed is applied and its SSH server listens. */
export const ready = "The seed is applied";

const storeFirstRandom = `head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \\n' > ${firstRandomFile}`;
const reportReady = `until ss -Htln sport = :${sshPort} | grep -q .; do sleep 1; done; echo "${ready}" > /dev/ttyS0`;

/** Otherwise, the next boot would run Ignition again. */
const untilDone = "while [ -e /boot/ignition.firstboot ]; do sleep 1; done";

/** The seeds for the programs of a first boot. */
export const seedTexts = {
  "cloud-init": ({ name, key }: Wanted): Seed => ({
    metaData: `instance-id: ${name}\nlocal-hostname: ${name}\n`,
    userData: `#cloud-config
ssh_authorized_keys: [ "${key}" ]
bootcmd:
  - ${storeFirstRandom}
runcmd:
  - ${reportReady}
`,
  }),
  ignition: ({ name, user, key }: Wanted): Seed => ({
    userData: JSON.stringify({
      ignition: { version: "3.3.0" },
      passwd: { users: [{ name: user, sshAuthorizedKeys: [key] }] },
      storage: {
        files: [
          { path: "/etc/hostname", overwrite: true, mode: 0o644, contents: dataOf(`${name}\n`) },
          {
            path: program,
            mode: 0o755,
            contents: dataOf(["#!/bin/sh", storeFirstRandom, untilDone, reportReady, ""].join("\n")),
          },
        ],
      },
      systemd: { units: [{ name: "seed.service", enabled: true, contents: unit }] },
    }),
  }),
} as const;

export type FirstBootProgram = keyof typeof seedTexts;

export const firstBootPrograms = Object.keys(seedTexts) as FirstBootProgram[];

const program = "/usr/local/bin/seed";
const unit = `[Service]\nType=oneshot\nExecStart=${program}\n\n[Install]\nWantedBy=multi-user.target\n`;

const dataOf = (text: string) => ({ source: `data:,${encodeURIComponent(text)}` });
