/**
 * Writes the plan as a comment on the pull request and into the summary of the job. Each file has one comment, and a
 * later plan replaces it. Exits with 1 if the plan cannot be built or the comment cannot be written. If only the
 * permission is missing, it warns, because the summary has the plan too.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const variable = (name) => {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set`);
};

const file = variable("FILE");
const isUnbuildable = variable("PLAN_CODE") === "3";
const isUnchanged = variable("PLAN_CODE") === "0";
/** GitHub refuses comments of more than 65,536 characters. */
const longest = 60_000;
const pausesMs = [1_000, 5_000, 15_000];

const marker = `<!-- kiln plan of ${encodeURIComponent(file)} -->`;
const body = bodyOf(readFileSync(`${variable("RUNNER_TEMP")}/kiln-plan.txt`, "utf8").trimEnd());
appendFileSync(variable("GITHUB_STEP_SUMMARY"), `${body}\n`);
await publish();
if (isUnbuildable) fail(`${file} describes an appliance that cannot be built.`);

function bodyOf(plan) {
  const text = plan.length > longest ? `${plan.slice(0, longest)}\n… the rest is in the log of the job` : plan;
  const ticks = text.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(3, ...ticks.map((run) => run.length + 1)));
  const says = isUnbuildable ? "cannot be built" : isUnchanged ? "changes nothing" : "would change the appliance";
  return [marker, `**Kiln:** \`${file.replaceAll("`", "")}\` ${says}.`, "", fence, text, fence].join("\n");
}

async function publish() {
  const { pull_request: pull } = JSON.parse(readFileSync(variable("GITHUB_EVENT_PATH"), "utf8"));
  const repository = `${variable("GITHUB_API_URL")}/repos/${variable("GITHUB_REPOSITORY")}`;
  try {
    for (const { id } of await earlierComments(`${repository}/issues/${pull.number}/comments?per_page=100`)) {
      const answer = await send("PATCH", `${repository}/issues/comments/${id}`);
      if (answer.ok) return console.log(`Updated comment ${id}.`);
      // The comment with our mark is another user's, or was deleted in the meantime.
      if (answer.status !== 403 && answer.status !== 404) throw await refusal(answer);
    }
    const answer = await send("POST", `${repository}/issues/${pull.number}/comments`);
    if (answer.status === 403 || answer.status === 404) return warn(await refusal(answer));
    if (!answer.ok) throw await refusal(answer);
    console.log("Wrote a comment.");
  } catch (error) {
    fail(`The comment was not written: ${error.message}`);
  }
}

/** The comments with our mark, the newest first. */
async function earlierComments(first) {
  const found = [];
  for (let url = first; url !== undefined;) {
    const answer = await send("GET", url);
    // The job may be allowed to write comments even if it may not read them.
    if (answer.status === 403 || answer.status === 404) return [];
    if (!answer.ok) throw await refusal(answer);
    found.push(...(await answer.json()).filter((one) => one.body?.startsWith(marker)));
    url = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    if (url !== undefined && new URL(url).origin !== new URL(first).origin)
      throw new Error("its next page is elsewhere");
  }
  return found.toReversed();
}

/** Sends a request. Repeats it if GitHub was too busy to answer. */
async function send(method, url) {
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(url, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${variable("GITHUB_TOKEN")}`,
        "x-github-api-version": "2022-11-28",
        "user-agent": "kiln-action",
      },
      signal: AbortSignal.timeout(30_000),
      ...(method === "GET" ? {} : { body: JSON.stringify({ body }) }),
    }).catch((error) => error);
    const isLost = answer instanceof Error;
    const isBusy = answer.status === 429 || answer.status === 503;
    // A request without an answer may have succeeded. Repeating it could leave a second comment.
    const mayRepeat = isBusy || (method !== "POST" && (isLost || answer.status >= 500));
    const pause = pausesMs[attempt];
    if (!mayRepeat || pause === undefined) {
      if (isLost) throw new Error(`GitHub does not answer (${answer.cause?.code ?? answer.message})`);
      return answer;
    }
    await sleep(Number(process.env["KILN_ACTION_PAUSE_MS"] ?? pause));
  }
}

async function refusal(answer) {
  const text = await answer.text();
  const message = /"message"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? "";
  return new Error(`GitHub answered ${answer.status} ${message}`.trim());
}

function warn({ message }) {
  const how = "Give the job `permissions: { contents: read, pull-requests: write }`";
  console.log(`::warning::${message}. ${how}. A pull request of a fork has no such token. The plan is in the summary.`);
}

function fail(message) {
  console.log(`::error::${message.replaceAll("%", "%25").replaceAll("\n", "%0A").replaceAll("\r", "%0D")}`);
  process.exitCode = 1;
}
