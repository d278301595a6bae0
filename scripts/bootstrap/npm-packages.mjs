// Installs the npm packages if package-lock.json has changed. Plain JavaScript without packages, for Node 20.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const projectRoot = fileURLToPath(new URL("../..", import.meta.url));
const oldestNode = 20;
const stampFile = "node_modules/.kiln-lock";

/** Makes node_modules match package-lock.json, or ends this process with a message. */
export async function prepareNpmPackages(root = projectRoot) {
  if (Number(process.versions.node.split(".")[0]) < oldestNode) {
    fail(`Kiln needs Node ${oldestNode} or newer; this is ${process.versions.node}.`);
  }
  if (isInstalled(root)) return;
  const install = await npmCi(root);
  if (install.code !== 0) {
    fail(`npm ci failed (exit ${install.code}):\n${install.output.trim().split("\n").slice(0, 40).join("\n")}`);
  }
  writeFileSync(join(root, stampFile), lockHash(root));
}

/** Whether the packages match the lock file: by our stamp, or because the user ran `npm ci`. */
export function isInstalled(root) {
  if (!existsSync(join(root, "node_modules"))) return false;
  const stamp = join(root, stampFile);
  const hash = lockHash(root);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return true;
  if (!installedByHand(root)) return false;
  writeFileSync(stamp, hash);
  return true;
}

function lockHash(root) {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/**
 * npm writes node_modules/.package-lock.json at the end of an install. It lists the installed part of the lock file.
 */
function installedByHand(root) {
  const hidden = join(root, "node_modules/.package-lock.json");
  if (!existsSync(hidden)) return false;
  const installed = JSON.parse(readFileSync(hidden, "utf8")).packages;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === "" || entry.optional || installed[path]?.version === entry.version,
  );
}

async function npmCi(root) {
  console.log("… Installing npm packages (npm ci)");
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const clock = setInterval(() => console.log(`… Installing npm packages, ${seconds()}`), 10_000);
  const result = await captured("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], root);
  clearInterval(clock);
  if (result.code === 0) console.log(`✓ Installed npm packages (${seconds()})`);
  return result;
}

function captured(command, args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: systemEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => resolve({ code: 127, output: `${command}: ${error.message}` }));
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output }));
  });
}

/** PATH without node_modules/.bin, which `npm run` puts first. npm must not run with a Node that it will replace. */
function systemEnvironment() {
  const path = (process.env.PATH ?? "").split(":").filter((folder) => !folder.endsWith("node_modules/.bin"));
  return { ...process.env, PATH: path.join(":") };
}

function fail(message) {
  console.error(`kiln: ${message}`);
  process.exit(1);
}
