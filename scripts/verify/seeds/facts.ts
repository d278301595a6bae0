import { z } from "zod";
import { Complaint } from "../../launch/complaint.ts";

const Facts = z.object({
  hostName: z.string().min(1),
  machineId: z.string().regex(/^[0-9a-f]{32}$/),
  /** The public SSH host keys, as "TYPE BASE64". */
  hostKeys: z.array(z.string().regex(/^[\w@.-]+ AAAA[\w+/=]+$/)).min(1),
  /** 32 bytes, in hexadecimal. */
  firstRandom: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Facts that must differ between two machines of one image. */
export type Facts = z.infer<typeof Facts>;

/** The file where a machine stores the first bytes that its seed reads from /dev/urandom, as its first command. */
export const firstRandomFile = "/run/first-random";

/** Prints the facts on a machine: a name and a value on each line. */
export const printFacts = [
  'echo "hostName $(hostname)"',
  'echo "machineId $(cat /etc/machine-id)"',
  String.raw`sed -n 's/^\([^ ]* [^ ]*\).*/hostKey \1/p' /etc/ssh/ssh_host_*_key.pub`,
  `echo "firstRandom $(cat ${firstRandomFile})"`,
].join("; ");

export function factsIn(printed: string): Facts {
  const valuesOf = (name: string) =>
    printed.split("\n").flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
  return factsOf({
    hostName: valuesOf("hostName")[0],
    machineId: valuesOf("machineId")[0],
    hostKeys: valuesOf("hostKey"),
    firstRandom: valuesOf("firstRandom")[0],
  });
}

export function factsOf(found: unknown): Facts {
  const facts = Facts.safeParse(found);
  if (!facts.success)
    throw new Complaint(`These are not the facts of a machine: ${JSON.stringify(found)}\n${facts.error.message}`);
  return facts.data;
}

/** Counts the values of all machines. Throws if two machines have one in common, or if there is nothing to compare. */
export function countDifferent(machines: readonly Facts[]): string {
  if (machines.length < 2)
    throw new Complaint(`There is nothing to compare, because ${machines.length} machines booted.`);
  const kinds = {
    "host names": machines.map(({ hostName }) => hostName),
    "machine-ids": machines.map(({ machineId }) => machineId),
    "host keys": machines.flatMap(({ hostKeys }) => hostKeys),
    "first outputs of /dev/urandom": machines.map(({ firstRandom }) => firstRandom),
  };
  for (const [kind, values] of Object.entries(kinds)) {
    const twice = values.find((value, place) => values.indexOf(value) !== place);
    if (twice !== undefined) throw new Complaint(`Two of the ${kind} are ${twice}.`);
  }
  return `${Object.entries(kinds)
    .map(([kind, { length }]) => `${length} ${kind}`)
    .join(", ")}: no two are equal`;
}
