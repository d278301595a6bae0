import { print } from "../launch/progress.ts";
import { askOnTerminal } from "./ask.ts";
import { type Deployment, openDeployment } from "./deployment.ts";
import { openFolder } from "./folder.ts";
import { parseDeployLine, usage } from "./options.ts";
import { accountSteps } from "./steps/account.ts";
import { codeSteps } from "./steps/code.ts";
import { secretsStep } from "./steps/secrets.ts";
import { serviceSteps } from "./steps/service.ts";
import { storageSteps } from "./steps/storage.ts";
import { showPlan, walk } from "./walk.ts";
import { type RunWrangler, wranglerOf } from "./wrangler.ts";

/** Runs one command line. Every expected error is a Complaint. */
export async function deploy(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  runWrangler?: RunWrangler,
): Promise<void> {
  const options = parseDeployLine(argv);
  if (options.help) return print(usage);
  const folder = openFolder(options.env, env);
  const wrangler = wranglerOf(env, runWrangler);
  const deployment = openDeployment({ options, env, folder, wrangler, ask: askOnTerminal });
  const steps = stepsOf(deployment);
  if (options.plan) return await showPlan(steps);
  print(`Environment ${options.env}; its files are in ${folder.path}`);
  await walk(steps);
  print(`\nThe service runs at ${deployment.serviceUrl()}`);
  print(`Back up ${folder.path}: it has the service's secrets.`);
}

/** All steps in order. The database is migrated before the new code needs it. */
function stepsOf(deployment: Deployment) {
  return [
    ...accountSteps(deployment),
    ...storageSteps(deployment),
    secretsStep(deployment),
    ...codeSteps(deployment),
    ...serviceSteps(deployment),
  ];
}
