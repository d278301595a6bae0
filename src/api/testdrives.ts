import { z } from "zod";
import { success } from "#documents/success";
import { testdrive, testdrives as testdrivesDocument } from "#documents/testdrive";
import { onlyAppliance } from "#domain/accounts/access";
import { checkGuestWeb, guestWebUrl } from "#domain/testdrives/guest-web";
import { getOwnTestdrive } from "#domain/testdrives/modified-files";
import { readSeed } from "#domain/testdrives/seed";
import { listTestdrives, startTestdrive, stopTestdrive } from "#domain/testdrives/testdrive";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";
import { modifiedFiles } from "#api/modified-files";
import { id } from "#http/params";

const TestdriveRequest = z.object({
  build_id: id("invalid_build_id"),
  /** A Kiln extension. */
  network: z.enum(["on", "off"], "invalid_value").default("off"),
  user_data: z.string().optional(),
  meta_data: z.string().optional(),
  network_config: z.string().optional(),
  check_run: id("invalid_value").optional(),
});

export const testdrives: CallGroup = {
  title: "Testdrives",
  about: "A build, booted for a while. A testdrive without a client for 60 seconds ends.",
  operations: [
    // v1 has no list, although it has this path.
    call("GET /testdrives", {
      name: "listTestdrives",
      access: "own",
      isForAll: true,
      versions: v2,
      summary: "Your running testdrives",
      answer: testdrivesDocument,
      act: async ({ env, db, account, access, baseUrl }) => {
        const live = await listTestdrives({ db, env }, account.id, onlyAppliance(access));
        return live.map((testdrive) => ({ testdrive, webUrl: guestWebUrl(env, baseUrl, testdrive) }));
      },
    }),
    call("POST /testdrives", {
      name: "startTestdrive",
      access: "own",
      rate: "testdrives",
      summary: "Boot a build: the answer has a page for the browser and an address for VNC clients",
      details:
        "If no builder agent has a public address, the host is the service's and the port is 0. The page works anyway. " +
        "With `network=on` the machine has a network card, and its web server is at web_url. The machine can reach nothing. " +
        "With `user_data`, `meta_data` or `network_config`, cloud-init finds them on a disk, and Ignition gets `user_data` from QEMU. They are stored nowhere. " +
        "With `check_run`, the machine of that run continues as it was when its checks ended, with the devices that it had.",
      params: TestdriveRequest,
      answer: testdrive,
      refuses: ["missing_parameter", "invalid_build_id", "invalid_value", "build_not_found", "no_build_slots"],
      act: async (
        { env, db, account, baseUrl, requestId },
        { build_id: buildId, check_run: checkRunId, network, ...sent },
      ) => {
        if (network === "on") checkGuestWeb(env, baseUrl);
        const request = { buildId, checkRunId, hasNetwork: network === "on", seed: readSeed(sent), requestId };
        const started = await startTestdrive({ env, db }, account, request);
        return { ...started, webUrl: guestWebUrl(env, baseUrl, started.testdrive) };
      },
    }),
    call("DELETE /testdrives/{testdrive_id}", {
      name: "endTestdrive",
      access: "own",
      versions: v2,
      summary: "End a testdrive",
      details: "Its slot is free immediately. A testdrive that has already ended stays as it is.",
      ids: { testdrive_id: "unknown_error" },
      answer: success,
      act: async ({ env, db, account }, { testdrive_id: id }) => {
        await stopTestdrive(env, await getOwnTestdrive(db, account.id, id));
      },
    }),
    ...modifiedFiles,
  ],
};
