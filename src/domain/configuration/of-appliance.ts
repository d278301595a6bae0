import { limitsOf, type LimitsEnv, refuseOverLimit } from "#domain/accounts/limits";
import { withChange, type ConfigurationChange, type Configured } from "#domain/configuration/change";
import { decrypted, encrypted, withoutPasswords } from "#domain/configuration/secrets";
import { refuseSettingsOfBase } from "#domain/configuration/settings-of-base";
import type { EncryptionKey } from "#domain/secrets";
import { faultsOf, validate } from "#domain/configuration/validation";
import type { Services } from "#domain/services";
import { Refusal, type Fault } from "#domain/refusal";
import { Configuration, configurationOf, storedBytesOf } from "#lib/configuration/stored";
import { findAppliance, type Appliance } from "#storage/appliances";
import { saveConfiguration } from "#storage/configurations";
import { makeDue } from "#storage/watches";
import type { Database } from "#storage/db";

/** An appliance's configuration, and the other fields that the call shows. */
export interface ShownConfiguration extends Configured {
  id: number;
}

/**
 * The configuration as this account may see it. Only the owner sees an appliance's passwords, but everyone sees a
 * template's.
 */
export async function shownConfiguration(
  env: EncryptionKey,
  accountId: number,
  appliance: Appliance,
): Promise<ShownConfiguration> {
  const { id, name, version, imageType } = appliance;
  const stored = configurationOf(appliance);
  const mayOpen = appliance.accountId === null || appliance.accountId === accountId;
  const configuration = await (mayOpen ? decrypted(env, stored) : withoutPasswords(stored));
  return { id, name, version, imageType, configuration };
}

/** Throws in order to refuse the change. */
type Precondition = (before: ShownConfiguration) => void | Promise<void>;

interface Edit {
  change: ConfigurationChange;
  precondition?: Precondition | undefined;
  /** Overlay files to remove together with the change. Either both happen, or neither. */
  removedFiles?: readonly number[];
}

/** How often a change is retried because another one was faster. */
const attempts = 5;

/**
 * Changes any part of the configuration of the account's appliance, and returns the whole configuration. It only
 * overwrites the state that it has read. If another change is faster, this one starts again, so that no change is lost.
 */
export async function changeConfiguration(
  { env, db }: Services<EncryptionKey & LimitsEnv>,
  { accountId, appliance }: { accountId: number; appliance: Appliance },
  { change, precondition, removedFiles }: Edit,
): Promise<ShownConfiguration> {
  const maxBytes = limitsOf(env).configurationBytes;
  let read = appliance;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await shownConfiguration(env, accountId, read);
    await precondition?.(before);
    const after = withChange(before, change);
    validate(after);
    const [from, to] = [before.configuration.settings, after.configuration.settings];
    await refuseSettingsOfBase(db, appliance, { from, to });
    const { name, version, imageType } = after;
    const configuration = Configuration.parse(await encrypted(env, after.configuration, configurationOf(read)));
    const columns = { name, version, imageType, configuration };
    const saved = await saveConfiguration(db, { read, columns, maxBytes, removedFiles });
    if (saved) {
      // Otherwise it could take Kiln up to a day to begin following updates.
      if (to.automaticBuilds !== from.automaticBuilds || to.automaticBuildsAt !== from.automaticBuildsAt)
        await makeDue(db, appliance.id, new Date());
      return { ...after, id: appliance.id };
    }
    const configurationBytes = storedBytesOf(configuration) - storedBytesOf(read.configuration);
    await refuseOverLimit({ env, db }, accountId, { configurationBytes });
    read = await readAgain(db, accountId, appliance.id);
  }
  throw new Refusal("unknown_error", { message: "Other requests are changing this appliance. Please try again." });
}

/** All faults for which `changeConfiguration` would refuse the change now. */
export async function faultsOfChange(
  env: EncryptionKey,
  { accountId, appliance }: { accountId: number; appliance: Appliance },
  change: ConfigurationChange,
): Promise<Fault[]> {
  return faultsOf(withChange(await shownConfiguration(env, accountId, appliance), change));
}

async function readAgain(db: Database, accountId: number, id: number): Promise<Appliance> {
  const appliance = await findAppliance(db, accountId, id);
  if (!appliance) throw new Refusal("invalid_appliance_id", { reason: "unknown" });
  return appliance;
}
