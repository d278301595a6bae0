import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Complaint } from "../launch/complaint.ts";
import { readIfThere, writePrivateFile } from "../launch/private-file.ts";
import { projectRoot } from "../launch/project.ts";

/**
 * The operator's answers, and ids that Cloudflare assigned. The operator may edit them. `npm run deploy` only adds
 * missing values.
 */
const Settings = z.strictObject({
  accountId: z.string().optional(),
  host: z.string().optional(),
  guestsHost: z.string().optional(),
  /** The ids of the databases, by name. */
  databaseIds: z.record(z.string(), z.string()).optional(),
  queueId: z.string().optional(),
  account: z.string().optional(),
  email: z.string().optional(),
  base: z.string().optional(),
  agent: z.string().optional(),
  /** Variables that replace those of wrangler.toml. */
  vars: z.record(z.string(), z.string()).optional(),
  /** The tag of the version whose deployment was completed: code, routes, consumers and cron. */
  deployed: z.string().optional(),
});
export type Settings = z.infer<typeof Settings>;

export type DeployFolder = ReturnType<typeof openFolder>;

/** deploy/ENV in the checkout: the files of one environment, readable only by their owner. */
export function openFolder(environment: string, env: NodeJS.ProcessEnv) {
  const path = join(env["KILN_DEPLOY_FOLDER"] || join(projectRoot, "deploy"), environment);
  const file = (name: string) => join(path, name);
  return {
    path,
    file,
    readSettings: () => read(file("settings.json"), Settings, {}),
    readSecrets: () => read(file("secrets.json"), z.record(z.string(), z.string().min(1)), {}),
    write(name: string, content: unknown) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      writePrivateFile(file(name), `${JSON.stringify(content, null, 2)}\n`);
    },
    has: (name: string) => readIfThere(file(name)) !== undefined,
  };
}

function read<T>(path: string, Content: z.ZodType<T>, missing: T): T {
  const text = readIfThere(path);
  if (text === undefined) return missing;
  try {
    return Content.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Complaint(`${path} cannot be used: ${reason}. Correct it, or restore it from a backup.`);
  }
}
