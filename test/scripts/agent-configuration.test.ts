import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testdriveSlotsOf, writeAgentConfiguration } from "../../scripts/launch/agent-configuration.ts";
import { projectRoot } from "../../scripts/launch/project.ts";
import { readOrMakeSecrets } from "../../scripts/launch/secrets.ts";
import { emptyFolder } from "./folder.ts";

describe("the configuration of the agent that `npm start` runs", () => {
  it("runs as many testdrives as wrangler.toml allows per account, and builds in the configured root", () => {
    // The first, default environment is the embedded one.
    const wrangler = readFileSync(join(projectRoot, "wrangler.toml"), "utf8");
    const [, perAccount] = /^MAX_TESTDRIVES_PER_ACCOUNT = "(\d+)"/m.exec(wrangler) ?? [];
    const testdriveSlots = testdriveSlotsOf({ MAX_TESTDRIVES_PER_ACCOUNT: perAccount });
    const stateDirectory = emptyFolder();
    const path = writeAgentConfiguration({
      stateDirectory,
      url: "http://127.0.0.1:8787",
      secrets: readOrMakeSecrets(stateDirectory),
      allowHosts: [],
      catalogueHosts: [],
      isolation: "vm",
      builderRoot: "debian-12",
      testdriveSlots,
    });

    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ testdriveSlots: 4, root: "debian-12" });
  });

  it("has only its own token, so the service can identify it", () => {
    const stateDirectory = emptyFolder();
    const secrets = readOrMakeSecrets(stateDirectory);
    const options = {
      stateDirectory,
      url: "http://127.0.0.1:8787",
      secrets,
      allowHosts: [],
      catalogueHosts: [],
      testdriveSlots: 4,
    };
    const written = readFileSync(writeAgentConfiguration({ ...options, isolation: "vm" }), "utf8");

    expect(written).toContain(secrets.AGENT_TOKEN);
    expect(written).not.toContain(secrets.GATEWAY_TOKEN);
    expect(written, "builds for arm64 only on demand").not.toContain("emulation");
    const forArm64 = readFileSync(writeAgentConfiguration({ ...options, isolation: "none", withArm64: true }), "utf8");
    expect(JSON.parse(forArm64)).toMatchObject({ emulation: "on" });
  });

  it.each(["0", "x", undefined])("runs at least one testdrive if an account may have %s", (given) => {
    expect(testdriveSlotsOf({ MAX_TESTDRIVES_PER_ACCOUNT: given })).toBe(1);
  });
});
