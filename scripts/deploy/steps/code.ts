import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { bundleInputsHash, bundleWorker } from "../../launch/bundle.ts";
import { Complaint } from "../../launch/complaint.ts";
import { refuseForeign } from "../../launch/migrations.ts";
import { projectRoot } from "../../launch/project.ts";
import { databasesOf } from "../configuration.ts";
import type { Deployment } from "../deployment.ts";
import type { Step } from "../walk.ts";
import { secretsToPut } from "./secrets.ts";

/** A new host name needs a DNS entry and a certificate before it answers. */
const patience = { ms: 10 * 60_000, everyMs: 5_000 };
/** Cloudflare limits a version's tag. */
const tagLength = 20;

/**
 * Runs the migrations, uploads the code with its assets, routes, consumers, cron and new secrets, and waits for the
 * first answer.
 */
export function codeSteps(deployment: Deployment): Step[] {
  const databases = [...databasesOf(deployment.configuration()).keys()];
  return [...databases.map((name) => migrationsStep(deployment, name)), codeStep(deployment), answerStep(deployment)];
}

function migrationsStep({ api, configuration, folder, wrangler }: Deployment, database: string): Step {
  const ours = readdirSync(join(projectRoot, "migrations")).filter((name) => name.endsWith(".sql"));
  return {
    name: `Migrations of the database ${database} (${ours.length})`,
    async isDone() {
      const id = databasesOf(configuration()).get(database);
      const applied = id ? await (await api())?.migrations(id) : undefined;
      if (applied) refuseForeign(applied, ours);
      return applied !== undefined && ours.every((name) => applied.includes(name));
    },
    async do() {
      const config = writeConfiguration({ configuration, folder });
      await wrangler.must(
        ["d1", "migrations", "apply", database, "--remote", "--config", config],
        configuration().account_id,
      );
    },
  };
}

function codeStep(deployment: Deployment): Step {
  const { api, configuration, options, settings, store, wrangler } = deployment;
  let isForced = options.redeploy;
  return {
    name: "Worker with its assets, routes, consumers and cron",
    async isDone() {
      if (isForced) return false;
      const tag = tagOf(configuration());
      const cloudflare = settings().deployed === tag ? await api() : undefined;
      if (!cloudflare || (await cloudflare.liveTag(configuration().name)) !== tag) return false;
      return (await secretsToPut(deployment)).length === 0;
    },
    async do() {
      await bundleWorker();
      const tag = tagOf(configuration());
      const config = writeConfiguration(deployment);
      const missing = await secretsToPut(deployment);
      const secretsFile = writeSecretsToPut(deployment, missing);
      try {
        const secrets = missing.length === 0 ? [] : ["--secrets-file", secretsFile];
        await wrangler.must(["deploy", "--config", config, "--tag", tag, ...secrets], configuration().account_id);
      } finally {
        rmSync(secretsFile, { force: true });
      }
      // Stored only now, because an interrupted deployment has its tag before it has its routes and consumers.
      store({ deployed: tag });
      isForced = false;
    },
  };
}

/** The version of code and configuration. The same inputs give the same tag. */
function tagOf(configuration: unknown): string {
  const inputs = `${bundleInputsHash()}${JSON.stringify(configuration)}`;
  return createHash("sha256").update(inputs).digest("hex").slice(0, tagLength);
}

function writeConfiguration({ configuration, folder }: Pick<Deployment, "configuration" | "folder">): string {
  folder.write("wrangler.json", configuration());
  return folder.file("wrangler.json");
}

function writeSecretsToPut({ folder }: Deployment, names: readonly string[]): string {
  const stored = folder.readSecrets();
  folder.write("secrets-to-put.json", Object.fromEntries(names.map((name) => [name, stored[name]])));
  return folder.file("secrets-to-put.json");
}

function answerStep({ admin, serviceUrl }: Deployment): Step {
  const answers = async () => {
    await admin().health();
    return true;
  };
  return {
    name: `Answer of ${serviceUrl() || "the service"}`,
    isDone: () => answers().catch(() => false),
    async do() {
      const until = Date.now() + patience.ms;
      for (;;) {
        try {
          await answers();
          return;
        } catch (error) {
          if (!(error instanceof Complaint) || !error.message.startsWith("No answer") || Date.now() > until)
            throw error;
        }
        await sleep(patience.everyMs);
      }
    },
  };
}
