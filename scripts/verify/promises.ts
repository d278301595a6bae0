import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { TemplatePromises } from "#model/catalogue";
import { Complaint } from "../launch/complaint.ts";
import type { Shell } from "./shell.ts";

/** A service may start after the login prompt appears. */
const serviceSeconds = 240;
const commandSeconds = 300;
const answerSeconds = 20;
const betweenTriesMs = 3_000;

type BootedSystem = {
  shell: Shell;
  /** The loopback port of this host that is forwarded to a port of the system. */
  portOf: (port: number) => number;
  /** The time limit in seconds for a service to start. */
  within?: number;
  signal?: AbortSignal;
};

/**
 * Checks a booted system against the promises of its template. Returns the results; a broken promise is a Complaint.
 */
export async function checkPromises(
  { units, ports, commands }: TemplatePromises,
  { shell, portOf, within = serviceSeconds, signal }: BootedSystem,
): Promise<string> {
  const broken: string[] = [];
  for (const unit of units) {
    const tries = Math.ceil(within / 3);
    const waiting = `for try in $(seq ${tries}); do systemctl -q is-active ${unit} && break; sleep 3; done`;
    const { code, printed } = await shell.run(`${waiting}; systemctl is-active ${unit}`, within * 2);
    if (code !== 0) broken.push(`the unit ${unit} is ${printed}`);
  }
  for (const command of commands) {
    const { code, printed } = await shell.run(command, commandSeconds);
    if (code !== 0) broken.push(`"${command}" ended with exit code ${code}: ${printed}`);
  }
  for (const port of ports) {
    if (!(await answers(portOf(port), { within, signal }))) broken.push(`port ${port} does not answer`);
  }
  if (broken.length > 0) throw new Complaint(`${broken.join("; ")}.`);
  return seen({ units, ports, commands });
}

const seen = ({ units, ports, commands }: TemplatePromises): string =>
  [
    ...units.map((unit) => `${unit} is active`),
    ...ports.map((port) => `port ${port} answers`),
    ...commands.map((command) => `\`${command}\``),
  ].join("; ") || "only a login is promised";

/**
 * Whether a port of this host's loopback answers with bytes. QEMU itself accepts each connection to a port that it
 * forwards.
 */
export async function answers(
  port: number,
  { within, signal }: { within: number; signal: AbortSignal | undefined },
): Promise<boolean> {
  const until = Date.now() + within * 1000;
  while (!(await answersOnce(port))) {
    if (Date.now() > until) return false;
    await sleep(betweenTriesMs, undefined, { signal });
  }
  return true;
}

function answersOnce(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const settle = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(answerSeconds * 1000, () => settle(false));
    socket.once("data", () => settle(true));
    socket.on("error", () => settle(false)).on("close", () => settle(false));
    socket.write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
  });
}
