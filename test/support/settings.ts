import { settings } from "#lib/configuration/settings";
import type { Configuration } from "#lib/configuration/stored";
import { storedSchema } from "#lib/wire/stored";

/* The section `settings` of a configuration. A new field of it is in all tests that use these, without a change to them. */

type Settings = Configuration["settings"];

export const storedSettings = storedSchema(settings);
export const settingsParts = Object.entries(settings.fields);

/** These, and initial values in all other fields. */
export const settingsWith = (some: Partial<Settings>): Settings =>
  storedSettings.parse({ memorySizeMb: 256, diskSizeMb: 700, ...some });

/** The same as a document shows them, in its order. */
export const shownSettingsWith = <S>(some: Partial<NoInfer<S>>): S =>
  Object.assign({}, ...settingsParts.map(([name, { initial }]) => ({ [name]: initial })), some);
