import { once } from "node:events";
import type { Server } from "node:http";
import { isIPv6 } from "node:net";
import { command, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { readText } from "../files.ts";
import { writeKey } from "../image-log.ts";
import { visible } from "../output/table.ts";
import { checkLog } from "../verify/history.ts";
import { keyOption as key, trustedKeys } from "../verify/keys.ts";
import { cosignedBy, keysIn, quorumOf, quorumOptions } from "../verify/witnesses.ts";
import { witnessServer } from "../witness/server.ts";
import { WitnessFolder } from "../witness/store.ts";

export const log = [
  command("log check", {
    tool: "reads",
    summary: "Check that the public log of published images only grows",
    details:
      "Compares the log with the checkpoint that this machine kept when it last saw it, and keeps the new one. The exit " +
      "code is 6 if an entry has changed or is missing. `--json` prints the signed checkpoint.",
    options: {
      key,
      ...quorumOptions,
      since: value("file", "compare with the checkpoint in this file, too: one that you stored elsewhere"),
    },
    examples: ["kiln log check", "kiln log check --json | jq -r .checkpoint > today.checkpoint"],
    act: async ({ login, show }, { key: keyFile, since, witnesses, quorum: count }) => {
      const quorum = quorumOf(witnesses, count);
      const others = since === undefined ? [] : [storedNote(since)];
      const { now, note, kept } = await checkLog(login.url, trustedKeys(keyFile, login.keys), others);
      const cosigners = quorum && cosignedBy(note, quorum);
      const { origin: log, size } = now;
      show({ log, size, kept: kept ?? null, checkpoint: note, ...(cosigners && { cosigned_by: cosigners }) }, () =>
        logText({ log, size, kept, cosigners }, since),
      );
    },
  }),
  command("log witness", {
    summary: "Cosign the checkpoints of public logs",
    details:
      "Serves the protocol of c2sp.org/tlog-witness until it is stopped. It cosigns a checkpoint only if a proof shows that the " +
      "log continues the last one that it has cosigned. The folder of --state has its private key, which is made at the first " +
      "start, and these checkpoints. Never start it with an older copy of the folder.",
    options: {
      name: value(
        "name",
        "the name under which it signs: an address without the scheme, such as witness.example.org/kiln",
      ),
      logs: value("file", "the keys of the logs, one on each line; a Kiln service has them at /log/keys"),
      state: value("directory", "where it keeps its key and the checkpoints; only one witness may use it"),
      host: value("address", "the address on which it listens; the default is 127.0.0.1"),
      port: value("number", "the port; the default is 8790"),
    },
    examples: ["kiln log witness --name witness.example.org/kiln --logs logs.keys --state /var/lib/kiln-witness"],
    act: async ({ print, note }, { name, logs: file, state, host = "127.0.0.1", port = "8790" }) => {
      if (name === undefined || file === undefined || state === undefined)
        throw new Complaint(
          "misused",
          "A witness needs --name, --logs and --state.",
          "`kiln log witness --help` explains them.",
        );
      if (!/^[^\s+]{1,200}$/.test(name))
        throw new Complaint(
          "misused",
          `${name} cannot be the name of a witness.`,
          "It must not contain a space or a +.",
        );
      const logs = keysIn(file, "log");
      const { server, witness } = witnessServer({ folder: new WitnessFolder(state), name, logs, note });
      const address = await listening(server, host, port);
      print(`Key: ${writeKey(witness)}`);
      print(`Address: ${address}`);
      await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
      server.close();
      server.closeAllConnections();
    },
  }),
];

/** Returns the address on which the server listens now. */
async function listening(server: Server, host: string, port: string): Promise<string> {
  try {
    server.listen(Number(port), host);
    await once(server, "listening");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Complaint("refused", `The witness cannot listen: ${why}.`, "Name another --host or --port.");
  }
  const address = server.address();
  const at = typeof address === "object" && address ? address.port : port;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${at}`;
}

/** A stored checkpoint. `jq -r` adds a line break to the one at its end, which would be a wrong note. */
const storedNote = (file: string): string =>
  readText(file, "--since must name a file with a checkpoint.").replace(/\n+$/, "\n");

interface Seen {
  log: string;
  size: number;
  kept: number | undefined;
  cosigners: readonly string[] | undefined;
}

const logText = ({ log, size, kept, cosigners }: Seen, since: string | undefined): string =>
  [
    `The log ${visible(log)} has ${entries(size)}.`,
    kept === undefined
      ? "Its checkpoint was kept for the next check."
      : `It begins with the ${entries(kept)} that this machine has seen.`,
    ...(cosigners ? [`Cosigned by ${cosigners.join(", ")}.`] : []),
    ...(since === undefined ? [] : [`It begins with the entries of ${since}.`]),
  ].join("\n");

const entries = (count: number): string => (count === 1 ? "1 entry" : `${count} entries`);
