import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { reserveUser, userOfBuild } from "../../src/guest/user.ts";
import { eventually } from "../support/agent-place.ts";

const module = fileURLToPath(new URL("../../src/guest/user.ts", import.meta.url));

/** Another agent with a guest for its build of that number. It runs until it is killed. */
function otherAgent(buildId: number) {
  const program = `import { reserveUser } from ${JSON.stringify(module)};
    console.log("uid " + (await reserveUser(${buildId})).uid); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (bytes) => (output += bytes));
  const uid = () => eventually("the other agent's user", () => Number(/uid (\d+)/.exec(output)?.[1] ?? 0) || undefined);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const kill = async () => void (child.kill("SIGKILL"), await gone);
  return { uid, kill, [Symbol.asyncDispose]: kill };
}

describe("the user of a build's guest", () => {
  it("is its own if free, otherwise the next one", async () => {
    const own = userOfBuild(70_001);
    const first = await reserveUser(70_001);
    await using second = await reserveUser(70_001);
    await first[Symbol.asyncDispose]();
    await using third = await reserveUser(70_001);

    expect([first.uid, second.uid, third.uid]).toEqual([own, own + 1, own]);
  });

  it("wraps around at the end of the range", async () => {
    await using last = await reserveUser(65_535);
    await using next = await reserveUser(65_535);

    expect([last.uid, next.uid]).toEqual([userOfBuild(65_535), userOfBuild(0)]);
  });

  it("is not shared with another agent, until that agent is killed", async () => {
    await using other = otherAgent(70_010);
    const theirs = await other.uid();
    await using ours = await reserveUser(70_010);
    expect(theirs).toBe(userOfBuild(70_010));
    expect(ours.uid).toBe(theirs + 1);

    await other.kill();
    await using again = await reserveUser(70_010);
    expect(again.uid).toBe(theirs);
  });
});
