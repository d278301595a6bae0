import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { expect } from "vitest";
import type { FrozenInput } from "../../../builder-agent/src/contract.ts";
import { uploadedFile } from "../../../builder-agent/test/fake-artifacts.ts";
import { agentToken, type FakeBuild } from "../../../builder-agent/test/fake-worker.ts";

// A build script that has taken over its guest, and the results of its attempts.

const hostileScript = readFileSync(new URL("hostile-build.sh", import.meta.url), "utf8");
export const secretWord = "a-word-of-this-host-only";

/** Makes the build script leave the image's root and run the hostile script in the guest's root. */
export function withHostileScript(
  input: FrozenInput,
  { secretFile, workerUrl }: { secretFile: string; workerUrl: string },
): FrozenInput {
  const told = { SECRET_FILE: secretFile, SECRET_WORD: secretWord, TOKEN: agentToken };
  const target = { ...told, WORKER_PORT: new URL(workerUrl).port };
  const description = {
    ...input.description,
    "config.sh": "#!/bin/bash\nchroot /proc/1/root /bin/bash /job/description/hostile.sh\nexit 0\n",
    "hostile.sh": hostileScript,
    "target.env": Object.entries(target)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(""),
  };
  return { ...input, description };
}

/** The script's reports of its attempts, by name. */
export const attemptsIn = (build: FakeBuild) =>
  Object.fromEntries(
    [...build.log.matchAll(/TRIED ([\w-]+): (.*)/g)].map(([, name = "", result = ""]) => [
      name,
      result.trim().replaceAll(/\s+/g, " "),
    ]),
  );

/** The expected results. */
export const whatHostilityComesTo = {
  user: "0",
  "host-file": expect.stringContaining("No such file or directory"),
  "host-tree": "/home: /root: /srv:",
  "host-word": "0 0",
  token: "0 0",
  networks: "lo",
  worker: "refused",
  gateway: "refused",
  processes: "0",
  "job-disk": "refused",
  "root-disk": "refused",
  "full-disk": expect.stringMatching(/^No space left on device \d{3}$/),
};

/** The facts in /proc about the processes of a user. */
export function processesOf(user: number): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const status = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
      return new RegExp(`^Uid:\\t${user}\\t`, "m").test(status) ? [status] : [];
    } catch {
      return []; // it has ended
    }
  });
}

/** The QEMU process of that user, once it has dropped its privileges. */
export const qemuOf = (user: number) =>
  processesOf(user).find((status) => /^Name:\tqemu-system/m.test(status) && /^Seccomp:\t2$/m.test(status));

/** The file store describes the image's root. It stores links as links, without the host's files that they point to. */
export function expectCleanStore(build: FakeBuild): void {
  const index = gunzipSync(uploadedFile(build.artifacts["files-index"])).toString();
  const entries = index.split("\n").filter((line) => line.startsWith('{"path"'));
  const found = new Map(entries.map((line) => [String(JSON.parse(line).path), JSON.parse(line)]));
  expect(found.get("/etc/climbing")).toMatchObject({ type: "l", target: expect.stringContaining("../etc/passwd") });
  expect(found.get("/etc/smuggled")).toMatchObject({ type: "l" });
  expect(found.get("/etc/passwd")).toMatchObject({ type: "f", owner: "root", uid: 0 });
  const store = uploadedFile(build.artifacts.files);
  const { offset, length } = found.get("/etc/passwd");
  const passwd = zstdDecompressSync(store.subarray(offset, offset + length)).toString();
  expect(passwd).toMatch(/^root:/);
  expect(existsSync("/etc/passwd") && passwd === readFileSync("/etc/passwd", "utf8")).toBe(false);
}
