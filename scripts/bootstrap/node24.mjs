// Starts Node 24, which runs our .ts files directly, from any version of Node on the machine.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const setpriv = "/usr/bin/setpriv";
// Only the first start compiles several megabytes of JavaScript.
const compileCache = `${root}node_modules/.cache/node`;
const watchParentEveryMs = 250;

/** Runs a file of this project with Node 24 instead of this process. Forwards signals, and exits like the child. */
export function runWithNode24(file, args) {
  const [command, ...before] = [...diesWithUs(), node24()];
  const child = spawn(command, [...before, "--disable-warning=ExperimentalWarning", root + file, ...args], {
    stdio: "inherit",
    // Tools that run `node` get Node 24, too.
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, PATH: `${root}node_modules/.bin:${process.env.PATH}` },
  });
  const forward = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, forward);
  const watch = watchNpm(() => child.kill("SIGTERM"));
  child.on("error", (error) => {
    console.error(`kiln: ${command} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    clearInterval(watch);
    process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1));
  });
}

/** If this process is killed with SIGKILL, the kernel signals its child to stop. */
function diesWithUs() {
  return existsSync(setpriv) ? [setpriv, "--pdeathsig", "TERM", "--"] : [];
}

/**
 * If npm is killed with SIGKILL, this process or the shell in between gets a new parent. Without npm, a new parent does
 * not matter, because a terminal may close.
 */
function watchNpm(onDeath) {
  const parent = process.ppid;
  const [isParent, isAbove] = [parent, parentOf(parent)].map((pid) => nameOf(pid).startsWith("npm"));
  if (!isParent && !isAbove) return undefined;
  const above = () => (isParent ? `${process.ppid}` : `${process.ppid} ${parentOf(process.ppid)}`);
  const before = above();
  return setInterval(() => above() !== before && onDeath(), watchParentEveryMs).unref();
}

const parentOf = (pid) => proc(pid, "stat").replace(/^.*\)/s, "").trim().split(" ")[1];
const nameOf = (pid) => proc(pid, "comm");

function proc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

function node24() {
  const packaged = `${root}node_modules/.bin/node`;
  if (existsSync(packaged)) return packaged;
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  console.error(
    `kiln: no packaged Node 24 for ${process.platform}-${process.arch}, and this is Node ${process.versions.node}.\n` +
      `Install Node 24 (https://nodejs.org) and try again.`,
  );
  process.exit(1);
}
