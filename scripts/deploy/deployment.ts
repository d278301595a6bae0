import { z } from "zod";
import { adminClient, type AdminClient } from "../admin/client.ts";
import { Complaint } from "../launch/complaint.ts";
import type { Ask } from "./ask.ts";
import { cloudflareApi, type Cloudflare } from "./cloudflare.ts";
import { type Configuration, configurationFor } from "./configuration.ts";
import type { DeployFolder, Settings } from "./folder.ts";
import type { DeployOptions } from "./options.ts";
import type { Wrangler } from "./wrangler.ts";

/** One environment and everything that the steps use. */
export type Deployment = {
  options: DeployOptions;
  env: NodeJS.ProcessEnv;
  folder: DeployFolder;
  wrangler: Wrangler;
  ask: Ask;
  /** The stored settings, overridden by the options of this command line. */
  settings(): Settings;
  store(part: Settings): void;
  configuration(): Configuration;
  /** Cloudflare's API. Undefined while the account is unknown. */
  api(): Promise<Cloudflare | undefined>;
  /** The service's admin routes. */
  admin(): AdminClient;
  serviceUrl(): string;
};

/** The credentials that wrangler prints. */
const Credentials = z.union([
  z.object({ type: z.enum(["oauth", "api_token"]), token: z.string() }),
  z.object({ type: z.literal("api_key"), key: z.string(), email: z.string() }),
]);

type Given = Pick<Deployment, "options" | "env" | "folder" | "wrangler" | "ask">;

export function openDeployment(given: Given): Deployment {
  const { options, env, folder, wrangler } = given;
  let opened: { accountId: string; api: Promise<Cloudflare> } | undefined;

  const settings = (): Settings => ({ ...folder.readSettings(), ...answersOf(options) });
  const configuration = () => configurationFor(options.env, settings(), folder.path);
  const serviceUrl = () => options.url ?? env["KILN_URL"] ?? configuration().vars["BASE_URL"] ?? "";
  return {
    ...given,
    settings,
    store: (part) => folder.write("settings.json", { ...settings(), ...part }),
    configuration,
    serviceUrl,
    async api() {
      const accountId = configuration().account_id;
      if (!accountId) return undefined;
      if (opened?.accountId !== accountId) {
        const api = credentials(wrangler).then((headers) => cloudflareApi(accountId, headers, env));
        opened = { accountId, api };
      }
      return await opened.api;
    },
    admin() {
      const secret = env["KILN_ADMIN_SECRET"] || folder.readSecrets()["ADMIN_SECRET"];
      if (secret) return adminClient(serviceUrl(), secret);
      throw new Complaint("The service has an ADMIN_SECRET that is not stored here. Give it as KILN_ADMIN_SECRET.");
    },
  };
}

async function credentials(wrangler: Wrangler): Promise<Record<string, string>> {
  const found = Credentials.parse(JSON.parse(await wrangler.must(["auth", "token", "--json"])));
  if ("token" in found) return { authorization: `Bearer ${found.token}` };
  return { "x-auth-key": found.key, "x-auth-email": found.email };
}

function answersOf(options: DeployOptions): Settings {
  const { host, account, email, base, agent } = options;
  const given = {
    host,
    account,
    email,
    base,
    agent,
    accountId: options["account-id"],
    guestsHost: options["guests-host"],
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
