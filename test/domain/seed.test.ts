import { describe, expect, it } from "vitest";
import { maxSeedBytes } from "#lib/contract/index";
import { readSeed, type SentSeed } from "#domain/testdrives/seed";
import { Refusal } from "#domain/refusal";

const secret = "hunter2-is-secret";

function refusalOf(sent: SentSeed): string {
  try {
    readSeed(sent);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("readSeed", () => {
  it("has no seed if nothing was sent", () => {
    expect(readSeed({})).toBeUndefined();
  });

  it.each([
    "#cloud-config\nhostname: a\n",
    "#cloud-config\nhostname: a\nhostname: b\n",
    "#cloud-config\n",
    "#!/bin/sh\nreboot: [",
    "#include\nhttps://example.org/a",
    "#cloud-boothook\n:",
    "## template: jinja\n#cloud-config\n{% if x %}",
    "Content-Type: multipart/mixed; boundary=a",
    '{"ignition":{"version":"3.0.0"}}',
    '\n{ "ignition": { "version": "3.3.0" }, "storage": {}, "systemd": {}, "passwd": {}, "kernelArguments": {} }\n',
  ])("accepts the user data %j as it is", (text) => {
    expect(readSeed({ user_data: text })).toEqual({ userData: text });
  });

  it("passes on all three texts", () => {
    const sent = { user_data: "#!/bin/sh", meta_data: "instance-id: a", network_config: "version: 2" };
    expect(readSeed(sent)).toEqual({ userData: "#!/bin/sh", metaData: "instance-id: a", networkConfig: "version: 2" });
  });

  it.each<[string, SentSeed, RegExp]>([
    ["user data without a header", { user_data: `password: ${secret}` }, /^user_data: must begin with /],
    [
      "a header with a typing error",
      { user_data: `#cloud-confg\npassword: ${secret}` },
      /^user_data: must begin with /,
    ],
    [
      "broken YAML",
      { user_data: `#cloud-config\na: 1\npassword: [${secret}` },
      /^user_data: is not valid YAML in line 3\.$/,
    ],
    ["broken JSON", { user_data: `{ "ignition": "${secret}` }, /^user_data: is not valid JSON\.$/],
    [
      "a member that Ignition does not know",
      { user_data: `{ "ignition": { "version": "3.3.0" }, "${secret}": {} }` },
      /^user_data: must have no other members than ignition, kernelArguments, passwd, storage, systemd\.$/,
    ],
    ...["3.4.0", "2.3.0", "", secret].map((version): [string, SentSeed, RegExp] => [
      `the version ${version} of Ignition's configuration`,
      { user_data: JSON.stringify({ ignition: { version } }) },
      /^user_data: must have an ignition\/version from 3\.0\.0 to 3\.3\.0\.$/,
    ]),
    ["no version for Ignition", { user_data: '{ "ignition": null }' }, /^user_data: must have an ignition\/version/],
    [
      "meta data for Ignition",
      { user_data: '{"ignition":{"version":"3.3.0"}}', meta_data: `a: ${secret}` },
      /^meta_data: is not read by Ignition\.$/,
    ],
    [
      "a network for Ignition",
      { user_data: '{"ignition":{"version":"3.3.0"}}', network_config: `a: ${secret}` },
      /^network_config: is not read by Ignition\.$/,
    ],
    ["a list", { user_data: `#cloud-config\n- ${secret}` }, /^user_data: must be a map/],
    ["broken meta data", { meta_data: `"${secret}` }, /^meta_data: is not valid YAML in line 1\.$/],
    ["text as meta data", { meta_data: secret }, /^meta_data: must be a map/],
    ["a broken network", { network_config: `a: b: ${secret}` }, /^network_config: is not valid YAML in line 1\.$/],
    [
      "large user data",
      { user_data: `#!/bin/sh\n${"ä".repeat(maxSeedBytes.userData / 2)}` },
      /^user_data: must not be larger than 32 KiB\.$/,
    ],
    ["a large network", { network_config: "#".repeat(maxSeedBytes.networkConfig + 1) }, /larger than 16 KiB\.$/],
  ])("refuses %s in one sentence without its text", (_what, sent, message) => {
    expect(refusalOf(sent)).toMatch(message);
    expect(refusalOf(sent)).not.toContain(secret);
  });

  it("does not expand aliases", () => {
    const bomb = ["a0: &a0 [x, x]"];
    for (let at = 1; at < 30; at++) bomb.push(`a${at}: &a${at} [*a${at - 1}, *a${at - 1}]`);
    const metaData = bomb.join("\n");
    expect(readSeed({ meta_data: metaData })).toEqual({ metaData });
  });
});
