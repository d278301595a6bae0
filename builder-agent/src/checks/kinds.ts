import type { Check, CheckKind } from "../contract.ts";
import {
  endOf,
  failed,
  faultlessInTime,
  ifBooted,
  inTime,
  notRun,
  off,
  passed,
  type Guest,
  type Way,
} from "./guest.ts";
import { insideWays } from "./inside.ts";
import { lookAtScreen } from "./screen.ts";
import { getPage, tryPort, type PageAddress, type PortState } from "./ports.ts";

/** The kinds of checks that restart the machine (restarts.ts). */
export type RestartKind = Extract<CheckKind, "second_boot" | "power_cut">;

/** How each other kind of check is done. */
export const ways: Readonly<Record<Exclude<CheckKind, RestartKind>, Way>> = {
  login: {
    look: async ({ seconds }, guest) => {
      const isThere = await inTime(guest, seconds, () => guest.loginAt !== undefined);
      if (isThere) return passed(`A login prompt came after ${(guest.loginAt ?? 0).toFixed(1)} s.`);
      return failed(guest, `There was no login prompt. ${endOf(guest)}`);
    },
  },
  console_text: {
    look: async ({ text, seconds }, guest) =>
      (await inTime(guest, seconds, () => guest.console.hasShown(text)))
        ? passed("The text came.")
        : failed(guest, `The text did not come. ${endOf(guest)}`),
  },
  console_lacks: {
    isLast: true,
    look: async ({ text }, guest) =>
      guest.console.hasShown(text) ? failed(guest, "The text came.") : ifBooted(guest, "The text did not come."),
  },
  units: {
    isLast: true,
    look: async (_, guest) => {
      const { failedUnits, showsUnits } = guest.console;
      if (failedUnits.length > 0) return failed(guest, failedUnits.join(" "));
      if (!showsUnits)
        return notRun("The serial console shows no messages of systemd, so a failed unit would not be seen.");
      return ifBooted(guest, "No unit failed.");
    },
  },
  port_open: {
    look: async ({ port, seconds }, guest) => {
      const attempt = async () => faultOfPort[await portOf(guest, port)];
      return await faultlessInTime(guest, { seconds, success: accepted, silence: noAnswer }, attempt);
    },
  },
  port_closed: {
    isLast: true,
    look: async ({ port }, guest) => {
      const state = await portOf(guest, port);
      if (guest.isOff) return notRun(off);
      if (state === "open") return failed(guest, accepted);
      if (state === "refused") return ifBooted(guest, refused);
      // A firewall drops the packets, or the machine has no address. From outside, both look the same.
      return notRun("The machine did not answer: a firewall may drop the packets, or it has no network.");
    },
  },
  http: webPage("http"),
  https: webPage("https"),
  ...insideWays,
  screen: { look: lookAtScreen },
};

function webPage(scheme: PageAddress["scheme"]): Way {
  return {
    look: async (check, guest) => {
      const nobody = `No web server answered on port ${check.port}${scheme === "https" ? " over HTTPS" : ""}.`;
      const attempt = () => pageFault({ ...check, scheme }, guest).catch(() => nobody);
      const { seconds } = check;
      return await faultlessInTime(guest, { seconds, success: "The page is as expected.", silence: noAnswer }, attempt);
    },
  };
}

const accepted = "The machine accepted a connection.";
const refused = "The machine refused the connection.";
const noAnswer = "The machine did not answer.";
/** Why a port is not open. Empty if it is. */
const faultOfPort: Readonly<Record<PortState, string>> = { open: "", refused, silent: noAnswer };

/** The state of a port. A machine that has just ended also does not answer. */
const portOf = ({ qemu, slowness }: Guest, port: number): Promise<PortState> =>
  tryPort({ qemu, port }, connectMs * slowness).catch(() => "silent");

/** How long the machine may take to answer a connection or a request, before it is tried again. */
const connectMs = 3_000;
const answerMs = 30_000;

/** Returns the fault of the page as a sentence, or an empty text if the page is as expected. */
async function pageFault(
  { scheme, port, path, status, text }: Check & PageAddress,
  { qemu, slowness }: Guest,
): Promise<string> {
  const endpoint = qemu.endpoints.get(port);
  if (!endpoint) throw new Error(`port ${port} is not forwarded`);
  const page = await getPage(endpoint, { scheme, port, path }, answerMs * slowness);
  if (page.status !== status) return `The answer has the status ${page.status}.`;
  if (text === "" || page.body.includes(text)) return "";
  const [line = ""] = page.body.trim().split("\n");
  return line === "" ? "The page is empty." : `The text is not in the page, which begins with “${line.slice(0, 200)}”.`;
}
