import { z } from "zod";

/** An account's archive: the file `account.json`, and next to it `contents/SHA256` and `packages/ID`. */

export const contentsFolder = "contents";
export const packagesFolder = "packages";
export const accountFile = "account.json";

const Listed = z.looseObject({ name: z.string().optional() });
const User = z.looseObject({ name: z.string(), password: z.string().optional() });
const DatabaseUser = z.looseObject({ username: z.string(), password: z.string().optional() });
/** The parts of a configuration that have passwords. */
export const Secrets = z.object({
  users: z.array(User).default([]),
  databases: z.array(z.looseObject({ type: z.string(), users: z.array(DatabaseUser) })).default([]),
});
export type Secrets = z.infer<typeof Secrets>;

/** The answer of `GET appliances/ID/definition`. All of it is stored, but only these fields are checked. */
export const Definition = z.looseObject({
  id: z.number().optional(),
  name: z.string(),
  configuration: z.looseObject({}),
  repositories: z.array(Listed),
  /** Each `sha256` is also the name of a file in the archive. */
  files: z.array(z.looseObject({ path: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
});
export type Definition = z.infer<typeof Definition>;

const Repository = z.looseObject({
  id: z.number(),
  name: z.string(),
  type: z.string(),
  base_url: z.string().optional(),
  signed_by: z.string().optional(),
  accepts_expired: z.boolean().optional(),
});

const Package = z.looseObject({ id: z.int(), filename: z.string() });

/** An owner's statement about an advisory. The archive has no images, so it has no statements about a single image. */
const Statement = z.object({
  advisory: z.string(),
  status: z.string(),
  justification: z.string().optional(),
  text: z.string(),
});
export type Statement = z.infer<typeof Statement>;

/** Lists of the API. An export stores them, and an import compares them with the archive. */
export const Ids = z.object({ appliances: z.array(z.object({ id: z.number() })) });
export const Repositories = z.object({ repositories: z.array(Repository) });
export const Packages = z.object({ rpms: z.array(Package) });

export const Statements = z.object({ vex_statements: z.array(Statement.extend({ build_id: z.number().optional() })) });

export const Account = z.object({
  format: z.literal(1),
  username: z.string(),
  email: z.string(),
  displayName: z.string().nullable(),
  /** Null for the default of all accounts. */
  quotaGb: z.number().nullable(),
  repositories: z.array(Repository),
  packages: z.array(Package.extend({ baseSystem: z.string() })),
  appliances: z.array(
    z.object({ definition: Definition, secrets: Secrets, statements: z.array(Statement).default([]) }),
  ),
});
export type Account = z.infer<typeof Account>;
