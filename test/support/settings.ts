import { settings } from "#lib/configuration/settings";
import type { Configuration } from "#lib/configuration/stored";
import { storedSchema } from "#lib/wire/stored";

/* The section `settings` of a configuration. Tests that use these helpers cover a new field without changes. */

type Settings = Configuration["settings"];

export const storedSettings = storedSchema(settings);
export const settingsParts = Object.entries(settings.fields);

/** These settings, and initial values in all other fields. */
export const settingsWith = (some: Partial<Settings>): Settings =>
  storedSettings.parse({ memorySizeMb: 256, diskSizeMb: 700, ...some });

/** The same settings as a document shows them, in its order. */
export const shownSettingsWith = <S>(some: Partial<NoInfer<S>>): S =>
  Object.assign({}, ...settingsParts.map(([name, { initial }]) => ({ [name]: initial })), some);
