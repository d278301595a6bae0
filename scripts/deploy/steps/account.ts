import { z } from "zod";
import { Complaint } from "../../launch/complaint.ts";
import { parseJson } from "../../launch/given-file.ts";
import { ownHosts } from "../configuration.ts";
import type { Deployment } from "../deployment.ts";
import { checkHost } from "../options.ts";
import type { Step } from "../walk.ts";

const Login = z.object({
  loggedIn: z.literal(true),
  accounts: z.array(z.object({ id: z.string(), name: z.string() })),
});
type Login = z.infer<typeof Login>;

/** The login, the account and the host names. */
export function accountSteps(deployment: Deployment): Step[] {
  const findLogin = rememberedLogin(deployment.wrangler);
  return [loginStep(deployment, findLogin), accountStep(deployment, findLogin), hostsStep(deployment)];
}

type FindLogin = () => Promise<Login | undefined>;

/** Remembers a found login, because wrangler takes seconds to start. */
function rememberedLogin(wrangler: Deployment["wrangler"]): FindLogin {
  let found: Login | undefined;
  return async () => (found ??= await findLogin(wrangler));
}

function loginStep({ wrangler }: Deployment, findLogin: FindLogin): Step {
  return {
    name: "Cloudflare login",
    opensTheRest: true,
    isDone: async () => (await findLogin()) !== undefined,
    async do() {
      if (!process.stdin.isTTY) {
        throw new Complaint("You are not logged in. Run npx wrangler login, or set CLOUDFLARE_API_TOKEN.");
      }
      await wrangler.interactive(["login"]);
    },
  };
}

function accountStep({ settings, store, ask }: Deployment, findLogin: FindLogin): Step {
  const usable = async () => (await findLogin())?.accounts ?? [];
  return {
    name: "Cloudflare account",
    opensTheRest: true,
    async isDone() {
      const { accountId } = settings();
      return accountId !== undefined && (await usable()).some(({ id }) => id === accountId);
    },
    async do() {
      const accounts = await usable();
      const list = accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
      const { accountId } = settings();
      if (accountId !== undefined)
        throw new Complaint(`Your login cannot use the account ${accountId}. It can use:\n${list}`);
      const [only] = accounts.length === 1 ? accounts : [];
      store({ accountId: only?.id ?? (await ask(`Account id, one of\n${list}\n`, "--account-id")) });
    },
  };
}

function hostsStep({ options, settings, store, ask }: Deployment): Step {
  return {
    name: "Host names",
    async isDone() {
      const { host, guestsHost } = settings();
      return host !== undefined && guestsHost !== undefined;
    },
    async do() {
      const own = ownHosts(options.env);
      const { host = own.host, guestsHost = own.guestsHost } = settings();
      const chosen = host ?? (await ask("Host name of the service, in a zone of the account", "--host"));
      checkHost("--host", chosen);
      const guests =
        guestsHost ?? (await ask("Host name for web pages of guests, best under another domain", "--guests-host"));
      checkHost("--guests-host", guests);
      if (guests === chosen) throw new Complaint("--guests-host must be a different host than --host.");
      store({ host: chosen, guestsHost: guests });
    },
  };
}

/** Undefined if wrangler is not logged in. */
async function findLogin(wrangler: Deployment["wrangler"]): Promise<Login | undefined> {
  const { code, stdout, stderr } = await wrangler.run(["whoami", "--json"]);
  const login = Login.safeParse(parseJson(stdout));
  if (code === 0 && login.success) return login.data;
  // {"error":{"loggedIn":false}} or {"loggedIn":false}. Anything else is another problem.
  if (/"loggedIn":\s*false/.test(stdout + stderr)) return undefined;
  throw new Complaint(`wrangler whoami failed (exit ${code}):\n${stdout}${stderr}`.trimEnd());
}
