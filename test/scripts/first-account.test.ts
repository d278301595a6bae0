import { afterEach, expect, it, vi } from "vitest";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { adminClient } from "../../scripts/admin/client.ts";
import { bundleWorker } from "../../scripts/launch/bundle.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { firstAccount } from "../../scripts/launch/first-account.ts";
import { makeSecrets, readOrMakeSecrets, type Secrets } from "../../scripts/launch/secrets.ts";
import { emptyFolder } from "./folder.ts";

const port = ownPort(1);
let stop: () => Promise<void>;

async function start(secrets: Secrets, stateDirectory: string) {
  const place = { host: "127.0.0.1", port, stateDirectory };
  const service = await startEmbedded({ bundle: await bundleWorker(), ...place, bindings: secrets, outsideCidrs: [] });
  stop = service.stop;
  return adminClient(`http://127.0.0.1:${port}`, secrets.ADMIN_SECRET);
}

afterEach(async () => {
  await stop();
  vi.restoreAllMocks();
});

it("is known without its API key if that cannot be decrypted, until it gets another", async () => {
  let warned = "";
  vi.spyOn(process.stderr, "write").mockImplementation((line) => Boolean((warned += String(line))));
  const state = emptyFolder();
  const secrets = readOrMakeSecrets(state);
  const { apiKey } = await firstAccount(await start(secrets, state), state);
  expect(apiKey).toMatch(/^\S{12,}$/);
  await stop();
  expect(warned).toBe("");

  const { API_KEY_ENCRYPTION_KEY } = makeSecrets();
  const admin = await start({ ...secrets, API_KEY_ENCRYPTION_KEY }, state);
  expect(await firstAccount(admin, state)).toEqual({ username: "tux", apiKey: "", password: undefined });
  expect(warned).toContain(`npm run admin -- account rekey tux --state ${state}\n`);

  const renewed = await admin.rekey("tux");
  expect(await firstAccount(admin, state)).toMatchObject({ apiKey: renewed });
});
