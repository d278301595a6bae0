import { openClient } from "../client/client.ts";
import { command, flag, value, values } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { ask, askSecretly } from "../login/ask.ts";
import { addressOf, forgetLogin, refuseUnencrypted, storedLogin, storeLogin, type PinnedKey } from "../login/login.ts";
import { facts } from "../output/table.ts";
import { fetchKeys } from "../verify/keys.ts";

export const login = [
  command("login [address]", {
    summary: "Sign in to a service, and pin the key that it signs images with",
    details:
      "Asks for the account and its API key or a token, and stores them in a file that only you can read, one for each " +
      "address. Without a terminal, each answer is a line of the input. The key that signs images is pinned the " +
      "first time: compare it with what the operator tells you. If the service later signs with another one, login and " +
      "download refuse it until you trust it.",
    options: {
      account: value("account", "whose key it is; by default it asks"),
      trustKey: values("text", "also trust this key, given by its id; only if the operator has confirmed it"),
      insecure: flag("send the key over http to another machine, although others can read it"),
    },
    examples: ["kiln login https://kiln.example.org", "kiln login http://127.0.0.1:8787 --account tux < key.txt"],
    act: async (kiln, { address = kiln.url ?? process.env["KILN_URL"], account, trustKey, insecure }) => {
      const url = address === undefined ? await askAddress() : addressOf(address);
      if (!insecure) refuseUnencrypted(url);
      const keys = pinned(url, await fetchKeys(url), trustKey);
      const name = account ?? (await ask("Account: "));
      const secret = await askSecretly(`API key or token of ${name}: `);
      await openClient({ url, account: name, secret }).call("getAccount", {});
      storeLogin({ url, account: name, secret, keys });
      kiln.show({ url, account: name, keys: keys.map(({ kid }) => kid) }, () =>
        facts(kiln.paint, { "Signed in": url, Account: name, "Pinned key": keys.map(({ kid }) => kid).join(", ") }),
      );
    },
  }),
  command("whoami", {
    tool: "reads",
    summary: "Show which account and service the commands use",
    act: async ({ client, login: { url }, show, paint }) => {
      const { account } = await client.call("getAccount", {});
      show({ url, account }, () => facts(paint, { Account: account.username, Service: url }));
    },
  }),
  command("logout [address]", {
    summary: "Forget the key of a service, and the key that it signs images with",
    details: "The service still accepts the key. To revoke it, renew it there, or `kiln token remove` a token.",
    act: async (kiln, { address }) => {
      const url = forgetLogin(address ?? kiln.url);
      kiln.show({ url }, () => `Signed out of ${url}.`);
    },
  }),
];

/** Without a terminal, the answer may be a key that was meant for the next question, so no message repeats it. */
async function askAddress(): Promise<string> {
  const answer = await ask("Address: ");
  if (process.stdin.isTTY || /^https?:\/\//i.test(answer)) return addressOf(answer);
  throw new Complaint(
    "misused",
    "The first line of the input is not an address that begins with https://.",
    "Name the service: `kiln login ADDRESS`, --url or KILN_URL.",
  );
}

/** The keys to pin. The user must name a new key explicitly, and get it from another source. */
function pinned(url: string, offered: PinnedKey[], trusted: readonly string[]): PinnedKey[] {
  const known = storedLogin(url)?.keys;
  const unknown = trusted.find((kid) => !offered.some((key) => key.kid === kid));
  if (unknown !== undefined)
    throw new Complaint("unverified", `${url} has no key ${unknown}.`, "Compare it with what the operator told you.");
  const [current] = offered;
  if (!known) return offered;
  const all = [...known, ...offered.filter(({ kid }) => trusted.includes(kid))];
  if (current && !all.some(({ kid }) => kid === current.kid))
    throw new Complaint(
      "unverified",
      `${url} signs with the key ${current.kid}, which is not the pinned one.`,
      "Ask its operator whether the key was changed. If so: kiln login ADDRESS --trust-key KEY",
    );
  return all.filter(({ kid }, index) => all.findIndex((one) => one.kid === kid) === index);
}
