import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { countAll, type Counted } from "#storage/limits";

const variables = {
  repositories: "MAX_REPOSITORIES_PER_ACCOUNT",
  packages: "MAX_PACKAGES_PER_ACCOUNT",
  repositoryBytes: "MAX_REPOSITORY_MB_PER_ACCOUNT",
  appliances: "MAX_APPLIANCES_PER_ACCOUNT",
  configurationBytes: "MAX_CONFIGURATION_MB_PER_ACCOUNT",
  files: "MAX_FILES_PER_ACCOUNT",
  uploadedPackages: "MAX_UPLOADED_PACKAGES_PER_ACCOUNT",
  comments: "MAX_COMMENTS_PER_ACCOUNT",
  webhooks: "MAX_WEBHOOKS_PER_ACCOUNT",
  tokens: "MAX_TOKENS_PER_ACCOUNT",
  uploads: "MAX_UPLOADS_PER_ACCOUNT",
} as const satisfies Record<keyof Counted, keyof Env>;

export type LimitsEnv = Pick<Env, (typeof variables)[keyof Counted]>;

/** workerd opens at most six connections from one object. With more webhooks, the slowest would hold up the others. */
const maxWebhooks = 6;
const megabyte = 2 ** 20;

/** The limits of an account, in addition to the bytes of its disk quota. */
export function limitsOf(env: LimitsEnv): Counted {
  const most = (name: keyof Counted) => Number(env[variables[name]]);
  return {
    repositories: most("repositories"),
    packages: most("packages"),
    repositoryBytes: most("repositoryBytes") * megabyte,
    appliances: most("appliances"),
    configurationBytes: most("configurationBytes") * megabyte,
    files: most("files"),
    uploadedPackages: most("uploadedPackages"),
    comments: most("comments"),
    webhooks: Math.min(maxWebhooks, most("webhooks")),
    tokens: most("tokens"),
    uploads: most("uploads"),
  };
}

/** How much of each limit an account has used. */
export async function usedLimits({ env, db }: Services<LimitsEnv>, accountId: number) {
  return { used: await countAll(db, accountId), most: limitsOf(env) };
}

/**
 * Refuses an action that would exceed a limit; `more` is what the action adds. The specification has no code for it.
 */
export async function refuseOverLimit(
  { env, db }: Services<LimitsEnv>,
  accountId: number,
  more: Partial<Counted>,
): Promise<void> {
  const { used, most } = await usedLimits({ env, db }, accountId);
  for (const name of Object.keys(messages) as (keyof Counted)[]) {
    const added = more[name] ?? 0;
    if (added > 0 && used[name] + added > most[name]) throw limitReached(env, name);
  }
}

export const limitReached = (env: LimitsEnv, name: keyof Counted) =>
  new Refusal("unknown_error", { message: messages[name](limitsOf(env)[name]) });

const messages: Record<keyof Counted, (most: number) => string> = {
  repositories: (most) => `An account can have at most ${most} repositories. Delete one of them.`,
  packages: (most) => `The repositories of an account can have at most ${most} packages together. Delete one of them.`,
  repositoryBytes: (most) =>
    `The package lists of an account's repositories can have at most ${most / megabyte} MB together. Delete one of them.`,
  appliances: (most) => `An account can have at most ${most} appliances. Delete one of them.`,
  configurationBytes: (most) =>
    `The configurations of an account's appliances can have at most ${most / megabyte} MB together. Shorten one, or delete an appliance.`,
  files: (most) =>
    `The appliances of an account can have at most ${most} overlay files together. Put several into one archive, or delete some.`,
  uploadedPackages: (most) => `An account can have at most ${most} uploaded packages. Delete one of them.`,
  comments: (most) => `An account can write at most ${most} comments.`,
  webhooks: (most) => `An account can have at most ${most} webhooks. Delete one of them.`,
  tokens: (most) => `An account can have at most ${most} tokens. Revoke one of them.`,
  uploads: (most) => `An account can have at most ${most} unfinished uploads. Finish or delete one of them.`,
};
