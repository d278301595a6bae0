import { z } from "zod";

/** Where an image gets its address from; `none` leaves its network alone. */
export const networkTypes = ["dhcp", "manual", "ask_on_first_boot", "network_manager", "none"] as const;

export const databaseTypes = ["pgsql", "mysql"] as const;

const Script = z.object({ enabled: z.boolean().default(false), script: z.string().default("") });
const nothing = { enabled: false, script: "" };

/** Someone who can log in. Passwords are sealed in storage (domain/configuration/secrets), hashed in frozen inputs. */
export const User = z.object({
  uid: z.int().nonnegative(),
  name: z.string().min(1),
  password: z.string(),
  group: z.string().min(1),
  shell: z.string().min(1),
  homedir: z.string().min(1),
});

export const Database = z.object({
  type: z.enum(databaseTypes),
  users: z.array(z.object({ username: z.string().min(1), password: z.string(), databases: z.array(z.string()) })),
});

/**
 * What an appliance is configured to, beside its software: wire.md §2.4. What a template or an older row leaves out has
 * a default here, so that every reader finds the whole of it.
 */
export const Configuration = z.object({
  description: z.string().default(""),
  website: z.string().default(""),
  tags: z.array(z.string()).default([]),
  locale: z.object({ keyboardLayout: z.string(), language: z.string(), timezone: z.string() }),
  network: z
    .object({
      type: z.enum(networkTypes),
      /** The rest is kept and used with `manual` alone; empty: not given. */
      hostname: z.string().default(""),
      ip: z.string().default(""),
      netmask: z.string().default(""),
      route: z.string().default(""),
      nameservers: z.array(z.string()).default([]),
    })
    .default({ type: "dhcp", hostname: "", ip: "", netmask: "", route: "", nameservers: [] }),
  firewall: z
    .object({ enabled: z.boolean(), openPorts: z.array(z.string()) })
    .default({ enabled: true, openPorts: ["ssh"] }),
  users: z.array(User),
  eulas: z.array(z.string()).default([]),
  databases: z.array(Database).default([]),
  autostarts: z
    .array(z.object({ command: z.string(), description: z.string(), enabled: z.boolean(), user: z.string() }))
    .default([]),
  settings: z.object({
    /** Megabytes of memory of a testdrive. */
    memorySizeMb: z.int().positive(),
    /** Size of the disk of disk images; the API speaks of gigabytes. */
    diskSizeMb: z.int().positive(),
    swapSizeMb: z.int().nonnegative().default(512),
    paeEnabled: z.boolean().default(false),
    xenHostModeEnabled: z.boolean().default(false),
    cdromEnabled: z.boolean().default(true),
    webyastEnabled: z.boolean().default(false),
    liveInstallerEnabled: z.boolean().default(false),
    /** Whether others may clone it once it is published. */
    publicClonable: z.boolean().default(true),
    runlevel: z.int().min(1).max(5).default(3),
    /** Whom the console logs in by itself; empty: nobody. */
    automaticLogin: z.string().default(""),
  }),
  lvm: z
    .object({
      enabled: z.boolean(),
      volumeGroup: z.string(),
      volumes: z.array(z.object({ sizeMb: z.int().positive(), path: z.string() })),
    })
    .default({ enabled: false, volumeGroup: "", volumes: [] }),
  scripts: z
    .object({ build: Script, boot: Script, autoyast: Script })
    .default({ build: nothing, boot: nothing, autoyast: nothing }),
});
export type Configuration = z.infer<typeof Configuration>;

/** The whole configuration of a row, with the defaults of what its version of Kiln did not know; passwords as stored. */
export const configurationOf = (appliance: { configuration: Configuration }): Configuration =>
  Configuration.parse(appliance.configuration);
